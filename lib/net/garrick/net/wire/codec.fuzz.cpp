// Any bytes are a value of their type or an error with a reason. A decoded value can be encoded.
// Its bytes can be decoded, and the result has an encoding of the same length.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/wire/codec.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

using namespace garrick;
using namespace garrick::net;

namespace fuzzed {

enum class colour : std::uint16_t { red };
struct tree {
  int value = 0;
  std::vector<tree> branches;
  std::unique_ptr<tree> other;
};
struct all_kinds {
  bool flag = false;
  std::uint8_t byte = 0;
  double real = 0;
  std::int64_t wide = 0;
  std::string text;
  std::vector<colour> colours;
  std::vector<bool> flags;
  std::deque<std::uint64_t> numbers;
  std::list<std::string> texts;
  std::set<std::string> names;
  std::map<std::uint16_t, std::vector<std::string>> map;
  std::array<std::int64_t, 3> three{};
  std::variant<int, std::string, tree> choice;
  std::optional<std::tuple<base::exit_reason, base::duration>> end;
  tree root;
  std::string added = "later";
};

}  // namespace fuzzed

namespace {

constexpr decode_limits limits{.depth = 40, .memory = 1u << 20};

template <class T>
void one(std::span<const std::byte> bytes) {
  const base::result<T> x = decode<T>(bytes, limits);
  if (!x) {
    GARRICK_ASSERT(x.error() == net_errc::decode_failed && !x.error().detail().empty(),
                   "the error says nothing");
    return;
  }
  const base::result<packet> p = encode(*x);
  GARRICK_ASSERT(p.has_value(), "a value that was decoded can be encoded");
  const base::result<T> again = decode<T>(p->bytes(), {.memory = 1u << 26});
  GARRICK_ASSERT(again.has_value(), "an encoded value can be decoded");
  const base::result<packet> q = encode(*again);
  GARRICK_ASSERT(q.has_value() && q->size() == p->size(), "it is as long again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 6) {
    case 0: one<fuzzed::all_kinds>(bytes); break;
    case 1: one<std::unordered_map<std::uint32_t, std::string>>(bytes); break;
    case 2: one<std::unordered_set<std::int64_t>>(bytes); break;
    case 3: one<std::vector<std::map<std::string, std::optional<fuzzed::tree>>>>(bytes); break;
    case 4: one<std::vector<base::exit_reason>>(bytes); break;
    default: one<std::tuple<std::chrono::seconds, std::u16string, float>>(bytes); break;
  }
  return 0;
}
