#include "garrick/net/transport/internal/gate.hpp"

#include <span>
#include <utility>

#include "garrick/base/platform/platform.hpp"

namespace garrick::net::internal {

std::uint64_t unguessable_number() {
  std::uint64_t n = 0;
  base::platform::draw_unguessable(std::as_writable_bytes(std::span(&n, 1)));
  return n;
}

listener_counters gate::counters() const noexcept {
  const std::lock_guard lock(mutex_);
  return {started, joined, refused, too_late, dropped_, connections_, waiting_.size(), lowered_to_};
}

bool gate::enter(ticket& who, std::shared_ptr<ticket_holder>& out) {
  const std::lock_guard lock(mutex_);
  waiting_.reserve(waiting_.size() + 1);
  if (waiting_.size() >= limits.pending || !places_->take(limits.connections)) {
    if (waiting_.empty() || leaving_ >= most_leaving()) return false;
    ticket& drawn = *waiting_[draw_() % waiting_.size()];
    remove(drawn);
    drawn.state_ = ticket::state::dropped;
    out = drawn.holder_.lock();
    ++leaving_;
    ++dropped_;
    if (!std::exchange(drawn.is_refused_, true)) ++refused;
  }
  who.index_ = waiting_.size();
  who.state_ = ticket::state::waiting;
  waiting_.push_back(&who);
  ++connections_;
  return true;
}

void gate::remove(const ticket& who) noexcept {
  waiting_.back()->index_ = who.index_;
  waiting_[who.index_] = waiting_.back();
  waiting_.pop_back();
}

std::unique_ptr<ticket> ticket::take(std::shared_ptr<gate> from, base::instant now) {
  std::unique_ptr<ticket> fresh(new ticket(std::move(from), now));
  std::shared_ptr<ticket_holder> out;
  if (!fresh->gate_->enter(*fresh, out)) return nullptr;
  if (out != nullptr) out->give_way();
  return fresh;
}

ticket::~ticket() {
  const std::lock_guard lock(gate_->mutex_);
  if (state_ == state::outside) return;
  if (state_ == state::waiting) gate_->remove(*this);
  if (state_ == state::dropped)
    --gate_->leaving_;
  else
    gate_->places_->give_back();
  --gate_->connections_;
}

bool ticket::hold(std::weak_ptr<ticket_holder> who) noexcept {
  const std::lock_guard lock(gate_->mutex_);
  holder_.swap(who);
  return state_ != state::dropped;
}

bool ticket::admit() noexcept {
  const std::lock_guard lock(gate_->mutex_);
  if (state_ == state::dropped) return false;
  if (state_ == state::waiting) gate_->remove(*this);
  state_ = state::admitted;
  deadline_ = base::instant::never();
  return true;
}

void ticket::refuse() noexcept {
  const std::lock_guard lock(gate_->mutex_);
  if (!std::exchange(is_refused_, true)) ++gate_->refused;
}

}  // namespace garrick::net::internal
