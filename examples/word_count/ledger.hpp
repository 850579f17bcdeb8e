// The ledger of one part of the words, and the keeper of its state.
//
// A ledger's state is a map that took the whole run to build, and a ledger may die at any moment,
// in the middle of a change. So:
// 1. It tells its keeper its additions, and the keeper repeats them on a copy of its own. The
//    ledger waits for the keeper's word (`await`).
// 2. A new incarnation asks for the copy before it looks at any other message.
// 3. The foreman's audit finds the gaps of the copy and has them counted again. Units in the copy
//    are recognised by their numbers and not added twice.
// 4. A keeper that died is empty. Its ledger hears at once that the request failed, and sends
//    everything.
//
// If a ledger dies before it could help its keeper up, the part begins at zero, and the audit finds
// all its units missing: slower, never wrong.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

namespace word_count {

class ledger_actor : public garrick::actor<ledger_protocol> {
 public:
  ledger_actor(garrick::ref<keeper_protocol> keeper, chaos* fate)
      : keeper_(std::move(keeper)), chaos_(fate) {}

  void on_start();
  /// Adds the batch, unless the ledger holds one of its units, or has worked on another plan: then
  /// the batch comes from a stream with a fallen foreman.
  void on(batch b);
  unit_set on(audit a);
  garrick::result<tally> on(hand_over h);

 private:
  void save_everything();

  garrick::ref<keeper_protocol> keeper_;
  chaos* chaos_;
  tally state_;
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
