// Senders that wait for room: the ends of their waits.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include "support/floods.hpp"

namespace waiting_senders_test {

namespace {

using namespace garrick;
using namespace garrick::tests::floods;

/// Hands on all but the last of them, so that the next one is left empty when it has run in place.
class filter : public actor<protocol<void(item)>> {
  ref<sink_protocol> to_;
  std::uint32_t end_;

 public:
  filter(ref<sink_protocol> to, std::uint32_t end) : to_(std::move(to)), end_(end) {}
  void on(item i) {
    if (i.n < end_) send(to_, i);
  }
};

}  // namespace

TEST_CASE(
    "a sender that waits for a receiver which another one runs in place goes on when that one is "
    "done") {
  constexpr std::uint32_t rounds = 100, each = 2000, kept = 1500, soft = 64;
  // The filter may have its turn on the third worker, so all may wait: then one of them runs a
  // receiver that is queued. A sender with a wait ended by the clock was left waiting.
  waits seen;
  actor_system system(counted(3, soft, seen, too_long));
  auto to = system.spawn<sink>();
  for (std::uint32_t r = 1; r <= rounds; ++r) {
    send(system.spawn<source>(system.spawn<filter>(to, kept), each), go{});
    send(system.spawn<source>(to, each), go{});
    while (system.request(to, count{}).get().value() < r * (each + kept)) {}
  }
  MESSAGE("waits ", seen.begun.load());
  CHECK(seen.long_ones == 0);
}

TEST_CASE("when all workers wait in sends, one of them runs the receiver that waits in a queue") {
  constexpr std::uint32_t soft = 64;
  struct relay : actor<protocol<void(go), void(item)>> {
    ref<sink_protocol> to;
    std::atomic<int>& step;
    relay(ref<sink_protocol> t, std::atomic<int>* s) : to(std::move(t)), step(*s) {}
    void on(go) {
      step = 1;
      while (step != 2) std::this_thread::yield();
      for (std::uint32_t i = 0; i <= soft; ++i) send(to, item{i});
    }
    void on(item) {}
  };
  struct first : actor<source_protocol> {
    ref<sink_protocol> last;
    ref<protocol<void(go), void(item)>> next;
    std::atomic<int>& step;
    const waits& seen;
    first(ref<sink_protocol> l, ref<protocol<void(go), void(item)>> n, std::atomic<int>* s,
          const waits* w)
        : last(std::move(l)), next(std::move(n)), step(*s), seen(*w) {}
    void on(go) {
      send(next, go{});
      while (step != 1) std::this_thread::yield();
      send(last, item{0});  // to this worker's next slot, where the other one cannot claim it
      step = 2;
      while (seen.by_actors < 1) std::this_thread::yield();
      for (std::uint32_t i = 0; i <= soft; ++i) send(next, item{i});
    }
  };
  std::atomic<int> step{0};
  waits seen;
  actor_system system(counted(2, soft, seen, too_long));
  auto last = system.spawn<sink>();
  auto next = system.spawn<relay>(last, lent(&step));
  send(system.spawn<first>(last, next, lent(&step), lent(&std::as_const(seen))), go{});
  while (seen.by_actors < 2) std::this_thread::yield();
  while (system.request(last, count{}).get().value() != soft + 2) {}
  CHECK(seen.long_ones == 0);
}

TEST_CASE("a sender that waits goes on as soon as there is room, or its receiver has ended") {
  struct stuck : actor<protocol<void(go), void(item)>> {
    std::atomic<bool>* release;
    explicit stuck(std::atomic<bool>* r) : release(r) {}
    void on(go) { release->wait(false); }
    void on(item) {}
  };
  for (const bool ends : {true, false}) {
    CAPTURE(ends);
    std::atomic<bool> release{false};
    waits seen;
    actor_system system(counted(1, 64, seen, too_long));
    auto s = system.spawn<stuck>(lent(&release));
    send(s, go{});
    std::thread sender([&] {
      for (std::uint32_t i = 0; i < 65; ++i) send(s, item{i});
    });
    const core::cell& receiver = *core::handle_access::get(s);
    while ((receiver.gate().peek() & core::mailbox_word::waiting) == 0) std::this_thread::yield();
    if (ends) system.kill(s);
    release.store(true);
    release.notify_all();
    sender.join();
    CHECK(seen.begun == 1);
    CHECK(seen.long_ones == 0);
  }
}

}  // namespace waiting_senders_test
