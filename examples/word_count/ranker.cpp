#include "ranker.hpp"

namespace word_count {

garrick::task<ranking> ranker_actor::on(rank_all r) {
  chaos_->handling(role::ranker);
  std::vector<garrick::pending_response<tally>> answers;
  answers.reserve(ledgers_.size());
  for (const auto& ledger : ledgers_) answers.push_back(request(ledger, hand_over{r.plan}));
  lexicon all;
  for (garrick::pending_response<tally>& answer : answers) {
    garrick::result<tally> part = co_await std::move(answer);
    chaos_->handling(role::ranker);
    if (!part) co_return part.error();
    if (!part->applied.has_all(r.units))
      co_return garrick::make_error(garrick::errc::user, "a ledger lacks units");
    all.merge(part->words);  // no word is in two parts
  }
  chaos_->midway(role::ranker);
  ranking result{ranked(std::move(all))};
  co_return result;
}

}  // namespace word_count
