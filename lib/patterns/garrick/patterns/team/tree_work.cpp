#include "garrick/patterns/team/tree_work.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "garrick/patterns/team/busy_turn.hpp"
#include "garrick/patterns/team/turn_length.hpp"

namespace garrick::patterns::detail {

void tree_work::belongs_to(std::vector<hand> all, std::size_t begin, hand asked, bool takes_part) {
  lanes_.resize(all.size());
  for (std::size_t i = 0; i < begin; ++i) lanes_[i].away = false;
  lanes_[0].waiting.push_back(&root());
  hands_ = std::move(all);
  shared_work::belongs_to({}, begin, std::move(asked), takes_part);
}

bool tree_work::take_part(seat& at, actor_base& on) noexcept {
  const instant begin = on.now();
  instant before = begin;
  while (tree_node* const n = take(at.who)) {
    const bool solved = work_at(at.who, *n);
    const instant now = on.now();
    spent((now - before).count());
    if (solved) {
      ended();
      return false;
    }
    if (turn_is_over(begin, now, at, on)) return true;
    before = now;
  }
  return false;
}

tree_node* tree_work::take(std::size_t who) noexcept {
  const std::lock_guard here(lock_);
  lane& own = lanes_[who];
  own.away = false;
  if (!own.empty()) {
    tree_node* const newest = own.waiting.back();
    own.waiting.pop_back();
    return newest;
  }
  own.waiting.clear();
  own.first = 0;
  for (std::size_t i = 1; i < lanes_.size(); ++i) {
    lane& other = lanes_[(who + i) % lanes_.size()];
    if (!other.empty()) return other.waiting[other.first++];
  }
  own.away = true;
  return nullptr;
}

void tree_work::add(std::size_t who, const std::vector<tree_node*>& some) {
  std::vector<std::size_t> called;
  called.reserve(some.size());
  {
    const std::lock_guard here(lock_);
    std::vector<tree_node*>& waiting = lanes_[who].waiting;
    waiting.insert(waiting.end(), some.begin(), some.end());
    // this participant takes one of them itself
    for (std::size_t i = 0; i < lanes_.size() && called.size() + 1 < some.size(); ++i)
      if (i != who && std::exchange(lanes_[i].away, false)) called.push_back(i);
  }
  for (const std::size_t i : called) {
    try {
      send(hands_[i], work_on{shared_from_this(), seat_of(i)});
    } catch (const std::bad_alloc&) {  // the others do without it
      const std::lock_guard here(lock_);
      lanes_[i].away = true;
    }
  }
  if (!called.empty()) others_may_begin();
}

bool tree_work::work_at(std::size_t who, tree_node& n) noexcept {
  if (!has_failed()) {
    try {
      const std::vector<tree_node*> parts = solve_or_divide(n);
      if (!parts.empty()) {
        // order: relaxed: the lock of the lanes publishes it
        n.unsolved.store(parts.size(), std::memory_order_relaxed);
        add(who, parts);
        return false;
      }
    } catch (...) {
      failed(goes_by_depth() ? "part at depth" : "part at", place_of(n));
      forget_parts(n);
    }
  }
  for (tree_node* p = n.parent; p != nullptr; p = p->parent) {
    // order: acq_rel: the writes for a part, to the thread that puts the parts together
    if (p->unsolved.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    try {
      if (!has_failed()) put_together(*p);
    } catch (...) { failed(goes_by_depth() ? "merge at depth" : "merge at", place_of(*p)); }
    forget_parts(*p);
  }
  return true;
}

}  // namespace garrick::patterns::detail
