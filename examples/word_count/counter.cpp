#include "counter.hpp"

namespace word_count {

// [restore]
void counter_actor::on_start() {
  request(keeper_, restore{})
      .await(
          [this](tally saved) {
            chaos_->handling(role::counter);
            state_ = std::move(saved);
          },
          [this](const garrick::error& why) {
            // The keeper fell over this request: it is coming back. If it is gone for good, so is
            // this counter.
            if (why == garrick::errc::not_handled)
              quit(why);
            else
              on_start();
          });
}
// [/restore]

garrick::result<void> counter_actor::on(count_unit u) {
  chaos_->handling(role::counter);
  if (state_.plan == 0) state_.plan = u.plan;  // a blank state
  if (u.plan != state_.plan)
    return garrick::make_error(garrick::errc::user, "a unit of another plan");
  if (!state_.apply(u.content, [this] { chaos_->midway(role::counter); })) return {};
  unsaved_.push_back(std::move(u.content));
  if (unsaved_.size() >= units_a_journal) save();
  return {};
}

// [save]
void counter_actor::save() {
  if (unsaved_.empty()) return;
  journal j{state_.plan, state_.sequence - unsaved_.size(), std::move(unsaved_)};
  unsaved_.clear();
  request(keeper_, std::move(j))
      .await([this] { chaos_->handling(role::counter); },
             [this](const garrick::error&) { save_everything(); });
}

void counter_actor::save_everything() {
  chaos_->handling(role::counter);
  unsaved_.clear();
  request(keeper_, replace_copy{state_})
      .await([this] { chaos_->handling(role::counter); },
             [this](const garrick::error& why) {
               if (why == garrick::errc::not_handled)
                 quit(why);
               else
                 save_everything();
             });
}
// [/save]

unit_set counter_actor::on(audit a) {
  chaos_->handling(role::counter);
  if (a.plan != state_.plan) {
    state_ = {};
    state_.plan = a.plan;
    save_everything();
  } else {
    save();
  }
  return state_.applied;
}

garrick::result<tally> counter_actor::on(hand_over h) {
  chaos_->handling(role::counter);
  if (h.plan != state_.plan) return garrick::make_error(garrick::errc::user, "another plan");
  return state_;
}

garrick::result<void> keeper_actor::on(const journal& j) {
  chaos_->handling(role::keeper);
  if (copy_.plan == 0) copy_.plan = j.plan;  // a blank copy
  if (j.plan != copy_.plan || j.first != copy_.sequence)
    return garrick::make_error(garrick::errc::user, "a gap in the journal");
  for (const unit_words& u : j.changes) copy_.apply(u, [this] { chaos_->midway(role::keeper); });
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
