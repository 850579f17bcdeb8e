// Refusals of a node: settings that cannot work, calls on threads that may not wait, and calls when
// the node is about to end.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <support/quiet.hpp>

namespace refusals_test {

using namespace garrick;
using net::node;

struct question {
  std::int64_t n = 0;
};
using echo_type = protocol<std::int64_t(question)>;
class echo : public actor<echo_type> {
 public:
  std::int64_t on(question q) { return q.n; }
};

bool says(const error& why, std::string_view text) {
  return why.to_string().find(text) != std::string::npos;
}

/// Calls a node's functions that wait.
class waiter : public actor<echo_type> {
 public:
  waiter(node& by, std::vector<error>& told) : by_(by), told_(told) {}
  std::int64_t on(question q) {
    const std::string nowhere = "tcp://127.0.0.1:1";
    told_.push_back(by_.connect(nowhere).error());
    told_.push_back(by_.remote<echo_type>(nowhere, "echo").error());
    told_.push_back(by_.spawn<echo_type>(nowhere, "echo").error());
    return q.n;
  }

 private:
  node& by_;
  std::vector<error>& told_;
};

/// Makes further calls of a node that ends.
class latecomer : public net::peer_listener {
 public:
  latecomer(node& whom, ref<echo_type> who) : whom_(whom), who_(std::move(who)) {}
  void changed(const net::peer_identity&, net::peer_change what, const error&) override {
    if (what != net::peer_change::down) return;
    const auto published = whom_.publish("late", who_);
    const auto allowed = whom_.allow<echo>("late");
    const std::lock_guard lock(mutex_);
    told_ = {published ? error() : published.error(), allowed ? error() : allowed.error()};
  }
  [[nodiscard]] std::vector<error> told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  node& whom_;
  const ref<echo_type> who_;
  mutable std::mutex mutex_;
  std::vector<error> told_;  // under mutex_
};

TEST_CASE("refusals: a stack that does not confirm, or is none, or stands on another transport") {
  actor_system system(tests::quiet());
  const auto told = [&](const char* stream, const char* datagrams, const std::string& at) {
    net::node_settings s;
    s.stream_stack = stream;
    s.datagram_stack = datagrams;
    node n(system, s);
    const auto door = n.listen(at + ":1");
    REQUIRE(!door.has_value());
    CHECK(door.error() == errc::invalid_setting);
    const auto link = n.connect(at + ":1");
    REQUIRE(!link.has_value());
    CHECK(link.error() == errc::invalid_setting);
    CHECK(link.error().to_string() == door.error().to_string());
    CHECK(net::check(s).to_string() == door.error().to_string());
    return door.error();
  };
  CHECK(says(told("plain_stream", "datagrams", "tcp://127.0.0.1"), "'plain_stream' does not"));
  CHECK(says(told("stream", "plain_datagrams", "udp://127.0.0.1"), "'plain_datagrams' does not"));
  CHECK(says(told("stream", "ordered_datagrams", "udp://127.0.0.1"), "does not confirm"));
  const error unknown = told("steam", "datagrams", "tcp://127.0.0.1");
  CHECK(says(unknown, "'steam'"));
  CHECK(says(unknown, "plain_stream, datagrams"));  // the known stacks
  CHECK(says(told("datagrams", "datagrams", "tcp://127.0.0.1"), "datagrams stands on"));
  CHECK(says(told("stream", "stream", "udp://127.0.0.1"), "stream stands on"));
  // A node needs no stack for a transport that it does not use; `check` looks at both.
  net::node_settings s;
  s.datagram_stack = "nope";
  CHECK(says(net::check(s), "node_settings.datagram_stack: there is no stack 'nope'"));
  CHECK(node(system, s).listen("tcp://127.0.0.1:0").has_value());
}

TEST_CASE("refusals: settings that are nonsense are named, with their limits") {
  actor_system system(tests::quiet());
  const auto refused = [&](auto change, std::string_view setting, std::string_view allowed) {
    CAPTURE(setting);
    net::node_settings s;
    change(s);
    node n(system, s);
    const auto door = n.listen("tcp://127.0.0.1:0");
    REQUIRE(!door.has_value());
    const auto link = n.connect("tcp://127.0.0.1:1");
    REQUIRE(!link.has_value());
    const auto found = n.remote<echo_type>("tcp://127.0.0.1:1", "echo");
    REQUIRE(!found.has_value());
    for (const error& e : {door.error(), link.error(), found.error()}) {
      CHECK_MESSAGE(e == errc::invalid_setting, e.to_string());
      CHECK_MESSAGE(says(e, setting), e.to_string());
      CHECK_MESSAGE(says(e, allowed), e.to_string());
    }
  };
  using settings = net::node_settings;
  static constexpr duration negative = duration::nanoseconds(-1);
  constexpr std::string_view some = "0, where 1 to 4294967295 is allowed";
  constexpr std::string_view not_negative = "-1ns, where 0 and more is allowed";
  refused([](settings& s) { s.most_under_way = 0; }, "node_settings.most_under_way", some);
  refused([](settings& s) { s.most_questions = 0; }, "node_settings.most_questions", some);
  refused([](settings& s) { s.most_bytes_waiting = 0; }, "node_settings.most_bytes_waiting",
          "0, where 1 to ");
  refused([](settings& s) { s.patience = negative; }, "node_settings.patience", not_negative);
  refused([](settings& s) { s.leave_limit = negative; }, "node_settings.leave_limit", not_negative);
  refused([](settings& s) { s.after_down = static_cast<net::peer_return>(2); },
          "node_settings.after_down", "net::peer_return");
  // Refused settings of the layers and of the transport.
  refused([](settings& s) { s.link.mailbox.messages = 0; }, "net.reconnect_messages",
          "0 is below 1");
  refused([](settings& s) { s.link.session.resume_window = s.link.session.down_after * 2; },
          "net.failure_detection_down_after", "must not be below the resume window");
  refused([](settings& s) { s.link.session.down_after = negative; },
          "net.failure_detection_down_after", "must not be below");
  refused([](settings& s) { s.link.session.handshake_limit = {}; },
          "net.failure_detection_handshake_limit", "above zero");
  refused([](settings& s) { s.transport.high_water = 0; }, "high_water", "nothing could be sent");
  refused([](settings& s) { s.transport.attempt_limit = negative; }, "attempt_limit", "above zero");
  refused([](settings& s) { s.transport.close_limit = negative; }, "close_limit", "below zero");
}

TEST_CASE("refusals: the settings of a listener are looked at when it is to listen") {
  actor_system system(tests::quiet());
  const auto refused = [&](auto change, std::string_view setting) {
    net::node_settings s;
    change(s.accept);
    const auto door = node(system, s).listen("tcp://127.0.0.1:0");
    REQUIRE(!door.has_value());
    CHECK_MESSAGE(door.error() == errc::invalid_setting, door.error().to_string());
    CHECK_MESSAGE(says(door.error(), setting), door.error().to_string());
  };
  refused([](net::accept_limits& l) { l.connections = 0; }, "connections");
  refused([](net::accept_limits& l) { l.pending = 0; }, "pending");
  refused([](net::accept_limits& l) { l.admission = {}; }, "admission");
}

TEST_CASE("refusals: a node of no threads, or of too many, is not made") {
  actor_system system(tests::quiet());
  for (const std::size_t threads : {std::size_t{0}, std::size_t{1025}}) {
    net::node_settings s;
    s.io.threads = threads;
    CHECK_THROWS_WITH_AS(node(system, s), "io_settings::threads is 1 to 1024",
                         std::invalid_argument);
  }
}

TEST_CASE("refusals: settings at their limits work") {
  actor_system system(tests::quiet());
  actor_system other(tests::quiet());
  net::node_settings s;
  s.most_under_way = 1;
  s.most_bytes_waiting = 1;
  s.most_questions = 1;
  s.most_exports = s.most_watches = s.most_spawned = 1;
  s.leave_limit = {};
  CHECK(!net::check(s));
  node a(system, s);
  node b(other, s);
  REQUIRE(a.publish("echo", system.spawn<echo>()).has_value());
  const auto at = a.listen("tcp://127.0.0.1:0");
  REQUIRE(at.has_value());
  const auto found = b.remote<echo_type>(at->to_string(), "echo");
  REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
  // Each request waits until the one before it is known to be there.
  for (std::int64_t i = 0; i < 20; ++i)
    CHECK(other.request(*found, question{i}).get().value() == i);
}

TEST_CASE("refusals: no call on a worker waits for another node") {
  actor_system system(tests::quiet());
  node here(system);
  std::vector<error> told;
  const auto asking = system.spawn<waiter>(lent(here), lent(told));
  REQUIRE(system.request(asking, question{3}).get().value() == 3);
  REQUIRE(told.size() == 3);
  for (const error& why : told) {
    CHECK_MESSAGE(why == errc::would_block, why.to_string());
    CHECK_MESSAGE(why.to_string().find("(*this, ...)") != std::string::npos, why.to_string());
  }
}

TEST_CASE(
    "refusals: an empty handle is not published, and an actor without a name has none to lose") {
  actor_system system(tests::quiet());
  node here(system);
  CHECK(here.publish("nobody", ref<echo_type>()).error() == registry_errc::empty_handle);
  CHECK(!here.unpublish("nobody"));
  REQUIRE(here.publish("echo", system.spawn<echo>()).has_value());
  CHECK(here.unpublish("echo"));
  CHECK(!here.unpublish("echo"));
  CHECK(!here.disallow("echo"));
}

TEST_CASE("refusals: a node that ends takes nothing more") {
  actor_system left(tests::quiet());
  actor_system right(tests::quiet());
  node a(left);
  auto b = std::make_unique<node>(right);
  const auto at = a.listen("tcp://127.0.0.1:0");
  REQUIRE(at.has_value());
  const auto late = std::make_shared<latecomer>(*b, right.spawn<echo>());
  b->subscribe(late);
  REQUIRE(b->connect(at->to_string()).has_value());
  b.reset();
  REQUIRE(late->told().size() == 2);
  for (const error& why : late->told()) CHECK_MESSAGE(why == errc::shutting_down, why.to_string());
}

}  // namespace refusals_test
