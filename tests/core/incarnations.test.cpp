// The effects of a restart on an actor; and the messages that reach an actor without an object:
// while it is suspended, while it ends, after it has ended.
#include <doctest/doctest.h>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/turn/running_cell.hpp>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace incarnations_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct item {
  int n;
};
struct fail {};
struct leave {};
struct other {};

using ints = std::vector<int>;

core::running_cell& cell_of(const core::handle& who) {
  return core::running_cell::of(*core::handle_access::get(who));
}

/// Do senders see that waiting for room in this mailbox makes no sense?
bool shows_stalled(const core::handle& who) {
  return (cell_of(who).gate().peek() & core::mailbox_word::stalled) != 0;
}

struct noting : actor<protocol<void(item), void(fail), void(leave)>> {
  std::shared_ptr<ints> seen;
  explicit noting(std::shared_ptr<ints> s = std::make_shared<ints>()) : seen(std::move(s)) {}
  void on(item i) { seen->push_back(i.n); }
  void on(fail) { throw std::runtime_error("as asked"); }
  void on(leave) { quit(); }
};

supervision after_a_second(restart_strategy strategy = one_for_one) {
  return {.strategy = strategy, .delay = {.first = duration::seconds(1), .jitter = 0}};
}

}  // namespace

TEST_CASE("a restarted child begins without the settings and behaviors of its last object") {
  test_system kit(3);
  const auto lives = std::make_shared<int>(0);
  const auto exits = std::make_shared<int>(0);
  const auto top = kit.spawn<supervisor>();
  const auto begin = [lives, exits](dynamic_actor& self) -> behavior {
    const behavior base{[&self](leave) { self.unbecome(); },
                        [](fail) { throw std::runtime_error("as asked"); },
                        [exits](const exit_signal&) { ++*exits; }};
    if (++*lives == 1) {
      self.trap_exit(true);
      self.set_unmatched(unmatched::drop);
      self.become(base);
      self.become(keep_behavior, base);
    }
    return base;
  };
  const auto child = supervise(top, child_options{.restart = transient}, lent(begin));
  const auto last = supervise(top, child_options{.restart = transient}, lent(begin));
  kit.run();
  REQUIRE(*lives == 2);
  SUBCASE("no behavior is below the first one, so that leaving it ends the actor") {
    send(child, fail{});
    kit.run();
    send(child, leave{});
    kit.run();
    kit.expect_down(child);
  }
  SUBCASE("a message that no case takes is reported") {
    send(child, other{});
    kit.run();
    kit.expect_no_dead_letters();
    send(child, fail{});
    kit.run();
    static_cast<void>(kit.expect_dead_letter<fail>(errc::receiver_failed));
    send(child, other{});
    kit.run();
    static_cast<void>(kit.expect_dead_letter<other>(errc::unexpected_message));
  }
  SUBCASE("exits are not trapped") {
    kit.exit(child);
    kit.run();
    CHECK(*exits == 1);
    send(child, fail{});
    kit.run();
    kit.exit(child);
    kit.run();
    CHECK(*exits == 1);
    kit.expect_down(child);
  }
}

TEST_CASE("a restarted child does not interleave, although its last object did") {
  struct keeping : actor<protocol<result<int>(item), void(leave)>> {
    std::vector<response_promise<int>> kept;
    result<int> on(item) {
      kept.push_back(make_promise<int>());
      return result<int>(kept.back());
    }
    void on(leave) {
      for (auto& p : kept) p.deliver(0);
      kept.clear();
    }
  };
  struct asking : actor<protocol<void(item), void(other), void(fail)>> {
    ref<keeping::protocol_type> to;
    std::shared_ptr<ints> seen;
    asking(ref<keeping::protocol_type> t, std::shared_ptr<int> lives, std::shared_ptr<ints> s)
        : to(std::move(t)), seen(std::move(s)) {
      if (++*lives == 1) interleave(true);
    }
    task<> on(item i) {
      static_cast<void>(co_await request(to, item{i}));
      seen->push_back(i.n);
    }
    void on(other) { seen->push_back(0); }
    void on(fail) { throw std::runtime_error("as asked"); }
  };
  test_system kit(3);
  const auto seen = std::make_shared<ints>();
  const auto to = kit.spawn<keeping>();
  const auto top = kit.spawn<supervisor>();
  const auto child =
      supervise<asking>(top, to, lent(std::make_shared<int>(0)), lent(std::shared_ptr(seen)));
  const auto ask_and_answer = [&](int n) {
    send(child, item{n});
    send(child, other{});
    kit.run();
    send(to, leave{});
    kit.run();
    return std::exchange(*seen, {});
  };
  CHECK(ask_and_answer(1) == ints{0, 1});
  send(child, fail{});
  kit.run();
  CHECK(ask_and_answer(2) == ints{2, 0});
}

TEST_CASE("mail that the last object has skipped is offered to the new one, and delays no other") {
  test_system kit(3);
  const auto lives = std::make_shared<int>(0);
  const auto seen = std::make_shared<ints>();
  const auto top = kit.spawn<supervisor>();
  const auto child = supervise(top, lent([lives, seen](dynamic_actor& self) -> behavior {
                                 self.set_unmatched(unmatched::skip);
                                 if (++*lives == 1)
                                   return {[](fail) { throw std::runtime_error("as asked"); }};
                                 return {[seen](item i) { seen->push_back(i.n); }};
                               }));
  send(child, item{1});
  send(child, item{2});
  kit.run();
  CHECK(cell_of(child).skipped_count() == 2);
  send(child, fail{});
  kit.run();
  CHECK(*lives == 2);
  CHECK(*seen == ints{1, 2});
  CHECK(cell_of(child).skipped_count() == 0);
  CHECK_FALSE(shows_stalled(child));
}

TEST_CASE("skipped mail that goes with a restart is counted no more") {
  test_system kit(3);
  const auto skipping = [](dynamic_actor& self) -> behavior {
    self.set_unmatched(unmatched::skip);
    return {[](leave) {}};
  };
  const auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all, .keep_mail = false});
  const auto to = supervise(top, skipping);
  const auto sibling = supervise<noting>(top);
  send(to, item{1});
  kit.run();
  CHECK(cell_of(to).skipped_count() != 0);
  send(sibling, fail{});
  kit.run();
  static_cast<void>(kit.expect_dead_letter<item>(errc::not_handled));
  CHECK(cell_of(to).skipped_count() == 0);
}

TEST_CASE("a suspended child shows its senders that it is stalled, and takes no exit signal") {
  test_system kit(3);
  supervision how = after_a_second();
  how.max_restarts = 1;
  const auto top = kit.spawn<supervisor>(how);
  const auto seen = std::make_shared<ints>();
  const auto child = supervise<noting>(top, child_options{}, lent(std::shared_ptr(seen)));
  send(child, fail{});
  kit.run();
  CHECK(shows_stalled(child));
  kit.exit(child, make_error(errc::user, "to nobody"));
  send(child, item{1});
  kit.run_for(duration::seconds(2));
  CHECK(*seen == ints{1});
  CHECK_FALSE(shows_stalled(child));
  kit.expect_alive(top);  // it was one failure, not two
}

TEST_CASE("a restart that drops mail lets in a sender that waits for room") {
  struct producer : actor<protocol<void(any_ref)>> {
    std::shared_ptr<ints> sent;
    explicit producer(std::shared_ptr<ints> s) : sent(std::move(s)) {}
    task<void> on(any_ref to) {
      auto waiting = send_when_room(to, item{2});
      const result<void> done = co_await std::move(waiting);
      sent->push_back(done.has_value() ? 1 : 0);
    }
  };
  test_system kit(3);
  supervision how = after_a_second(one_for_all);
  how.keep_mail = false;
  const auto top = kit.spawn<supervisor>(how);
  const auto seen = std::make_shared<ints>();
  const auto sent = std::make_shared<ints>();
  const auto full = supervise<noting>(
      top, child_options{.spawn = {.policy = mailbox_policy::wait, .bound = 1}}, lent(seen));
  const auto sibling = supervise<noting>(top);
  kit.run();
  send(sibling, fail{});
  kit.run();
  send(full, item{1});
  send(kit.spawn<producer>(lent(sent)), any_ref(full));
  kit.run();
  CHECK(seen->empty());
  CHECK(sent->empty());
  kit.run_for(duration::seconds(2));
  CHECK(*seen == ints{2});
  CHECK(*sent == ints{1});
}

TEST_CASE("a supervisor that is killed for good takes its children with it, and waits for none") {
  test_system kit(3);
  const auto top = kit.spawn<supervisor>();
  const auto child = supervise<noting>(top);
  kit.run();
  CHECK(core::detail::kill_cell(top.address(), exit_code::kill, true));
  kit.expect_down(top);  // on its very next turn
  kit.run();
  kit.expect_down(child);
}

TEST_CASE("a supervisor that loses its last handle inside a handler stops its children and ends") {
  test_system kit(3);
  auto top = kit.spawn<supervisor>();
  const auto child = supervise<noting>(top);
  const auto holder =
      kit.spawn(lent([kept = std::make_shared<any_ref>(top)](dynamic_actor&) -> behavior {
        return {[kept](leave) { *kept = any_ref(); }};
      }));
  top = {};
  kit.run();
  CHECK(kit.living().size() == 3);
  send(holder, leave{});
  kit.run();
  kit.expect_down(child);
  CHECK(kit.living().size() == 1);
}

TEST_CASE("a child that could not report its end answers the order to stop") {
  test_system kit(3);
  auto top = kit.spawn<supervisor>();
  const auto child = supervise<noting>(top, child_options{.restart = temporary});
  kit.run();
  top = {};  // no handle from now on, until it holds itself in order to end
  send(child, leave{});
  kit.expect<leave>().to(child);
  kit.expect_down(child);
  kit.run();
  CHECK(kit.living().empty());
  CHECK(kit.timers_pending() == 0);
}

TEST_CASE("a child that could not report its end answers the order to suspend with its group") {
  test_system kit(3);
  auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  const auto failing = supervise<noting>(top);
  const auto gone = supervise<noting>(top, child_options{.restart = transient});
  kit.run();
  send(failing, fail{});
  kit.expect<fail>().to(failing);
  top = {};  // it was told of the failure, and can be told nothing until it sets a deadline
  send(gone, leave{});
  kit.expect<leave>().to(gone);
  kit.expect_down(gone);
  kit.run();  // the group is restarted, and no deadline has to pass for it
  CHECK(kit.timers_pending() == 0);
  CHECK(kit.living().empty());
}

TEST_CASE("a child that could not report its end answers the order to restart with its group") {
  test_system kit(3);
  auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  const auto failing = supervise<noting>(top);
  const auto lives = std::make_shared<int>(0);
  const auto younger = supervise(top, lent([lives](dynamic_actor&) -> behavior {
                                   ++*lives;
                                   return {[](leave) {}};
                                 }));
  kit.run();
  send(failing, fail{});
  kit.expect<fail>().to(failing);
  top = {};
  CHECK(core::detail::kill_cell(failing.address(), exit_code::kill, true));
  kit.expect_down(failing);
  kit.run();
  CHECK(*lives == 2);  // it was the next one's turn
  CHECK(kit.timers_pending() == 0);
  CHECK(kit.living().empty());
}

TEST_CASE("an exception from the handler of a down ends the actor") {
  test_system kit(3);
  const auto watched = kit.spawn<noting>();
  const auto watcher = kit.spawn(lent([watched](dynamic_actor& self) -> behavior {
    static_cast<void>(self.monitor(watched));
    return {[](const down&) { throw std::runtime_error("too sad"); }};
  }));
  kit.run();
  kit.exit(watched);
  kit.run();
  kit.expect_down(watcher);
  CHECK(kit.failures().size() == 1);
}

TEST_CASE("two links to one actor are one: its end is reported once") {
  test_system kit(3);
  const auto ended = kit.spawn<noting>();
  const auto heard = std::make_shared<int>(0);
  const auto watcher = kit.spawn(lent([ended, heard](dynamic_actor& self) -> behavior {
    self.trap_exit(true);
    self.link(ended);
    self.link(ended);
    return {[heard](const exit_signal&) { ++*heard; }};
  }));
  kit.run();
  kit.exit(ended);
  kit.run();
  CHECK(*heard == 1);
  kit.expect_alive(watcher);
}

TEST_CASE("the end of an actor wakes a sender that waits for room in its mailbox") {
  test_system kit(3);
  const auto full = kit.spawn<noting>();
  kit.run();
  send(full, item{1});
  core::drain_lot& lot = *kit.env().lot;
  const std::uint32_t before = lot.epoch(full.id());
  REQUIRE(cell_of(full).gate().ask_to_wait());
  kit.exit(full);
  kit.expect_down(full);
  CHECK(lot.epoch(full.id()) != before);
}

TEST_CASE("a promise that is dropped after another actor has ended is broken, not lost with that") {
  struct forgetful : actor<protocol<result<int>(item)>> {
    result<int> on(item) { return result<int>(make_promise<int>()); }
  };
  test_system kit(3);
  const auto ended = kit.spawn<noting>();
  const auto to = kit.spawn<forgetful>();
  kit.run();
  kit.exit(ended);
  kit.run();
  kit.expect_down(ended);
  CHECK(kit.request(to, item{1}).get().error() == errc::broken_promise);
}

// ---- groups, windows and deadlines --------------------------------------------------------------

TEST_CASE("a temporary child is stopped with its group and does not come back") {
  test_system kit(3);
  const auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  const auto failing = supervise<noting>(top);
  const auto passing = supervise<noting>(top, child_options{.restart = temporary});
  send(failing, fail{});
  kit.run();
  kit.expect_alive(failing);
  kit.expect_down(passing);
  CHECK(kit.request(top, list_children{}).get().value().size() == 1);
}

TEST_CASE("failures exactly a window apart count together, failures further apart do not") {
  for (const auto more : {duration(), duration::nanoseconds(1)}) {
    test_system kit(3);
    const auto top =
        kit.spawn<supervisor>(supervision{.max_restarts = 1, .window = duration::seconds(10)});
    const auto child = supervise<noting>(top);
    send(child, fail{});
    kit.run();
    kit.run_for(duration::seconds(10) + more);
    send(child, fail{});
    kit.run();
    if (more.count() == 0)
      kit.expect_down(top);
    else
      kit.expect_alive(top);
  }
}

TEST_CASE("the delay before a restart begins anew after a window without failures") {
  test_system kit(3);
  const auto top = kit.spawn<supervisor>(after_a_second());
  const auto child = supervise<noting>(top);
  const auto restarted_after = [&](duration wait) {
    send(child, fail{});
    kit.run();
    kit.run_for(wait - duration::nanoseconds(1));
    CHECK_FALSE(kit.request(top, list_children{}).get().value()[0].running);
    kit.run_for(duration::nanoseconds(1));
    CHECK(kit.request(top, list_children{}).get().value()[0].running);
  };
  restarted_after(duration::seconds(1));
  restarted_after(duration::seconds(2));
  kit.run_for(duration::seconds(20));
  restarted_after(duration::seconds(1));
}

TEST_CASE("no timer outlives the order that it was set for") {
  test_system kit(3);
  const auto top = kit.spawn<supervisor>(supervision{.strategy = one_for_all});
  const auto a = supervise<noting>(top, child_options{.name = "a"});
  const auto b = supervise<noting>(top, child_options{.name = "b"});
  kit.run();
  CHECK(kit.timers_pending() == 0);
  send(a, fail{});
  kit.run();
  CHECK(kit.timers_pending() == 0);
  CHECK(kit.request(top, stop_child{"b"}).get().has_value());
  kit.run();
  CHECK(kit.timers_pending() == 0);
  kit.expect_down(b);
}

TEST_CASE("a child that comes while its supervisor stops all children is stopped, too") {
  test_system kit(3);
  const auto top = kit.spawn<supervisor>();
  const auto first = supervise<noting>(top);
  kit.run();
  send(top, stop_children{});
  kit.expect<stop_children>().to(top);
  const auto second = supervise<noting>(top);
  kit.run();
  kit.expect_down(first);
  kit.expect_down(second);
}

}  // namespace incarnations_test
