// A bare socket: the kernel's TCP, without delay (TCP_NODELAY) and with the minimum of its
// retransmission time-out as the route says.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "net/common/lossy.hpp"
#include "net/common/tcp_socket.hpp"

namespace {

constexpr std::size_t message_size = 64;

bool whole(int s, unsigned char* bytes, bool reading) {
  for (std::size_t done = 0; done < message_size;) {
    const ssize_t n = reading ? recv(s, bytes + done, message_size - done, 0)
                              : send(s, bytes + done, message_size - done, 0);
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

// Until it is ended.
void serve() {
  const int s = accept(bench::listening_socket(), nullptr, nullptr);
  bench::without_delay(s);
  unsigned char bytes[message_size];
  while (whole(s, bytes, true)) {
    ++bytes[0];
    if (!whole(s, bytes, false)) break;
  }
  for (;;) pause();
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const lossy_end end = lossy_ends(args);
  const std::uint64_t bounces = args.number("bounces", 2000);
  const double loss = std::stod(args.text("loss", "0"));
  const std::uint64_t shortest = args.number("rto_min_ms", 0);
  args.reject_unknown();
  if (shortest != 0) {
    const std::string route =
        "ip route replace 10.77.0.0/24 dev link0 rto_min " + std::to_string(shortest) + "ms";
    if (std::system(route.c_str()) != 0) arguments::fail("no route with rto_min");
  }
  if (end.is_server()) serve();

  const int s = connected_socket(without_delay);
  unsigned char bytes[message_size] = {};
  std::uint64_t right = 0;
  std::vector<std::int64_t> rounds;
  rounds.reserve(bounces);
  const std::int64_t start = now_ns();
  for (std::uint64_t i = 0; i < bounces; ++i) {
    const std::int64_t begin = now_ns();
    const auto expected = static_cast<unsigned char>(bytes[0] + 1);
    if (!whole(s, bytes, false) || !whole(s, bytes, true)) break;
    right += bytes[0] == expected;
    rounds.push_back(now_ns() - begin);
  }
  out.seconds = seconds_since(start);
  out.items = bounces;
  out.expect("bounces", bounces, right);
  tell_cost_of_loss(out, std::move(rounds), loss);
}
