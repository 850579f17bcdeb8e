#include "garrick/patterns/team/work_queue.hpp"

#include <cstdint>
#include <utility>

namespace garrick::patterns::detail {

namespace {

constexpr std::uint32_t turns_in_a_row = 8;

}  // namespace

void work_queue::go_on(work_on t, actor_base& on, const hand& to_it) {
  if (t.work != nullptr)
    parts_.push_back(std::move(t));
  else
    goes_on_ = false;
  if (goes_on_ || parts_.empty()) return;
  work_on& first = parts_.front();
  if (!first.work->take_part(first.at, on)) {
    parts_.pop_front();
    turns_ = 0;
  } else {
    if (first.at.was_asked) first.work->tell_others();
    if (++turns_ == turns_in_a_row) {
      parts_.push_back(std::move(first));
      parts_.pop_front();
      turns_ = 0;
    }
  }
  if (parts_.empty()) return;
  send(to_it, work_on{});
  goes_on_ = true;
}

}  // namespace garrick::patterns::detail
