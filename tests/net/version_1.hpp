// A reader of version 1 of the actor protocol, as it was when version 1 was made. It stays as it
// is, and shares nothing with the product: a program of version 1 must still understand the bytes
// of a later build.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace version_1 {

/// Thrown at bytes that version 1 does not understand.
struct not_understood : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class reader {
 public:
  explicit reader(std::span<const std::byte> all) : left_(all) {}

  std::uint64_t fixed(std::size_t size) {
    std::uint64_t x = 0;
    const std::span<const std::byte> all = take(size);
    for (std::size_t i = size; i-- != 0;) x = x * 256 + std::to_integer<std::uint64_t>(all[i]);
    return x;
  }
  std::uint64_t varint() {
    std::uint64_t x = 0;
    std::uint64_t unit = 1;
    for (int i = 0; i != 10; ++i, unit *= 128) {
      const std::uint64_t byte = fixed(1);
      x += byte % 128 * unit;
      if (byte < 128) return x;
    }
    throw not_understood("a number without an end");
  }
  std::int64_t zigzag() {
    const std::uint64_t x = varint();
    return x % 2 == 0 ? static_cast<std::int64_t>(x / 2) : -1 - static_cast<std::int64_t>(x / 2);
  }
  double real() {
    const std::uint64_t bits = fixed(8);
    double x = 0;
    std::memcpy(&x, &bits, 8);
    return x;
  }
  std::string text() {
    const std::span<const std::byte> all = take(varint());
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }
  /// The fields of an aggregate.
  reader part() { return reader(take(varint())); }
  std::span<const std::byte> take(std::uint64_t n) {
    if (n > left_.size()) throw not_understood("the bytes end");
    const std::span<const std::byte> all = left_.first(static_cast<std::size_t>(n));
    left_ = left_.subspan(static_cast<std::size_t>(n));
    return all;
  }
  bool at_end() const { return left_.empty(); }
  std::size_t left() const { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

struct id {
  std::array<std::byte, 16> bytes{};
};
struct frame {
  int kind = 0;
  id receiver, sender;
  std::uint64_t number = 0, type = 0;
  std::optional<std::uint64_t> deadline;
  std::vector<std::byte> trace;
  bool urgent = false;
  std::vector<std::byte> payload;
  std::vector<id> handles;  // the numbers behind the payload
};

inline id read_id(reader& in) {
  id x;
  const std::span<const std::byte> all = in.take(16);
  for (std::size_t i = 0; i != 16; ++i) x.bytes[i] = all[i];
  return x;
}

/// The bytes behind the header of a frame with handles: the payload, the numbers, their count.
inline void split_payload(frame& f) {
  const std::size_t size = f.payload.size();
  if (size < 4) throw not_understood("handles without their number");
  const std::uint64_t count = reader(std::span(f.payload).subspan(size - 4)).fixed(4);
  if (count == 0 || count > (size - 4) / 16) throw not_understood("so many handles");
  const std::size_t begin = size - 4 - static_cast<std::size_t>(count) * 16;
  reader numbers(std::span(f.payload).subspan(begin, size - 4 - begin));
  while (!numbers.at_end()) f.handles.push_back(read_id(numbers));
  f.payload.resize(begin);
}

inline frame read_frame(std::span<const std::byte> bytes) {
  // 'r' receiver, 's' sender, 'n' number, 't' type, 'p' payload
  static const char* const fields[] = {"",     "rstp", "rsntp", "rsntp", "rsnp", "rsn", "rs", "rs",
                                       "rsn",  "rsn",  "rsnp",  "rsp",   "rsp",  "rn",  "rn", "np",
                                       "rsnp", "snp",  "snp",   "rsn",   "rsn",  "rstp"};
  reader in(bytes);
  frame f;
  const std::uint64_t first = in.fixed(1);
  f.kind = static_cast<int>(first % 128);
  if (f.kind == 0 || f.kind > 21) throw not_understood("a kind");
  const std::string has = fields[f.kind];
  const auto is_there = [&](char c) { return has.find(c) != std::string::npos; };
  if (is_there('r')) f.receiver = read_id(in);
  if (is_there('s')) f.sender = read_id(in);
  if (is_there('n')) f.number = in.varint();
  if (is_there('t')) f.type = in.fixed(8);
  bool has_handles = false;
  if (first >= 128) {
    reader all = in.part();
    while (!all.at_end()) {
      const std::uint64_t key = all.varint();
      reader value = all.part();
      if (key / 2 == 1)
        f.deadline = value.varint();
      else if (key / 2 == 2)
        while (!value.at_end()) f.trace.push_back(static_cast<std::byte>(value.fixed(1)));
      else if (key / 2 == 3)
        f.urgent = true;
      else if (key / 2 == 4)
        has_handles = true;
      else if (key % 2 == 1)
        throw not_understood("an extension that must be");
    }
  }
  if (!is_there('p') && !in.at_end()) throw not_understood("bytes at the end");
  while (!in.at_end()) f.payload.push_back(static_cast<std::byte>(in.fixed(1)));
  if (has_handles) split_payload(f);
  return f;
}

}  // namespace version_1
