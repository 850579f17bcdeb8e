// Actors of a class that leave messages in the mailbox for now (`skips`), and their receive
// time-outs.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace skipping_test {

namespace {

using namespace garrick;
using namespace std::chrono_literals;

struct query {
  std::unique_ptr<int> n;
};
struct connected {
  bool on;
};
struct boom {};
using connection = protocol<int(query), void(connected), std::string(int, std::string), void(boom),
                            std::string(atom<"log">)>;

/// Handles queries and pairs only while it is connected.
class connection_actor : public actor<connection> {
 public:
  bool skips(const query&) const { return !connected_; }
  bool skips(int, const std::string&) const { return !connected_; }

  int on(query q) {
    log_ += " q" + std::to_string(*q.n);
    return *q.n;
  }
  void on(connected c) {
    connected_ = c.on;
    if (c.on) retry_skipped();
  }
  std::string on(int n, std::string text) {
    log_ += " " + text;
    return text + std::to_string(n);
  }
  void on(boom) { throw std::runtime_error("boom"); }
  std::string on(atom<"log">) { return log_; }

 private:
  bool connected_ = false;
  std::string log_;
};

query number(int n) { return query{std::make_unique<int>(n)}; }

struct beat {};
using sleeper = protocol<void(beat), void(duration), int(atom<"count">), void(query)>;

/// Counts its receive time-outs.
class sleeper_actor : public actor<sleeper> {
 public:
  explicit sleeper_actor(duration limit = duration::infinite()) { set_receive_timeout(limit); }
  bool skips(const query&) const { return true; }
  void on(beat) {}
  void on(duration limit) { set_receive_timeout(limit); }
  int on(atom<"count">) { return told_; }
  void on(query) {}
  void on(const receive_timeout& t) {
    last_ = t.limit;
    ++told_;
  }

 private:
  int told_ = 0;
  duration last_{};
};

}  // namespace

TEST_CASE("skipped messages wait until they are tried again, in their order, before later ones") {
  testkit::test_system system;
  const auto c = system.spawn<connection_actor>();
  send(c, number(1));
  send(c, 2, std::string("two"));
  send(c, number(3));
  system.run();
  CHECK(c.mailbox_length() == 3);
  CHECK(system.request(c, atom<"log">()).get().value().empty());
  send(c, connected{true});
  send(c, number(4));
  system.run();
  CHECK(system.request(c, atom<"log">()).get().value() == " q1 two q3 q4");
  CHECK(c.mailbox_length() == 0);
}

TEST_CASE("a skipped request is answered when it is handled, and its content is as it was sent") {
  testkit::test_system system;
  const auto c = system.spawn<connection_actor>();
  auto answer = system.request(c, number(7));
  system.run();
  send(c, connected{true});
  CHECK(answer.get().value() == 7);
}

TEST_CASE("a message that is tried again too early is skipped again") {
  testkit::test_system system;
  const auto c = system.spawn<connection_actor>();
  send(c, number(1));
  send(c, connected{true});
  send(c, connected{false});
  send(c, number(2));
  system.run();
  CHECK(c.mailbox_length() == 1);
  CHECK(system.request(c, atom<"log">()).get().value() == " q1");
}

TEST_CASE("a shared message is skipped and handled like another") {
  testkit::test_system system;
  const auto c = system.spawn<connection_actor>();
  send(c, make_message(1, std::string(100, 'x')));
  system.run();
  CHECK(c.mailbox_length() == 1);
  send(c, connected{true});
  CHECK(system.request(c, atom<"log">()).get().value() == " " + std::string(100, 'x'));
}

TEST_CASE("skipped messages outlive a restart, and are dead letters after the end") {
  testkit::test_system system;
  const auto top = system.spawn<supervisor>(supervision{});
  const auto c = supervise<connection_actor>(top, child_options{.name = "connection"});
  send(c, number(1));
  send(c, boom{});
  system.run();
  CHECK(c.mailbox_length() == 1);
  auto later = system.request(c, number(2));
  system.run();
  system.kill(top);
  CHECK(later.get().error() == errc::not_handled);
}

TEST_CASE("a class hears when no message was handled for a while, again and again") {
  testkit::test_system system;
  const auto s = system.spawn<sleeper_actor>(100ms);
  const auto told = [&] { return system.request(s, atom<"count">()).get().value(); };
  system.run_for(99ms);
  CHECK(told() == 0);  // this request starts the silence again
  system.run_for(99ms);
  send(s, beat{});
  system.run();
  system.run_for(99ms);
  CHECK(told() == 0);
  system.run_for(350ms);
  CHECK(told() == 3);
}

TEST_CASE("skipped messages do not end the silence") {
  testkit::test_system system;
  const auto s = system.spawn<sleeper_actor>(100ms);
  system.run_for(60ms);
  send(s, number(1));
  system.run();
  system.run_for(60ms);
  CHECK(system.request(s, atom<"count">()).get().value() == 1);
}

TEST_CASE(
    "a receive time-out is replaced, ends with an infinite one, and is at once if it is zero") {
  testkit::test_system system;
  const auto s = system.spawn<sleeper_actor>(100ms);
  const auto told = [&] { return system.request(s, atom<"count">()).get().value(); };
  send(s, duration(1s));
  system.run();
  system.run_for(900ms);
  CHECK(told() == 0);
  send(s, duration::infinite());
  system.run();
  system.run_for(10s);
  CHECK(told() == 0);
  send(s, duration());
  system.run();
  system.run_for(1us);
  CHECK(told() > 0);
}

}  // namespace skipping_test
