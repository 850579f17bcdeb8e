#include <garrick/patterns/channel/output.hpp>

#include <algorithm>

namespace garrick::patterns::detail {

bool output::try_put(std::size_t limit, void* value) {
  if (waiting() >= limit) return false;
  put_elsewhere(value);
  return true;
}

// ---- to one channel

// These functions are inline, since a batch calls several of them.

/// Returns how many of the slots side by side lie before `slot`.
inline std::size_t channel_output::slots_up_to(const void* slot) const noexcept {
  return type_.count_of(static_cast<std::size_t>(static_cast<const std::byte*>(slot) -
                                                 static_cast<const std::byte*>(region_)));
}

inline std::size_t channel_output::unpublished() const noexcept {
  return before_ + slots_up_to(next_);
}

/// Returns how many unpublished results the inputs before the present one have put out.
inline std::size_t channel_output::marked() const noexcept {
  return mark_ == nullptr ? marked_ : before_ + slots_up_to(mark_);
}

/// Returns how many of the first `n` unpublished results are tuples.
inline std::size_t channel_output::tuples_before(std::size_t n) const noexcept {
  if (type_.tuples == nullptr) return n;
  const std::size_t first = std::min(n, to_->ring.side_by_side(0));
  return type_.tuples(to_->ring.unpublished_slot(0), first) +
         type_.tuples(to_->ring.unpublished_slot(first), n - first);
}

/// Publishes the first `n` results. Returns how many of them are tuples.
inline std::size_t channel_output::publish_all(std::size_t n) noexcept {
  const std::size_t tuples = tuples_before(n);
  to_->ring.publish(n);
  before_ = 0;
  region_ = next_;
  mark_ = nullptr;
  marked_ = 0;
  return tuples;
}

/// Looks for slots side by side from `next_` on. Returns true if there are some.
inline bool channel_output::claim() noexcept {
  if (next_ != end_) return true;
  marked_ = marked();
  mark_ = nullptr;
  before_ = unpublished();
  const some_tuples free = to_->ring.claim(before_);
  region_ = next_ = free.first;
  end_ = static_cast<std::byte*>(free.first) + free.count * type_.size;
  return free.count != 0;
}

inline void channel_output::move_to_slot(void* value) noexcept {
  type_.move_one(next_, value);
  next_ = static_cast<std::byte*>(next_) + type_.size;
}

channel_output::channel_output(std::shared_ptr<channel> to, wakeable& consumer)
    : to_(std::move(to)), consumer_(consumer), type_(to_->ring.type()), kept_(type_) {}

channel_output::~channel_output() { drop_unpublished(0); }

void channel_output::take_back() noexcept {
  if (fresh_ && mark_ == nullptr) return;  // nothing was put since begin_input
  drop_unpublished(marked());
  if (!fresh_)
    while (kept_.size() > kept_before_) kept_.pop_back();
  blocked_ = !kept_.empty();
}

std::size_t channel_output::publish(turn& t) {
  std::size_t n = unpublished();
  std::size_t tuples = n == 0 ? 0 : publish_all(n);
  while (!kept_.empty()) {
    if (!claim()) break;
    move_to_slot(kept_.front());
    kept_.pop_front();
    if (kept_.empty() || next_ == end_) {
      const std::size_t more = unpublished();
      tuples += publish_all(more);
      n += more;
    }
  }
  blocked_ = !kept_.empty();
  if (n != 0 && to_->consumer_sleeps.take()) consumer_.wake(&t, n);
  return tuples;
}

std::size_t channel_output::pending() const noexcept { return unpublished() + kept_.size(); }

bool channel_output::sleep() noexcept {
  if (kept_.empty()) return true;
  to_->producer_sleeps.set();
  return to_->ring.room() < to_->enough_room();
}

std::size_t channel_output::close(turn& t) noexcept {
  const std::size_t dropped = tuples_before(unpublished()) + kept_.tuples();
  kept_.clear();
  blocked_ = false;
  drop_unpublished(0);
  to_->ring.close();
  if (to_->consumer_sleeps.take()) consumer_.wake(&t, 0);
  return dropped;
}

std::size_t channel_output::waiting() noexcept {
  return to_->ring.capacity() - to_->ring.room() + unpublished() + kept_.size();
}

bool channel_output::is_unwanted() noexcept {
  return to_->unwanted.load(std::memory_order_relaxed);  // order: relaxed; a wake-up follows it
}

void channel_output::drop_unpublished(std::size_t from) noexcept {
  if (type_.destroy != nullptr)
    for (std::size_t i = unpublished(); i > from; --i)
      type_.destroy(to_->ring.unpublished_slot(i - 1), 1);
  before_ = marked_ = from;
  region_ = next_ = end_ = mark_ = nullptr;
}

void channel_output::put_elsewhere(void* value) {
  if (std::exchange(fresh_, false)) {
    if (mark_ == nullptr) marked_ = unpublished();
    kept_before_ = kept_.size();
  }
  if (kept_.empty() && claim()) {
    move_to_slot(value);
  } else {
    kept_.push_back(value);
    blocked_ = true;
  }
}

// ---- an output without a reader

void no_output::take_back() noexcept {}
std::size_t no_output::pending() const noexcept { return 0; }
std::size_t no_output::publish(turn& /*t*/) { return 0; }
bool no_output::sleep() noexcept { return true; }
std::size_t no_output::close(turn& /*t*/) noexcept { return 0; }
std::size_t no_output::waiting() noexcept { return 0; }
bool no_output::is_unwanted() noexcept { return false; }
void no_output::put_elsewhere(void* /*value*/) {}

}  // namespace garrick::patterns::detail
