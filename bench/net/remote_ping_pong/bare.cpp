// Two processes with a socket and no loop: nothing that waits for messages takes less.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "common/measure.hpp"
#include "net/common/served.hpp"

namespace {

// What a request with its frame, and its answer, take on the wire.
constexpr std::size_t bytes = 64;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void without_delay(int s) {
  const int on = 1;
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool pass(int s, char* message) { return recv(s, message, bytes, MSG_WAITALL) == bytes; }
bool put(int s, const char* message) { return send(s, message, bytes, MSG_NOSIGNAL) == bytes; }

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t trips = args.number("trips", 20'000);
  args.reject_unknown();
  const served server([](auto tell) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      return;
    tell(ntohs(address.sin_port));
    const int s = accept(listener, nullptr, nullptr);
    without_delay(s);
    for (char message[bytes]; pass(s, message) && put(s, message);) continue;
  });
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(server.port());
  if (connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    arguments::fail("nobody listens");
  without_delay(s);
  std::vector<std::int64_t> samples;
  samples.reserve(trips);
  const std::int64_t start = now_ns();
  char message[bytes] = {};
  for (std::uint64_t i = 0; i != trips; ++i) {
    const std::int64_t begin = now_ns();
    if (!put(s, message) || !pass(s, message)) break;
    samples.push_back(now_ns() - begin);
  }
  out.seconds = seconds_since(start);
  out.items = trips;
  out.expect("round trips", trips, samples.size());
  out.latencies(std::move(samples));
}
