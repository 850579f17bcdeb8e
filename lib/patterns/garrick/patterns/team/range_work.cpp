#include "garrick/patterns/team/range_work.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "garrick/patterns/team/turn_length.hpp"

namespace garrick::patterns::detail {

namespace {

constexpr std::int64_t short_ns = 25'000;  ///< a block that took less is followed by a longer one
constexpr std::int64_t long_ns = 100'000;  ///< and one that took more by a shorter one
constexpr std::size_t longest_block = 1U << 20;

}  // namespace

bool range_work::take_part(seat& at, actor_base& on) noexcept {
  const instant begin = on.now();
  instant before = begin;
  for (;;) {
    if (at.begun.empty() && !shares_.claim(at.who, at.begun)) return false;
    piece block = at.begun;
    if (!whole_pieces_ && block.end - block.begin > at.block) block.end = block.begin + at.block;
    if (!has_failed()) run(block);
    at.begun.begin = block.end;
    const instant now = on.now();
    const std::int64_t took = (now - before).count();
    spent(took);
    if (shares_.finish(block.end - block.begin)) {
      ended();
      return false;
    }
    if (took < short_ns)
      at.block = std::min(at.block * 2, longest_block);
    else if (took > long_ns)
      at.block = std::max<std::size_t>(at.block / 2, 1);
    if (turn_is_over(begin, now, at, on)) return true;
    before = now;
  }
}

}  // namespace garrick::patterns::detail
