// Receivers whose mail another process takes, and the needs of such carriers of mail: credit for
// their senders, a run of the receiver at once, and dead letters of their own.
#include <doctest/doctest.h>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/core/seam/signals.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/quiet.hpp"

namespace drained_elsewhere_test {

namespace {

using namespace garrick;
using tests::quiet;
using numbers = protocol<void(std::uint64_t)>;
using seen = std::vector<std::uint64_t>;

/// Counts its mail, which takes credit, and ends when it is told to.
class connection final : public core::proxy_cell {
 public:
  connection(core::environment& env, std::atomic<std::uint64_t>* carried, std::uint32_t messages,
             duration patience)
      : proxy_cell(env), carried_(carried) {
    need_credit(messages, patience);
  }
  using proxy_cell::grant;
  std::string_view type_name() const noexcept override { return "connection"; }

 private:
  ~connection() = default;

  void forward(core::envelope_ptr, instant) noexcept override {
    ++*carried_;
    carried_->notify_all();
  }
  void forward_signal(core::envelope_ptr e) noexcept override {
    if (e->type == &base::message_type_of<exit_signal>)
      end(static_cast<const exit_signal*>(e->raw())->reason);
  }
  void free_self() noexcept override { delete this; }

  std::atomic<std::uint64_t>* carried_;
};

/// Counts its mail, as an actor.
class counting : public actor<numbers> {
 public:
  explicit counting(std::atomic<std::uint64_t>* count) : count_(count) {}
  void on(std::uint64_t) {
    ++*count_;
    count_->notify_all();
  }

 private:
  std::atomic<std::uint64_t>* count_;
};

ref<numbers> connect(core::environment& env, std::atomic<std::uint64_t>* carried,
                     std::uint32_t messages, duration patience) {
  return core::handle_access::adopt<numbers>(new connection(env, carried, messages, patience));
}
void grant(const ref<numbers>& out, std::uint32_t messages) {
  static_cast<connection*>(core::handle_access::get(out))->grant(messages);
}
std::int64_t credit_of(const ref<numbers>& out) {
  return static_cast<connection*>(core::handle_access::get(out))->credit();
}

/// A connection with credit for `messages`.
struct line {
  std::atomic<std::uint64_t> carried{0};
  actor_system system;
  ref<numbers> out;
  line(settings o, std::uint32_t messages, duration patience)
      : system(std::move(o)), out(connect(system.env(), &carried, messages, patience)) {}
  ~line() { out = {}; }
};

/// Sends this many messages.
struct eager : actor<numbers> {
  ref<numbers> to;
  explicit eager(ref<numbers> t) : to(std::move(t)) {}
  void on(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) send(to, i);
  }
};

constexpr duration long_patience = duration::seconds(60);

}  // namespace

TEST_CASE("credit: a sender outside waits for each grant, and no message goes without one") {
  constexpr std::uint64_t n = 2'000;
  line l(quiet(1), 4, long_patience);
  std::uint64_t granted = 4;
  std::atomic<bool> too_many{false};
  std::thread remote([&] {
    while (granted < n + 4) {
      const std::uint64_t now = l.carried.load();
      if (now > granted) too_many = true;
      if (now + 4 > granted) {
        grant(l.out, static_cast<std::uint32_t>(now + 4 - granted));
        granted = now + 4;
      } else {
        l.carried.wait(now);
      }
    }
  });
  for (std::uint64_t i = 0; i < n; ++i) send(l.out, i);
  remote.join();
  CHECK_FALSE(too_many);
  CHECK(l.carried == n);
  CHECK(credit_of(l.out) == 4);
}

TEST_CASE("credit: actors that send wait for it, and others run on the workers that are free") {
  line l(quiet(3), 1, long_patience);
  for (int i = 0; i < 2; ++i) send(l.system.spawn<eager>(l.out), std::uint64_t{500});
  for (std::uint64_t i = 1; i < 1'000; ++i) {
    for (std::uint64_t now = l.carried; now < i; now = l.carried) l.carried.wait(now);
    CHECK(l.carried <= i + 4);  // each owes two, before it waits
    grant(l.out, 1);
  }
  for (std::uint64_t now = l.carried; now < 1'000; now = l.carried) l.carried.wait(now);
  CHECK(credit_of(l.out) == 0);
}

TEST_CASE(
    "credit: a sender that may not wait goes on and owes, as does one that has waited long "
    "enough") {
  line l(quiet(1), 1, duration::milliseconds(1));
  {
    const no_wait_scope scope;
    for (std::uint64_t i = 0; i < 10; ++i) send(l.out, i);
  }
  CHECK(credit_of(l.out) == -9);
  send(l.out, std::uint64_t{10});
  CHECK(credit_of(l.out) == -10);
  grant(l.out, 11);
  send(l.out, std::uint64_t{11});
  CHECK(credit_of(l.out) == 0);
  for (std::uint64_t now = l.carried; now < 12; now = l.carried) l.carried.wait(now);
}

TEST_CASE("credit: a sender that waits goes on when the receiver ends") {
  line l(quiet(2), 0, long_patience);
  send(l.system.spawn<eager>(l.out), std::uint64_t{3});  // the third waits
  for (bool waits = false; !waits; std::this_thread::yield())
    l.system.env().lot->for_each_wait(
        [&](std::uint64_t, std::uint64_t receiver) { waits = waits || receiver == l.out.id(); });
  l.system.exit(l.out);
  CHECK(l.system.shutdown(duration::seconds(20)).complete);
  CHECK(l.system.dead_letter_count() + l.carried == 3);  // two were sent without credit
}

namespace {

/// Its answer says that a worker is free.
struct echo : actor<protocol<int(int)>> {
  int on(int i) { return i; }
};

/// An actor of a system with one worker has two messages, sends a number of messages for each
/// without credit, and pauses.
struct paused {
  line l;
  ref<numbers> sender;

  explicit paused(duration patience, std::uint64_t each = 1)
      : l(quiet(1), 0, patience), sender(l.system.spawn<eager>(l.out)) {
    for (int i = 0; i < 2; ++i) send(sender, each);
  }
  ~paused() { sender = {}; }
  void wait_for(std::uint64_t n) {
    for (std::uint64_t now = l.carried; now < n; now = l.carried) l.carried.wait(now);
  }
  void check_that_it_pauses(std::uint64_t sent, std::int64_t credit) {
    wait_for(sent);
    const auto other = l.system.spawn<echo>();
    for (int i = 0; i < 10; ++i) CHECK(l.system.request(other, i).get().value() == i);
    CHECK(l.carried == sent);
    CHECK(credit_of(l.out) == credit);
  }
};

}  // namespace

TEST_CASE("credit: an actor without credit sends, and pauses until that is paid") {
  paused p(long_patience, 2);
  p.check_that_it_pauses(2, -2);
  grant(p.l.out, 1);
  p.check_that_it_pauses(2, -1);
  grant(p.l.out, 1);
  p.check_that_it_pauses(4, -2);
  grant(p.l.out, 2);
}

TEST_CASE("credit: an actor that pauses goes on when its patience is over") {
  paused p(duration::milliseconds(1));
  p.wait_for(2);
  CHECK(credit_of(p.l.out) == -2);
}

TEST_CASE("credit: an actor that pauses goes on when the receiver ends") {
  paused p(long_patience);
  p.check_that_it_pauses(1, -1);
  p.l.system.exit(p.l.out);
  while (p.l.system.dead_letter_count() != 1) std::this_thread::yield();
}

TEST_CASE("credit: an actor pauses also when its handler has run others in place meanwhile") {
  /// Sends without credit, and then fills another actor, again and again.
  struct filling : actor<protocol<void(std::uint64_t)>> {
    ref<numbers> out, full;
    filling(ref<numbers> o, ref<numbers> f) : out(std::move(o)), full(std::move(f)) {}
    void on(std::uint64_t n) {
      send(out, n);
      for (std::uint64_t i = 0; i < 100; ++i) send(full, i);
    }
  };
  settings o = quiet(1);
  o.mailbox.soft_limit = 16;
  std::atomic<std::uint64_t> others{0};
  line l(std::move(o), 0, long_patience);
  const ref<numbers> sender =
      l.system.spawn<filling>(l.out, l.system.spawn<counting>(lent(&others)));
  for (std::uint64_t i = 0; i < 2; ++i) send(sender, i);
  for (std::uint64_t now = others; now < 100; now = others) others.wait(now);
  const auto other = l.system.spawn<echo>();
  for (int i = 0; i < 10; ++i) CHECK(l.system.request(other, i).get().value() == i);
  CHECK(l.carried == 1);
  grant(l.out, 2);
  for (std::uint64_t now = others; now < 200; now = others) others.wait(now);
  for (std::uint64_t now = l.carried; now < 2; now = l.carried) l.carried.wait(now);
}

TEST_CASE("credit: messages of start hooks without credit make no other actor pause") {
  struct told : actor<protocol<void(int)>> {
    ref<numbers> to;
    explicit told(ref<numbers> t) : to(std::move(t)) {}
    void on(int) {}
    void on_start() { send(to, std::uint64_t{1}); }
  };
  line l(quiet(1), 0, long_patience);
  std::vector<ref<protocol<void(int)>>> all;
  for (int i = 0; i < 3; ++i) all.push_back(l.system.spawn<told>(l.out));
  for (std::uint64_t now = l.carried; now < 3; now = l.carried) l.carried.wait(now);
  // The worker's next actor pauses for its own debt, and not for theirs.
  std::atomic<std::uint64_t> carried{0};
  const ref<numbers> own = connect(l.system.env(), &carried, 0, long_patience);
  const ref<numbers> sender = l.system.spawn<eager>(own);
  for (int i = 0; i < 2; ++i) send(sender, std::uint64_t{1});
  for (std::uint64_t now = carried; now < 1; now = carried) carried.wait(now);
  grant(own, 2);
  for (std::uint64_t now = carried; now < 2; now = carried) carried.wait(now);
}

TEST_CASE("credit: grants that meet actors which are about to pause lose none of them") {
  constexpr std::uint64_t senders = 8, rounds = 2'000;
  line l(quiet(2), 1, long_patience);
  std::vector<ref<numbers>> all;
  for (std::uint64_t i = 0; i < senders; ++i) all.push_back(l.system.spawn<eager>(l.out));
  std::thread grants([&] {
    for (std::uint64_t n = 1; n < senders * rounds; ++n) {
      for (std::uint64_t now = l.carried; now < n; now = l.carried) l.carried.wait(now);
      grant(l.out, 1);
    }
  });
  for (std::uint64_t i = 0; i < rounds; ++i)
    for (const auto& s : all) send(s, std::uint64_t{1});
  grants.join();
  for (std::uint64_t now = l.carried; now < senders * rounds; now = l.carried) l.carried.wait(now);
  CHECK(credit_of(l.out) == 0);
}

namespace {

/// Grants the connection credit for one message beyond the owed ones, and counts that.
class granter : public actor<numbers> {
 public:
  granter(ref<numbers> out, std::atomic<int>* grants) : out_(std::move(out)), grants_(grants) {}
  void on(std::uint64_t i) {
    if (i != 0) return;
    ++*grants_;
    grant(out_, 3);  // two are owed by then
  }

 private:
  ref<numbers> out_;
  std::atomic<int>* grants_;
};

/// Passes everything on, so that a flood of it is one of its receiver.
class passing_on : public actor<numbers> {
 public:
  explicit passing_on(ref<numbers> to) : to_(std::move(to)) {}
  void on(std::uint64_t i) {
    if (i != 3) return;  // that one floods
    for (std::uint64_t k = 0; k < 40; ++k) send(to_, k);
  }

 private:
  ref<numbers> to_;
};

/// It fills the granter, and then needs that actor's grants.
class in_need : public actor<numbers> {
 public:
  in_need(ref<numbers> granter, ref<numbers> out, const std::atomic<int>* grants, int* told)
      : granter_(std::move(granter)), out_(std::move(out)), grants_(grants), told_(told) {}
  void on(std::uint64_t i) {
    if (i != 3) return;
    for (std::uint64_t k = 0; k < 17; ++k) send(granter_, k);
    for (int k = 0; k < 3; ++k) send(out_, i);  // the third waits
    *told_ = *grants_;
  }

 private:
  ref<numbers> granter_;
  ref<numbers> out_;
  const std::atomic<int>* grants_;
  int* told_;
};

}  // namespace

TEST_CASE(
    "credit: a sender that waits for it gives back the receivers that it has claimed, at any "
    "depth") {
  for (const bool deeper : {false, true}) {
    std::atomic<int> grants{0};
    int seen_after_the_wait = 0;
    {
      settings o = quiet(2);
      o.mailbox.soft_limit = 16;
      line l(std::move(o), 0, duration::seconds(10));
      const ref<numbers> granting = l.system.spawn<granter>(l.out, lent(&grants));
      ref<numbers> to =
          l.system.spawn<in_need>(granting, l.out, lent(&grants), lent(&seen_after_the_wait));
      if (deeper) to = l.system.spawn<passing_on>(to);
      send(l.system.spawn<eager>(to), std::uint64_t{40});
    }
    CHECK(seen_after_the_wait == 1);
  }
}

namespace {

class taking : public actor<numbers> {
 public:
  explicit taking(seen* into) : into_(into) {}
  void on(std::uint64_t i) { into_->push_back(i); }

 private:
  seen* into_;
};

}  // namespace

TEST_CASE("run_in_place runs an actor that waits for its turn inside the caller, and no other") {
  struct impatient : actor<protocol<void(std::uint64_t)>> {
    ref<numbers> to;
    seen* into;
    std::vector<bool>* ran;
    impatient(ref<numbers> t, seen* s, std::vector<bool>* r) : to(std::move(t)), into(s), ran(r) {}
    void on(std::uint64_t) {
      for (std::uint64_t i = 0; i < 5; ++i) send(to, i);
      CHECK(into->empty());
      ran->push_back(run_in_place(to));
      CHECK(into->size() == 5);
      ran->push_back(run_in_place(to));  // idle
      send(to, std::uint64_t{5});
      {
        const no_in_place_scope scope;
        ran->push_back(run_in_place(to));
      }
      {
        const no_wait_scope scope;
        ran->push_back(run_in_place(to));
      }
      ran->push_back(run_in_place(ref<numbers>(self())));
      CHECK(into->size() == 5);
    }
  };
  seen into;
  std::vector<bool> ran;
  {
    actor_system system(quiet(1));
    const auto to = system.spawn<taking>(spawn_options{.lazy = true}, lent(&into));
    CHECK_FALSE(run_in_place(to));  // no worker
    send(system.spawn<impatient>(to, lent(&into), lent(&ran)), std::uint64_t{0});
    CHECK_THROWS_AS(run_in_place(ref<numbers>()), std::logic_error);
  }
  CHECK(into == seen{0, 1, 2, 3, 4, 5});
  CHECK(ran == std::vector<bool>{true, false, false, false, false});
}

TEST_CASE("report_dead_letter: a carrier of mail gives a message up, as a mailbox does") {
  testkit::test_system kit(3);
  seen into;
  const ref<numbers> to = kit.spawn<taking>(lent(&into));
  report_dead_letter(to, make_error(errc::overload, "the spool", "is full"), std::uint64_t{42});
  kit.run();
  CHECK(into.empty());
  const auto letters = kit.dead_letters();
  REQUIRE(letters.size() == 1);
  CHECK(letters[0].receiver == to.id());
  CHECK(letters[0].reason == errc::overload);
  CHECK(letters[0].content.find("42") != std::string::npos);
}

}  // namespace drained_elsewhere_test
