// The facts about an actor that are known outside: its birth, its phase, its restarts, its waiting
// mail. And errands on its own turn: their sender is always told, and the actor takes no harm.
#include <doctest/doctest.h>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/life/signals.hpp>
#include <garrick/core/turn/running_cell.hpp>
#include <garrick/core/turn/timer_record.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace looking_in_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct fail {};
struct give_birth {};

class worker : public actor<protocol<void(fail)>> {
 public:
  void on(fail) { throw std::runtime_error("told to"); }
};

class parent : public actor<protocol<void(give_birth)>> {
 public:
  void on(give_birth) {
    one_ = spawn<worker>();
    two_ = supervise<worker>(child_options{.name = "junior"});
  }

 private:
  ref<protocol<void(fail)>> one_, two_;
};

/// Spawns with options that have no type of their own.
class frugal : public actor<protocol<void(give_birth)>> {
 public:
  void on(give_birth) {
    static_cast<void>(spawn<worker>({.name = "spawned", .detached = true}));
    static_cast<void>(try_spawn<worker>({.name = "tried"}).value());
    static_cast<void>(supervise<worker>({.name = "kept"}));
  }
};

/// Notes each spawned actor.
class births final : public base::probe {
 public:
  struct note {
    std::string name, type;
    base::actor_kind kind;
    std::uint64_t actor, spawner, supervisor;
  };
  void on_actor_spawned(const base::spawned_actor& who) noexcept override {
    all.push_back({std::string(who.name), std::string(who.type), who.kind, who.actor, who.spawner,
                   who.supervisor});
  }
  [[nodiscard]] const note& of(const std::string& name) const {
    for (const note& n : all)
      if (n.name == name) return n;
    throw std::runtime_error("nobody is called " + name);
  }
  std::vector<note> all;
};

const core::cell& cell_of(const core::handle& r) { return *core::handle_access::get(r); }

}  // namespace

TEST_CASE("a probe is told an actor's spawner, type, kind and supervisor") {
  births heard;
  test_system kit({.probe = &heard});
  const auto p = kit.spawn<parent>(spawn_options{.name = "mother"});
  const auto q = kit.spawn<worker>(spawn_options{.name = "loner", .detached = true});
  send(p, give_birth{});
  kit.run();
  const auto& mother = heard.of("mother");
  CHECK(mother.actor == p.id());
  CHECK(mother.spawner == 0);
  CHECK(mother.supervisor == 0);
  CHECK(mother.type.find("parent") != std::string::npos);
  CHECK(heard.of("loner").kind == base::actor_kind::detached);
  CHECK(heard.of("loner").actor == q.id());
  const auto& junior = heard.of("junior");
  CHECK(junior.spawner == p.id());
  CHECK(junior.supervisor == p.id());
  CHECK(junior.kind == base::actor_kind::event);
  CHECK(heard.all.size() == 4);
  for (const auto& n : heard.all)
    if (n.name == junior.type) {
      CHECK(n.spawner == p.id());
      CHECK(n.supervisor == 0);
    }
}

TEST_CASE("options may stand in braces alone") {
  births heard;
  test_system kit({.probe = &heard});
  const auto top = kit.spawn<supervisor>(supervision{}, child<worker>({.name = "first"}),
                                         child<worker>({.restart = transient}), child<worker>());
  const auto p = kit.spawn<frugal>({.name = "frugal"});
  const auto tried = kit.try_spawn<worker>({.name = "tried outside"}).value();
  const auto second = supervise<worker>(top, {.name = "second"});
  send(p, give_birth{});
  kit.run();
  CHECK(heard.of("spawned").kind == base::actor_kind::detached);
  CHECK(heard.of("spawned").spawner == p.id());
  CHECK(heard.of("tried").spawner == p.id());
  CHECK(heard.of("kept").supervisor == p.id());
  CHECK(heard.of("tried outside").actor == tried.id());
  CHECK(heard.of("second").actor == second.id());
  CHECK(heard.of("second").supervisor == top.id());
  CHECK(heard.of("first").supervisor == top.id());
  CHECK(heard.all.size() == 10);
}

TEST_CASE("any thread can read where an actor is in its life, and its restarts") {
  test_system kit;
  const auto top = kit.spawn<supervisor>(
      supervision{.delay = {.first = duration::seconds(1), .longest = duration::seconds(1)}});
  const auto child = supervise<worker>(top, child_options{});
  const core::cell& c = cell_of(child);
  kit.run();
  CHECK(c.restarts() == 0);
  CHECK(c.phase() != core::life::suspended);
  for (std::uint32_t n = 1; n != 4; ++n) {
    send(child, fail{});
    kit.run_until([&] { return c.phase() == core::life::suspended; });
    CHECK(c.restarts() == n - 1);
    kit.run_until([&] { return c.phase() == core::life::running; });
    CHECK(c.restarts() == n);
  }
  CHECK(c.supervisor_id() == top.id());
  kit.kill(top);
  kit.run();
  CHECK(c.phase() == core::life::ended);
}

TEST_CASE("while actors run and fail, reading their phases disturbs no actor") {
  actor_system system;
  const auto top = system.spawn<supervisor>(supervision{.max_restarts = 1000});
  const auto child = supervise<worker>(top, child_options{});
  const core::cell& c = cell_of(child);
  for (int i = 0; i != 100; ++i) send(child, fail{});
  while (c.restarts() < 100) {
    CHECK(c.phase() <= core::life::ending);
    std::this_thread::yield();
  }
  CHECK(c.restarts() == 100);
}

namespace {

/// The findings of one look from an actor's own turn.
struct look {
  std::vector<std::string> mail;
  std::vector<core::pending_timer> timers;
};

class looking final : public core::errand {
 public:
  looking(look& to, std::size_t most) : to_(to), most_(most) {}
  void run(core::cell& self) override {
    for (const core::waiting_message& m : core::running_cell::of(self).waiting(most_)) {
      std::string text(m.type->name);
      if (m.urgent) text += " urgent";
      if (m.request) text += " asked";
      to_.mail.push_back(text);
    }
    to_.timers = core::list_timers(self, most_);
  }
  void turned_away() noexcept override { to_.mail.push_back("turned away"); }

 private:
  look& to_;
  std::size_t most_;
};

look look_into(test_system& kit, const core::handle& who, std::size_t most) {
  look found;
  core::send_errand(who.address(), std::make_unique<looking>(found, most));
  kit.run();
  return found;
}

struct tick {};
struct set_alarms {};
struct ask {};

class sleeper : public actor<protocol<void(tick), void(set_alarms), int(ask), void(int)>> {
 public:
  void on(tick) { ++ticks_; }
  void on(set_alarms) {
    send_every(duration::seconds(7), self(), tick{});
    send_after(duration::seconds(30), self(), 4);
  }
  int on(ask) const { return ticks_; }
  void on(int) {}

 private:
  int ticks_ = 0;
};

}  // namespace

TEST_CASE("an actor's timers can be listed on its turn: their receivers, types, times and counts") {
  test_system kit;
  const auto a = kit.spawn<sleeper>();
  CHECK(look_into(kit, a, 10).timers.empty());
  send(a, set_alarms{});
  kit.run();
  const base::instant began = kit.now();
  const auto timers = look_into(kit, a, 10).timers;
  REQUIRE(timers.size() == 2);
  const core::pending_timer& once = timers[timers[0].period == duration() ? 0 : 1];
  const core::pending_timer& beats = timers[timers[0].period == duration() ? 1 : 0];
  CHECK(once.target == a.id());
  CHECK(once.type == &base::message_type_of<int>);
  CHECK(once.due == began + duration::seconds(30));
  CHECK(beats.target == a.id());
  CHECK(beats.type->name.find("tick") != std::string::npos);
  CHECK(beats.due == began + duration::seconds(7));
  CHECK(beats.period == duration::seconds(7));
  CHECK(look_into(kit, a, 1).timers.size() == 1);
  CHECK(look_into(kit, a, 0).timers.empty());
  kit.run_for(duration::seconds(31));
  const auto later = look_into(kit, a, 10).timers;
  REQUIRE(later.size() == 1);
  CHECK(later[0].due == began + duration::seconds(35));
  kit.kill(a);
  kit.run();
}

TEST_CASE("waiting mail can be listed on the actor's turn, urgent ones first, up to a limit") {
  test_system kit;
  const auto a = kit.spawn<sleeper>();
  kit.run();
  send(a, 1);
  send(a, tick{});
  auto answer = kit.request(a, ask{});
  send_urgent(a, 2);
  const auto found = look_into(kit, a, 10).mail;
  REQUIRE(found.size() == 4);
  CHECK(found[0] == "int urgent");
  CHECK(found[1] == "int");
  CHECK(found[2].find("tick") != std::string::npos);
  CHECK(found[3].find("ask") != std::string::npos);
  CHECK(found[3].ends_with(" asked"));
  CHECK(answer.get().value() == 1);
  for (int i = 0; i != 100; ++i) send(a, i);
  CHECK(look_into(kit, a, 3).mail.size() == 3);
}

namespace {

class notes final : public core::errand {
 public:
  explicit notes(std::vector<std::string>& to, bool throws = false) : to_(to), throws_(throws) {}
  void run(core::cell& self) override {
    if (throws_) throw std::runtime_error("broken");
    to_.push_back("ran in phase " + std::to_string(static_cast<int>(self.phase())));
  }
  void failed(const std::exception_ptr& what) noexcept override {
    try {
      std::rethrow_exception(what);
    } catch (const std::exception& e) { to_.push_back(std::string("failed: ") + e.what()); }
  }
  void turned_away() noexcept override { to_.push_back("turned away"); }

 private:
  std::vector<std::string>& to_;
  bool throws_;
};

class adder : public actor<protocol<int(int)>> {
 public:
  int on(int x) { return sum_ += x; }

 private:
  int sum_ = 0;
};

using seen = std::vector<std::string>;

}  // namespace

TEST_CASE("an errand runs on the actor's turn") {
  testkit::test_system system;
  const auto a = system.spawn<adder>();
  seen told;
  core::send_errand(a.address(), std::make_unique<notes>(told));
  CHECK(told.empty());
  system.run();
  CHECK(told == seen{"ran in phase 1"});
}

TEST_CASE("an exception of an errand is told, and its actor goes on with its state") {
  testkit::test_system system;
  const auto a = system.spawn<adder>();
  CHECK(system.request(a, 2).get().value() == 2);
  seen told;
  core::send_errand(a.address(), std::make_unique<notes>(told, true));
  core::send_errand(a.address(), std::make_unique<notes>(told));
  system.run();
  CHECK(told == seen{"failed: broken", "ran in phase 1"});
  CHECK(system.request(a, 3).get().value() == 5);
}

TEST_CASE("an actor that has ended turns an errand away, with a handle to it or without") {
  testkit::test_system system;
  auto a = system.spawn<adder>();
  const address whom = a.address();
  system.kill(a);
  system.run();
  seen told;
  core::send_errand(whom, std::make_unique<notes>(told));
  CHECK(told == seen{"turned away"});
  a = {};
  system.run();
  core::send_errand(whom, std::make_unique<notes>(told));
  CHECK(told == seen{"turned away", "turned away"});
}

TEST_CASE("an errand behind the signal that ends its actor is told, too") {
  testkit::test_system system;
  const auto a = system.spawn<adder>();
  seen told;
  system.kill(a);
  core::send_errand(a.address(), std::make_unique<notes>(told));
  system.run();
  CHECK(told.size() == 1);
}

TEST_CASE("each of many errands to actors that end meanwhile is told once") {
  seen told[64];
  {
    actor_system system;
    for (seen& t : told) {
      const auto a = system.spawn<adder>();
      send(a, 1);
      system.exit(a);
      core::send_errand(a.address(), std::make_unique<notes>(t));
    }
  }
  for (const seen& t : told) CHECK(t.size() == 1);
}

}  // namespace looking_in_test
