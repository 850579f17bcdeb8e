// A peer that is stopped holds up the actors that send to it, and no others.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/other_process.hpp"
#include "net/node/peer/service.hpp"

namespace stopped_peers_test {

using namespace garrick;

struct step {};
/// Asks how many of the steps have come there or were answered, when all were taken.
struct done {};
using stepping_type = protocol<void(step), std::uint64_t(done)>;

/// Sends the next number with each step.
class forwarder : public actor<stepping_type> {
 public:
  forwarder(ref<tests::service_type> to, std::uint64_t number)
      : to_(std::move(to)), number_(number) {}
  void on(step) { send(to_, tests::numbered{number_, next_++}); }
  task<std::uint64_t> on(done) {
    auto asked = request(to_, tests::how_many{number_});
    co_return static_cast<std::uint64_t>((co_await std::move(asked)).value());
  }

 private:
  ref<tests::service_type> to_;
  const std::uint64_t number_;
  std::uint64_t next_ = 0;
};

/// Asks with each step. Its requests have a limit.
class asker : public actor<stepping_type> {
 public:
  explicit asker(ref<tests::service_type> to) : to_(std::move(to)) {}
  void on(step) {
    request(to_, tests::question{1}, duration::seconds(60)).then([this](std::uint64_t) {
      ++answers_;
    });
  }
  std::uint64_t on(done) { return answers_; }

 private:
  ref<tests::service_type> to_;
  std::uint64_t answers_ = 0;
};

constexpr std::uint64_t steps = 500;  // more than the first credit
constexpr duration long_time = duration::seconds(60);

/// Two workers, and a peer in a process of its own.
struct stopped_peer {
  tests::other_process other;
  actor_system system{tests::quiet(2)};
  net::node here;
  ref<tests::service_type> there;
  std::vector<ref<stepping_type>> all;

  explicit stopped_peer(int down_after_ms = 60'000, std::uint32_t under_way = 8192)
      : other("tcp://127.0.0.1:0", down_after_ms), here(system, patient(down_after_ms, under_way)) {
    there = here.remote<tests::service_type>(other.at, tests::service_name, long_time).value();
  }
  /// Lets all take their steps while the peer is stopped, and checks that others are served.
  void check_that_others_run(std::uint64_t each = steps) {
    const auto echo = system.spawn<tests::echo>();
    other.stop();
    for (std::uint64_t i = 0; i < each; ++i)
      for (const auto& one : all) send(one, step{});
    for (std::uint64_t i = 0; i < 200; ++i)
      CHECK(system.request(echo, tests::question{i}, duration::seconds(20)).get().value() == i + 1);
  }

 private:
  static net::node_settings patient(int down_after_ms, std::uint32_t under_way) {
    net::node_settings s = tests::node_with(down_after_ms);
    s.patience = long_time;
    s.most_under_way = under_way;
    return s;
  }
};

TEST_CASE("stopped peers: more senders than workers hold up no other actor, and lose nothing") {
  stopped_peer p;
  for (std::uint64_t i = 0; i < 4; ++i)
    p.all.push_back(p.system.spawn<forwarder>(p.there, 100 + i));
  p.check_that_others_run();
  p.other.go_on();
  for (const auto& one : p.all)
    CHECK(p.system.request(one, done{}, long_time).get().value() == steps);
  CHECK(p.system.dead_letter_count() == 0);
}

TEST_CASE("stopped peers: a caller that waits for one in vain is told its address") {
  stopped_peer p;
  p.other.stop();
  const auto late = p.here.remote<tests::service_type>(p.other.at, tests::service_name,
                                                       duration::milliseconds(20));
  p.other.go_on();
  CHECK(late.error() == errc::timeout);
  const std::string text = late.error().to_string();
  CHECK_MESSAGE(text.ends_with(p.other.at + ": it has not answered in that time"), text);
}

TEST_CASE("stopped peers: many more senders than messages may be under way lose none") {
  stopped_peer p(60'000, 8);
  for (std::uint64_t i = 0; i < 100; ++i)
    p.all.push_back(p.system.spawn<forwarder>(p.there, 100 + i));
  p.check_that_others_run(3);
  p.other.go_on();
  for (const auto& one : p.all) CHECK(p.system.request(one, done{}, long_time).get().value() == 3);
  CHECK(p.system.dead_letter_count() == 0);
}

TEST_CASE("stopped peers: an actor that asks one, as often as it likes, holds up no other") {
  stopped_peer p;
  for (int i = 0; i < 4; ++i) p.all.push_back(p.system.spawn<asker>(p.there));
  p.check_that_others_run();
  p.other.go_on();
  for (const auto& one : p.all)
    tests::wait_until(
        [&] { return p.system.request(one, done{}, long_time).get().value() == steps; });
}

TEST_CASE("stopped peers: an actor that has paused for one goes on when it is down") {
  stopped_peer p(500);
  for (std::uint64_t i = 0; i < 4; ++i)
    p.all.push_back(p.system.spawn<forwarder>(p.there, 100 + i));
  p.check_that_others_run();
  p.other.kill();
  tests::wait_until([&] { return p.system.dead_letter_count() == 4 * steps; });
}

}  // namespace stopped_peers_test
