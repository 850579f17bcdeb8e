// A `down` comes after everything that the dead actor had sent to its watcher.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/explore.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace order_of_down_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct item {
  int n;
};
struct go {};
struct other {};
using ints = std::vector<int>;
using sink = protocol<void(item), void(go), void(other)>;

constexpr int down_came = -1;
constexpr int items = 5;

ints all_items_then_down() {
  ints all;
  for (int i = 0; i < items; ++i) all.push_back(i);
  all.push_back(down_came);
  return all;
}

/// Sends some items at each order, the last of them before it ends.
class source : public actor<protocol<void(go), int(other)>> {
 public:
  source(ref<sink> to, bool fails) : to_(std::move(to)), fails_(fails) {}
  void on(go) {
    if (next_ < items) return send(to_, item{next_++});
    if (fails_) throw std::runtime_error("done");
    quit();
  }
  int on(other) { return 1; }

 private:
  ref<sink> to_;
  bool fails_;
  int next_ = 0;
};

/// Notes the order of arrivals, and asks for answers between.
class watcher : public actor<sink> {
 public:
  watcher(std::shared_ptr<ints> log, bool awaits) : log_(std::move(log)), awaits_(awaits) {}
  void watch(ref<source::protocol_type> who) {
    who_ = std::move(who);
    monitor(who_, [this](const down&) { log_->push_back(down_came); });
  }
  void on(item i) {
    log_->push_back(i.n);
    if (awaits_) delay(duration::milliseconds(1)).await([] {});
  }
  void on(go) {}
  void on(other) {}

 private:
  std::shared_ptr<ints> log_;
  bool awaits_;
  ref<source::protocol_type> who_;
};

void down_is_last(test_system& kit) {
  const auto log = std::make_shared<ints>();
  spawn_options how;
  if (kit.seed() % 3 == 1) {
    how.policy = mailbox_policy::reject;
    how.bound = 100;
  }
  const auto to = kit.spawn<watcher>(how, lent(log), kit.seed() % 2 == 0);
  const auto from = kit.spawn<source>(to, kit.seed() % 4 < 2);
  kit.inspect<watcher>(to).watch(from);
  for (int i = 0; i <= items; ++i) {
    send(from, go{});
    if (kit.seed() % 5 == 0) kit.step();
    send(to, other{});
  }
  kit.run_for(duration::seconds(1));
  kit.require(*log == all_items_then_down(), "the order was another one");
}

}  // namespace

TEST_CASE("a down comes after all that the dead actor had sent to its watcher, in every order") {
  struct self_watching : actor<protocol<void(ref<source::protocol_type>)>> {
    void on(ref<source::protocol_type>) {}
  };
  testkit::explore(300, down_is_last);
}

TEST_CASE("a down comes after the mail of the dead actor, on real threads") {
  actor_system system({.log = {.level = system::log_level::off}});
  for (int round = 0; round < 200; ++round) {
    core::scoped_actor me(system.env());
    const any_ref from = system.spawn(
        [](dynamic_actor& self, const any_ref& to) -> behavior {
          return {[&self, to](go) {
            for (int i = 0; i < items; ++i) self.send(to, item{i});
            self.quit();
          }};
        },
        me->self());
    ints log;
    bool over = false;
    me->monitor(from, [&](const down&) { over = true; });
    send(from, go{});
    while (!over) {
      me->receive([&](item i) { log.push_back(i.n); }, after(duration::milliseconds(1)) >> [] {});
    }
    CHECK(log.size() == items);
  }
}

TEST_CASE("a down does not come while a blocking actor waits for an answer, but after its mail") {
  actor_system system;
  core::scoped_actor me(system.env());
  struct slow : actor<protocol<int(int)>> {
    task<int> on(int n) {
      static_cast<void>(co_await delay(duration::milliseconds(5)));
      co_return n;
    }
  };
  const auto asked = system.spawn<slow>();
  const any_ref from = system.spawn(
      [](dynamic_actor& self, const any_ref& to) -> behavior {
        return {[&self, to](go) {
          self.send(to, item{7});
          self.quit();
        }};
      },
      me->self());
  ints log;
  me->monitor(from, [&](const down&) { log.push_back(down_came); });
  send(from, go{});
  CHECK(me->get(me->request(asked, 1)).value() == 1);
  CHECK(log.empty());
  me->receive([&](item i) { log.push_back(i.n); });
  while (log.size() < 2) me->receive([](other) {}, after(duration::milliseconds(1)) >> [] {});
  CHECK(log == ints{7, down_came});
}

}  // namespace order_of_down_test
