// The guarantee programs between two processes: each standard stack over real sockets, while one of
// them is stopped or killed. The checker is that of the simulated programs.
#include <support/transports.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "net/guarantees/programs.hpp"

namespace guarantees_between_processes_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

/// Returns each of the five stacks, over each transport that it supports.
class pairs {
 public:
  explicit pairs(std::uint32_t messages = 4000, int down_after_ms = 20'000)
      : messages_(messages), down_after_ms_(down_after_ms) {}
  [[nodiscard]] std::vector<pair_settings> operator()(std::uint64_t seed) const {
    std::vector<pair_settings> all;
    const auto add = [&](std::string stack, std::string where) {
      all.push_back({std::move(stack), std::move(where), seed, messages_, down_after_ms_});
    };
    add("stream", own_address("tcp", 7001));
    add("stream", "unix://" + first_);
    add("plain_stream", own_address("tcp", 7002));
    add("plain_stream", "unix://" + second_);
    add("datagrams", own_address("udp", 7003));
    add("ordered_datagrams", own_address("udp", 7004));
    add("plain_datagrams", own_address("udp", 7005));
    return all;
  }

 private:
  scratch_folder folder_;
  std::string first_ = folder_.file("first");
  std::string second_ = folder_.file("second");
  std::uint32_t messages_;
  int down_after_ms_;
};

}  // namespace

TEST_CASE("between processes: without faults everything arrives, over every stack") {
  const std::uint32_t messages = 60;
  const pairs all(messages);
  const std::string failure = explore_processes(std::ref(all), [&](two_processes& p) {
    p.until([&] { return p.seen().received() == 2 * messages; }, "everything had arrived");
    settle_without_loss(p);
  });
  CHECK_MESSAGE(failure.empty(), failure);
}

TEST_CASE(
    "between processes: a session outlives its stream, and nothing comes twice or is left out") {
  const pairs all;
  const auto over_streams = [&](std::uint64_t seed) {
    std::vector<pair_settings> streams = all(seed);
    std::erase_if(streams, [](const pair_settings& s) { return s.where.starts_with("udp"); });
    return streams;
  };
  const std::string failure = explore_processes(over_streams, [](two_processes& p) {
    lost_and_resumed(p, 10);
    if (p.ok()) settle_without_loss(p);
  });
  CHECK_MESSAGE(failure.empty(), failure);
}

TEST_CASE(
    "between processes: a stopped process is suspected, and nothing is lost when it goes on") {
  const pairs all;
  const std::string failure = explore_processes(std::ref(all), [](two_processes& p) {
    for (const std::uint32_t victim : {listener_role, connector_role}) {
      if (!both_receive(p)) return;
      p.stop(victim);
      p.until([&] { return p.seen().suspects(1 - victim); }, "a stopped process was suspected");
      p.go_on(victim);
      p.until([&] { return !p.seen().suspects(1 - victim); }, "it was trusted again");
    }
    if (both_receive(p)) settle_without_loss(p);
  });
  CHECK_MESSAGE(failure.empty(), failure);
}

TEST_CASE("between processes: a process that is stopped for too long is given up, and comes back") {
  const pairs all(4000, 600);
  const std::string failure = explore_processes(std::ref(all), [](two_processes& p) {
    for (const std::uint32_t victim : {listener_role, connector_role}) {
      if (!both_receive(p)) return;
      const std::size_t downs = p.seen().of(1 - victim).downs;
      p.stop(victim);
      p.until([&] { return p.seen().of(1 - victim).downs > downs; }, "it was given up");
      p.go_on(victim);
      // No trace of the session that is over is left at either end.
      if (!all_is_well(p)) return;
    }
    settle(p);
  });
  CHECK_MESSAGE(failure.empty(), failure);
}

TEST_CASE("between processes: a process killed in mid-stream lives again at the same address") {
  const pairs all(4000, 600);
  const std::string failure = explore_processes(std::ref(all), killed_and_started_again);
  CHECK_MESSAGE(failure.empty(), failure);
}

}  // namespace guarantees_between_processes_test
