#include "garrick/patterns/team/work_queue.hpp"

#include <utility>

#include "garrick/patterns/team/turn_length.hpp"

namespace garrick::patterns::detail {

namespace {

/// The time of the first request before the others have their turns.
constexpr duration most_in_a_row = turn_length * 8;

}  // namespace

void work_queue::go_on(work_on t, actor_base& on, const hand& to_it) {
  if (t.work != nullptr)
    parts_.push_back(std::move(t));
  else
    goes_on_ = false;
  if (goes_on_ || parts_.empty()) return;
  work_on& first = parts_.front();
  const instant begin = on.now();
  if (!first.work->take_part(first.at, on)) {
    parts_.pop_front();
    in_a_row_ = duration();
  } else {
    if (first.at.was_asked) first.work->tell_others();
    // The actor that was asked stops for mail, so a turn may be short. By a virtual clock each turn
    // counts as a whole one.
    const duration took = on.now() - begin;
    in_a_row_ = in_a_row_ + (took == duration() ? turn_length : took);
    if (in_a_row_ >= most_in_a_row) {
      parts_.push_back(std::move(first));
      parts_.pop_front();
      in_a_row_ = duration();
    }
  }
  if (parts_.empty()) return;
  send(to_it, work_on{});
  goes_on_ = true;
}

}  // namespace garrick::patterns::detail
