#include "garrick/net/transport/internal/send_queue.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "garrick/base/values/random.hpp"

namespace send_queue_test {

using namespace garrick;
using net::packet;
using net::internal::send_queue;

namespace {

packet numbered(std::uint64_t& next, std::size_t size) {
  packet p = packet::with_room(8, size);
  std::byte* const to = p.append(size);
  for (std::size_t i = 0; i != size; ++i) to[i] = static_cast<std::byte>(next++ % 251);
  return p;
}

std::size_t sum_of(const send_queue& q) {
  std::size_t sum = 0;
  for (const packet& p : q.waiting()) sum += p.size();
  return sum;
}

}  // namespace

TEST_CASE("send_queue: bytes leave in the order in which they came, however much a socket takes") {
  send_queue q;
  base::random_source random(3);
  std::uint64_t next = 0, seen = 0;
  for (int round = 0; round != 4000; ++round) {
    for (std::uint64_t n = random.below(6); n != 0; --n)
      q.push(numbered(next, 1 + random.below(random.below(10) == 0 ? 40'000 : 300)));
    std::size_t takes = random.below(round % 100 == 0 ? 1'000'000 : 2000);
    takes = std::min(takes, q.bytes());
    std::size_t left = takes;
    for (const packet& p : q.waiting()) {
      for (const std::byte b : p.bytes().first(std::min(left, p.size())))
        REQUIRE(b == static_cast<std::byte>(seen++ % 251));
      left -= std::min(left, p.size());
    }
    q.sent(takes);
    REQUIRE(sum_of(q) == q.bytes());
    REQUIRE(q.empty() == (q.bytes() == 0));
  }
}

TEST_CASE("send_queue: small packets that come while others wait meet in one piece") {
  std::uint64_t next = 0;
  send_queue q;
  q.push(numbered(next, 100));
  CHECK(q.waiting().size() == 1);
  for (int i = 0; i != 100; ++i) q.push(numbered(next, 100));
  CHECK(q.waiting().size() == 2);  // the first went as it was
  CHECK(q.bytes() == 10'100);
  q.push(numbered(next, 5000));  // a large one is not copied, and nothing gets past it
  q.push(numbered(next, 10));
  CHECK(q.waiting().size() == 4);
  CHECK(q.waiting()[3].size() == 10);
  q.sent(q.bytes() - 1);
  q.push(numbered(next, 10));  // behind the rest of the piece
  CHECK(q.bytes() == 11);
  q.sent(11);
  CHECK(q.empty());
}

}  // namespace send_queue_test
