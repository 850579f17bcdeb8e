#include "garrick/patterns/team/phase_work.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "garrick/patterns/team/busy_turn.hpp"
#include "garrick/patterns/team/turn_length.hpp"

namespace garrick::patterns::detail {

void phase_work::belongs_to(std::vector<hand> all, std::size_t begin, hand asked, bool takes_part) {
  phases_.belongs_to(all.size(), begin);
  hands_ = std::move(all);
  shared_work::belongs_to({}, begin, std::move(asked), takes_part);
}

bool phase_work::take_part(seat& at, actor_base& on) noexcept {
  others_may_begin();
  const instant begin = on.now();
  instant before = begin;
  const std::uint64_t at_first = phases_.now();
  for (;;) {
    std::uint64_t phase = phases_.now();
    if (at.begun.empty() && !phases_.claim(at.who, at.begun, phase)) return false;
    const piece block = take_block(at, false);
    if (!has_failed()) run(block, phase);
    const instant now = on.now();
    const std::int64_t took = (now - before).count();
    spent(took);
    adapt_block(at, took);
    if (phases_.finish(block.end - block.begin)) {
      if (has_failed() || phase + 1 == count_) {
        ended();
        return false;
      }
      phases_.begin_next();
      call_back(at.block);
    }
    if (turn_is_over(begin, now, at, on)) {
      if (phases_.now() == at_first) call_all(at.block);
      return true;
    }
    before = now;
  }
}

void phase_work::call_back(std::size_t block) noexcept {
  const double ns = static_cast<double>(spent()) / static_cast<double>(phases_.now());
  // By a virtual clock nothing takes time: then all participants are called.
  std::size_t wanted = spent() == 0 ? hands_.size() : hands_worth(ns, hands_.size());
  wanted = std::min(wanted, most_hands());
  std::size_t here = 1;
  for (std::size_t i = 0; i < hands_.size() && here < wanted; ++i)
    if (phases_.call(i)) {
      call(i, block);
      ++here;
    }
  if (here != 1) others_may_begin();
}

void phase_work::call_all(std::size_t block) noexcept {
  if (!phases_.has_pieces()) return;
  bool somebody = false;
  for (std::size_t i = 0; i < hands_.size(); ++i)
    if (phases_.call(i)) {
      call(i, block);
      somebody = true;
    }
  if (somebody) others_may_begin();
}

void phase_work::call(std::size_t who, std::size_t block) noexcept {
  try {
    send(hands_[who], work_on{shared_from_this(), seat_of(who, block)});
  } catch (const std::bad_alloc&) {  // the others do without it
    phases_.was_not_called(who);
  }
}

}  // namespace garrick::patterns::detail
