#include "foreman.hpp"

namespace word_count {

void foreman_actor::on_start() {
  phase_ = phase::finding;
  request(crew_.walker, find_files{})
      .then(
          [this](shared_plan found) {
            chaos_->handling(role::foreman);
            plan_ = std::move(found);
            start_audit();
          },
          [this](const garrick::error& why) {
            if (!gone_for_good(why)) on_start();
          });
}

void foreman_actor::start_audit() {
  phase_ = phase::auditing;
  lacking_.assign(plan_->units.size(), 0);
  audits_open_ = crew_.counters.size();
  for (std::size_t part = 0; part < crew_.counters.size(); ++part) ask(part);
}

void foreman_actor::ask(std::size_t part) {
  request(crew_.counters[part], audit{plan_->fingerprint})
      .then(
          [this, part](const unit_set& held) {
            chaos_->handling(role::foreman);
            for (std::uint32_t u = 0; u < lacking_.size(); ++u)
              if (!held.has(u)) lacking_[u] |= part_mask{1} << part;
            if (--audits_open_ == 0) audit_done();
          },
          [this, part](const garrick::error& why) {
            if (!gone_for_good(why)) ask(part);
          });
}

void foreman_actor::audit_done() {
  open_.clear();
  for (auto u = static_cast<std::uint32_t>(lacking_.size()); u-- > 0;)
    if (lacking_[u] != 0) open_.push_back(u);
  units_done_ = lacking_.size() - open_.size();
  if (open_.empty()) return start_ranking();
  phase_ = phase::counting;
  hand_out();
}

void foreman_actor::hand_out() {
  while (in_flight_ < in_flight_limit && !open_.empty()) {
    const std::uint32_t unit = open_.back();
    open_.pop_back();
    ++in_flight_;
    send_unit(unit);
  }
  if (in_flight_ == 0) start_audit();
}

void foreman_actor::send_unit(std::uint32_t unit) {
  const word_count::unit& u = plan_->units[unit];
  const source& file = plan_->files[u.file];
  const auto& reader = crew_.readers[next_reader_++ % crew_.readers.size()];
  request(reader, read_unit{plan_->fingerprint, unit, lacking_[unit], u, file.path, file.how})
      .then(
          [this, unit](const unit_done& done) {
            chaos_->handling(role::foreman);
            --in_flight_;
            ++units_done_;
            if (!done.trouble.empty())
              unread_.emplace(plan_->files[plan_->units[unit].file].path, done.trouble);
            hand_out();
          },
          [this, unit](const garrick::error& why) {
            chaos_->handling(role::foreman);
            if (gone_for_good(why)) return;
            --in_flight_;
            if (why == garrick::errc::user)
              // a counter works on another plan: the audit after the last answer puts that right
              open_.clear();
            else
              open_.push_back(unit);
            hand_out();
          });
}

void foreman_actor::start_ranking() {
  phase_ = phase::ranking;
  request(crew_.ranker,
          rank_all{plan_->fingerprint, static_cast<std::uint32_t>(plan_->units.size())})
      .then(
          [this](ranking r) {
            chaos_->handling(role::foreman);
            result_.result = std::move(r);
            look_for_changes();
          },
          [this](const garrick::error& why) {
            chaos_->handling(role::foreman);
            // the ranker fell, or a counter did and lacks units now
            if (!gone_for_good(why)) start_audit();
          });
}

// Files that are written to while they are counted have been read partly old, partly new: the
// result says which.
void foreman_actor::look_for_changes() {
  request(crew_.walker, look_again{plan_})
      .then([this](std::vector<problem> changed) { complete(std::move(changed)); },
            [this](const garrick::error& why) {
              if (!gone_for_good(why)) look_for_changes();
            });
}

void foreman_actor::complete(std::vector<problem> changed) {
  chaos_->handling(role::foreman);
  for (const problem& c : changed) unread_.erase(c.path);
  for (auto& [path, why] : unread_) changed.push_back({path, why});
  result_.what = plan_;
  result_.changed = std::move(changed);
  chaos_->midway(role::foreman);
  phase_ = phase::complete;
  for (auto& promise : waiting_) promise.deliver(result_);
  waiting_.clear();
}

// Whoever fell over a request is coming back: try again. Whoever is gone was given up by its
// supervisor.
bool foreman_actor::gone_for_good(const garrick::error& why) {
  if (why != garrick::errc::not_handled) return false;
  quit(why);
  return true;
}

garrick::result<finished> foreman_actor::on(finish) {
  chaos_->handling(role::foreman);
  if (phase_ == phase::complete) return result_;
  waiting_.push_back(make_promise<finished>());
  return waiting_.back();
}

progress foreman_actor::on(how_far) {
  chaos_->handling(role::foreman);
  if (plan_ == nullptr) return {};
  return {phase_, plan_->files.size(), plan_->units.size(), units_done_};
}

}  // namespace word_count
