#include "coordinator.hpp"

#include <garrick/net/error.hpp>

#include <algorithm>
#include <stdexcept>

namespace word_count {

namespace {
const auto between_looks = garrick::duration::milliseconds(50);
}

coordinator_actor::coordinator_actor(coordinator_orders o, node_processes* others, chaos* fate)
    : orders_(std::move(o)), others_(others), chaos_(fate), nodes_(orders_.nodes) {
  for (std::uint32_t n = 0; n < orders_.nodes; ++n) nodes_[n].work.node = n + 1;
  nodes_[0].who = orders_.here;
  nodes_[0].work.lives = 1;
}

void coordinator_actor::begin() {
  has_begun_ = true;
  for (std::uint32_t n = 2; n <= orders_.nodes; ++n) others_->start(n, 1);
  send_every(between_looks, self(), look_around{});
  request(orders_.walker, find_files{})
      .then(
          [this](shared_plan found) {
            chaos_->handling(role::foreman);
            plan_ = std::move(found);
            make_parts();
            phase_ = phase::auditing;
            begin_if_all_are_there();
          },
          [this](const garrick::error& why) { quit(why); });
}

void coordinator_actor::make_parts() {
  const std::uint64_t bytes =
      std::min(largest_part, plan_->bytes / (std::uint64_t{orders_.nodes} * least_parts));
  for (std::uint32_t u = 0; u < plan_->units.size(); ++u) {
    if (parts_.empty() || parts_.back().bytes >= bytes) parts_.push_back({.first = u});
    ++parts_.back().units;
    parts_.back().bytes += plan_->units[u].length;
  }
  for (std::uint32_t p = 0; p < parts_.size(); ++p) waiting_.push_back(p);
}

// Begins if every node has either joined or been given up.
void coordinator_actor::begin_if_all_are_there() {
  if (phase_ != phase::auditing) return;
  for (const node_state& n : nodes_)
    if (!n.who && n.life <= most_lives) return;
  phase_ = phase::counting;
  if (parts_.empty()) return look_for_changes();
  give_out();
}

void coordinator_actor::on(const join& j) {
  chaos_->handling(role::foreman);
  if (phase_ == phase::complete || phase_ == phase::ranking) return send(j.who, enough{});
  if (j.node < 2 || j.node > nodes_.size()) return;
  node_state& n = nodes_[j.node - 1];
  if (j.life != n.life) return;  // this process has already ended
  n.who = j.who;
  n.work.lives = j.life;
  n.work.pid = others_->pid(j.node);
  if (phase_ == phase::counting) give_out();
  begin_if_all_are_there();
}

// [hand]
void coordinator_actor::give_out() {
  for (bool any = true; any;) {  // one part for each node in turn
    any = false;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      std::uint32_t number = 0;
      if (!nodes_[n].who || nodes_[n].under_way == most_under_way) continue;
      if (!take_part(nodes_[n], number)) continue;
      hand(n, number);
      any = true;
    }
  }
  strike();
}

void coordinator_actor::hand(std::uint32_t node, std::uint32_t number) {
  node_state& n = nodes_[node];
  ++n.under_way;
  request(n.who, read(parts_[number]))
      .then([this, node, life = n.life,
             number](const counted& c) { came_back(node, life, number, c); },
            [this, node, life = n.life, number](const garrick::error& why) {
              is_lost(node, life, number, why);
            });
}
// [/hand]

bool coordinator_actor::take_part(const node_state& to, std::uint32_t& number) {
  const bool is_here = &to == &nodes_[0];
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [&](std::uint32_t p) { return is_here || !parts_[p].stays_here; });
  if (at == waiting_.end()) return false;
  number = *at;
  waiting_.erase(at);
  return true;
}

count_part coordinator_actor::read(const part& p) {
  count_part result;
  result.pieces.reserve(p.units);
  for (std::uint32_t u = p.first; u < p.first + p.units; ++u) {
    const unit& where = plan_->units[u];
    const source& file = plan_->files[where.file];
    piece found = read_piece(file.path, file.how, where.offset, where.length);
    if (!found.trouble.empty()) unread_.emplace(file.path, found.trouble);
    result.pieces.push_back({where.file, found.how, std::move(found.text)});
  }
  return result;
}

// [back]
void coordinator_actor::came_back(std::uint32_t node, std::uint32_t life, std::uint32_t number,
                                  const counted& c) {
  chaos_->handling(role::foreman);
  node_state& n = nodes_[node];
  for (const ranked_word& w : c.words) {
    note(all_, w.word, w.count, w.home);
    n.work.words += w.count;
  }
  ++n.work.parts;
  n.work.bytes += parts_[number].bytes;
  if (life == n.life) --n.under_way;
  units_done_ += parts_[number].units;
  if (++parts_done_ == parts_.size()) return look_for_changes();
  give_out();
}

// Handles the loss of an answer, whether or not the node has counted.
void coordinator_actor::is_lost(std::uint32_t node, std::uint32_t life, std::uint32_t number,
                                const garrick::error& why) {
  chaos_->handling(role::foreman);
  if (node == 0) throw std::runtime_error(why.to_string());  // no other node could count the part
  node_state& n = nodes_[node];
  ++n.work.given_to_others;
  if (why == garrick::net::net_errc::too_large) parts_[number].stays_here = true;
  waiting_.push_front(number);
  if (life == n.life) {
    --n.under_way;
    if (!parts_[number].stays_here) n.who = {};
  }
  give_out();
}
// [/back]

void coordinator_actor::on(look_around) {
  for (const std::uint32_t node : others_->take_ended()) has_ended(node);
  if (phase_ != phase::auditing && phase_ != phase::counting) return;
  // Kills processes of nodes that were given up: such a process would block the node's next life.
  for (node_state& n : nodes_)
    if (!n.who && n.work.node != 1 && n.work.lives == n.life) others_->kill(n.work.node);
  begin_if_all_are_there();
}

// Handles the end of a process. The restarted process ends the old connections, in case no node has
// noticed the end.
void coordinator_actor::has_ended(std::uint32_t node) {
  if (phase_ == phase::ranking || phase_ == phase::complete) return;
  node_state& n = nodes_[node - 1];
  n.who = {};
  n.under_way = 0;
  ++n.work.ended;
  if (++n.life > most_lives) return;
  try {
    others_->start(node, n.life);
  } catch (const std::exception&) {
    n.life = most_lives + 1;  // the other nodes go on
  }
}

// [strike]
// Chaos kills one process, once, after a quarter to a half of the work, while the process has work.
void coordinator_actor::strike() {
  if (!orders_.chaos || has_struck_ || nodes_.size() < 2) return;
  if (parts_done_ * 100 < parts_.size() * (25 + orders_.seed % 25)) return;
  const auto victim = static_cast<std::uint32_t>(1 + orders_.seed % (nodes_.size() - 1));
  if (!nodes_[victim].who || nodes_[victim].under_way == 0) return;
  has_struck_ = nodes_[victim].work.was_killed = true;
  others_->kill(victim + 1);
}
// [/strike]

// A file that is written to during the count may be read partly old and partly new: the result
// names such files.
void coordinator_actor::look_for_changes() {
  phase_ = phase::ranking;
  for (node_state& n : nodes_) {
    if (n.who)
      send(n.who, enough{});
    else
      others_->kill(n.work.node);  // it has not yet joined, and would find no coordinator
  }
  request(orders_.walker, look_again{plan_})
      .then([this](std::vector<problem> changed) { complete(std::move(changed)); },
            [this](const garrick::error& why) { quit(why); });
}

void coordinator_actor::complete(std::vector<problem> changed) {
  chaos_->handling(role::foreman);
  for (const problem& c : changed) unread_.erase(c.path);
  for (auto& [path, why] : unread_) changed.push_back({path, why});
  result_.words = ranked(std::move(all_));
  result_.what = plan_;
  result_.changed = std::move(changed);
  for (const node_state& n : nodes_) result_.nodes.push_back(n.work);
  phase_ = phase::complete;
  for (auto& promise : asked_) promise.deliver(result_);
  asked_.clear();
}

garrick::result<counted_by_nodes> coordinator_actor::on(finish) {
  chaos_->handling(role::foreman);
  if (phase_ == phase::complete) return result_;
  if (!has_begun_) begin();
  asked_.push_back(make_promise<counted_by_nodes>());
  return asked_.back();
}

progress coordinator_actor::on(how_far) {
  chaos_->handling(role::foreman);
  if (plan_ == nullptr) return {};
  return {phase_, plan_->files.size(), plan_->units.size(), units_done_, {}};
}

}  // namespace word_count
