// Overload protection: mailboxes stay short while their receivers can run, and no sender waits for
// one that cannot.
#include <doctest/doctest.h>
#include <garrick/base/concurrency/probe.hpp>
#include <garrick/garrick.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "support/floods.hpp"

namespace overload_test {

namespace {

using namespace garrick;
using namespace garrick::tests::floods;
using clock_type = std::chrono::steady_clock;

struct doublings final : waits {
  std::mutex m;
  std::vector<std::uint64_t> lengths;
  void on_mailbox_doubled(std::uint64_t, std::uint64_t n) noexcept override {
    const std::lock_guard g(m);
    lengths.push_back(n);
  }
};

}  // namespace

TEST_CASE(
    "a hundred senders keep one receiver's mailbox at the soft limit plus one batch a sender") {
  constexpr std::uint32_t senders = 100, each = 2000, soft = 128;
  waits seen;
  actor_system system(counted(4, soft, seen, duration::milliseconds(1)));
  auto to = system.spawn<sink>();
  for (std::uint32_t i = 0; i < senders; ++i) send(system.spawn<source>(to, each), go{});
  while (system.request(to, count{}).get().value() < senders * each) {}
  const std::uint32_t most = system.request(to, peak{}).get().value();
  MESSAGE("peak ", most, " of ", senders * each, ", waits without progress ",
          seen.long_ones.load());
  CHECK(most <= soft + senders * 64 + seen.let_in());
}

namespace {

/// Hands on its messages, and notes how many waited for it.
class stage : public actor<protocol<void(item)>> {
  ref<protocol<void(item)>> to_;
  std::atomic<std::uint32_t>* peak_;

 public:
  stage(ref<protocol<void(item)>> to, std::atomic<std::uint32_t>* most)
      : to_(std::move(to)), peak_(most) {}
  void on(item i) {
    peak_->store(std::max(peak_->load(), mailbox_length()));
    send(to_, i);
  }
};

/// Takes longer for a message than all actors before it.
class slow_sink : public actor<protocol<void(item)>> {
  std::atomic<std::uint32_t>* peak_;
  std::uint64_t* sum_;

 public:
  slow_sink(std::atomic<std::uint32_t>* most, std::uint64_t* sum) : peak_(most), sum_(sum) {}
  void on(item i) {
    peak_->store(std::max(peak_->load(), mailbox_length()));
    *sum_ += i.n;
    const auto begin = clock_type::now();
    while (clock_type::now() - begin < std::chrono::microseconds(2)) {}
  }
};

}  // namespace

TEST_CASE(
    "a slow sink slows the whole pipeline: no mailbox grows with the number of messages, on any "
    "number of workers") {
  constexpr std::uint32_t n = 5'000, soft = 64;
  for (const std::uint32_t workers : {1U, 2U, 4U}) {
    std::atomic<std::uint32_t> most[4] = {};
    std::uint64_t sum = 0;
    waits seen;
    {
      actor_system system(counted(workers, soft, seen, duration::milliseconds(200)));
      ref<protocol<void(item)>> next = system.spawn<slow_sink>(lent(&most[3]), lent(&sum));
      for (int i = 2; i >= 0; --i) next = system.spawn<stage>(next, lent(&most[i]));
      send(system.spawn<source>(std::move(next), n), go{});
      static_cast<void>(system.await_all());
    }
    CHECK(sum == std::uint64_t{n} * (n - 1) / 2);
    for (const auto& m : most) CHECK(m.load() <= soft + 64 + seen.let_in());
    MESSAGE(workers, " workers: ", most[0].load(), " ", most[1].load(), " ", most[2].load(), " ",
            most[3].load());
  }
}

TEST_CASE("senders of a receiver of long messages wait until it shows progress, not a fixed time") {
  constexpr std::uint32_t senders = 3, each = 200, soft = 64;
  std::atomic<std::uint32_t> most{0};
  constexpr std::uint32_t workers = 2;
  constexpr std::chrono::milliseconds patience{60};
  std::uint64_t sum = 0;
  // The time for which a busy machine has kept the receiver from running. For each time that a send
  // waits for progress, each worker may have sent 64 messages without waiting.
  clock_type::duration lost{};
  {
    class slow : public actor<protocol<void(item)>> {
      std::atomic<std::uint32_t>* peak_;
      std::uint64_t* sum_;
      clock_type::duration* lost_;
      clock_type::time_point due_ = clock_type::now();

     public:
      slow(std::atomic<std::uint32_t>* m, std::uint64_t* s, clock_type::duration* l)
          : peak_(m), sum_(s), lost_(l) {}
      void on(item i) {
        const auto begin = clock_type::now();
        *lost_ += begin - due_;
        due_ = begin + std::chrono::milliseconds(2);
        peak_->store(std::max(peak_->load(), mailbox_length()));
        *sum_ += i.n;
        while (clock_type::now() < due_) {}
      }
    };
    // A send waits 60 milliseconds for progress. A round of the receiver takes 128 or more.
    settings o = limited(workers, soft);
    o.mailbox.full_wait = patience;
    actor_system system(o);
    ref<protocol<void(item)>> to = system.spawn<slow>(lent(&most), lent(&sum), lent(&lost));
    for (std::uint32_t i = 0; i < senders; ++i) send(system.spawn<source>(to, each), go{});
    to = {};
    static_cast<void>(system.await_all());
  }
  CHECK(sum == std::uint64_t{senders} * each * (each - 1) / 2);
  const auto standstills = static_cast<std::uint32_t>(lost / patience);
  MESSAGE("peak ", most.load(), " of ", senders * each, ", standstills ", standstills);
  CHECK(most.load() <= soft + (senders + workers * standstills) * 64);
}

TEST_CASE("an outside thread that floods is slowed, too") {
  constexpr std::uint32_t n = 200'000, soft = 64;
  actor_system system(limited(1, soft));
  auto to = system.spawn<sink>();
  for (std::uint32_t i = 0; i < n; ++i) send(to, item{i});
  CHECK(system.request(to, count{}).get().value() == n);
  CHECK(system.request(to, peak{}).get().value() < n / 4);
}

TEST_CASE("no sender waits for a receiver that awaits a response; the probe hears each doubling") {
  using protocol_type = protocol<void(item), void(go), std::uint32_t(count)>;
  struct waiting : actor<protocol_type> {
    any_ref other;
    std::uint32_t seen = 0;
    explicit waiting(any_ref o) : other(std::move(o)) {}
    void on(item) { ++seen; }
    void on(go) {
      request_as<int>(other, go{}).await([](int) {});
    }
    std::uint32_t on(count) const { return seen; }
  };
  doublings probe;
  {
    actor_system system(counted(2, 512, probe, too_long));
    std::atomic<bool> asked{false};
    auto a = system.spawn(lent([&asked](dynamic_actor& self) -> behavior {
      auto kept = std::make_shared<response_promise<int>>();
      return {[&self, kept, &asked](go) {
                *kept = self.make_promise<int>();
                asked = true;
                asked.notify_all();
                return delegated<int>{};
              },
              [kept](item) { kept->deliver(1); }};
    }));
    auto w = system.spawn<waiting>(a);
    send(w, go{});
    asked.wait(false);
    for (std::uint32_t i = 0; i < 9000; ++i) send(w, item{i});
    send(a, item{0});
    CHECK(system.request(w, count{}).get().value() == 9000);
  }
  CHECK(probe.long_ones == 0);
  const std::lock_guard g(probe.m);
  for (const std::uint64_t n : {512u, 1024u, 2048u, 4096u, 8192u})
    // again if a message was taken meanwhile
    CHECK(std::count(probe.lengths.begin(), probe.lengths.end(), n) >= 1);
}

TEST_CASE("a message beyond the hard limit is a dead letter, a request gets overload") {
  struct stuck : actor<protocol<void(go), void(item), int(count)>> {
    std::atomic<bool>* release;
    std::atomic<bool>* entered;
    stuck(std::atomic<bool>* r, std::atomic<bool>* e) : release(r), entered(e) {}
    void on(go) {
      entered->store(true);
      entered->notify_all();
      release->wait(false);
    }
    void on(item) {}
    int on(count) { return 1; }
  };
  settings o = limited(1, 64);
  o.mailbox.hard_limit = 100;
  std::atomic<bool> release{false}, entered{false};
  actor_system system(o);
  auto s = system.spawn<stuck>(lent(&release), lent(&entered));
  send(s, go{});
  entered.wait(false);
  for (std::uint32_t i = 0; i < 150; ++i) send(s, item{i});
  CHECK(system.request(s, count{}).get().error() == errc::overload);
  const auto lost = system.dead_letter_count(errc::overload);
  CHECK(lost >= 50);
  release.store(true);
  release.notify_all();
}

TEST_CASE("a send in a loop to oneself never waits") {
  struct selfish : actor<protocol<void(go), void(item), std::uint32_t(count)>> {
    std::uint32_t seen = 0;
    void on(go) {
      for (std::uint32_t i = 0; i < 20'000; ++i) send(self(), item{i});
    }
    void on(item) { ++seen; }
    std::uint32_t on(count) const { return seen; }
  };
  waits seen;
  actor_system system(counted(2, 64, seen, too_long));
  auto s = system.spawn<selfish>();
  send(s, go{});
  while (system.request(s, count{}).get().value() != 20'000) {}
  CHECK(seen.by_actors == 0);
}

TEST_CASE("two actors that flood each other come through") {
  using flooding = protocol<void(go), void(item), std::uint32_t(count), void(any_ref)>;
  struct flooder : actor<flooding> {
    any_ref other;
    std::uint32_t seen = 0;
    void on(any_ref r) { other = std::move(r); }
    void on(go) {
      for (std::uint32_t i = 0; i < 20'000; ++i) send(other, item{i});
    }
    void on(item) { ++seen; }
    std::uint32_t on(count) const { return seen; }
  };
  for (const std::uint32_t workers : {1u, 2u, 3u}) {
    waits seen;
    actor_system system(counted(workers, 64, seen, too_long));
    auto a = system.spawn<flooder>(), b = system.spawn<flooder>();
    send(a, any_ref(b));
    send(b, any_ref(a));
    send(a, go{});
    send(b, go{});
    while (system.request(a, count{}).get().value() < 20'000 ||
           system.request(b, count{}).get().value() < 20'000) {}
    send(a, any_ref{b});
    system.exit(a);
    system.exit(b);
    CHECK(seen.long_ones == 0);
  }
}

TEST_CASE("a circle of actors that run each other in place comes through") {
  struct ring : actor<protocol<void(item), void(any_ref), std::uint32_t(count)>> {
    any_ref next;
    std::uint32_t seen = 0;
    void on(any_ref r) { next = std::move(r); }
    void on(item i) {
      ++seen;
      if (i.n == 0) return;
      send(next, item{i.n - 1});
      if (i.n % 3 == 0) send(next, item{0});
    }
    std::uint32_t on(count) const { return seen; }
  };
  for (const std::uint32_t workers : {2u, 3u}) {
    // Two workers may both wait while the third actor is queued behind them. Of three one is free
    // to run it, so the clock must end no wait.
    const bool one_is_free = workers == 3;
    waits seen;
    actor_system system(
        counted(workers, 8, seen, one_is_free ? too_long : duration::milliseconds(1)));
    std::vector<ref<protocol<void(item), void(any_ref), std::uint32_t(count)>>> all;
    for (int i = 0; i < 3; ++i) all.push_back(system.spawn<ring>());
    for (std::size_t i = 0; i < 3; ++i) send(all[i], any_ref(all[(i + 1) % 3]));
    constexpr std::uint32_t rounds = 40, length = 300;
    for (std::uint32_t k = 0; k < rounds; ++k) send(all[k % 3], item{length});
    const std::uint32_t expected = rounds * (length + 1 + length / 3);
    std::uint32_t sum = 0;
    while (sum < expected) {
      sum = 0;
      for (const auto& r : all) sum += system.request(r, count{}).get().value();
    }
    CHECK(sum == expected);
    for (const auto& r : all) system.exit(r);
    if (one_is_free) CHECK(seen.long_ones == 0);
  }
}

namespace {

std::mutex shared_mutex;
thread_local bool inside_send = false;

struct noticing : actor<protocol<void(item), std::uint32_t(count), std::uint32_t(peak)>> {
  std::uint32_t seen = 0;
  std::uint32_t in_place = 0;
  void on(item) {
    ++seen;
    if (inside_send) ++in_place;
  }
  std::uint32_t on(count) const { return seen; }
  std::uint32_t on(peak) const { return in_place; }
};

struct flag_raising : actor<source_protocol> {
  ref<sink_protocol> to;
  bool scoped;
  flag_raising(ref<sink_protocol> t, bool s) : to(std::move(t)), scoped(s) {}
  void on(go) {
    inside_send = true;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      if (scoped) {
        const no_in_place_scope here;
        send(to, item{i});
      } else {
        send(to, item{i});
      }
    }
    inside_send = false;
  }
};

std::uint32_t runs_in_place(bool system_allows, bool actor_allows, bool scoped) {
  settings o = limited(1, 32);
  o.mailbox.in_place = system_allows;
  actor_system system(o);
  auto to = system.spawn<noticing>(spawn_options{.in_place = actor_allows});
  send(system.spawn<flag_raising>(to, scoped), go{});
  while (system.request(to, count{}).get().value() < 3000) {}
  return system.request(to, peak{}).get().value();
}

}  // namespace

TEST_CASE("in-place running can be switched off for a system, an actor and a scope") {
  CHECK(runs_in_place(true, true, false) > 1000);
  CHECK(runs_in_place(false, true, false) == 0);
  CHECK(runs_in_place(true, false, false) == 0);
  CHECK(runs_in_place(true, true, true) == 0);
}

TEST_CASE("in a no_wait_scope no send waits for a full receiver, and none runs it in place") {
  struct stuck : actor<protocol<void(go), void(item), std::uint32_t(count)>> {
    std::atomic<bool>* entered;
    std::atomic<bool>* release;
    std::uint32_t seen = 0;
    stuck(std::atomic<bool>* e, std::atomic<bool>* r) : entered(e), release(r) {}
    void on(go) {
      entered->store(true);
      entered->notify_all();
      release->wait(false);
    }
    void on(item) { ++seen; }
    std::uint32_t on(count) const { return seen; }
  };
  std::atomic<bool> release{false}, entered{false};
  waits seen;
  actor_system system(counted(1, 16, seen, too_long));
  const auto s = system.spawn<stuck>(lent(&entered), lent(&release));
  send(s, go{});
  entered.wait(false);
  {
    const no_wait_scope outer;
    { const no_wait_scope inner; }
    for (std::uint32_t i = 0; i < 1000; ++i) send(s, item{i});
  }
  CHECK(s.mailbox_length() >= 1000);
  CHECK(seen.begun == 0);
  release.store(true);
  release.notify_all();
  CHECK(system.request(s, count{}).get().value() == 1000);
  // On a worker: the receiver has its turn when the sender's is over.
  const auto to = system.spawn<noticing>();
  struct hasty : actor<source_protocol> {
    ref<sink_protocol> to;
    explicit hasty(ref<sink_protocol> t) : to(std::move(t)) {}
    void on(go) {
      const no_wait_scope here;
      inside_send = true;
      for (std::uint32_t i = 0; i < 1000; ++i) send(to, item{i});
      inside_send = false;
    }
  };
  send(system.spawn<hasty>(to), go{});
  while (system.request(to, count{}).get().value() < 1000) {}
  CHECK(system.request(to, peak{}).get().value() == 0);
  CHECK(seen.by_actors == 0);
}

TEST_CASE("a mutex held across a send does not deadlock where in-place running is off") {
  struct locking : actor<sink_protocol> {
    std::uint32_t seen = 0;
    void on(item) {
      const std::lock_guard g(shared_mutex);
      ++seen;
    }
    std::uint32_t on(count) const { return seen; }
    std::uint32_t on(peak) const { return 0; }
  };
  struct holding : actor<source_protocol> {
    ref<sink_protocol> to;
    explicit holding(ref<sink_protocol> t) : to(std::move(t)) {}
    void on(go) {
      for (std::uint32_t i = 0; i < 2000; ++i) {
        const no_in_place_scope here;
        const std::lock_guard g(shared_mutex);
        send(to, item{i});
      }
    }
  };
  for (const std::uint32_t workers : {1u, 2u}) {
    actor_system system(limited(workers, 32));
    auto to = system.spawn<locking>();
    send(system.spawn<holding>(to), go{});
    while (system.request(to, count{}).get().value() < 2000) {}
    CHECK(system.request(to, count{}).get().value() == 2000);
  }
}

}  // namespace overload_test
