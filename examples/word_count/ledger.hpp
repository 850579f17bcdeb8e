// The ledger of one part of the words, and the keeper of its state.
//
// A ledger's state is a map that is built during the whole run, and a ledger may fail at any
// moment, in the middle of a change. So:
// 1. A ledger sends its additions to its keeper, which applies them to a copy. The ledger waits for
// the keeper's answer (`await`).
// 2. A new incarnation requests the copy before it handles any other message.
// 3. The foreman's audit finds the units that the copy lacks, and they are counted again. Units in
// the copy are recognised by their numbers and not added twice.
// 4. A restarted keeper is empty. Its ledger's request fails at once, and the ledger sends its
// whole state.
//
// If a ledger fails before it has filled its restarted keeper, the part begins at zero, and the
// audit finds all its units missing: this is slower, but never wrong.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

namespace word_count {

class ledger_actor : public garrick::actor<ledger_protocol> {
 public:
  ledger_actor(garrick::ref<keeper_protocol> keeper, chaos* fate)
      : keeper_(std::move(keeper)), chaos_(fate) {}

  void on_start();
  /// Adds the batch. Ignores it if the ledger holds one of its units, or has worked on another
  /// plan: such a batch is from the stream of a failed foreman.
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
