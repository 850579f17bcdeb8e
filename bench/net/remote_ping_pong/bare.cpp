// Two processes with a socket and no loop: nothing that waits for messages takes less.
#include <cstdint>
#include <vector>

#include "net/common/bare_tcp.hpp"

namespace {

// The size of a request with its frame, and of its answer, on the wire.
constexpr std::size_t bytes = 64;

bool pass(int s, char* message) { return recv(s, message, bytes, MSG_WAITALL) == bytes; }
bool put(int s, const char* message) { return send(s, message, bytes, MSG_NOSIGNAL) == bytes; }

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t trips = args.number("trips", 20'000);
  args.reject_unknown();
  const served server([](auto tell) {
    const int s = bare_tcp::accepted(tell);
    for (char message[bytes]; pass(s, message) && put(s, message);) continue;
  });
  const int s = bare_tcp::connected(server.port());
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
