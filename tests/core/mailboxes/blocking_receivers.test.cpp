// Senders that flood a blocking actor: they do not wait for it while it waits for something else
// than their messages, and they do as soon as it goes on with those.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "support/full_receivers.hpp"

namespace blocking_receivers_test {

namespace {

using namespace garrick;
using namespace garrick::tests::floods;

/// A barrier at which the receiver is blocked until the test lets it go on.
class barrier {
 public:
  void stop() {
    reached_ = true;
    while (!open_) open_.wait(false);
  }
  void wait_until_reached() const {
    while (!reached_) std::this_thread::yield();
  }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> reached_{false}, open_{false};
};

/// Counts the waits for room. The thread that is about to wait runs the test's plan for it.
struct wait_counter : base::probe {
  std::uint32_t waits = 0;
  std::function<void()> at_wait;
  void on_sender_waits(std::uint64_t, std::uint64_t) noexcept override {
    ++waits;
    if (at_wait) at_wait();
  }
};

using answerer = ref<answering::protocol_type>;

/// Handles items until it is asked for their number. Calls `at_first` in the first one's handler.
template <class AtFirst>
void count_items(blocking_actor& self, AtFirst at_first) {
  bool goes_on = true;
  std::uint32_t seen = 0;
  self.receive_while([&] { return goes_on; },
                     [&](item) {
                       if (seen++ == 0) at_first();
                     },
                     [&](count) {
                       goes_on = false;
                       return seen;
                     });
}

/// A body that puts all items aside until the answer has come.
void wait_for_answer(blocking_actor& self, const answerer& other, barrier* b) {
  CHECK(self.get(self.request(other, go{})).value() == 1);
  b->stop();
  count_items(self, [] {});
}

/// A body that puts all items aside until `go` has come.
void wait_for_go(blocking_actor& self, barrier* b) {
  self.receive([](go) {});
  count_items(self, [b] { b->stop(); });
}

struct scene {
  wait_counter plan;
  barrier held;
  std::uint32_t sent = 0;
  actor_system system;
  answerer other;

  scene() : system(with_limits(plan)), other(system.spawn<answering>()) {
    base::this_thread.free_sends = 0;
  }
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  void post(const any_ref& to) {
    ++sent;
    send(to, item{0});
  }
  /// Floods the receiver while it waits for something else, which `come` sends, and then once more.
  /// An actor that awaits no answer may take the next message, so its senders may wait.
  template <class Come>
  void flood(const any_ref& to, bool awaits, Come come) {
    const core::cell& receiver = *core::handle_access::get(to);
    post(to);
    wait_until_idle(to);
    CHECK(awaits == ((receiver.gate().peek() & core::mailbox_word::stalled) != 0));
    while (sent < 2 * soft) post(to);
    if (awaits) CHECK(plan.waits == 0);
    come();
    held.wait_until_reached();
    {
      const no_wait_scope scope;
      while (receiver.mailbox_length() < hard) post(to);
    }
    plan.waits = 0;
    plan.at_wait = [this] { held.open(); };
    post(to);
    CHECK(plan.waits == 1);
    plan.at_wait = nullptr;
    held.open();
    wait_until_idle(to);
    CHECK(system.request_as<std::uint32_t>(to, count{}).get().value() == sent);
    CHECK(system.dead_letter_count() == 0);
  }
};

}  // namespace

TEST_CASE("a blocking actor slows its senders again when its answer has come") {
  scene s;
  const any_ref to = s.system.spawn(wait_for_answer, s.other, lent(&s.held));
  s.flood(to, true, [&] { send(s.other, item{0}); });
}

TEST_CASE("a blocking actor slows its senders again when it tries its skipped mail again") {
  scene s;
  const any_ref to = s.system.spawn(wait_for_go, lent(&s.held));
  s.flood(to, false, [&] { send(to, go{}); });
}

TEST_CASE("a scoped actor slows its senders again when its answer has come") {
  scene s;
  std::promise<any_ref> to;
  std::thread receiver([&] {
    core::scoped_actor me(s.system.env());
    to.set_value(me->self());
    wait_for_answer(*me, s.other, &s.held);
  });
  s.flood(to.get_future().get(), true, [&] { send(s.other, item{0}); });
  receiver.join();
}

}  // namespace blocking_receivers_test
