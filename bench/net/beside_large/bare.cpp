// The same over two sockets, each with a thread of its own at both ends that blocks in it, and with
// memory that is kept from one large request to the next. So the large requests hold up the small
// ones only where they take processors, caches and memory: nothing with one link for both does
// less.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "net/common/bare_tcp.hpp"

namespace {

// Bytes on the wire of a small request with its frame, and of each answer.
constexpr std::size_t small_bytes = 64;

bool receive_all(int s, void* to, std::size_t n) {
  return recv(s, to, n, MSG_WAITALL) == static_cast<ssize_t>(n);
}
bool send_all(int s, const std::uint8_t* from, std::size_t n) {
  for (ssize_t sent = 0; n != 0; n -= static_cast<std::size_t>(sent), from += sent)
    if ((sent = send(s, from, n, MSG_NOSIGNAL)) <= 0) return false;
  return true;
}

void serve_small(int s) {
  for (std::uint8_t request[small_bytes];
       receive_all(s, request, small_bytes) && send_all(s, request, small_bytes);)
    continue;
}

// Copies the received bytes into the message, as a decoder does. The answer has its size.
void serve_large(int s, std::size_t n) {
  std::vector<std::uint8_t> wire(n);
  std::vector<std::uint8_t> message;
  while (receive_all(s, wire.data(), n)) {
    message.assign(wire.begin(), wire.end());
    std::uint8_t answer[small_bytes] = {};
    const std::uint64_t size = message.size();
    std::memcpy(answer, &size, sizeof size);
    if (!send_all(s, answer, small_bytes)) return;
  }
}

struct large_results {
  std::uint64_t answered = 0;
  std::uint64_t sizes = 0;
};

// Makes a message, copies it, as an encoder does, and sends it.
large_results ask_large(int s, std::size_t n, const std::atomic<bool>& ends) {
  large_results r;
  std::vector<std::uint8_t> message(n);
  std::vector<std::uint8_t> wire;
  while (!ends.load(std::memory_order_relaxed)) {  // order: a flag, with nothing behind it
    std::memset(message.data(), 1, n);
    wire.assign(message.begin(), message.end());
    if (!send_all(s, wire.data(), n)) break;
    std::uint8_t answer[small_bytes];
    if (!receive_all(s, answer, small_bytes)) break;
    std::uint64_t size = 0;
    std::memcpy(&size, answer, sizeof size);
    ++r.answered;
    r.sizes += size;
  }
  return r;
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t trips = args.number("trips", 2'000);
  const std::uint64_t bytes = args.number("large_bytes", 30'000'000);  // 0: none
  const auto pause = std::chrono::microseconds(args.number("pause_us", 1000));
  args.reject_unknown();
  const served there([bytes](auto tell) {
    const int listener = bare_tcp::listening(tell, 2);
    std::thread small(serve_small, bare_tcp::next_accepted(listener));
    if (bytes != 0) serve_large(bare_tcp::next_accepted(listener), bytes);
    small.join();
  });
  const int s = bare_tcp::connected(there.port());
  large_results large;
  std::atomic<bool> ends{false};
  std::thread beside;
  const std::int64_t start = now_ns();
  if (bytes != 0)
    beside = std::thread([&large, &ends, bytes, at = bare_tcp::connected(there.port())] {
      large = ask_large(at, bytes, ends);
    });
  std::vector<std::int64_t> samples;
  samples.reserve(trips);
  std::uint8_t message[small_bytes] = {};
  for (std::uint64_t i = 0; i != trips; ++i) {
    if (i != 0) std::this_thread::sleep_for(pause);
    const std::int64_t begin = now_ns();
    if (!send_all(s, message, small_bytes) || !receive_all(s, message, small_bytes)) break;
    samples.push_back(now_ns() - begin);
  }
  ends.store(true, std::memory_order_relaxed);  // order: as above
  if (beside.joinable()) beside.join();
  out.seconds = seconds_since(start);
  out.items = trips;
  out.expect("small answers", trips, samples.size());
  out.expect("bytes of the large messages", large.answered * bytes, large.sizes);
  out.detail("large_per_second", static_cast<double>(large.answered) / out.seconds);
  out.latencies(std::move(samples));
}
