// The node of two streams side by side (zip.hpp).
#include <garrick/patterns/zip.hpp>

#include <algorithm>
#include <exception>

namespace garrick::patterns::detail {

step_outcome zip_base::step(turn& t) {
  if (!catches_up(t)) return blocked();
  start();
  if (over_) return wind_down(t);
  if (out_->is_unwanted()) leave();
  const some_tuples as = in_.next(batch());
  const some_tuples bs = other_.next(as.count);
  if (as.empty() || bs.empty()) return nothing(as.empty());
  const std::size_t before = put_so_far();
  std::size_t n = 0;
  std::exception_ptr bad_route;
  try {
    pair(as.first, bs.first, std::min(as.count, bs.count), n);
  } catch (...) {
    bad_route = std::current_exception();
    count_lost();
  }
  count_in(2 * n);
  into_loops(put_so_far() - before);
  const bool all = publish(t);
  in_.done(n);
  other_.done(n);
  out_of_loops(n);
  if (bad_route) std::rethrow_exception(bad_route);
  return all ? step_outcome::worked : blocked();
}

/// Called when a side has no tuple.
step_outcome zip_base::nothing(bool first_is_empty) noexcept {
  const bool a_sleeps = in_.sleep();
  const bool b_sleeps = other_.sleep();
  over_ = in_.ended() || other_.ended();
  return (first_is_empty ? a_sleeps : b_sleeps) && !over_ ? step_outcome::starved
                                                          : step_outcome::worked;
}

void zip_base::leave() noexcept {
  in_.leave();
  other_.leave();
}

/// Drops the tuples that one side still brings after the other side has ended.
step_outcome zip_base::wind_down(turn& t) {
  if (!publish(t)) return blocked();
  drop(out_->close(t));
  leave();
  const std::size_t a = dropped(in_);
  const std::size_t b = dropped(other_);
  count_in(a + b);
  drop(a + b);
  out_of_loops(a);
  if (a + b != 0) return step_outcome::worked;
  const bool a_sleeps = in_.sleep();
  const bool b_sleeps = other_.sleep();
  const bool a_ended = in_.ended();
  const bool b_ended = other_.ended();
  if (a_ended && b_ended) return step_outcome::ended;
  return (a_sleeps || a_ended) && (b_sleeps || b_ended) ? step_outcome::starved
                                                        : step_outcome::worked;
}

std::size_t zip_base::dropped(inputs& from) noexcept {
  const std::size_t n = from.next(batch()).count;
  if (n != 0) from.done(n);
  return n;
}

}  // namespace garrick::patterns::detail
