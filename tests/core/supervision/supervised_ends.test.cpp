// The effects of kill, exit and quit on a supervised child, by its restart policy, and the object
// that runs the exit hook: the table of guide 7.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/few_threads.hpp"
#include "support/in_child.hpp"

namespace {

using namespace garrick;
using testkit::test_system;

struct fail {};
struct leave {
  error why;
};
using mortal = protocol<void(fail), void(leave), bool(int)>;
using log_of = std::shared_ptr<std::vector<std::string>>;
}  // namespace
template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<log_of> = true;
namespace {

class mortal_actor : public actor<mortal> {
 public:
  explicit mortal_actor(log_of log, bool traps = false) : log_(std::move(log)) { trap_exit(traps); }
  void on(fail) { throw std::runtime_error("failed"); }
  void on(leave l) { quit(std::move(l.why)); }
  bool on(int) { return true; }
  void on(const exit_signal& s) { log_->push_back("asked: " + s.reason.to_string()); }
  void on_exit(const exit_reason& why) { log_->push_back(why.to_string()); }

 private:
  log_of log_;
};

/// One child, and the ways to end it.
struct family {
  test_system kit{1};
  log_of log = std::make_shared<std::vector<std::string>>();
  ref<supervisor_protocol> top;
  ref<mortal> child;

  explicit family(restart_policy policy, bool traps = false)
      : top(kit.spawn<supervisor>(supervision{})),
        child(supervise<mortal_actor>(top, child_options{.name = "child", .restart = policy}, log,
                                      traps)) {
    kit.run();
  }
  /// Returns true if the child lives after this.
  bool outlives(const std::function<void(family&)>& blow) {
    blow(*this);
    kit.run();
    return kit.request(child, 1).get().has_value();
  }
};

void fails(family& f) { send(f.child, fail{}); }
void quits(family& f) { send(f.child, leave{}); }
void quits_with_an_error(family& f) { send(f.child, leave{errc::user}); }
void is_killed(family& f) { f.kit.kill(f.child); }
void is_asked_to_end(family& f) { f.kit.exit(f.child); }
void hears_of_a_failure(family& f) { f.kit.exit(f.child, errc::user); }
void hears_a_normal_reason(family& f) { f.kit.exit(f.child, exit_code::normal); }
void is_stopped(family& f) { CHECK(f.kit.request(f.top, stop_child{"child"}).get().has_value()); }

}  // namespace

TEST_CASE("how a supervised child ends decides, with its policy, whether it is restarted") {
  struct row {
    void (*blow)(family&);
    bool permanent_lives;
    bool transient_lives;
    bool temporary_lives;
  };
  for (const row& r :
       {row{fails, true, true, false}, row{quits, true, false, false},
        row{quits_with_an_error, true, true, false}, row{is_killed, true, true, false},
        row{is_asked_to_end, true, false, false}, row{hears_of_a_failure, true, true, false},
        row{hears_a_normal_reason, true, true, true}, row{is_stopped, false, false, false}}) {
    CHECK(family(permanent).outlives(r.blow) == r.permanent_lives);
    CHECK(family(transient).outlives(r.blow) == r.transient_lives);
    CHECK(family(temporary).outlives(r.blow) == r.temporary_lives);
  }
}

TEST_CASE("a child that traps exits is asked, and a kill cannot be trapped") {
  family f(temporary, true);
  CHECK(f.outlives(is_asked_to_end));
  REQUIRE(f.log->size() == 1);
  CHECK(f.log->front().starts_with("asked: "));
  CHECK_FALSE(f.outlives(is_killed));
  CHECK(f.log->size() == 2);
}

TEST_CASE("on_exit runs once on each object of a child, with the reason, before each restart") {
  family f(permanent);
  CHECK(f.outlives(fails));
  CHECK(f.outlives(is_killed));
  CHECK(f.outlives(is_asked_to_end));
  CHECK(f.outlives(quits));
  CHECK_FALSE(f.outlives(is_stopped));
  REQUIRE(f.log->size() == 5);
  CHECK((*f.log)[0].find("failed") != std::string::npos);
  CHECK((*f.log)[1] == exit_reason(exit_code::kill).to_string());
  CHECK((*f.log)[2] == exit_reason(exit_code::user_shutdown).to_string());
  CHECK((*f.log)[3] == exit_reason().to_string());
}

TEST_CASE("a sibling that is restarted with a failed child runs its exit hook, too") {
  test_system kit(1);
  const auto log = std::make_shared<std::vector<std::string>>();
  const auto other = std::make_shared<std::vector<std::string>>();
  const auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  const auto a = supervise<mortal_actor>(top, log);
  const auto b = supervise<mortal_actor>(top, other);
  kit.run();
  send(a, fail{});
  kit.run();
  CHECK(log->size() == 1);
  REQUIRE(other->size() == 1);
  CHECK(other->front() == exit_reason(exit_code::user_shutdown).to_string());
  CHECK(kit.request(b, 1).get().has_value());
}

TEST_CASE("each restart counts against max_restarts, also after a kill or an exit") {
  test_system kit(1);
  const auto log = std::make_shared<std::vector<std::string>>();
  const auto top = kit.spawn<supervisor>(supervision{.max_restarts = 2});
  const auto child = supervise<mortal_actor>(top, log);
  kit.run();
  for (int i = 0; i < 3; ++i) {
    kit.expect_alive(top);
    if (i % 2 == 0)
      kit.kill(child);
    else
      kit.exit(child);
    kit.run();
  }
  kit.expect_down(top);
}

TEST_CASE("a supervisor that gets no thread for its clock ends its children without waiting" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  settings o;
  o.scheduler.workers = 1;
  o.log.level = system::log_level::off;
  o.watchdog.after = {};
  const auto log = std::make_shared<std::vector<std::string>>();
  {
    actor_system system(o);
    auto top = system.spawn<supervisor>(supervision{});
    for (const char* name : {"first", "second"}) {
      const auto child = supervise<mortal_actor>(top, child_options{.name = name}, log, true);
      CHECK(system.request(child, 1).get().value());
    }
    const tests::room_for_threads none(0);
    system.exit(top);
    top = {};
    REQUIRE(system.await_all().has_value());
  }
  CHECK(log->size() == 2);
}
