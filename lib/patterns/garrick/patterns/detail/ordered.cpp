#include <garrick/patterns/detail/ordered.hpp>

namespace garrick::patterns::detail {

step_outcome collector_base::step(turn& t) {
  if (!catches_up(t)) return blocked();
  start();
  if (out_->is_unwanted()) in_.leave();
  const std::size_t before = put_so_far();
  std::size_t taken = 0;
  while (taken < batch() && !out_->is_blocked()) {
    const std::size_t n = read_group(batch() - taken);
    if (n == 0) break;
    taken += n;
  }
  if (taken == 0) return nothing(t);
  into_loops(put_so_far() - before);
  const bool all = publish(t);
  out_of_loops(taken);
  return all ? step_outcome::worked : blocked();
}

/// Hands on the ready items of the present replica, up to a mark. Returns their number.
std::size_t collector_base::read_group(std::size_t most) {
  const some_tuples batch = in_.next_of(at_, most);
  group g;
  try {
    hand_on(batch, g);
  } catch (...) {
    out_->take_back();
    count_failure();
    take(batch, g.n + 1);
    throw;
  }
  if (g.mark) at_ = at_ + 1 < in_.size() ? at_ + 1 : 0;
  take(batch, g.n);
  return g.n;
}

/// Counts the first `n` items of the batch, from the channel that was read last, as dealt with.
void collector_base::take(some_tuples batch, std::size_t n) noexcept {
  count_in(in_.type().tuples_among(batch.first, n), n);
  in_.done(n);
}

/// Called when the present replica has nothing ready.
step_outcome collector_base::nothing(turn& t) {
  if (!in_.ended_at(at_)) {
    if (!hands_on_kept(t)) return step_outcome::worked;
    return in_.sleep_at(at_) ? step_outcome::starved : step_outcome::worked;
  }
  if (in_.ended()) {
    stop();
    return publish_all(t) ? ended(t) : blocked();
  }
  at_ = at_ + 1 < in_.size() ? at_ + 1 : 0;  // other replicas may put results out at their end
  return step_outcome::worked;
}

}  // namespace garrick::patterns::detail
