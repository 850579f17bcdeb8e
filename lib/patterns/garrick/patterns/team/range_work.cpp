#include "garrick/patterns/team/range_work.hpp"

#include <cstdint>

#include "garrick/patterns/team/busy_turn.hpp"
#include "garrick/patterns/team/turn_length.hpp"

namespace garrick::patterns::detail {

bool range_work::take_part(seat& at, actor_base& on) noexcept {
  others_may_begin();
  const instant begin = on.now();
  instant before = begin;
  for (;;) {
    if (at.begun.empty() && !shares_.claim(at.who, at.begun, at.block)) return false;
    const piece block = take_block(at, whole_pieces_);
    if (!has_failed()) run(block);
    const instant now = on.now();
    const std::int64_t took = (now - before).count();
    spent(took);
    if (shares_.finish(block.end - block.begin)) {
      ended();
      return false;
    }
    adapt_block(at, took);
    if (turn_is_over(begin, now, at, on)) return true;
    before = now;
  }
}

}  // namespace garrick::patterns::detail
