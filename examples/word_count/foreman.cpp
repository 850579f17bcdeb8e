#include "foreman.hpp"

#include <bit>
#include <stdexcept>

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
  audits_open_ = crew_.ledgers.size();
  for (std::size_t part = 0; part < crew_.ledgers.size(); ++part) ask(part);
}

void foreman_actor::ask(std::size_t part) {
  request(crew_.ledgers[part], audit{plan_->fingerprint})
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
  std::vector<open_unit> open;
  shares_open_ = 0;
  for (std::uint32_t u = 0; u < lacking_.size(); ++u) {
    if (lacking_[u] == 0) continue;
    open.push_back({u, lacking_[u]});
    shares_open_ += static_cast<std::uint64_t>(std::popcount(lacking_[u]));
  }
  if (open.empty()) return start_ranking();
  phase_ = phase::counting;
  begin_stream(std::move(open));
}

// [stream]
void foreman_actor::begin_stream(std::vector<open_unit> open) {
  namespace gp = garrick::patterns;
  const auto parts = static_cast<std::uint32_t>(crew_.ledgers.size());
  const auto goes_on = gp::on_failure::restart;
  const auto fate = garrick::lent(chaos_);
  const auto counting = gp::pipeline(
      gp::seq<unit_source>(std::move(open), fate).named("units"),
      gp::farm(gp::seq<splitter>(plan_, parts, self(), fate).named("split").on(goes_on)),
      gp::farm(gp::seq<counter>(plan_->fingerprint, fate).named("count").on(goes_on))
          .by_key(&part_words::part),
      gp::seq<committer>(crew_.ledgers).named("commit"));
  stream_ = gp::spawn(*this, counting, {.capacity = channel_capacity});
  request(stream_, gp::join{})
      .then([this] { stream_ended({}); }, [this](const garrick::error& why) { stream_ended(why); });
}

void foreman_actor::stream_ended(const garrick::error& why) {
  chaos_->handling(role::foreman);
  if (why && why.to_string().find(strike_text) == std::string::npos)
    throw std::runtime_error(why.to_string());  // the overseer limits the number of restarts
  request(std::exchange(stream_, {}), garrick::patterns::get_report{})
      .then(
          [this](const garrick::patterns::stream_report& r) {
            chaos_->handling(role::foreman);
            const auto units = [](const auto& x) { return x.stages.front().figures.out; };
            if (result_.stream.stages.empty() || units(r) > units(result_.stream))
              result_.stream = r.by_stage();
            start_audit();
          },
          [this](const garrick::error&) { start_audit(); });
}

// A stream with a source runs on when no handle is left. Its further batches for the ledgers would
// be correct, but the next foreman begins a stream with the same units.
void foreman_actor::on_exit(const garrick::exit_reason& /*why*/) {
  if (stream_) send(stream_, garrick::patterns::cancel{});
}
// [/stream]

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
            // the ranker failed, or a ledger failed and lacks units now
            if (!gone_for_good(why)) start_audit();
          });
}

// A file that is written to during the count may be read partly old and partly new: the result
// names such files.
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

// Returns true, and ends the foreman, if the supervisor has given the actor up. Returns false if
// the actor only failed at a request: it is restarted, and the request can be repeated.
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
  const std::uint64_t shares = plan_->units.size() * crew_.ledgers.size();
  return {phase_, plan_->files.size(), shares, shares - shares_open_, stream_};
}

void foreman_actor::on(unread u) {
  chaos_->handling(role::foreman);
  unread_.emplace(std::move(u.what.path), std::move(u.what.why));
}

}  // namespace word_count
