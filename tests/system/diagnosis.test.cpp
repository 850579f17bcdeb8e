// Reports name the trouble: handlers that do not return, stack overflows, messages that are lost.
#include <doctest/doctest.h>
#include <garrick/base/concurrency/probe.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/garrick.hpp>
#include <garrick/sched/shipped_policies.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/in_child.hpp"

namespace diagnosis_test {

namespace {

using namespace garrick;
using garrick::tests::in_child;

struct hold {};
struct touch {};
struct deep {
  int n;
};
struct note {
  std::string text;
  int n;
};

using toy = protocol<void(touch)>;

struct latch {
  std::atomic<int> touched{0};
  std::atomic<bool> held{false};
  std::atomic<bool> open{false};
};

struct touchable : actor<toy> {
  latch* l;
  explicit touchable(latch* x) : l(x) {}
  void on(touch) {
    ++l->touched;
    l->touched.notify_all();
  }
};

struct holder : actor<protocol<void(hold)>> {
  latch* l;
  std::vector<ref<toy>> others;
  holder(latch* x, std::vector<ref<toy>> o) : l(x), others(std::move(o)) {}
  void on(hold) {
    for (const auto& r : others) send(r, touch{});
    l->held = true;
    l->held.notify_all();
    l->open.wait(false);
  }
};

struct stall_probe final : base::probe {
  std::mutex m;
  std::atomic<int> stalls{0};
  std::uint64_t who = 0;
  std::string what;
  std::vector<std::uint64_t> all;
  std::vector<std::uint32_t> workers;
  void on_stall(std::uint32_t worker, std::uint64_t actor, const base::message_type* type,
                duration) noexcept override {
    {
      const std::lock_guard g(m);
      who = actor;
      all.push_back(actor);
      workers.push_back(worker);
      what = type != nullptr ? std::string(type->name) : std::string();
    }
    ++stalls;
    stalls.notify_all();
  }
};

/// Makes the watchdog report each stalled actor. Before, it would also report actors that have only
/// lost their processor, as happens on a busy machine.
void watch_from_now_on(actor_system& system) {
  CHECK(system.set_watchdog(duration::milliseconds(4)).has_value());
}

}  // namespace

TEST_CASE("the watchdog names the actor and the message of a handler that does not return, once") {
  stall_probe probe;
  latch l;
  settings o;
  o.scheduler.workers = 2;
  o.watchdog.after = duration::milliseconds(4);
  o.log.level = system::log_level::off;
  o.probe = &probe;
  actor_system system(o);
  auto h = system.spawn<holder>(lent(&l), std::vector<ref<toy>>{});
  send(h, hold{});
  const auto is_named = [&] {
    const std::lock_guard g(probe.m);
    CHECK(probe.who == h.id());
    return probe.what.find("hold") != std::string::npos;
  };
  // On a busy machine its start may be reported, too.
  for (int n = 0;; n = probe.stalls) {
    probe.stalls.wait(n);
    if (is_named()) break;
  }
  l.open = true;
  l.open.notify_all();
}

namespace {

struct holds_again : actor<protocol<void(hold)>> {
  latch* l;
  explicit holds_again(latch* x) : l(x) {}
  void on(hold) {
    ++l->touched;
    l->touched.notify_all();
    l->open.wait(false);
    ++l->touched;
    l->touched.notify_all();
  }
};

}  // namespace

TEST_CASE("the watchdog names a detached actor once in its life, and a blocking one never") {
  stall_probe probe;
  latch of_blocking, first, second;
  settings o;
  o.scheduler.workers = 1;
  o.watchdog.after = {};
  o.log.level = system::log_level::off;
  o.probe = &probe;
  actor_system system(o);
  const auto blocking = system.spawn(lent([&l = of_blocking](blocking_actor&) {
    l.touched = 1;
    l.touched.notify_all();
    l.open.wait(false);
  }));
  of_blocking.touched.wait(0);
  const auto a = system.spawn<holds_again>(spawn_options{.detached = true}, lent(&first));
  send(a, hold{});
  first.touched.wait(0);
  watch_from_now_on(system);
  probe.stalls.wait(0);
  first.open = true;
  first.open.notify_all();
  for (int n = first.touched; n < 2; n = first.touched) first.touched.wait(n);
  first.open = false;
  send(a, hold{});
  for (int n = first.touched; n < 3; n = first.touched) first.touched.wait(n);
  CHECK(system.set_watchdog(duration()).has_value());
  // The watchdog reports the other handlers before this one, which came last.
  const auto b = system.spawn<holds_again>(spawn_options{.detached = true}, lent(&second));
  send(b, hold{});
  second.touched.wait(0);
  watch_from_now_on(system);
  probe.stalls.wait(1);
  {
    const std::lock_guard g(probe.m);
    CHECK(probe.all == std::vector<std::uint64_t>{a.id(), b.id()});
    CHECK(probe.workers == std::vector<std::uint32_t>(2, base::probe::no_worker));
    CHECK(probe.what.find("hold") != std::string::npos);
  }
  for (latch* l : {&of_blocking, &first, &second}) {
    l->open = true;
    l->open.notify_all();
  }
}

TEST_CASE("the watchdog's report is logged with the actor's name, its id, its message and advice" *
          doctest::skip(HAS_SANITIZER)) {
  for (const bool logged : {true, false}) {
    const auto [text, status] = in_child([&] {
      stall_probe probe;
      latch l;
      settings o;
      o.scheduler.workers = 1;
      o.watchdog.after = {};
      o.probe = &probe;
      if (!logged) o.log.level = system::log_level::error;
      actor_system system(o);
      const auto h =
          system.spawn<holder>(spawn_options{.name = "clerk"}, lent(&l), std::vector<ref<toy>>{});
      send(h, hold{});
      l.held.wait(false);
      watch_from_now_on(system);
      probe.stalls.wait(0);
      l.open = true;
      l.open.notify_all();
    });
    CHECK(WIFEXITED(status));
    if (!logged) CHECK(text.empty());
    if (!logged) continue;
    CHECK(text.find("watchdog: actor clerk#") != std::string::npos);
    CHECK(text.find("has been handling") != std::string::npos);
    CHECK(
        text.find("hold for more than 4 ms: a blocking call or an endless loop holds its worker") !=
        std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  }
}

namespace {

/// Sends more than fits into the receivers' mailboxes.
struct filler : actor<protocol<void(hold), void(touch)>> {
  ref<protocol<void(hold)>> to;
  explicit filler(ref<protocol<void(hold)>> t) : to(std::move(t)) {}
  void on(hold) { fill(); }
  void on(touch) { fill(); }
  void fill() {
    for (int i = 0; i < 10; ++i) send(to, hold{});
  }
};

/// Returns the watchdog's log when an actor that `depth` sends run inside one another is stalled.
std::string report_of_a_stall_inside_sends(int depth) {
  const auto [text, status] = in_child([&] {
    stall_probe probe;
    latch l;
    settings o;
    o.scheduler.workers = 1;
    o.mailbox.soft_limit = 4;
    o.watchdog.after = {};
    o.probe = &probe;
    actor_system system(o);
    ref<protocol<void(hold)>> next =
        system.spawn<holder>(spawn_options{.name = "clerk"}, lent(&l), std::vector<ref<toy>>{});
    for (int i = 1; i < depth; ++i)
      next = system.spawn<filler>(spawn_options{.name = "stage"}, next);
    send(system.spawn<filler>(spawn_options{.name = "boss"}, next), touch{});
    l.held.wait(false);
    watch_from_now_on(system);
    probe.stalls.wait(0);
    l.open = true;
    l.open.notify_all();
  });
  CHECK(WIFEXITED(status));
  return text;
}

}  // namespace

TEST_CASE(
    "the watchdog names the sender that runs an actor in place that stands still, and the scope "
    "that forbids it" *
    doctest::skip(HAS_SANITIZER)) {
  const auto place_of = [](const std::string& text, const char* what) {
    CAPTURE(text);
    CAPTURE(what);
    const std::size_t at = text.find(what);
    CHECK(at != std::string::npos);
    return at;
  };
  const std::string one = report_of_a_stall_inside_sends(1);
  CHECK(place_of(one, "actor clerk#") < place_of(one, ", inside a send of actor boss#"));
  CHECK(place_of(one, "touch: the receiver was full") < place_of(one, "lock that clerk wants"));
  place_of(one, "no_in_place_scope");
  const std::string two = report_of_a_stall_inside_sends(2);
  CHECK(place_of(two, "inside a send of actor stage#") <
        place_of(two, "hold, inside a send of actor boss#"));
  const std::string many = report_of_a_stall_inside_sends(7);
  place_of(many, ", inside 3 sends that run their receivers in place, inside a send of");
  place_of(many, "inside a send of actor boss#");
}

TEST_CASE(
    "under every policy a handler that never yields is named, and the others run the actors queued "
    "at its worker") {
  for (const std::string& policy : sched::available_policies()) {
    CAPTURE(policy);
    stall_probe probe;
    latch l;
    settings o;
    o.scheduler.workers = 2;
    o.scheduler.policy = policy;
    // half of the queued actors have their home at the stalled worker, far from the other
    o.scheduler.machine = "pack:2 numa:1 l3:1 core:1 pu:1";
    o.watchdog.after = {};
    o.log.level = system::log_level::off;
    o.probe = &probe;
    actor_system system(o);
    std::vector<ref<toy>> others;
    for (int i = 0; i < 50; ++i) others.push_back(system.spawn<touchable>(lent(&l)));
    const auto h = system.spawn<holder>(lent(&l), others);
    send(h, hold{});
    for (int n = l.touched; n < 50; n = l.touched) l.touched.wait(n);
    CHECK(l.touched == 50);
    for (const auto& r : others)
      while ((core::handle_access::get(r)->gate().peek() & core::mailbox_word::idle) == 0)
        std::this_thread::yield();
    watch_from_now_on(system);
    probe.stalls.wait(0);
    {
      const std::lock_guard g(probe.m);
      CHECK(probe.all == std::vector<std::uint64_t>{h.id()});
      CHECK(probe.workers[0] < 2);
    }
    // Messages from outside are not left at the stalled worker either.
    for (int round = 0; round < 20; ++round)
      for (const auto& r : others) send(r, touch{});
    for (int n = l.touched; n < 21 * 50; n = l.touched) l.touched.wait(n);
    l.open = true;
    l.open.notify_all();
  }
}

namespace {

struct recursive : actor<protocol<void(deep), void(touch)>> {
  static int dive(int n) {
    volatile char frame[4096] = {};
    frame[0] = static_cast<char>(n);
    return n == 0 ? 0 : dive(n - 1) + frame[0];
  }
  void on(deep d) { static_cast<void>(dive(d.n)); }
  void on(touch) {
    // volatile: the compiler must not see that this is not an object
    volatile std::uintptr_t nowhere = 8;
    *reinterpret_cast<volatile int*>(nowhere) = 1;
  }
};

}  // namespace

TEST_CASE("a stack overflow is reported with the actor's name and the process aborts" *
          doctest::skip(HAS_SANITIZER)) {
  for (const bool detached : {false, true}) {
    const auto [text, status] = in_child([detached] {
      settings o;
      o.scheduler.workers = 1;
      actor_system system(o);
      auto r = system.spawn<recursive>(spawn_options{.name = "diver", .detached = detached});
      send(r, deep{10'000'000});
      static_cast<void>(system.await_all());
    });
    CHECK(text.find("stack overflow in actor diver#") != std::string::npos);
    CHECK(text.find("deep") != std::string::npos);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGABRT);
  }
}

TEST_CASE(
    "logging is quiet: a program in which nothing goes wrong says nothing, and a failure is logged "
    "with the actor's name and id" *
    doctest::skip(HAS_SANITIZER)) {
  for (const bool fails : {false, true}) {
    const auto [text, status] = in_child([fails] {
      actor_system system;
      const auto work = [](dynamic_actor& self) -> behavior {
        return {[](int n) {
                  if (n < 0) throw std::invalid_argument("below zero");
                  return n;
                },
                [&self](touch) { self.quit(); }};
      };
      const auto a = system.spawn(spawn_options{.name = "worker"}, work);
      const auto b = system.spawn(spawn_options{.detached = true}, work);
      static_cast<void>(system.request_as<int>(b, 1).get());
      send(b, touch{});
      static_cast<void>(system.request_as<int>(a, fails ? -1 : 1).get());
      if (!fails) send(a, touch{});
      static_cast<void>(system.shutdown(duration::seconds(5)));
    });
    CHECK(WIFEXITED(status));
    if (fails) {
      CHECK(text.find("worker#") != std::string::npos);
      CHECK(text.find("below zero") != std::string::npos);
      CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    } else {
      CHECK(text.empty());
    }
  }
}

TEST_CASE("another fault ends the process as it would without us" * doctest::skip(HAS_SANITIZER)) {
  const auto [text, status] = in_child([] {
    actor_system system;
    auto r = system.spawn<recursive>();
    send(r, touch{});
    static_cast<void>(system.await_all());
  });
  CHECK(text.find("overflow") == std::string::npos);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
}

TEST_CASE("destroying a system on one of its own threads stops the process with advice" *
          doctest::skip(HAS_SANITIZER)) {
  const auto [text, status] = in_child([] {
    auto* system = new actor_system;
    auto a = system->spawn(lent(
        [system](dynamic_actor&) -> behavior { return {[system](touch) { delete system; }}; }));
    send(a, touch{});
    for (;;) ::pause();
  });
  CHECK(text.find("destroyed by one of its own") != std::string::npos);
  CHECK(WTERMSIG(status) == SIGABRT);
}

// ---- dead letters -------------------------------------------------------------------------------

namespace {

struct letters_seen {};
using collecting =
    protocol<void(system::dead_letter), std::vector<system::dead_letter>(letters_seen), void(hold)>;
struct collector : actor<collecting> {
  latch* l;
  std::vector<system::dead_letter> all;
  explicit collector(latch* x) : l(x) {}
  void on(const system::dead_letter& d) { all.push_back(d); }
  std::vector<system::dead_letter> on(letters_seen) { return all; }
  void on(hold) {
    l->touched = 1;
    l->touched.notify_all();
    l->open.wait(false);
  }
};
using failing = protocol<void(note)>;
struct failing_actor : actor<failing> {
  void on(const note& n) { throw std::runtime_error("no " + n.text); }
};

settings silent(std::uint32_t backlog) {
  settings o;
  o.scheduler.workers = 2;
  o.dead_letters.backlog = backlog;
  o.log.level = system::log_level::off;
  return o;
}

}  // namespace

TEST_CASE("a subscriber hears of dead letters: sender, receiver, type, content and reason") {
  latch l;
  actor_system system(silent(100));
  auto c = system.spawn<collector>(lent(&l));
  system.dead_letters().subscribe(c);
  auto f = system.spawn<failing_actor>();
  send(f, note{"tea", 7});
  while (!core::handle_access::get(f)->has_ended()) std::this_thread::yield();
  send(f, note{"late", 8});
  CHECK(system.dead_letter_count(errc::receiver_failed) == 1);
  CHECK(system.dead_letter_count(errc::not_handled) == 1);
  CHECK(system.dead_letter_count() == 2);
  const auto all = system.request(c, letters_seen{}).get().value();
  REQUIRE(all.size() == 2);
  CHECK(all[0].receiver == f.id());
  CHECK(all[0].sender == 0);
  CHECK(all[0].type.find("note") != std::string::npos);
  CHECK(all[0].content.find("tea") != std::string::npos);
  CHECK(all[0].reason == errc::receiver_failed);
  CHECK(all[0].reason.to_string().find("no tea") != std::string::npos);
  CHECK(all[1].reason == errc::not_handled);
  system.dead_letters().unsubscribe(c);
  send(f, note{"unheard", 9});
  CHECK(system.request(c, letters_seen{}).get().value().size() == 2);
}

TEST_CASE(
    "a subscriber that does not keep up gets no more than its backlog, and learns how many it "
    "missed") {
  latch l;
  actor_system system(silent(10));
  auto c = system.spawn<collector>(lent(&l));
  system.dead_letters().subscribe(c);
  auto f = system.spawn<failing_actor>();
  system.kill(f);
  while (!core::handle_access::get(f)->has_ended()) std::this_thread::yield();
  send(c, hold{});
  l.touched.wait(0);
  for (int i = 0; i < 100; ++i) send(f, note{"x", i});
  l.open = true;
  l.open.notify_all();
  const auto some = system.request(c, letters_seen{}).get().value();
  CHECK(some.size() <= 10);
  // the length is published when a batch ends
  while (c.mailbox_length() != 0) std::this_thread::yield();
  send(f, note{"last", 100});
  const auto all = system.request(c, letters_seen{}).get().value();
  REQUIRE(all.size() == some.size() + 1);
  CHECK(all.back().suppressed == 100 - some.size());
  CHECK(system.dead_letter_count() == 101);
}

TEST_CASE("a subscriber that ends is no trouble") {
  latch l;
  actor_system system(silent(10));
  auto c = system.spawn<collector>(lent(&l));
  system.dead_letters().subscribe(c);
  system.kill(c);
  while (!core::handle_access::get(c)->has_ended()) std::this_thread::yield();
  auto f = system.spawn<failing_actor>();
  send(f, note{"x", 1});
  while (!core::handle_access::get(f)->has_ended()) std::this_thread::yield();
  CHECK(system.dead_letter_count(errc::receiver_failed) == 1);
}

}  // namespace diagnosis_test
