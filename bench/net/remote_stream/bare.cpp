// Two processes with a socket and no loop. Each record is put into a buffer and taken out of one by
// itself, as in a program without framework; there are no guarantees beyond TCP's.
#include <cstdint>
#include <cstring>
#include <vector>

#include "net/common/bare_tcp.hpp"

namespace {

struct record {
  std::uint64_t number = 0;
  std::uint64_t a = ~0ull, b = ~0ull, c = ~0ull, d = ~0ull, e = ~0ull, f = ~0ull, g = ~0ull;
};

constexpr std::size_t at_once = 1024;  // records of one call

bool put(int s, const void* bytes, std::size_t size) {
  return send(s, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

/// Adds up the incoming records until the other end has sent its last, and tells it the sum.
void add_up(int s) {
  std::vector<unsigned char> all(at_once * sizeof(record));
  std::uint64_t sum = 0;
  std::size_t kept = 0;
  for (;;) {
    const ssize_t n = recv(s, all.data() + kept, all.size() - kept, 0);
    if (n <= 0) break;
    kept += static_cast<std::size_t>(n);
    std::size_t at = 0;
    for (; kept - at >= sizeof(record); at += sizeof(record)) {
      record r;
      std::memcpy(&r, all.data() + at, sizeof r);
      sum += r.number;
    }
    kept -= at;
    std::memmove(all.data(), all.data() + at, kept);
  }
  put(s, &sum, sizeof sum);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 1'000'000);
  args.reject_unknown();
  const served server([](auto tell) { add_up(bare_tcp::accepted(tell)); });
  const int s = bare_tcp::connected(server.port());
  const std::int64_t start = now_ns();
  std::vector<unsigned char> some;
  some.reserve(at_once * sizeof(record));
  for (std::uint64_t i = 1; i <= messages; ++i) {
    const record r{i};
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&r);
    some.insert(some.end(), bytes, bytes + sizeof r);
    if (some.size() != at_once * sizeof r && i != messages) continue;
    if (!put(s, some.data(), some.size())) break;
    some.clear();
  }
  shutdown(s, SHUT_WR);
  std::uint64_t sum = 0;
  const bool has_sum = recv(s, &sum, sizeof sum, MSG_WAITALL) == sizeof sum;
  out.seconds = seconds_since(start);
  out.items = messages;
  out.expect("sum", messages * (messages + 1) / 2, has_sum ? sum : 0);
}
