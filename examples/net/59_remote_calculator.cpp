// An actor of one process, used from another.
//
//   59_remote_calculator serve tcp://127.0.0.1:4040
//   59_remote_calculator ask tcp://127.0.0.1:4040
//
// Without arguments both run in this process, as two systems.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "../support/usage.hpp"

using namespace garrick;

// [protocol]
struct divide {
  std::int64_t dividend = 0;
  std::int64_t divisor = 1;
};

using calculator = protocol<std::int64_t(std::int64_t, std::int64_t), result<double>(divide)>;
// [/protocol]

class calculating : public actor<calculator> {
 public:
  std::int64_t on(std::int64_t a, std::int64_t b) { return a + b; }
  result<double> on(const divide& d) {
    if (d.divisor == 0) return make_error(errc::user, "calculator", "a division by zero");
    return static_cast<double>(d.dividend) / static_cast<double>(d.divisor);
  }
};

// [ask]
int ask(const std::string& where) {
  actor_system system;
  net::node node(system);
  const result<ref<calculator>> there = node.remote<calculator>(where, "calculator");
  if (!there) return std::puts(there.error().to_string().c_str()), 1;

  const auto sum = system.request(*there, std::int64_t{20}, std::int64_t{22}).get();
  std::printf("20 + 22 = %ld\n", static_cast<long>(sum.value()));
  const auto wrong = system.request(*there, divide{1, 0}).get();
  std::printf("1 / 0: %s\n", wrong.error().to_string().c_str());
  return 0;
}
// [/ask]

constexpr const char* usage =
    "59_remote_calculator                 both sides in one process\n"
    "59_remote_calculator serve ADDRESS   serve until a line comes on standard input\n"
    "59_remote_calculator ask ADDRESS     ask the server there\n"
    "An address: tcp://127.0.0.1:4040";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (argc != 1 && (argc != 3 || (role != "serve" && role != "ask"))) return misused(usage);
  if (role == "ask") return ask(argv[2]);
  // [serve]
  actor_system system;
  net::node node(system);
  const result<net::endpoint> at = node.listen(argc > 2 ? argv[2] : "tcp://127.0.0.1:0");
  if (!at) return std::puts(at.error().to_string().c_str()), 1;
  if (const auto done = node.publish("calculator", system.spawn<calculating>()); !done)
    return std::puts(done.error().to_string().c_str()), 1;
  // [/serve]
  if (role != "serve") return ask(at->to_string());
  std::printf("serving at %s until a line comes\n", at->to_string().c_str());
  std::fflush(stdout);  // another program may read the output from a pipe
  return std::getchar() == EOF ? 1 : 0;
}
