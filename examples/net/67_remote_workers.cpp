// Actors that a process spawns in another process, and that end when it drops their handles.
//
//   67_remote_workers serve tcp://127.0.0.1:4041
//   67_remote_workers count tcp://127.0.0.1:4041
//
// Without arguments both run in this process, as two systems.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "../support/usage.hpp"

using namespace garrick;

struct range {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};
using counter = protocol<std::uint32_t(range)>;

/// Counts the numbers that none of the given numbers divides.
class counting : public actor<counter> {
 public:
  explicit counting(std::vector<std::uint32_t> divisors) : divisors_(std::move(divisors)) {}
  std::uint32_t on(range r) {
    std::uint32_t found = 0;
    for (std::uint32_t n = r.from; n != r.to; ++n) {
      bool is_divided = false;
      for (const std::uint32_t d : divisors_) is_divided = is_divided || n % d == 0;
      found += !is_divided;
    }
    return found;
  }

 private:
  std::vector<std::uint32_t> divisors_;
};

// [count]
int count(const std::string& where) {
  actor_system system;
  net::node node(system);
  const std::vector<std::uint32_t> divisors{2, 3, 5, 7};
  std::vector<ref<counter>> workers;
  for (int i = 0; i < 4; ++i) {
    const result<ref<counter>> made = node.spawn<counter>(where, "counter", divisors);
    if (!made) return std::puts(made.error().to_string().c_str()), 1;
    workers.push_back(*made);
  }
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < 4; ++i)
    found += system.request(workers[i], range{i * 2100, (i + 1) * 2100}).get().value();
  std::printf("of 8400 numbers %u are divided by none of 2, 3, 5, 7\n", found);

  const auto no = node.spawn<counter>(where, "janitor", divisors);
  std::printf("%s\n", no.error().to_string().c_str());
  return 0;
}
// [/count]

constexpr const char* usage =
    "67_remote_workers                 both sides in one process\n"
    "67_remote_workers serve ADDRESS   make workers for others until a line comes\n"
    "67_remote_workers count ADDRESS   count with workers of the process there\n"
    "An address: tcp://127.0.0.1:4041";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (argc != 1 && (argc != 3 || (role != "serve" && role != "count"))) return misused(usage);
  if (role == "count") return count(argv[2]);
  // [allow]
  actor_system system;
  net::node node(system);
  const result<net::endpoint> at = node.listen(argc > 2 ? argv[2] : "tcp://127.0.0.1:0");
  if (!at) return std::puts(at.error().to_string().c_str()), 1;
  if (const auto done = node.allow<counting, std::vector<std::uint32_t>>("counter"); !done)
    return std::puts(done.error().to_string().c_str()), 1;
  // [/allow]
  if (role != "serve") return count(at->to_string());
  std::printf("serving at %s until a line comes\n", at->to_string().c_str());
  return std::getchar() == EOF ? 1 : 0;
}
