// Puts the parts together and ranks the words. It has no state: the requester repeats the request
// if the ranker fails.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

#include <vector>

namespace word_count {

class ranker_actor : public garrick::actor<ranker_protocol> {
 public:
  ranker_actor(std::vector<garrick::ref<ledger_protocol>> ledgers, chaos* fate)
      : ledgers_(std::move(ledgers)), chaos_(fate) {}

  /// Fails if a ledger fails or lacks a unit.
  garrick::task<ranking> on(rank_all r);

 private:
  std::vector<garrick::ref<ledger_protocol>> ledgers_;
  chaos* chaos_;
};

}  // namespace word_count
