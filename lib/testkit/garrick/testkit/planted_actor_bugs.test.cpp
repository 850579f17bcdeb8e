// Ordering bugs in protocols between actors, planted on purpose: the explorer finds each within a
// thousand seeds, and passes the correct form.
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace planted_actor_bugs_test {

using namespace garrick;
using testkit::test_system;

namespace {

constexpr std::uint64_t seeds = 1000;

/// The scenario `f(kit, buggy)` must fail under one of the seeds if it is buggy, and pass under all
/// of them if it is not.
template <class F>
void must_be_found(F f) {
  const auto found = testkit::find_failure(seeds, [&](test_system& kit) { f(kit, true); });
  REQUIRE(found.has_value());
  CHECK(found->replays);
  const auto correct = testkit::find_failure(testkit::seeds_from_environment(seeds),
                                             [&](test_system& kit) { f(kit, false); });
  CHECK((correct ? correct->text : std::string()) == "");
}

struct start {};
struct stop {};
struct tick {};
struct done {};
struct job {
  int number;
};

// ---- a response counted twice: an impatient client asks again, and takes both answers -----------

/// Holds questions back until a message tells it to pass them on.
class gate_actor : public actor<protocol<void(job, any_ref), void(tick)>> {
 public:
  void on(const job& j, const any_ref& client) { waiting_.push_back({j, client}); }
  void on(const tick&) {
    for (auto& [j, client] : waiting_) send(client, j);
    waiting_.clear();
  }

 private:
  std::vector<std::pair<job, any_ref>> waiting_;
};

using counter = protocol<void(start), void(job), void(tick)>;

class counting_client : public actor<counter> {
 public:
  counting_client(ref<protocol<void(job, any_ref)>> server, bool buggy)
      : server_(std::move(server)), buggy_(buggy) {}
  void on(const start&) { ask(); }
  void on(const tick&) {
    if (!answered_) ask();  // no answer yet: ask again
  }
  void on(const job& answer) {
    if (!buggy_ && answered_) return;  // the answer to a repeated question
    answered_ = true;
    sum += answer.number;
  }
  int sum = 0;

 private:
  void ask() { send(server_, job{7}, any_ref(self())); }
  ref<protocol<void(job, any_ref)>> server_;
  bool answered_ = false;
  const bool buggy_;
};

// ---- a timer that fired before it was cancelled -------------------------------------------------

class alarm_clock : public actor<protocol<void(stop), void(tick)>> {
 public:
  explicit alarm_clock(bool buggy) : buggy_(buggy) {}
  void on_start() { alarm_ = send_after(duration::seconds(1), self(), tick{}); }
  void on(const stop&) {
    alarm_.cancel();  // too late if the tick already waits in the mailbox
    stopped_ = true;
  }
  void on(const tick&) {
    if (stopped_ && !buggy_) return;
    if (stopped_) rang_after_stop = true;
  }
  bool rang_after_stop = false;

 private:
  timer alarm_;
  bool stopped_ = false;
  const bool buggy_;
};

/// Stops the clock. A sleeper without a clock only takes turns.
class sleeper : public actor<protocol<void(tick)>> {
 public:
  explicit sleeper(ref<protocol<void(stop)>> clock) : clock_(std::move(clock)) {}
  void on(const tick&) {
    if (clock_) send(clock_, stop{});
  }

 private:
  ref<protocol<void(stop)>> clock_;
};

// ---- a restart that loses mail ------------------------------------------------------------------

class fragile_worker : public actor<protocol<void(job, ref<protocol<void(done, int)>>)>> {
 public:
  explicit fragile_worker(int breaks_at) : breaks_at_(breaks_at) {}
  void on(const job& j, const ref<protocol<void(done, int)>>& boss) {
    if (j.number == breaks_at_) throw std::runtime_error("broken");
    send(boss, done{}, j.number);
  }

 private:
  const int breaks_at_;
};

using boss = protocol<void(job), void(done, int)>;

/// Starts a new worker when the old one fails. The correct boss gives it all jobs that are not
/// done; the buggy boss only the job that it sent last.
class restarting_boss : public actor<boss> {
 public:
  explicit restarting_boss(bool buggy) : buggy_(buggy) {}
  void on_start() { hire(3); }
  void on(const job& j) {
    open_.insert(j.number);
    send(worker_, j, ref<protocol<void(done, int)>>(self()));
  }
  void on(const done&, int number) {
    open_.erase(number);
    finished.insert(number);
  }
  std::set<int> finished;

 private:
  void hire(int breaks_at) {
    worker_ = spawn<fragile_worker>(breaks_at);
    monitor(worker_, [this](const down&) {
      hire(0);
      const std::set<int> again = buggy_ && !open_.empty() ? std::set<int>{*open_.rbegin()} : open_;
      for (const int number : again)
        send(worker_, job{number}, ref<protocol<void(done, int)>>(self()));
    });
  }
  ref<protocol<void(job, ref<protocol<void(done, int)>>)>> worker_;
  std::set<int> open_;
  const bool buggy_;
};

// ---- a signal that overtakes the last message, and an end that is taken for a failure -----------

class one_shot : public actor<protocol<void(start, ref<protocol<void(done)>>)>> {
 public:
  void on(const start&, const ref<protocol<void(done)>>& to) {
    send(to, done{});
    quit();
  }
};

class impatient_parent : public actor<protocol<void(start), void(done)>> {
 public:
  explicit impatient_parent(bool buggy) : buggy_(buggy) {}
  void on_start() { trap_exit(true); }
  void on(const start&) {
    const auto child = spawn<one_shot>();
    link(child);
    send(child, start{}, ref<protocol<void(done)>>(self()));
  }
  void on(const exit_signal& s) {
    // the buggy form takes an end without a result for a failure
    if (buggy_ ? !got_result_ : !s.reason.is_normal()) reported_failure = true;
  }
  void on(const done&) { got_result_ = true; }
  bool reported_failure = false;

 private:
  bool got_result_ = false;
  const bool buggy_;
};

// ---- read, change, write in three messages ------------------------------------------------------

struct get {};
struct set_to {
  int value;
};
struct add {
  int by;
};
using cell_protocol = protocol<int(get), void(set_to), void(add)>;

class number_actor : public actor<cell_protocol> {
 public:
  int on(const get&) const { return value; }
  void on(const set_to& s) { value = s.value; }
  void on(const add& a) { value += a.by; }
  int value = 0;
};

class adding_actor : public actor<protocol<void(start)>> {
 public:
  adding_actor(ref<cell_protocol> to, bool buggy) : to_(std::move(to)), buggy_(buggy) {}
  void on(const start&) {
    if (buggy_)
      request(to_, get{}).then([this](int v) { send(to_, set_to{v + 1}); });
    else
      send(to_, add{1});
  }

 private:
  ref<cell_protocol> to_;
  const bool buggy_;
};

// ---- checked, then changed: other messages come in between --------------------------------------

struct withdraw {
  int amount;
};
class limited_account : public actor<protocol<void(withdraw)>> {
 public:
  limited_account(ref<protocol<bool(job)>> check, bool buggy)
      : check_(std::move(check)), buggy_(buggy) {}
  void on(const withdraw& w) {
    if (left < w.amount) return;
    auto answer = request(check_, job{w.amount});
    const auto pay = [this, amount = w.amount](bool good) {
      if (good) left -= amount;
    };
    if (buggy_)
      std::move(answer).then(pay);  // the next withdrawal is checked against the same money
    else
      std::move(answer).await(pay);
  }
  int left = 10;

 private:
  ref<protocol<bool(job)>> check_;
  const bool buggy_;
};

class yes_actor : public actor<protocol<bool(job)>> {
 public:
  bool on(const job&) const { return true; }
};

}  // namespace

TEST_CASE("planted: a response is counted twice") {
  must_be_found([](test_system& kit, bool buggy) {
    const auto server = kit.spawn<gate_actor>();
    const auto client = kit.spawn<counting_client>(server, buggy);
    send(client, start{});
    const auto impatience = kit.spawn(
        [](dynamic_actor& self, ref<counter> c) -> behavior {
          return {[&self, c](int) { self.send(c, tick{}); }};
        },
        ref<counter>(client));
    send(impatience, 1);
    const auto opening = kit.spawn(
        [](dynamic_actor& self, ref<protocol<void(tick)>> s) -> behavior {
          return {[&self, s](int) {
                    self.send(s, tick{});
                    self.send(any_ref(self.self()), std::string("again"));
                  },
                  [&self, s](const std::string&) { self.send(s, tick{}); }};
        },
        ref<protocol<void(tick)>>(server));
    send(opening, 1);
    kit.run();
    send(server, tick{});
    kit.run();
    kit.require(kit.inspect<counting_client>(client).sum <= 7, "one question, two answers counted");
  });
}

TEST_CASE("planted: a timer fires after it was cancelled") {
  must_be_found([](test_system& kit, bool buggy) {
    const auto clock = kit.spawn<alarm_clock>(buggy);
    kit.run();
    send(kit.spawn<sleeper>(clock), tick{});
    for (int i = 0; i < 3; ++i) send(kit.spawn<sleeper>(ref<protocol<void(stop)>>{}), tick{});
    for (int i = 0; i < 4; ++i) {
      kit.step();
      kit.advance(duration::milliseconds(300));  // time passes while other actors have work
    }
    kit.run();
    kit.require(!kit.inspect<alarm_clock>(clock).rang_after_stop,
                "the alarm rang after it was stopped");
  });
}

TEST_CASE("planted: a restart loses mail") {
  must_be_found([](test_system& kit, bool buggy) {
    const auto b = kit.spawn<restarting_boss>(buggy);
    for (int i = 1; i <= 6; ++i) send(b, job{i});
    kit.run();
    kit.require(kit.inspect<restarting_boss>(b).finished.size() == 6, "a job was forgotten");
  });
}

TEST_CASE(
    "planted: a system signal overtakes the last message, and a normal end is taken for a "
    "failure") {
  must_be_found([](test_system& kit, bool buggy) {
    const auto p = kit.spawn<impatient_parent>(buggy);
    send(p, start{});
    kit.run();
    kit.require(!kit.inspect<impatient_parent>(p).reported_failure,
                "a child that did its work is reported as failed");
  });
}

TEST_CASE("planted: two that read, change and write lose an update") {
  must_be_found([](test_system& kit, bool buggy) {
    const auto n = kit.spawn<number_actor>();
    for (int i = 0; i < 3; ++i) send(kit.spawn<adding_actor>(n, buggy), start{});
    kit.run();
    kit.require(kit.inspect<number_actor>(n).value == 3, "an update was lost");
  });
}

TEST_CASE(
    "planted: an account pays money that it does not have, because it answers others while it "
    "waits") {
  must_be_found([](test_system& kit, bool buggy) {
    const auto a = kit.spawn<limited_account>(kit.spawn<yes_actor>(), buggy);
    for (int i = 0; i < 3; ++i) send(a, withdraw{6});
    kit.run();
    kit.require(kit.inspect<limited_account>(a).left >= 0, "the account is overdrawn");
  });
}

}  // namespace planted_actor_bugs_test
