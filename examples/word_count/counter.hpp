// The counter of one part of the words, and the keeper of its state.
//
// A counter's state is a map that took the whole run to build, and a counter may die at any moment,
// in the middle of a change. So:
// 1. Every few units it tells its keeper what it did, and the keeper repeats that on a copy of its
//    own. The counter waits for the keeper's word (`await`).
// 2. A new incarnation asks for the copy before it looks at any other message.
// 3. The foreman's audit finds what the copy lacks and has it sent again. What the copy holds is
//    recognised by the unit's number and not counted twice.
// 4. A keeper that died is empty. Its counter hears at once that the request failed, and sends
//    everything.
//
// If a counter dies before it could help its keeper up, the part begins at zero, and the audit
// finds all its units missing: slower, never wrong.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

#include <vector>

namespace word_count {

class counter_actor : public garrick::actor<counter_protocol> {
 public:
  counter_actor(garrick::ref<keeper_protocol> keeper, chaos* fate)
      : keeper_(std::move(keeper)), chaos_(fate) {}

  void on_start();
  garrick::result<void> on(count_unit u);
  unit_set on(audit a);
  garrick::result<tally> on(hand_over h);

 private:
  void save();
  void save_everything();

  static constexpr std::size_t units_a_journal = 16;

  garrick::ref<keeper_protocol> keeper_;
  chaos* chaos_;
  tally state_;
  std::vector<unit_words> unsaved_;  ///< the last changes of state_, which the keeper does not know
};

class keeper_actor : public garrick::actor<keeper_protocol> {
 public:
  explicit keeper_actor(chaos* fate) : chaos_(fate) {}

  garrick::result<void> on(const journal& j);
  garrick::result<void> on(replace_copy c);
  tally on(restore);

 private:
  chaos* chaos_;
  tally copy_;
};

}  // namespace word_count
