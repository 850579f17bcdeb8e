// A peer that is stopped holds up the actors that send to it, and nobody else.
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
/// How many of the steps have come there, or have been answered, when all were taken?
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

/// Makes all take their steps while the peer is stopped. Others are served meanwhile.
void check_that_others_run(actor_system& system, tests::other_process& other,
                           const std::vector<ref<stepping_type>>& all) {
  const auto echo = system.spawn<tests::echo>();
  other.stop();
  for (std::uint64_t i = 0; i < steps; ++i)
    for (const auto& one : all) send(one, step{});
  for (std::uint64_t i = 0; i < 200; ++i)
    CHECK(system.request(echo, tests::question{i}, duration::seconds(20)).get().value() == i + 1);
  other.go_on();
}

}  // namespace stopped_peers_test

using namespace stopped_peers_test;

TEST_CASE("stopped peers: more senders than workers hold up nobody else, and lose nothing") {
  tests::other_process other("tcp://127.0.0.1:0", 60'000);
  actor_system system(tests::quiet(2));
  net::node_settings s = tests::node_with(60'000);
  s.patience = long_time;
  net::node here(system, s);
  const auto there = here.remote<tests::service_type>(other.at, tests::service_name, long_time);
  REQUIRE(there.has_value());
  std::vector<ref<stepping_type>> all;
  for (std::uint64_t i = 0; i < 4; ++i) all.push_back(system.spawn<forwarder>(*there, 100 + i));
  check_that_others_run(system, other, all);
  for (const auto& one : all) CHECK(system.request(one, done{}, long_time).get().value() == steps);
  CHECK(system.dead_letter_count() == 0);
}

TEST_CASE("stopped peers: who asks one, as often as it likes, holds up nobody else") {
  tests::other_process other("tcp://127.0.0.1:0", 60'000);
  actor_system system(tests::quiet(2));
  net::node_settings s = tests::node_with(60'000);
  s.patience = long_time;
  net::node here(system, s);
  const auto there = here.remote<tests::service_type>(other.at, tests::service_name, long_time);
  REQUIRE(there.has_value());
  std::vector<ref<stepping_type>> all;
  for (int i = 0; i < 4; ++i) all.push_back(system.spawn<asker>(*there));
  check_that_others_run(system, other, all);
  for (const auto& one : all)
    tests::wait_until(
        [&] { return system.request(one, done{}, long_time).get().value() == steps; });
}
