// Puts the parts together and ranks the words. Without a state: whoever needs the result asks again
// if the ranker falls.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

#include <vector>

namespace word_count {

class ranker_actor : public garrick::actor<ranker_protocol> {
 public:
  ranker_actor(std::vector<garrick::ref<counter_protocol>> counters, chaos* fate)
      : counters_(std::move(counters)), chaos_(fate) {}

  /// Fails if a counter fails or lacks a unit.
  garrick::task<ranking> on(rank_all r);

 private:
  std::vector<garrick::ref<counter_protocol>> counters_;
  chaos* chaos_;
};

}  // namespace word_count
