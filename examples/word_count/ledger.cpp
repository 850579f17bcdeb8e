#include "ledger.hpp"

namespace word_count {

// [restore]
void ledger_actor::on_start() {
  request(keeper_, restore{})
      .await(
          [this](tally saved) {
            chaos_->handling(role::ledger);
            state_ = std::move(saved);
          },
          [this](const garrick::error& why) {
            // The keeper failed at this request, and is restarted. If its supervisor has given it
            // up, this ledger ends, too.
            if (why == garrick::errc::not_handled)
              quit(why);
            else
              on_start();
          });
}
// [/restore]

// [save]
void ledger_actor::on(batch b) {
  chaos_->handling(role::ledger);
  if (state_.plan == 0) state_.plan = b.plan;  // the state is empty
  if (b.plan != state_.plan || !state_.apply(b, [this] { chaos_->midway(role::ledger); })) return;
  request(keeper_, journal{state_.sequence, std::move(b)})
      .await([this] { chaos_->handling(role::ledger); },
             [this](const garrick::error&) { save_everything(); });
}

void ledger_actor::save_everything() {
  chaos_->handling(role::ledger);
  request(keeper_, replace_copy{state_})
      .await([this] { chaos_->handling(role::ledger); },
             [this](const garrick::error& why) {
               if (why == garrick::errc::not_handled)
                 quit(why);
               else
                 save_everything();
             });
}
// [/save]

unit_set ledger_actor::on(audit a) {
  chaos_->handling(role::ledger);
  if (a.plan != state_.plan) {
    state_ = {};
    state_.plan = a.plan;
    save_everything();
  }
  return state_.applied;
}

garrick::result<tally> ledger_actor::on(hand_over h) {
  chaos_->handling(role::ledger);
  if (h.plan != state_.plan) return garrick::make_error(garrick::errc::user, "another plan");
  return state_;
}

garrick::result<void> keeper_actor::on(const journal& j) {
  chaos_->handling(role::keeper);
  if (copy_.plan == 0) copy_.plan = j.added.plan;  // the copy is empty
  if (j.added.plan != copy_.plan || j.sequence != copy_.sequence + 1)
    return garrick::make_error(garrick::errc::user, "a gap in the journal");
  copy_.apply(j.added, [this] { chaos_->midway(role::keeper); });
  return {};
}

garrick::result<void> keeper_actor::on(replace_copy c) {
  chaos_->handling(role::keeper);
  copy_ = std::move(c.everything);
  return {};
}

tally keeper_actor::on(restore) {
  chaos_->handling(role::keeper);
  return copy_;
}

}  // namespace word_count
