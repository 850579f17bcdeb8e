// The guarantee programs between two processes: each standard stack over real sockets, while one of
// them is stopped or killed. The checker is that of the simulated programs.
#include <support/transports.hpp>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "net/guarantees/programs.hpp"

namespace guarantees_between_processes_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

/// Each of the five stacks, over each transport that it stands on.
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

/// A stack with a bug, what the two processes do, and how they are found out.
struct planted_bug {
  std::string stack;
  std::vector<std::string> texts;  ///< one of them; none: nothing is wrong
  guarantee_program program = [](two_processes& p) { both_receive(p, 1000); };
};

/// Runs some of them side by side.
void find_all(const std::vector<planted_bug>& bugs, int first_port) {
  std::vector<std::string> failures(bugs.size());
  std::vector<std::thread> runs;
  for (std::size_t i = 0; i != bugs.size(); ++i)
    runs.emplace_back([&, i] {
      const int port = first_port + static_cast<int>(i);
      failures[i] = run_side_by_side({{bugs[i].stack, own_address("tcp", port)}}, bugs[i].program);
    });
  for (std::thread& t : runs) t.join();
  for (std::size_t i = 0; i != bugs.size(); ++i) {
    const auto is_there = [&](const std::string& text) {
      return failures[i].find(text) != std::string::npos;
    };
    const bool right =
        bugs[i].texts.empty() ? failures[i].empty() : std::ranges::any_of(bugs[i].texts, is_there);
    CHECK_MESSAGE(right, bugs[i].stack << ": " << failures[i]);
  }
}

void until_nothing_is_due(two_processes& p) {
  if (both_receive(p, 300)) settle(p);
}
/// The listener is killed, so that the other end's link goes down.
void until_one_is_killed(two_processes& p) {
  if (!both_receive(p, 300)) return;
  p.kill(listener_role);
  p.start_again(listener_role);
  p.until([&] { return p.seen().of(connector_role).downs != 0; }, "the link was down");
}

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

TEST_CASE("between processes: who is stopped is suspected, and nothing is lost when it goes on") {
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

TEST_CASE("between processes: who is stopped for too long is given up, and comes back") {
  const pairs all(4000, 600);
  const std::string failure = explore_processes(std::ref(all), [](two_processes& p) {
    for (const std::uint32_t victim : {listener_role, connector_role}) {
      if (!both_receive(p)) return;
      const std::size_t downs = p.seen().of(1 - victim).downs;
      p.stop(victim);
      p.until([&] { return p.seen().of(1 - victim).downs > downs; }, "it was given up");
      p.go_on(victim);
      // Of the session that is over nothing is left at either end.
      if (!all_is_well(p)) return;
    }
    settle(p);
  });
  CHECK_MESSAGE(failure.empty(), failure);
}

TEST_CASE("between processes: who is killed in mid-stream lives again at the same address") {
  const pairs all(4000, 600);
  const std::string failure = explore_processes(std::ref(all), killed_and_started_again);
  CHECK_MESSAGE(failure.empty(), failure);
}

TEST_CASE("between processes: bugs that were planted in a layer are found") {
  // Of what happens side by side either may be written down first.
  find_all({{"stream_with_a_layer", {}, until_nothing_is_due},
            {"stream_that_drops", {"is missing"}},
            {"stream_that_doubles", {"came twice"}},
            {"stream_that_swaps", {"is missing", "a question came after a later one"}},
            {"stream_that_alters",
             {"was altered", "a wrong answer", "a question that nobody has asked"}}},
           7011);
  find_all({{"stream_that_changes_lanes", {"came in lane"}},
            {"stream_that_reports", {"is in nobody's mailbox"}},
            {"stream_that_doubts", {"it is unknown for another reason"}},
            {"stream_that_denies", {"it was reported as never sent, and comes"}},
            {"stream_that_denies_late", {"it was reported as never sent, and has come"}}},
           7021);
}

TEST_CASE("between processes: bugs with questions and answers are found") {
  find_all({{"stream_with_a_top", {}, until_nothing_is_due},
            {"stream_that_answers_twice", {"a question was answered twice"}},
            {"stream_that_forgets_answers", {"a question has no answer"}, until_one_is_killed},
            {"stream_that_mixes_answers", {"a wrong answer"}},
            {"stream_that_knows_better", {"an answer, and nobody has handled it"}}},
           7031);
  find_all({{"stream_that_is_impatient", {"a question was lost"}},
            {"stream_that_gives_up",
             {"a question was given up, and the link lives"},
             until_nothing_is_due},
            {"stream_that_asks_twice", {"a question came twice"}},
            {"stream_that_delays_questions", {"a question came after a later one"}},
            {"stream_that_invents_questions", {"a question that nobody has asked"}}},
           7041);
}

}  // namespace guarantees_between_processes_test
