// The shipped mailbox, and the planted bugs in a copy of it, under every order that a thousand
// seeds make.
#include <garrick/machine/internal/planted/mailbox_life.hpp>

#include <doctest/doctest.h>

using namespace garrick::machine;
using garrick::machine::internal::planted::bug;
using garrick::machine::internal::planted::life_plan;
using garrick::machine::internal::planted::planted_mailbox;
using garrick::machine::internal::planted::shipped_mailbox;

namespace {

constexpr std::uint64_t seeds = 1000;

constexpr life_plan plain{};
constexpr life_plan with_signals{.producers = 1, .messages = 3, .signals = 3};
constexpr life_plan with_an_end{.messages = 4, .signals = 1, .ends_after = 3};
constexpr life_plan with_urgent{.messages = 5, .urgent_one_in = 2};
constexpr life_plan with_an_urgent_chain{.messages = 4, .urgent_chain = 24};
constexpr life_plan with_own_handles{.producers = 1, .messages = 2, .gives_itself_away = true};

template <class Mailbox>
interleaving_failure explore_life(const life_plan& plan) {
  return find_interleaving(
      seeds, [&](interleaving& run) { internal::planted::mailbox_life<Mailbox>(run, plan).go(); });
}

template <bug Bug>
interleaving_failure find(const life_plan& plan) {
  return explore_life<planted_mailbox<Bug>>(plan);
}

}  // namespace

TEST_CASE("the shipped mailbox keeps its invariants under every seed") {
  for (const life_plan& plan :
       {plain, with_signals, with_an_end, with_urgent, with_an_urgent_chain, with_own_handles})
    CHECK(explore_life<shipped_mailbox>(plan).text == "");
}

TEST_CASE("the copy without a bug keeps them, too") {
  for (const life_plan& plan :
       {plain, with_signals, with_an_end, with_urgent, with_an_urgent_chain, with_own_handles})
    CHECK(find<bug::none>(plan).text == "");
}

TEST_CASE("planted: a wake-up decided from an old look is lost or doubled") {
  CHECK(find<bug::lost_wake_up>(plain).text == "a message was lost");
}
TEST_CASE("planted: a release that overlooks arrivals loses the wake-up") {
  CHECK(find<bug::wake_up_before_release>(plain).text == "a message was lost");
}
TEST_CASE("planted: two pushers schedule one actor: a double run") {
  CHECK(find<bug::double_run>(plain).text ==
        "double run: the actor was scheduled while it was scheduled or running");
}
TEST_CASE("planted: an envelope that the word still names is freed early") {
  CHECK(find<bug::early_free>(plain).text == "a message was lost");
}
TEST_CASE("planted: the runner touches the actor after it gave it up") {
  CHECK(find<bug::touch_after_release>(plain).text ==
        "double run: the actor was scheduled while it was scheduled or running");
}
TEST_CASE("planted: a message is lost when the mailbox closes") {
  CHECK(find<bug::lost_on_close>(with_an_end).text == "a message was lost");
}
TEST_CASE("planted: a signal is announced before it is there") {
  CHECK(find<bug::signal_before_link>(with_signals).text == "a signal was lost");
}
TEST_CASE("planted: the announcement of a signal is wiped out") {
  CHECK(find<bug::signal_tag_after_take>(with_signals).text == "a signal was lost");
}
TEST_CASE("planted: system signals are reordered") {
  CHECK(find<bug::reordered_signals>(with_signals).text == "signals came out of order, or twice");
}
TEST_CASE("planted: messages are reordered") {
  CHECK(find<bug::reordered_messages>(plain).text ==
        "messages of one sender and priority came out of order, or twice");
}
TEST_CASE("planted: the urgent lane is not first in, first out") {
  CHECK(find<bug::reordered_urgent>(with_urgent).text ==
        "messages of one sender and priority came out of order, or twice");
}
TEST_CASE("planted: the urgent lane is unfair") {
  CHECK(find<bug::unfair_urgent>(with_an_urgent_chain).text == "normal messages starve");
}
TEST_CASE("planted: an actor is ended while a new handle to it exists") {
  CHECK(find<bug::undrop_does_not_wait>(with_own_handles).text ==
        "an actor that nobody holds was woken");
}
TEST_CASE("planted: an idle actor that nobody holds is never ended") {
  CHECK(find<bug::reclaim_ignores_idle>(plain).text == "the actor did not end exactly once");
}
