// The number of waiting messages, as others see it during a long handler: routers and bounds use
// it.
#include <doctest/doctest.h>
#include <garrick/base/platform/platform.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace mailbox_length_test {

using namespace garrick;

namespace {

struct item {
  int n = 0;
};
using sink = protocol<void(item)>;

/// Counts the messages that it has begun to handle, and finishes none before it is told to.
struct gated {
  std::atomic<int> begun{0};
  std::atomic<int> may_finish{0};

  void enter() {
    const int mine = ++begun;
    begun.notify_all();
    for (int n = may_finish; n < mine; n = may_finish) may_finish.wait(n);
  }
  void await_begun(int n) {
    for (int seen = begun; seen < n; seen = begun) begun.wait(seen);
  }
  void finish(int n) {
    may_finish = n;
    may_finish.notify_all();
  }
};

class slow : public actor<sink> {
  gated* gate_;

 public:
  explicit slow(gated* gate) : gate_(gate) {}
  void on(item) { gate_->enter(); }
};

/// Returns the processor time that this thread needs to see that `f` is true, in milliseconds; two
/// seconds if it stays false. Time in which a busy machine gives it no processor does not count.
template <class F>
double cpu_ms_until(F f) {
  const std::uint64_t begin = base::platform::thread_cpu_ns();
  for (;;) {
    const bool is_true = f();
    const double passed = 1e-6 * static_cast<double>(base::platform::thread_cpu_ns() - begin);
    if (is_true || passed > 2000) return passed;
  }
}

}  // namespace

TEST_CASE("a mailbox's length follows each message of a handler that takes its time") {
  for (const bool detached : {false, true}) {
    CAPTURE(detached);
    constexpr int count = 20;
    gated gate;
    {
      actor_system system;
      const auto to = system.spawn<slow>(spawn_options{.detached = detached}, lent(&gate));
      for (int i = 0; i < count; ++i) send(to, item{i});
      std::vector<double> late_ms;
      for (int i = 1; i <= count; ++i) {
        gate.await_begun(i);
        const auto expected = static_cast<std::uint32_t>(count - i);
        late_ms.push_back(cpu_ms_until([&] { return to.mailbox_length() == expected; }));
        CHECK(to.mailbox_length() == expected);
        gate.finish(i);
      }
      // A millisecond, now and then more.
      std::sort(late_ms.begin(), late_ms.end());
      CHECK(late_ms[count / 2] <= 1.0);
    }
  }
}

TEST_CASE("the one that is being handled does not wait: one handled, one with a bound of one") {
  for (const auto policy : {mailbox_policy::reject, mailbox_policy::wait}) {
    gated gate;
    {
      actor_system system;
      const auto to = system.spawn<slow>(spawn_options{.policy = policy, .bound = 1}, lent(&gate));
      CHECK_FALSE(try_send(to, item{1}));
      gate.await_begun(1);
      CHECK(to.mailbox_length() == 0);
      CHECK_FALSE(try_send(to, item{2}));
      CHECK(to.mailbox_length() == 1);
      CHECK(try_send(to, item{3}) == errc::overload);
      gate.finish(1);
      gate.await_begun(2);
      CHECK_FALSE(try_send(to, item{4}));
      gate.finish(3);
    }
    CHECK(gate.begun == 3);
  }
}

namespace {

/// Sends as many messages to itself as its first message says, all at once.
class own_client : public actor<protocol<void(item)>> {
  std::vector<int>* seen_;

 public:
  explicit own_client(std::vector<int>* seen) : seen_(seen) {}
  void on(item i) {
    seen_->push_back(i.n);
    for (int n = 1; n <= i.n; ++n) send(self(), item{-n});
  }
};

}  // namespace

TEST_CASE(
    "a message to oneself finds room in a mailbox with a bound of one, a second one does not") {
  testkit::test_system kit;
  std::vector<int> seen;
  const auto actor = kit.spawn<own_client>(
      spawn_options{.policy = mailbox_policy::reject, .bound = 1}, lent(&seen));
  send(actor, item{1});
  kit.run();
  CHECK(seen == std::vector<int>{1, -1});
  CHECK(kit.dead_letters().empty());
  send(actor, item{2});
  kit.run();
  CHECK(seen == std::vector<int>{1, -1, 2, -1});
  CHECK(kit.dead_letters().size() == 1);
}

TEST_CASE("least_loaded goes by the mail that waits now, not by the mail when the members began") {
  gated quick;
  gated late;
  {
    actor_system system(settings{.scheduler = {.workers = 2}});
    const auto a = system.spawn<slow>(lent(&quick));
    const auto b = system.spawn<slow>(lent(&late));
    for (int i = 0; i < 10; ++i) send(a, item{});
    for (int i = 0; i < 5; ++i) send(b, item{});
    quick.finish(8);
    quick.await_begun(9);  // one waits there
    late.await_begun(1);   // four wait there
    router<sink, least_loaded> both({a, b});
    CHECK(a.mailbox_length() == 1);
    CHECK(b.mailbox_length() == 4);
    for (int i = 0; i < 3; ++i) send(both, item{});
    CHECK(a.mailbox_length() == 4);
    CHECK(b.mailbox_length() == 4);
    quick.finish(1000);
    late.finish(1000);
  }
}

TEST_CASE("least_loaded prefers an idle member to one that handles its only message") {
  gated held;
  gated free_now;
  free_now.may_finish = 1000;
  {
    actor_system system(settings{.scheduler = {.workers = 2}});
    const auto a = system.spawn<slow>(lent(&held));
    const auto b = system.spawn<slow>(lent(&free_now));
    send(a, item{});
    held.await_begun(1);
    CHECK(a.mailbox_length() == 0);
    router<sink, least_loaded> both({a, b});
    for (int i = 1; i <= 6; ++i) {
      send(both, item{});
      free_now.await_begun(i);
      static_cast<void>(cpu_ms_until([&] {
        return (core::handle_access::get(b)->gate().peek() & core::mailbox_word::idle) != 0;
      }));
    }
    CHECK(held.begun == 1);
    held.finish(1000);
  }
}

}  // namespace mailbox_length_test
