// The guarantee programs between two processes with bugs in their stacks: the checker finds each.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <support/transports.hpp>

#include "net/guarantees/programs.hpp"

namespace planted_guarantees_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

/// A stack with a bug, the steps of the two processes, and the texts of the failures.
struct planted_bug {
  std::string stack;
  std::vector<std::string> texts;  ///< one of them is expected; if empty, no failure
  guarantee_program program = [](two_processes& p) { both_receive(p, 1000); };
};

/// Runs some of these cases side by side.
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
/// Kills the listener, so that the other end's link goes down.
void until_one_is_killed(two_processes& p) {
  if (!both_receive(p, 300)) return;
  p.kill(listener_role);
  p.start_again(listener_role);
  p.until([&] { return p.seen().of(connector_role).downs != 0; }, "the link was down");
}

}  // namespace

TEST_CASE("between processes: bugs that were planted in a layer are found") {
  // Two events that happen side by side may be recorded in either order.
  find_all(
      {{"stream_with_a_layer", {}, until_nothing_is_due},
       {"stream_that_drops", {"is missing"}},
       {"stream_that_doubles", {"came twice"}},
       {"stream_that_swaps", {"is missing", "a question came after a later one"}},
       {"stream_that_alters", {"was altered", "a wrong answer", "a question that was not asked"}}},
      7011);
  find_all({{"stream_that_changes_lanes", {"came in lane"}},
            {"stream_that_reports", {"is in no mailbox"}},
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
            {"stream_that_knows_better", {"an answer to a question that was not handled"}}},
           7031);
  find_all({{"stream_that_is_impatient", {"a question was lost"}},
            {"stream_that_gives_up",
             {"a question was given up, and the link lives"},
             until_nothing_is_due},
            {"stream_that_asks_twice", {"a question came twice"}},
            {"stream_that_delays_questions", {"a question came after a later one"}},
            {"stream_that_invents_questions", {"a question that was not asked"}}},
           7041);
}

}  // namespace planted_guarantees_test
