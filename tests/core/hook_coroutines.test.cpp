// Hooks that are coroutines: for exit signals, ends, failed children and receive time-outs. They
// run as the coroutines of messages do, one after the other, and no waiting mail is lost silently.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace hook_coroutines_test {

namespace {

using namespace garrick;
using namespace std::chrono_literals;

using echo = protocol<int(int)>;
/// Answers after a second; ends for the number zero.
class echo_actor : public actor<echo> {
 public:
  task<int> on(int n) {
    static_cast<void>(co_await delay(1s));
    if (n == 0) quit(exit_code::user_shutdown);
    co_return n;
  }
};

using work = protocol<void(std::string), void(atom<"wait">), void(ref<echo>), void(duration),
                      void(atom<"end">), void(atom<"boom">)>;

/// Writes down its steps, and waits for a second in each hook.
class hooked : public actor<work> {
 public:
  explicit hooked(std::string& log, bool trapping = true) : log_(log) {
    trap_exit(trapping);
    log_ += "born ";
  }
  void on(const std::string& s) { log_ += s + " "; }
  task<> on(atom<"wait">) {
    log_ += "wait ";
    static_cast<void>(co_await delay(5s));
    log_ += "waited ";
  }
  void on(ref<echo> e) {
    monitor(e);
    send(e, 0);
  }
  void on(duration d) { set_receive_timeout(d); }
  void on(atom<"end">) { quit(); }
  void on(atom<"boom">) { throw std::runtime_error("boom"); }

  task<> on(exit_signal s) {
    const std::string text(s.reason.detail());
    const std::string why = text.empty() ? "exit" : text;
    log_ += "<" + why + " ";
    if (why == "at once") throw std::runtime_error("thrown at once");
    static_cast<void>(co_await delay(1s));
    if (why == "later") throw std::runtime_error("thrown later");
    log_ += why + "> ";
  }
  task<> on(down d) {
    log_ += "<down ";
    static_cast<void>(co_await delay(1s));
    log_ += std::to_string(d.monitor) + "> ";
  }
  task<> on(receive_timeout t) {
    log_ += "<silent ";
    static_cast<void>(co_await delay(12s));
    log_ += std::to_string(t.limit.count() / 1'000'000'000) + "> ";
  }

 private:
  std::string& log_;
};

exit_reason because(std::string_view why) { return make_error(errc::user, why); }

/// An actor in virtual time, and its notes.
struct stage {
  testkit::test_system kit;
  std::string log;
  ref<work> h = kit.spawn<hooked>(lent(log));
  [[nodiscard]] std::string taken() { return std::exchange(log, ""); }
};

}  // namespace

TEST_CASE("a hook for exit signals may be a coroutine: the actor's other mail waits for it") {
  stage s;
  s.kit.exit(s.h);
  s.kit.run_for(500ms);
  CHECK(s.taken() == "born <exit ");
  send(s.h, std::string("mail"));
  s.kit.run_for(30s);
  CHECK(s.taken() == "exit> mail ");
  s.kit.expect_alive(s.h);
}

TEST_CASE("a hook that is a coroutine begins behind the mail that waits, and not in an await") {
  stage s;
  send(s.h, atom<"wait">());
  send(s.h, std::string("mail"));
  s.kit.run_for(1s);
  s.kit.exit(s.h, because("one"));
  s.kit.exit(s.h, because("two"));
  s.kit.run_for(1s);
  send(s.h, std::string("later"));
  s.kit.run_for(30s);
  CHECK(s.taken() == "born wait waited mail <one one> <two two> later ");
}

TEST_CASE("hooks for ends, monitored or linked, may be coroutines") {
  stage s;
  const auto e = s.kit.spawn<echo_actor>();
  send(s.h, e);  // it ends after a second
  s.kit.run_for(1500ms);
  CHECK(s.taken() == "born <down ");
  send(s.h, std::string("mail"));
  s.kit.run_for(30s);
  CHECK(s.taken() == "1> mail ");
}

TEST_CASE("a hook for the receive time-out may be a coroutine, and its actor is not silent then") {
  stage s;
  send(s.h, duration(5s));
  s.kit.run_for(6s);
  CHECK(s.taken() == "born <silent ");
  s.kit.run_for(12s);  // it waits until 17, and then is silent until 22
  CHECK(s.taken() == "5> ");
  s.kit.run_for(3s);
  CHECK(s.taken() == "");
  s.kit.run_for(2s);
  CHECK(s.taken() == "<silent ");
  send(s.h, duration::infinite());
  s.kit.run_for(30s);
  CHECK(s.taken() == "5> ");
}

TEST_CASE("a supervisor's hook for failed children may be a coroutine") {
  struct child : actor<protocol<void(atom<"boom">)>> {
    void on(atom<"boom">) { throw std::runtime_error("boom"); }
  };
  struct boss : actor<protocol<ref<child::protocol_type>(atom<"child">)>> {
    std::string& log;
    ref<child::protocol_type> first = supervise<child>();
    explicit boss(std::string& l) : log(l) {}
    ref<child::protocol_type> on(atom<"child">) { return first; }
    task<> on(child_failed f) {
      log += f.suspended ? "<restarts " : "<ended ";
      static_cast<void>(co_await delay(1s));
      log += f.child == first.address() ? "first> " : "other> ";
    }
  };
  testkit::test_system kit;
  std::string log;
  const auto top = kit.spawn<boss>(lent(log));
  const auto c = kit.request(top, atom<"child">()).get().value();
  send(c, atom<"boom">());
  kit.run_for(30s);
  CHECK(log == "<restarts first> ");
  kit.expect_alive(c);
  kit.expect_dead_letter(errc::receiver_failed);  // the message that has failed
}

TEST_CASE("an exception of a hook that is a coroutine ends its actor, as one of any hook") {
  for (const char* const when : {"at once", "later"}) {
    stage s;
    s.kit.exit(s.h, because(when));
    s.kit.run_for(30s);
    CHECK(s.taken() == "born <" + std::string(when) + " ");
    s.kit.expect_down(s.h);
    s.kit.expect_no_dead_letters();
  }
}

TEST_CASE("a signal that waits for its hook when the actor ends is a dead letter") {
  stage s;
  send(s.h, atom<"wait">());
  s.kit.run_for(1s);
  send(s.h, atom<"end">());
  s.kit.exit(s.h, because("late"));
  s.kit.run_for(30s);
  CHECK(s.taken() == "born wait waited ");
  s.kit.expect_down(s.h);
  s.kit.expect_dead_letter<exit_signal>(errc::not_handled);
  s.kit.expect_no_dead_letters();
}

TEST_CASE("an actor that ends while its hook waits drops the hook") {
  stage s;
  s.kit.exit(s.h);
  s.kit.run_for(500ms);
  s.kit.kill(s.h);
  s.kit.run_for(30s);
  CHECK(s.taken() == "born <exit ");
  s.kit.expect_down(s.h);
}

TEST_CASE("without a trap an exit signal ends the actor, and its hook does not run") {
  testkit::test_system kit;
  std::string log;
  const auto h = kit.spawn<hooked>(lent(log), false);
  kit.exit(h, because("why"));
  kit.run_for(30s);
  CHECK(log == "born ");
  kit.expect_down(h);
}

TEST_CASE("after a restart the new object gets the waiting mail, or it is a dead letter") {
  struct bomb : actor<protocol<void(atom<"boom">)>> {
    void on(atom<"boom">) { throw std::runtime_error("boom"); }
  };
  using children = protocol<ref<work>(int), ref<bomb::protocol_type>(atom<"bomb">)>;
  struct boss : actor<children> {
    ref<work> child;
    ref<bomb::protocol_type> other;
    boss(std::string& log, bool keeps) {
      set_supervision({.strategy = one_for_all, .keep_mail = keeps});
      child = supervise<hooked>(lent(log));
      other = supervise<bomb>();
    }
    ref<work> on(int) { return child; }
    ref<bomb::protocol_type> on(atom<"bomb">) { return other; }
  };
  for (const bool keeps : {true, false}) {
    testkit::test_system kit;
    std::string log;
    const auto top = kit.spawn<boss>(lent(log), keeps);
    const auto h = kit.request(top, 1).get().value();
    send(h, atom<"wait">());
    kit.run_for(1s);
    kit.exit(h, because("kept"));
    kit.run_for(1s);
    send(kit.request(top, atom<"bomb">()).get().value(), atom<"boom">());
    kit.run_for(30s);
    CHECK(log == std::string(keeps ? "born wait born <kept kept> " : "born wait born "));
    kit.expect_dead_letter(errc::receiver_failed);
    if (!keeps) kit.expect_dead_letter<exit_signal>(errc::not_handled);
    kit.expect_no_dead_letters();
  }
}

TEST_CASE("cases of a behavior that are coroutines hear signals, and classes with behaviors do") {
  struct mixed : dynamic_actor {
    std::string& log;
    explicit mixed(std::string& l) : log(l) {
      trap_exit(true);
      become([this](down) -> task<> {
        log += "<down ";
        static_cast<void>(co_await delay(1s));
        log += "down> ";
      });
      monitor(core::address());
    }
    task<> on(exit_signal) {
      log += "<exit ";
      static_cast<void>(co_await delay(1s));
      log += "exit> ";
    }
  };
  testkit::test_system kit;
  std::string log;
  const auto m = kit.spawn<mixed>(lent(log));
  kit.run_for(30s);
  kit.exit(m);
  kit.run_for(30s);
  CHECK(log == "<down down> <exit exit> ");
}

TEST_CASE("a hook that is a coroutine works on worker threads") {
  struct watching : actor<protocol<int(ref<echo>)>> {
    int ended = 0;
    response_promise<int> asked;
    result<int> on(ref<echo> e) {
      asked = make_promise<int>();
      trap_exit(true);
      link(e);
      send(e, 0);
      return asked;
    }
    task<> on(exit_signal s) {
      static_cast<void>(co_await delay(1ms));
      asked.deliver(s.reason == exit_code::user_shutdown ? 1 : 2);
    }
  };
  struct short_lived : actor<echo> {
    int on(int n) {
      quit(exit_code::user_shutdown);
      return n;
    }
  };
  actor_system system;
  for (int i = 0; i < 20; ++i) {
    const auto w = system.spawn<watching>();
    CHECK(system.request(w, ref<echo>(system.spawn<short_lived>())).get().value() == 1);
  }
}

}  // namespace hook_coroutines_test
