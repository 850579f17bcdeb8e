// A node asks its channels before it sleeps, and stays awake if the other end of one has put a
// tuple in or has closed the channel.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>

#include <cstddef>
#include <memory>

namespace channel_ends_test {

namespace {

namespace detail = garrick::patterns::detail;

struct sleeper final : detail::wakeable {
  void wake(detail::turn* /*by*/, std::size_t /*tuples*/) noexcept override { ++woken; }
  int woken = 0;
};
using channel_ptr = std::shared_ptr<detail::channel>;
channel_ptr channel_for(std::size_t n) {
  return std::make_shared<detail::channel>(detail::tuple_type_of<int>, n);
}
void push(detail::channel& to, int x) {
  *static_cast<int*>(to.ring.claim(0).first) = x;
  to.ring.publish(1);
}

}  // namespace

TEST_CASE("a consumer does not sleep when a tuple has come, or the end of all inputs") {
  sleeper producer;
  detail::inputs in(detail::tuple_type_of<int>);
  const channel_ptr a = channel_for(4);
  const channel_ptr b = channel_for(4);
  in.add(a, producer);
  in.add(b, producer);
  CHECK(in.sleep());
  CHECK(a->consumer_sleeps.take());
  CHECK(b->consumer_sleeps.take());
  push(*b, 1);
  CHECK_FALSE(in.sleep());
  CHECK(in.sleep_at(0));
  CHECK_FALSE(in.sleep_at(1));
  a->ring.close();
  CHECK_FALSE(in.sleep_at(0));
  CHECK(in.next(8).count == 1);
  in.done(1);
  CHECK(in.sleep());
  b->ring.close();
  CHECK_FALSE(in.sleep());
  CHECK(in.ended());
}

TEST_CASE("those before hear once that a node has enough") {
  sleeper producer;
  detail::inputs in(detail::tuple_type_of<int>);
  const channel_ptr a = channel_for(4);
  in.add(a, producer);
  in.leave();
  in.leave();
  CHECK(producer.woken == 1);
}

}  // namespace channel_ends_test
