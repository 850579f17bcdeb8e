// Senders that make room in a full mailbox while others fill it: at the hard limit a message is
// lost only if the receiver makes no progress, however often others fill the mailbox meanwhile.
#include <doctest/doctest.h>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/full_receivers.hpp"

namespace refilled_receivers_test {

namespace {

using namespace garrick;
using namespace garrick::tests::floods;

/// Runs the test's plan for each step of a sender, on the sender's thread. So the sender does not
/// go on before the plan is done.
struct steps : base::probe {
  std::vector<std::function<void()>> at_waits, at_ends;  ///< of the sender's waits, in order
  std::function<void()> at_doubling;                     ///< the first one
  std::function<void()> at_each_wait;
  std::uint32_t waits = 0;
  void on_sender_waits(std::uint64_t, std::uint64_t) noexcept override {
    if (at_each_wait) at_each_wait();
    const std::uint32_t i = waits++;
    if (i < at_waits.size() && at_waits[i]) at_waits[i]();
  }
  void on_sender_goes_on(std::uint64_t, std::uint64_t) noexcept override {
    if (waits - 1 < at_ends.size() && at_ends[waits - 1]) at_ends[waits - 1]();
  }
  void on_mailbox_doubled(std::uint64_t, std::uint64_t) noexcept override {
    if (const auto f = std::exchange(at_doubling, nullptr)) f();
  }
};

/// Makes the test's thread one whose waits have not failed yet.
void forget_waits() { base::this_thread.free_sends = 0; }

using held_protocol = protocol<void(go), void(item), std::uint32_t(count)>;

/// Its handler of `go` returns when the test lets it.
class held : public actor<held_protocol> {
 public:
  explicit held(std::atomic<std::uint32_t>* lets) : lets_(lets) {}
  void on(go) {
    while (*lets_ == 0) lets_->wait(0);
    --*lets_;
  }
  void on(item) { ++seen_; }
  std::uint32_t on(count) const { return seen_; }

 private:
  std::atomic<std::uint32_t>* lets_;
  std::uint32_t seen_ = 0;
};

/// A receiver, and the steps of others with it while the test's own thread sends.
struct scene {
  steps plan;
  std::atomic<std::uint32_t> lets{0};
  std::uint32_t sent = 0;
  actor_system system;
  ref<held_protocol> to;

  explicit scene(duration full_wait, const spawn_options& o = {})
      : system(with_limits(plan, full_wait)), to(system.spawn<held>(o, lent(&lets))) {
    forget_waits();
    stop();
  }
  ~scene() {
    lets = 1'000;
    lets.notify_all();
  }
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  const core::cell& receiver() const { return *core::handle_access::get(to); }

  /// Returns when the receiver is in the blocked handler, and has nothing else to do.
  void stop() {
    const no_wait_scope scope;
    send(to, go{});
    while (receiver().mailbox_length() != 0) std::this_thread::yield();
  }
  /// Another thread sends until `length` messages wait.
  void fill(std::uint32_t length) {
    std::thread([this, length] {
      const no_wait_scope scope;
      while (receiver().mailbox_length() < length) post();
    }).join();
  }
  void post() {
    ++sent;
    send(to, item{0});
  }
  void let_go() {
    ++lets;
    lets.notify_all();
  }
  /// Lets the receiver go on and handle all waiting messages.
  void drain() {
    let_go();
    wait_until_idle(to);
  }
  void refill(std::uint32_t length = hard) {
    stop();
    fill(length);
  }
  /// Returns the number of lost messages.
  std::uint32_t lost() {
    plan.at_each_wait = nullptr;
    drain();
    const std::uint32_t handled = system.request(to, count{}).get().value();
    CHECK(system.dead_letter_count() == sent - handled);
    return sent - handled;
  }
};

constexpr duration short_wait = duration::microseconds(100);

}  // namespace

TEST_CASE("others fill the mailbox while a sender waits above the soft limit, in vain") {
  scene s(short_wait);
  s.fill(soft + 1);
  s.plan.at_ends = {[&] { s.fill(hard); }};
  s.plan.at_waits = {nullptr, [&] { s.drain(); }};
  s.post();
  CHECK(s.plan.waits == 2);
  CHECK(s.lost() == 0);
}

TEST_CASE("others fill the mailbox while a sender goes on without a wait") {
  scene s(short_wait);
  s.fill(soft + 1);
  s.post();  // this wait fails; the next messages do not wait
  CHECK(s.plan.waits == 1);
  s.plan.at_doubling = [&] { s.fill(hard); };
  s.plan.at_waits = {nullptr, [&] { s.drain(); }};
  while (s.plan.waits == 1) s.post();
  CHECK(s.lost() == 0);
}

TEST_CASE("a receiver that is idle for a moment is full again when its sender looks") {
  SUBCASE("above the soft limit") {
    scene s(too_long);
    s.fill(soft + 1);
    s.plan.at_waits = {[&] { s.drain(); }, [&] { s.drain(); }};
    s.plan.at_ends = {[&] { s.refill(); }};
    s.post();
    CHECK(s.plan.waits == 2);
    CHECK(s.lost() == 0);
  }
  SUBCASE("at the hard limit") {
    scene s(too_long);
    s.fill(hard);
    s.plan.at_waits = {[&] { s.drain(); }, [&] { s.drain(); }, [&] { s.drain(); }};
    s.plan.at_ends = {[&] { s.refill(); }, [&] { s.refill(); }};
    s.post();
    CHECK(s.plan.waits == 3);
    CHECK(s.lost() == 0);
  }
  SUBCASE("at the bound of a mailbox with the policy wait") {
    scene s(too_long, {.policy = mailbox_policy::wait, .bound = 4});
    s.fill(4);
    s.plan.at_waits = {[&] { s.drain(); }, [&] { s.drain(); }};
    s.plan.at_ends = {[&] { s.refill(4); }};
    s.post();
    CHECK(s.plan.waits == 2);
    CHECK(s.lost() == 0);
  }
}

TEST_CASE("a sender that has given up waits again when the receiver has gone on") {
  scene s(short_wait);
  s.fill(hard);
  s.post();  // lost: the receiver is blocked
  CHECK(s.plan.waits == 16);
  s.post();
  CHECK(s.plan.waits == 16);  // still, so this one is lost without a wait
  s.drain();
  s.refill();
  s.plan.at_each_wait = [&] { s.drain(); };
  s.post();
  CHECK(s.plan.waits == 17);
  CHECK(s.lost() == 2);
}

TEST_CASE(
    "a sender at a bound gives up after 64 waits, of which each failed one doubles the next") {
  scene s(short_wait, {.policy = mailbox_policy::wait, .bound = 4});
  s.fill(4);
  core::detail::here.wait_doublings = 0;
  const instant before = base::real_clock().now();
  s.post();  // the receiver is blocked
  CHECK(s.plan.waits == 64);
  CHECK(core::detail::here.wait_doublings == 4);
  CHECK(base::real_clock().now() - before >= short_wait * (60 * 16));
  CHECK(s.lost() == 1);
}

TEST_CASE("a receiver that goes on soon halves the time limit of its sender's next wait") {
  scene s(too_long);
  core::detail::here.wait_doublings = 2;
  for (const int left : {1, 0, 0}) {
    s.fill(soft + 1);
    std::thread other;
    const auto lets_go_then = [&] {
      other = std::thread([&s] {
        while ((s.receiver().gate().peek() & core::mailbox_word::waiting) == 0)
          std::this_thread::yield();
        s.let_go();
      });
    };
    s.plan.at_waits.assign(s.plan.waits + 1, lets_go_then);
    s.post();
    other.join();
    CHECK(core::detail::here.wait_doublings == left);
    s.stop();
  }
  CHECK(s.lost() == 0);
}

namespace {

/// Blocks in the handlers that call `stop` until the test lets it go on.
class stopper {
 public:
  void stop() {
    ++stops_;
    while (lets_ == 0) lets_.wait(0);
    --lets_;
  }
  void wait_for_stop(std::uint32_t n) const {
    while (stops_ != n) std::this_thread::yield();
  }
  void let(std::uint32_t n) {
    lets_ += n;
    lets_.notify_all();
  }

 private:
  std::atomic<std::uint32_t> lets_{0}, stops_{0};
};

/// Awaits an answer, and stops in its continuation or after it.
class awaiting : public actor<protocol<void(any_ref), void(go), void(item), std::uint32_t(count)>> {
 public:
  awaiting(stopper* here, bool at_answer) : here_(here), at_answer_(at_answer) {}
  void on(any_ref whom) {
    request_as<int>(whom, go{}).await([this](int) {
      if (at_answer_) here_->stop();
    });
  }
  void on(go) { here_->stop(); }
  void on(item) { ++seen_; }
  std::uint32_t on(count) const { return seen_; }

 private:
  stopper* here_;
  bool at_answer_;
  std::uint32_t seen_ = 0;
};

/// Keeps each message that it skips for ever, and handles the others.
class choosy : public actor<protocol<void(peak), void(go), void(item), std::uint32_t(count)>> {
 public:
  explicit choosy(stopper* here) : here_(here) {}
  bool skips(const peak&) const { return true; }
  void on(peak) {}
  void on(go) { here_->stop(); }
  void on(item) { ++seen_; }
  std::uint32_t on(count) const { return seen_; }

 private:
  stopper* here_;
  std::uint32_t seen_ = 0;
};

/// A receiver that is blocked in a handler, and the test's own thread, which sends to it.
struct stopped_scene {
  steps plan;
  stopper here;
  actor_system system{with_limits(plan)};

  stopped_scene() { forget_waits(); }
  ~stopped_scene() { here.let(1'000); }
  stopped_scene(const stopped_scene&) = delete;
  stopped_scene& operator=(const stopped_scene&) = delete;

  /// Sends until `length` messages wait, and then one that has to wait for room.
  void fill_and_wait(const any_ref& to, std::uint32_t length) {
    std::uint32_t sent = 1;
    {
      const no_wait_scope scope;
      for (; to.mailbox_length() < length; ++sent) send(to, item{0});
    }
    plan.at_each_wait = [this] { here.let(1); };
    send(to, item{0});
    CHECK(plan.waits == 1);
    here.let(1'000);
    CHECK(system.request_as<std::uint32_t>(to, count{}).get().value() == sent);
    CHECK(system.dead_letter_count() == 0);
  }
};

spawn_options at_most_four() { return {.policy = mailbox_policy::wait, .bound = 4}; }

struct limit_of_receiver {
  spawn_options options{};
  std::uint32_t limit = soft;
};
/// Returns each in a run of its own of the test that calls it.
limit_of_receiver soft_limit_or_bound() {
  limit_of_receiver by;
  SUBCASE("above the soft limit") {}
  SUBCASE("at the bound of a mailbox with the policy wait") { by = {at_most_four(), 4}; }
  return by;
}

constexpr std::uint64_t asleep = core::mailbox_word::idle | core::mailbox_word::stalled;

void wait_until_asleep(const ref<awaiting::protocol_type>& who) {
  const core::cell& c = *core::handle_access::get(who);
  while ((c.gate().peek() & asleep) != asleep) std::this_thread::yield();
}

}  // namespace

TEST_CASE("threads that flood a receiver with a low hard limit lose nothing") {
  constexpr std::uint32_t senders = 8, each = 2'000;
  for (const std::uint32_t limit : {soft, 2 * soft, 20 * soft}) {
    CAPTURE(limit);
    settings o = limited(2, soft);
    o.mailbox.hard_limit = limit;
    o.mailbox.full_wait = duration::seconds(1);  // sixteen of them: a stalled machine
    actor_system system(o);
    const auto to = system.spawn<sink>();
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < senders; ++t)
      threads.emplace_back([&] {
        for (std::uint32_t i = 0; i < each; ++i) send(to, item{i});
      });
    for (std::thread& t : threads) t.join();
    CHECK(system.dead_letter_count() == 0);
    CHECK(system.request(to, count{}).get().value() == senders * each);
    CHECK(system.request(to, peak{}).get().value() <= limit + senders);
  }
}

TEST_CASE("a full mailbox says which limit it has reached") {
  scene s(short_wait);
  s.fill(soft + 1);
  CHECK(try_send(s.to, item{0}).to_string().find("soft limit of 10") != std::string::npos);
  scene bounded(short_wait, {.policy = mailbox_policy::reject, .bound = 4});
  bounded.fill(4);
  CHECK(try_send(bounded.to, item{0}).to_string().find("bound of 4") != std::string::npos);
}

TEST_CASE("a receiver at the end of an await slows its senders again, though mail is left") {
  stopped_scene s;
  const auto to = s.system.spawn<awaiting>(lent(&s.here), false);
  const auto other = s.system.spawn<answering>();
  send(to, any_ref(other));
  wait_until_asleep(to);
  send(to, go{});
  for (std::uint32_t i = 0; i < hard - 1; ++i) send(to, item{i});
  CHECK(s.plan.waits == 0);
  send(other, item{0});
  s.here.wait_for_stop(1);
  s.plan.at_each_wait = [&] { s.here.let(1); };
  send(to, item{0});
  CHECK(s.plan.waits == 1);
  CHECK(s.system.request(to, count{}).get().value() == hard);
}

TEST_CASE("an answer that comes slows the senders of its receiver at once") {
  stopped_scene s;
  const limit_of_receiver by = soft_limit_or_bound();
  const auto to = s.system.spawn<awaiting>(by.options, lent(&s.here), true);
  const auto other = s.system.spawn<answering>();
  send(to, any_ref(other));
  wait_until_asleep(to);
  send(other, item{0});
  s.here.wait_for_stop(1);
  s.fill_and_wait(any_ref(to), by.limit);
}

TEST_CASE("a receiver that keeps a skipped message slows its senders as soon as it is woken") {
  stopped_scene s;
  const limit_of_receiver by = soft_limit_or_bound();
  const auto to = s.system.spawn<choosy>(by.options, lent(&s.here));
  send(to, peak{});
  wait_until_idle(to);
  send(to, go{});
  s.here.wait_for_stop(1);
  s.fill_and_wait(any_ref(to), by.limit);
}

TEST_CASE("a receiver that is full of skipped messages turns mail away at once") {
  stopped_scene s;
  const auto to = s.system.spawn<choosy>(at_most_four(), lent(&s.here));
  for (int i = 0; i < 4; ++i) send(to, peak{});
  wait_until_idle(to);
  send(to, item{0});
  CHECK(s.system.dead_letter_count() == 1);
  CHECK(s.plan.waits == 0);
}

}  // namespace refilled_receivers_test
