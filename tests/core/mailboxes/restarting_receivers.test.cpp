// Floods of a child that is killed, or fails, again and again: its mailbox stays as short as any
// other, and every wait for its restart ends.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/floods.hpp"

namespace restarting_receivers_test {

namespace {

using namespace garrick;
using namespace garrick::tests::floods;

constexpr std::uint32_t soft = 10;

/// No limit on restarts.
supervision for_ever() { return {.max_restarts = 1'000'000'000}; }

/// The counts of all objects of one child.
struct seen {
  std::atomic<std::uint32_t> count{0};
  std::atomic<std::uint32_t> longest{0};
  std::atomic<std::uint32_t> objects{0};
  bool in_order = true;
  void note(std::uint32_t value, std::uint32_t length) {
    in_order = in_order && value == count.load();
    ++count;
    longest = std::max(longest.load(), length);
  }
};

/// Fails at each message with a number one more than a multiple of `fails_at`; 0: never.
class child : public actor<protocol<void(item)>> {
 public:
  child(seen* into, std::uint32_t fails_at) : into_(into), fails_at_(fails_at) { ++into_->objects; }
  void on(item i) {
    into_->note(i.n, mailbox_length());
    if (fails_at_ != 0 && i.n % fails_at_ == 0) throw std::runtime_error("as told");
  }

 private:
  seen* into_;
  std::uint32_t fails_at_;
};

/// A system in which only running in place makes room, by a seed.
testkit::settings in_place() {
  return {.mailbox = {.soft_limit = soft, .in_place = true, .full_wait = {}}};
}

const core::cell& cell_of(const core::handle& h) { return *core::handle_access::get(h); }

}  // namespace

TEST_CASE("a child that is killed within a flood keeps a short mailbox, and loses nothing") {
  constexpr std::uint32_t n = 10'000;
  for (const std::uint32_t every : {1U, 3U, soft, 3 * soft, 1000U})
    for (const bool waits : {false, true}) {
      CAPTURE(every);
      seen all;
      testkit::test_system kit(in_place());
      base::this_thread.free_sends = 0;  // a test before may have left some
      const auto top = kit.spawn<supervisor>(for_ever());
      child_options o;
      if (waits) {
        o.spawn.policy = mailbox_policy::wait;
        o.spawn.bound = soft;
      }
      const auto to = supervise<child>(top, o, lent(&all), 0U);
      const auto from = kit.spawn(lent([&](dynamic_actor&) -> behavior {
        return {[&](go) {
          for (std::uint32_t i = 0; i < n; ++i) {
            if (i % every == 0) kit.kill(to);
            send(to, item{i});
          }
        }};
      }));
      kit.run();
      send(from, go{});
      kit.run();
      CHECK(all.count == n);
      CHECK(all.in_order);
      CHECK(all.objects > 1);
      CHECK(all.longest <= 2 * soft);
      kit.expect_no_dead_letters();
    }
}

TEST_CASE("a child that dies of the messages of a flood keeps a short mailbox") {
  constexpr std::uint32_t n = 3'000;
  for (const std::uint32_t every : {1U, 2U, soft}) {
    CAPTURE(every);
    seen all;
    testkit::test_system kit(in_place());
    base::this_thread.free_sends = 0;
    const auto top = kit.spawn<supervisor>(for_ever());
    const auto to = supervise<child>(top, child_options{}, lent(&all), std::uint32_t{every});
    const auto from = kit.spawn<source>(to, n);
    kit.run();
    send(from, go{});
    kit.run();
    CHECK(all.count == n);
    CHECK(all.in_order);
    CHECK(all.longest <= 2 * soft);
    CHECK(kit.dead_letters().size() == (n + every - 1) / every);
  }
}

TEST_CASE("threads and actors that flood a child which is killed all the time wait for its room") {
  constexpr std::uint32_t actors = 3, threads = 2, each = 20'000, kills = 200;
  seen all;
  waits seen_waits;
  settings o = counted(2, 64, seen_waits, too_long);
  {
    actor_system system(o);
    const auto top = system.spawn<supervisor>(for_ever());
    const auto to = supervise<child>(top, child_options{}, lent(&all), 0U);
    for (std::uint32_t i = 0; i < actors; ++i) send(system.spawn<source>(to, each), go{});
    std::vector<std::thread> running;
    for (std::uint32_t t = 0; t < threads; ++t)
      running.emplace_back([&] {
        for (std::uint32_t i = 0; i < each; ++i) send(to, item{i});
      });
    // Each kill waits for the restart that the one before has caused.
    std::uint32_t killed = 0;
    constexpr std::uint32_t total = (actors + threads) * each;
    while (all.count != total) {
      if (killed < kills && all.objects > killed) {
        ++killed;
        system.kill(to);
      }
      std::this_thread::yield();
    }
    for (std::thread& t : running) t.join();
    CHECK(system.dead_letter_count() == 0);
  }
  MESSAGE("restarts ", all.objects - 1, ", peak ", all.longest.load());
  CHECK(all.longest <= 2 * 64 + actors + threads);
  CHECK(seen_waits.long_ones == 0);
}

namespace {

/// A supervised child that is down, and a thread that waits in a send to it.
struct blocked_sender {
  waits counts;
  seen all;
  actor_system system;
  ref<supervisor_protocol> top;
  ref<protocol<void(item)>> to;
  std::thread sender;

  explicit blocked_sender(duration delay)
      : system(counted(2, soft, counts, too_long)),
        top(system.spawn<supervisor>(supervision{.delay = {.first = delay, .jitter = 0}})),
        to(supervise<child>(top, child_options{.name = "child"}, lent(&all), 0U)) {
    system.kill(to);
    while (!cell_of(to).awaits_restart()) std::this_thread::yield();
    sender = std::thread([this] {
      for (std::uint32_t i = 0; i <= soft; ++i) send(to, item{i});
    });
    while (counts.begun == 0) std::this_thread::yield();
  }
  void check_free() {
    sender.join();
    CHECK(counts.begun == 1);
    CHECK(counts.long_ones == 0);
  }
};

}  // namespace

TEST_CASE("a sender that waits for a child's restart goes on when it is restarted or given up") {
  SUBCASE("restarted") {
    blocked_sender s(duration::milliseconds(100));
    s.check_free();
    while (s.all.count != soft + 1) std::this_thread::yield();
    CHECK(s.all.objects == 2);
  }
  SUBCASE("stopped by its supervisor") {
    blocked_sender s(duration::seconds(1'000));
    CHECK(s.system.request(s.top, stop_child{"child"}).get());
    s.check_free();
    CHECK(s.all.count == 0);
  }
  SUBCASE("its supervisor is killed") {
    blocked_sender s(duration::seconds(1'000));
    s.system.kill(s.top);
    s.check_free();
  }
  SUBCASE("the system stops") {
    blocked_sender s(duration::seconds(1'000));
    static_cast<void>(s.system.shutdown(too_long));
    s.check_free();
  }
}

namespace {

/// Kills its child and floods it in the same handler, as soon as that awaits its restart.
class flooding_supervisor : public actor<protocol<std::uint32_t(go), std::uint32_t(count)>> {
 public:
  explicit flooding_supervisor(actor_system* system, seen* all) : system_(*system), all_(all) {}
  void on_start() { child_ = supervise<child>(child_options{}, lent(all_), 0U); }
  std::uint32_t on(go) {
    system_.kill(child_);
    while (!cell_of(child_).awaits_restart()) std::this_thread::yield();
    for (std::uint32_t i = 0; i < 10 * soft; ++i) send(child_, item{i});
    return child_.mailbox_length();
  }
  std::uint32_t on(count) const { return all_->count; }

 private:
  actor_system& system_;
  seen* all_;
  ref<protocol<void(item)>> child_;
};

/// When it ends an object, it sends to itself.
class talks_to_itself : public actor<protocol<void(item), void(count)>> {
 public:
  explicit talks_to_itself(seen* all) : all_(all) { ++all_->objects; }
  void on(item i) { all_->note(i.n, mailbox_length()); }
  void on(count) { throw std::runtime_error("as told"); }
  void on_exit(const exit_reason&) {
    if (all_->objects != 1) return;
    for (std::uint32_t i = 0; i < 10 * soft; ++i) send(self(), item{i});
  }

 private:
  seen* all_;
};

}  // namespace

TEST_CASE("neither a supervisor nor a child that is down waits for the restart in its own sends") {
  seen all, own;
  waits counts;
  actor_system system(counted(2, soft, counts, too_long));
  const auto top = system.spawn<flooding_supervisor>(lent(&system), lent(&all));
  CHECK(system.request(top, go{}).get().value() == 10 * soft);
  while (all.count != 10 * soft) std::this_thread::yield();
  CHECK(counts.begun == 0);
  const auto parent = system.spawn<supervisor>();
  const auto to = supervise<talks_to_itself>(parent, child_options{}, lent(&own));
  send(to, count{});
  while (own.count != 10 * soft) std::this_thread::yield();
  CHECK(own.in_order);
  CHECK(counts.begun == 0);
}

namespace {

/// Kills another child of its supervisor, which restarts both, and floods it in the same handler.
class sibling : public actor<protocol<void(go)>> {
 public:
  sibling(actor_system* system, ref<protocol<void(item)>> to, std::atomic<bool>* done)
      : system_(system), to_(std::move(to)), done_(done) {}
  void on(go) {
    system_->kill(to_);
    while (!cell_of(to_).awaits_restart()) std::this_thread::yield();
    for (std::uint32_t i = 0; i < 10 * soft; ++i) send(to_, item{i});
    *done_ = true;
  }

 private:
  actor_system* system_;
  ref<protocol<void(item)>> to_;
  std::atomic<bool>* done_;
};

}  // namespace

TEST_CASE("a send does not wait for a restart that waits for the sender") {
  seen all;
  waits counts;
  std::atomic<bool> done{false};
  actor_system system(counted(2, soft, counts, too_long));
  const auto top = system.spawn<supervisor>(supervision{.strategy = one_for_all});
  const auto to = supervise<child>(top, child_options{}, lent(&all), 0U);
  send(supervise<sibling>(top, child_options{}, lent(&system), to, lent(&done)), go{});
  while (all.count != 10 * soft) std::this_thread::yield();
  CHECK(done);
  CHECK(all.objects == 2);
  CHECK(counts.long_ones == 0);
}

namespace {

/// Supervises three children as one group, of which the one in the middle is flooded.
struct group {
  seen older, flooded, younger;
  ref<supervisor_protocol> top;
  ref<protocol<void(item)>> first, to, last;

  template <class System>
  group(System& in, restart_strategy how, mailbox_policy policy, base::duration delay = {})
      : top(in.template spawn<supervisor>(
            supervision{.strategy = how,
                        .max_restarts = 1'000'000'000,
                        .delay = {.first = delay, .factor = 1, .jitter = 0}})) {
    child_options o;
    o.spawn.policy = policy;
    if (policy != mailbox_policy::unbounded) o.spawn.bound = soft;
    first = supervise<child>(top, child_options{}, lent(&older), 0U);
    to = supervise<child>(top, o, lent(&flooded), 0U);
    last = supervise<child>(top, child_options{}, lent(&younger), 0U);
  }
};

/// Floods a child and kills it after every few messages. The others of its group are queued then.
template <class System>
auto floods(System& in, group& g, std::uint32_t n, std::uint32_t every) {
  return in.spawn(lent([&in, &g, n, every](dynamic_actor&) -> behavior {
    return {[&in, &g, n, every](go) {
      for (std::uint32_t i = 0; i < n; ++i) {
        if (i % every == 0) {
          send(g.first, item{i / every});
          send(g.last, item{i / every});
          in.kill(g.to);
        }
        send(g.to, item{i});
      }
    }};
  }));
}

}  // namespace

TEST_CASE(
    "a flood of a child that is restarted with queued siblings runs them, and loses nothing") {
  constexpr std::uint32_t n = 3'000;
  for (const restart_strategy how : {one_for_all, rest_for_one})
    for (const mailbox_policy policy : {mailbox_policy::unbounded, mailbox_policy::wait})
      for (const std::uint32_t every : {1U, 3U, soft, 3 * soft, 1000U}) {
        CAPTURE(every);
        testkit::test_system kit(in_place());
        base::this_thread.free_sends = 0;  // a test before may have left some
        group g(kit, how, policy);
        const auto from = floods(kit, g, n, every);
        kit.run();
        send(from, go{});
        kit.run();
        CHECK(g.flooded.count == n);
        CHECK(g.flooded.in_order);
        CHECK(g.flooded.longest <= 2 * soft);
        CHECK(g.flooded.objects > 1);
        CHECK(g.younger.objects > 1);
        CHECK((g.older.objects > 1) == (how == one_for_all));
        CHECK(g.older.count == (n + every - 1) / every);
        CHECK(g.younger.count == g.older.count);
        kit.expect_no_dead_letters();
      }
}

TEST_CASE("a group is restarted while all workers wait in sends to one of its children") {
  constexpr std::uint32_t n = 2'000;
  for (const std::uint32_t workers : {1U, 2U})
    for (const bool later : {false, true})
      for (const mailbox_policy policy : {mailbox_policy::unbounded, mailbox_policy::wait}) {
        CAPTURE(workers);
        CAPTURE(later);
        waits counts;
        actor_system system(counted(workers, soft, counts, too_long));
        group g(system, one_for_all, policy, duration::microseconds(later ? 100 : 0));
        const auto from = floods(system, g, n, 3 * soft);
        send(from, go{});
        if (workers == 2) send(system.spawn<source>(g.to, n), go{});
        while (g.flooded.count + system.dead_letter_count() < workers * n)
          std::this_thread::yield();
        CHECK(system.dead_letter_count() == 0);
        CHECK(g.flooded.objects > 1);
        CHECK(counts.long_ones == 0);
        CHECK(system.stop_now(too_long).complete);  // before the group that its actors look at
      }
}

TEST_CASE("a flood of a child that is down ends with its supervisor, with other children queued") {
  constexpr std::uint32_t n = 10 * soft;
  for (const mailbox_policy policy : {mailbox_policy::unbounded, mailbox_policy::wait}) {
    waits counts;
    actor_system system(counted(1, soft, counts, too_long));
    group g(system, one_for_one, policy, duration::seconds(1'000));
    const auto from = system.spawn(lent([&](dynamic_actor&) -> behavior {
      return {[&](go) {
        send(g.first, item{0});
        send(g.last, item{0});
        system.exit(g.top);
        for (std::uint32_t i = 0; i < n; ++i) send(g.to, item{i});
      }};
    }));
    system.kill(g.to);
    while (!cell_of(g.to).awaits_restart()) std::this_thread::yield();
    send(from, go{});
    while (system.dead_letter_count() < n) std::this_thread::yield();
    CHECK(g.flooded.count == 0);
    CHECK(counts.long_ones == 0);
    CHECK(system.stop_now(too_long).complete);  // as above
  }
}

}  // namespace restarting_receivers_test
