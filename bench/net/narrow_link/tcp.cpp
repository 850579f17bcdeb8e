// One or two streams of the kernel's TCP with a congestion control of that name. The server reports
// the number of bytes that have arrived, in eight bytes each time.
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "common/measure.hpp"
#include "net/common/lossy.hpp"
#include "net/common/tcp_socket.hpp"

namespace {

// Counts the incoming bytes, and reports the sum after each read.
void count(int s) {
  std::vector<char> bytes(65536);
  std::uint64_t sum = 0;
  for (ssize_t n; (n = recv(s, bytes.data(), bytes.size(), 0)) > 0;) {
    sum += static_cast<std::uint64_t>(n);
    if (send(s, &sum, sizeof sum, MSG_NOSIGNAL) != sizeof sum) return;
  }
}

void serve() {
  const int listener = bench::listening_socket();
  for (;;) std::thread(count, accept(listener, nullptr, nullptr)).detach();
}

int connected(const std::string& congestion) {
  return bench::connected_socket([&](int s) {
    if (setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, congestion.data(),
                   static_cast<socklen_t>(congestion.size())) != 0)
      bench::arguments::fail("the kernel has no " + congestion);
  });
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const lossy_end end = lossy_ends(args);
  const std::uint64_t ms = args.number("ms", 5000);
  const std::uint64_t flows = args.number("flows", 1, 1, 8);
  const std::string congestion = args.text("congestion", "cubic");
  args.reject_unknown();
  if (end.is_server()) serve();
  std::vector<std::atomic<std::uint64_t>> confirmed(flows);
  for (auto& flow : confirmed) {
    const int s = connected(congestion);
    std::thread([s] {
      const std::vector<char> bytes(16384);
      while (send(s, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) continue;
    }).detach();
    std::thread([s, &flow] {
      std::uint64_t sum = 0;
      while (recv(s, &sum, sizeof sum, MSG_WAITALL) == sizeof sum)
        flow.store(sum, std::memory_order_relaxed);  // order: a statistic
    }).detach();
  }
  tell_goodput(out, ms, confirmed);
  // The flows go on until the process ends.
  if (out.print() == 0) std::_Exit(0);
}
