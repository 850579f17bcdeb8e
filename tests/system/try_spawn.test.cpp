// `try_spawn` says why an actor does not begin its life: its constructor, its options, its start.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace try_spawn_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct ask {};
using plain = protocol<int(ask)>;

enum class start : std::uint8_t { well, throws, fails, quits, sends_to_itself };

class starting : public actor<plain> {
 public:
  explicit starting(start how, std::thread::id* where = nullptr) : how_(how), where_(where) {}
  void on_start() {
    if (where_ != nullptr) *where_ = std::this_thread::get_id();
    if (how_ == start::throws) throw std::runtime_error("no kitchen");
    if (how_ == start::fails) quit(make_error(errc::user, "stove", "out of gas"));
    if (how_ == start::quits) quit();
    if (how_ == start::sends_to_itself) send(self(), ask{});
  }
  int on(ask) { return ++asked_; }

 private:
  start how_;
  std::thread::id* where_;
  int asked_ = 0;
};

class starting_slowly : public actor<plain> {
 public:
  explicit starting_slowly(bool late) : late_(late) {}
  task<> on_start() {
    if (late_) static_cast<void>(co_await delay(duration::milliseconds(1)));
    throw std::runtime_error("no kitchen");
  }
  int on(ask) { return 1; }

 private:
  bool late_;
};

bool says(const error& why, const char* text) {
  return why == errc::spawn_failed && why.detail().find(text) != std::string_view::npos;
}

}  // namespace

TEST_CASE("try_spawn reports that on_start fails, by an exception or by quit with an error") {
  actor_system system({.log = {.level = system::log_level::off}});
  for (int round = 0; round < 100; ++round) {
    CHECK(says(system.try_spawn<starting>(start::throws).error(), "no kitchen"));
    CHECK(says(system.try_spawn<starting>(start::fails).error(), "out of gas"));
    const spawn_options named{.name = "cook"};
    CHECK(says(system.try_spawn<starting>(named, start::throws).error(), "cook: "));
    CHECK(says(system.try_spawn<starting_slowly>(false).error(), "no kitchen"));
  }
  CHECK(system.await_all().has_value());
}

TEST_CASE("try_spawn gives a handle to an actor that starts well, or ends without a failure") {
  actor_system system;
  const auto well = system.try_spawn<starting>(start::well);
  CHECK(system.request(well.value(), ask{}).get().value() == 1);
  const auto busy = system.try_spawn<starting>(start::sends_to_itself);
  CHECK(system.request(busy.value(), ask{}).get().value() == 2);
  const auto over = system.try_spawn<starting>(start::quits);
  CHECK(system.request(over.value(), ask{}).get().error() == errc::not_handled);
}

TEST_CASE("the start of try_spawn runs on the calling thread, its handlers do not") {
  test_system kit(1);
  std::thread::id where;
  const auto a = kit.try_spawn<starting>(start::sends_to_itself, lent(&where)).value();
  CHECK(where == std::this_thread::get_id());
  CHECK(kit.mailbox(a).size() == 1);
  CHECK(kit.request(a, ask{}).get().value() == 2);
}

TEST_CASE("try_spawn in a handler reports the start's failure, and the handler goes on") {
  test_system kit(1);
  struct parent : actor<protocol<std::string(ask)>> {
    std::string on(ask) {
      const std::string before = base::this_thread.actor == &this_cell() ? "mine" : "";
      const auto child = try_spawn<starting>(start::throws);
      const auto good = try_spawn<starting>(spawn_options{.linked = true}, start::well);
      return before + (base::this_thread.actor == &this_cell() ? " mine " : "") +
             (good ? child.error().to_string() : "");
    }
  };
  const std::string told = kit.request(kit.spawn<parent>(), ask{}).get().value();
  CHECK(told.starts_with("mine mine "));
  CHECK(told.find("no kitchen") != std::string::npos);
}

TEST_CASE("a start that fails later, or on a thread of its own, is not waited for") {
  test_system kit(1);
  const auto late = kit.try_spawn<starting_slowly>(true);
  REQUIRE(late.has_value());
  kit.run_for(duration::milliseconds(1));
  kit.expect_down(*late, exit_code::unhandled_exception);
  const auto own = kit.try_spawn<starting>(spawn_options{.detached = true}, start::throws);
  REQUIRE(own.has_value());
  kit.run();
  kit.expect_down(*own, exit_code::unhandled_exception);
}

TEST_CASE("an actor that monitors one with a failing start is told") {
  test_system kit(1);
  std::string told;
  const any_ref watcher = kit.spawn(lent([&](dynamic_actor& self) -> behavior {
    self.trap_exit(true);
    static_cast<void>(self.try_spawn<starting>(spawn_options{.linked = true}, start::throws));
    return {[&](const exit_signal& s) { told = s.reason.to_string(); }};
  }));
  kit.run();
  CHECK(told.find("no kitchen") != std::string::npos);
}

TEST_CASE("an actor that floods its spawner does not wait for the spawner's handler") {
  struct waits : base::probe {
    std::atomic<int> count{0};
    void on_sender_waits(std::uint64_t, std::uint64_t) noexcept override { ++count; }
  };
  struct item {};
  using parents = protocol<void(item), void(ask)>;
  struct child : actor<plain> {
    ref<parents> to;
    explicit child(ref<parents> t) : to(std::move(t)) {}
    void on_start() {
      for (int i = 0; i < 40; ++i) send(to, item{});
    }
    int on(ask) { return 1; }
  };
  struct parent : actor<parents> {
    void on(item) {}
    void on(ask) { CHECK(try_spawn<child>(ref<parents>(self())).has_value()); }
  };
  waits seen;
  {
    settings o;
    o.scheduler.workers = 1;
    o.mailbox.soft_limit = 16;
    o.probe = &seen;
    actor_system system(o);
    send(system.spawn<parent>(), ask{});
  }
  CHECK(seen.count == 0);
}

}  // namespace try_spawn_test
