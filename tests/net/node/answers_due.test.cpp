// A system with actors that wait for answers of a peer has not come to its end before they are
// there.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <support/quiet.hpp>

namespace answers_due_test {

using namespace garrick;

/// A question to be answered after this time, or never if that is below zero.
struct after {
  std::int64_t ms = 0;
};
struct due {};
using oracle_type = protocol<std::int64_t(after)>;

class oracle : public actor<protocol<std::int64_t(after), void(due)>> {
 public:
  result<std::int64_t> on(after a) {
    answers_.push_back(make_promise<std::int64_t>());
    if (a.ms >= 0) send_after(duration::milliseconds(a.ms), self(), due{});
    return answers_.back();
  }
  void on(due) { answers_.back().deliver(std::int64_t{42}); }

 private:
  std::vector<response_promise<std::int64_t>> answers_;
};

struct ask {
  std::int64_t ms = 0;
};
/// Asks once, and lives until it has its answer.
class asker : public actor<protocol<void(ask)>> {
 public:
  asker(ref<oracle_type> whom, std::atomic<int>& answers)
      : whom_(std::move(whom)), answers_(answers) {}
  void on(ask a) {
    request(whom_, after{a.ms}).then([this](std::int64_t n) { answers_ += n == 42; }, [](error) {});
  }

 private:
  ref<oracle_type> whom_;
  std::atomic<int>& answers_;
};

struct two_nodes {
  std::atomic<int> answers{0};
  actor_system left{tests::quiet()};
  actor_system right{tests::quiet()};
  std::unique_ptr<net::node> a = std::make_unique<net::node>(left);
  std::unique_ptr<net::node> b = std::make_unique<net::node>(right);
  ref<protocol<std::int64_t(after), void(due)>> there = left.spawn<oracle>();

  /// Spawns an actor on the right that asks, and keeps no handle to it.
  void ask_there(std::int64_t ms) {
    const auto at = a->listen("tcp://127.0.0.1:0");
    REQUIRE(at.has_value());
    REQUIRE(a->publish("oracle", ref<oracle_type>(there)).has_value());
    const auto found = b->remote<oracle_type>(at->to_string(), "oracle");
    REQUIRE(found.has_value());
    send(right.spawn<asker>(*found, lent(answers)), ask{ms});
  }
};

TEST_CASE("answers due: await_all returns when a peer's answer has come") {
  two_nodes n;
  n.ask_there(100);
  REQUIRE(n.right.await_all().has_value());
  CHECK(n.answers == 1);
}

TEST_CASE("answers due: a system that is to end waits for a peer's answer, and then no longer") {
  two_nodes n;
  n.ask_there(300);
  const shutdown_report all = n.right.shutdown(duration::seconds(50));
  CHECK(n.answers == 1);
  CHECK(all.complete);
  CHECK(all.outside_due == 0);
}

TEST_CASE("answers due: a peer that does not answer holds up an end for as long as it may") {
  two_nodes n;
  n.ask_there(-1);
  while (n.right.env().outside_due() == 0) std::this_thread::yield();
  const shutdown_report all = n.right.shutdown(duration::milliseconds(200));
  CHECK(n.answers == 0);
  CHECK(all.outside_due == 1);
}

}  // namespace answers_due_test
