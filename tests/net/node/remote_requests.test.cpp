// Requests and messages through proxies, in all the forms that actors have for local handles.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace remote_requests_test {

using namespace garrick;
using tests::listening_machine;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct job {
  std::int64_t key = 0;
};
struct note {
  std::string text;
};
struct seen {};
using worker_type = protocol<std::string(job), void(note), std::vector<std::string>(seen)>;

/// Answers each job with its name, and remembers its notes.
class worker : public actor<worker_type> {
 public:
  explicit worker(std::string name) : name_(std::move(name)) {}
  std::string on(job) { return name_; }
  void on(const note& n) { notes_.push_back(n.text); }
  std::vector<std::string> on(seen) { return notes_; }

 private:
  std::string name_;
  std::vector<std::string> notes_;
};

class shouting : public actor<protocol<std::string(std::string)>> {
 public:
  std::string on(const std::string& s) { return s + "!"; }
};

/// Passes its jobs to another actor.
class desk : public actor<worker_type> {
 public:
  explicit desk(ref<worker_type> to) : to_(std::move(to)) {}
  auto on(job j) { return delegate(to_, j); }
  void on(const note& n) { send(to_, n); }
  auto on(seen s) { return delegate(to_, s); }

 private:
  ref<worker_type> to_;
};

using silent_type = protocol<result<int>(job), std::string(seen)>;

/// Never answers a job.
class silent : public actor<silent_type> {
 public:
  result<int> on(job) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  std::string on(seen) { return std::to_string(kept_.size()); }

 private:
  std::vector<response_promise<int>> kept_;
};

constexpr int many = 100;  // a node below allows sixteen at a time

net::node_settings few_questions() { return {.most_questions = 16}; }

std::string asked_at(listening_machine& m, const ref<silent_type>& who) {
  const auto said = m.system.request(who, seen{}).get();
  return said ? *said : said.error().to_string();
}

std::vector<std::string> notes_of(listening_machine& m, const ref<worker_type>& who) {
  return m.system.request(who, seen{}).get().value();
}

TEST_CASE("remote requests: a request delegated to a third node is answered to the first") {
  three_machines m;
  const auto far = m.c.shown_to(m.b, "worker", m.c.system.spawn<worker>("c"));
  const auto near = m.b.shown_to(m.a, "desk", m.b.system.spawn<desk>(far));
  CHECK(m.a.system.request(near, job{1}).get().value() == "c");
  send(near, note{"passed on"});
  CHECK(notes_of(m.a, near) == std::vector<std::string>{"passed on"});
  // By way of another node: asker and worker share a node, and the desk is on the other.
  const auto here = m.a.system.spawn<worker>("a");
  const auto back = m.a.shown_to(m.b, "worker", here);
  const auto around = m.b.shown_to(m.a, "around", m.b.system.spawn<desk>(back));
  CHECK(m.a.system.request(around, job{1}).get().value() == "a");
}

TEST_CASE(
    "remote requests: the delegating node is lost, and the request is answered all the same") {
  three_machines m;
  const auto far = m.c.shown_to(m.b, "worker", m.c.system.spawn<worker>("c"));
  const auto near = m.b.shown_to(m.a, "desk", m.b.system.spawn<desk>(far));
  CHECK(m.a.system.request(near, job{1}).get().value() == "c");
  m.net.cut("b", "c");
  auto asked = m.a.system.request(near, job{2});
  m.a.system.run_for(ms(100));
  m.net.host("b").crash();
  CHECK(asked.get().error() == net::net_errc::perhaps_delivered);
}

TEST_CASE(
    "remote requests: fan_out asks actors of several nodes, and one that is lost is an error") {
  three_machines m;
  std::vector<ref<worker_type>> all;
  all.push_back(m.a.system.spawn<worker>("a"));
  all.push_back(m.b.shown_to(m.a, "worker", m.b.system.spawn<worker>("b")));
  all.push_back(m.c.shown_to(m.a, "worker", m.c.system.spawn<worker>("c")));
  core::scoped_actor me(m.a.system.env());
  auto answers = me->get(fan_out(*me, all, job{1})).value();
  REQUIRE(answers.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(answers[i].value() == std::string(1, "abc"[i]));
  CHECK(!me->get(first_of(*me, all, job{1})).value().empty());

  m.net.host("c").crash();
  m.a.system.run_for(duration::seconds(40));
  answers = me->get(fan_out(*me, all, job{2})).value();
  CHECK(answers[1].value() == "b");
  CHECK(answers[2].error() == errc::not_handled);
}

TEST_CASE("remote requests: routers have members on other nodes") {
  three_machines m;
  std::vector<ref<worker_type>> all;
  all.push_back(m.b.shown_to(m.a, "worker", m.b.system.spawn<worker>("b")));
  all.push_back(m.c.shown_to(m.a, "worker", m.c.system.spawn<worker>("c")));
  {
    const router<worker_type> turns(all);
    std::string by;
    for (int i = 0; i < 4; ++i) by += m.a.system.request(turns, job{i}).get().value();
    CHECK((by == "bcbc" || by == "cbcb"));
  }
  {
    const auto keyed = route_by_key(all, &job::key);
    const auto first = m.a.system.request(keyed, job{5}).get().value();
    for (int i = 0; i < 3; ++i) CHECK(m.a.system.request(keyed, job{5}).get().value() == first);
  }
  {
    const router<worker_type, least_loaded> idle(all);
    CHECK(!m.a.system.request(idle, job{1}).get().value().empty());
  }
  {
    const router<worker_type, broadcast> everybody(all);
    send(everybody, note{"all"});
    CHECK(m.a.system.request(everybody, job{1}).get().value().size() == 2);
    for (const auto& one : all) CHECK(notes_of(m.a, one) == std::vector<std::string>{"all"});
  }
  const router<worker_type> turns(all);
  m.net.host("c").crash();
  m.a.system.run_for(duration::seconds(40));
  for (int i = 0; i < 3; ++i) CHECK(m.a.system.request(turns, job{i}).get().value() == "b");
}

TEST_CASE("remote requests: members of a changing router that are lost have left it") {
  three_machines m;
  changing_router<worker_type> pool(m.a.system);
  CHECK(pool.add(m.b.shown_to(m.a, "worker", m.b.system.spawn<worker>("b"))));
  CHECK(pool.add(m.c.shown_to(m.a, "worker", m.c.system.spawn<worker>("c"))));

  CHECK(pool.members().size() == 2);
  m.net.host("c").crash();
  m.a.system.run_for(duration::seconds(40));
  CHECK(pool.members().size() == 1);
  CHECK(m.a.system.request(pool, job{1}).get().value() == "b");
}

TEST_CASE("remote requests: a pipe of actors of two nodes") {
  three_machines m;
  const auto shout = m.c.system.spawn<shouting>();
  const auto far = m.c.shown_to(m.a, "shout", shout);
  const auto near = m.b.shown_to(m.a, "worker", m.b.system.spawn<worker>("b"));
  const auto both = far * near;
  CHECK(m.a.system.request(both, job{1}).get().value() == "b!");
}

TEST_CASE("remote requests: delayed and periodic messages, which can be taken back") {
  three_machines m;
  const auto there = m.b.shown_to(m.a, "worker", m.b.system.spawn<worker>("b"));
  {
    core::scoped_actor me(m.a.system.env());
    auto late = me->send_after(ms(50), there, note{"late"});
    auto never = me->send_after(ms(50), there, note{"never"});
    auto beat = me->send_every(ms(100), there, note{"beat"});
    m.a.system.run_for(ms(40));
    CHECK(notes_of(m.a, there).empty());
    CHECK(never.cancel());
    m.a.system.run_for(ms(220));
    CHECK(beat.cancel());
    m.a.system.run_for(ms(500));
  }
  CHECK(notes_of(m.a, there) == std::vector<std::string>{"late", "beat", "beat"});
}

TEST_CASE("remote requests: trying, waiting for room, and a shared message") {
  three_machines m;
  const auto there = m.b.shown_to(m.a, "worker", m.b.system.spawn<worker>("b"));
  CHECK(!try_send(there, note{"tried"}));
  core::scoped_actor me(m.a.system.env());
  CHECK(me->get(me->send_when_room(there, note{"waited"})).has_value());
  const auto shared = make_message(note{"shared"});
  send(there, shared);
  send(there, shared);
  const any_ref anything(there);
  send(anything, note{"anything"});
  CHECK(notes_of(m.a, there) ==
        std::vector<std::string>{"tried", "waited", "shared", "shared", "anything"});
}

TEST_CASE("remote requests: an urgent one is taken before the mail that waits there") {
  // Behind a large message of its type a message is encoded outside of the link, as is one for a
  // link that another thread uses.
  for (const std::size_t size : {10u, 300'000u}) {
    CAPTURE(size);
    const std::string second(size, '2');
    three_machines m;
    const auto far = m.b.system.spawn<worker>("b");
    const auto there = m.b.shown_to(m.a, "worker", far);
    send(there, note{"first"});
    send(there, note{second});
    send_urgent(there, note{"urgent"});
    m.a.system.advance(ms(500));  // no actor runs meanwhile
    CHECK(far.mailbox_length() == 3);
    CHECK(notes_of(m.a, there) == std::vector<std::string>{"urgent", "first", second});
    core::scoped_actor me(m.a.system.env());
    CHECK(me->get(me->request_urgent(there, job{1})).value() == "b");
  }
}

TEST_CASE("remote requests: without an answer in time one costs neither node anything any more") {
  for (const bool at_the_other : {false, true}) {
    CAPTURE(at_the_other);
    three_machines m(at_the_other ? net::node_settings{} : few_questions(),
                     at_the_other ? few_questions() : net::node_settings{});
    const auto there = m.b.shown_to(m.a, "silent", m.b.system.spawn<silent>());
    for (int i = 0; i < many; ++i)
      CHECK(m.a.system.request(there, job{i}, ms(20)).get().error() == errc::timeout);
    CHECK(asked_at(m.a, there) == std::to_string(many));
  }
}

TEST_CASE(
    "remote requests: one that was dropped, or with an ended actor, costs neither node anything") {
  three_machines m(few_questions(), few_questions());
  const auto there = m.b.shown_to(m.a, "silent", m.b.system.spawn<silent>());
  const auto asks_in_vain = [](dynamic_actor& self, const ref<silent_type>& whom) -> behavior {
    static_cast<void>(self.request(whom, job{}));  // withdrawn at once
    self.request(whom, job{}).then([](int) {});
    return {[](int) {}};
  };
  for (int i = 0; i < many; ++i) {
    const auto who = m.a.system.spawn(asks_in_vain, there);
    m.a.system.run_for(ms(20));
    m.a.system.exit(who);
    m.a.system.run_for(ms(20));
  }
  // A withdrawal that comes before the actor's turn spares it the request.
  const int asked = std::stoi(asked_at(m.a, there));
  CHECK(asked >= many);
  CHECK(asked <= 2 * many);
}

TEST_CASE("remote requests: with too many of them without an answer, the next one is overload") {
  three_machines m(few_questions());
  const auto there = m.b.shown_to(m.a, "silent", m.b.system.spawn<silent>());
  core::scoped_actor me(m.a.system.env());
  std::vector<pending_response<int>> open;
  for (int i = 0; i < 14; ++i) open.push_back(me->request(there, job{i}));
  const error no = m.a.system.request(there, job{}).get().error();
  CHECK(no == errc::overload);
  CHECK_MESSAGE(no.to_string().starts_with("there is no room for more: "), no.to_string());
  m.a.system.run_for(ms(10));
  open.clear();
  CHECK(asked_at(m.a, there) == "14");
}

TEST_CASE("remote requests: one that was withdrawn before it left does not leave") {
  net::node_settings narrow;
  narrow.link.mailbox.messages = 4;
  three_machines m(narrow);
  const auto there = m.b.shown_to(m.a, "silent", m.b.system.spawn<silent>());
  CHECK(asked_at(m.a, there) == "0");
  m.net.cut("a", "b");
  {
    core::scoped_actor me(m.a.system.env());
    std::vector<pending_response<int>> open;
    for (int i = 0; i < many; ++i) {
      open.push_back(me->request(there, job{i}));
      m.a.system.run_for(ms(1));  // the stack takes a few, and no more without an answer
    }
  }
  m.net.heal("a", "b");
  const std::string asked = asked_at(m.a, there);
  CHECK(std::stoi(asked) < 10);
}

TEST_CASE("remote requests: a quarantine of the node that was asked answers them") {
  three_machines m;
  const auto far = m.b.shown_to(m.a, "silent", m.b.system.spawn<silent>());
  core::scoped_actor me(m.a.system.env());
  auto open = me->request(far, job{1});
  m.a.system.run_for(ms(50));
  m.a.node.quarantine(m.b.node.self());
  CHECK(me->get(std::move(open)).error() == net::net_errc::perhaps_delivered);
}

}  // namespace remote_requests_test
