// The list in which a system keeps its actors: linked through the cells themselves, so listing one
// allocates nothing.
//
// A system may have millions of actors, and a walk over all of them must not hold up actors that
// come and go. So `cell_walk` takes the list's lock for a few hundred cells at a time, and holds no
// lock while its caller looks at them (docs/internals/lifetime.md).
//
// Private: installed because system_core.hpp needs it.
//
// Thread safety: none; the list's owner guards it. A cell is in one list at a time. A `cell_walk`
// itself takes the lock that guards the list.
//
// Invariants: C1 the next cell of each place is in the list, or is null: `remove` moves the places
// that are at the removed cell. C2 a place passes each cell once. It passes no cell that was added
// after the place was set, since cells are added in front.
#pragma once

#include <garrick/core/cell/cell.hpp>

#include <array>
#include <cstdint>
#include <mutex>
#include <span>

namespace garrick::core {

/// A doubly linked list of cells, the latest addition first.
class cell_list {
 public:
  /// A place in the list, which stays valid while cells come and go.
  struct place {
    cell* next = nullptr;
    place* other = nullptr;  ///< of the same list
  };

  /// Puts `who` in front. `shard` is the list's own number, for `shard_of`.
  void add(cell& who, std::uint8_t shard) noexcept {
    who.shard_ = shard;
    who.list_prev_ = nullptr;
    who.list_next_ = first_;
    if (first_ != nullptr) first_->list_prev_ = &who;
    first_ = &who;
  }
  /// Removes `who`. Requires that `who` is in this list.
  void remove(cell& who) noexcept {
    cell* const prev = who.list_prev_;
    cell* const next = who.list_next_;
    for (place* p = places_; p != nullptr; p = p->other)
      if (p->next == &who) p->next = next;  // C1
    (prev != nullptr ? prev->list_next_ : first_) = next;
    if (next != nullptr) next->list_prev_ = prev;
  }
  /// Calls `f` with each cell, the latest addition first.
  template <class F>
  void for_each(F f) const {
    for (cell* c = first_; c != nullptr; c = c->list_next_) f(*c);
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  /// Sets `at` to the first cell. `at` must not move until `forget`.
  void begin(place& at) noexcept {
    at = {first_, places_};
    places_ = &at;
  }
  /// Passes the next cell and returns it; null at the end.
  [[nodiscard]] static cell* pass(place& at) noexcept {
    cell* const c = at.next;
    if (c != nullptr) at.next = c->list_next_;
    return c;
  }
  /// Gives `at` up. Requires that `begin` has set `at`.
  void forget(place& at) noexcept {
    place** p = &places_;
    while (*p != &at) p = &(*p)->other;
    *p = at.other;
  }

  /// Returns the number of the list to which `who` was added. It never changes after that. Any
  /// thread.
  [[nodiscard]] static std::uint8_t shard_of(const cell& who) noexcept { return who.shard_; }

 private:
  cell* first_ = nullptr;
  place* places_ = nullptr;  // of walks under way: hardly ever any
};

/// A walk over a list that other threads change meanwhile. It sees each cell that is in the list
/// all the time exactly once, in the list's order. It may miss cells that go during the walk, and
/// sees none that come (C2).
///
///     cell_walk walk(lock, list);
///     for (auto some = walk.next(); !some.empty(); some = walk.next())
///       for (cell* c : some) look_at(*c);          // no lock is held; it may have ended meanwhile
template <class Lock>
class cell_walk {
 public:
  /// Cells that are passed under the lock at once.
  static constexpr std::size_t most_at_once = 256;

  /// `lock` guards `list`; both outlive the walk. Requires that the caller does not hold `lock`.
  cell_walk(Lock& lock, cell_list& list) noexcept : lock_(lock), list_(list) {
    const std::lock_guard guard(lock_);
    list_.begin(place_);
  }
  ~cell_walk() {
    let_go();
    const std::lock_guard guard(lock_);
    list_.forget(place_);
  }
  cell_walk(const cell_walk&) = delete;
  cell_walk& operator=(const cell_walk&) = delete;

  /// Returns the next cells; none at the end. The walk holds a weak reference to each until the
  /// next call.
  [[nodiscard]] std::span<cell* const> next() noexcept {
    let_go();
    const std::lock_guard guard(lock_);
    while (count_ < most_at_once) {
      cell* const c = cell_list::pass(place_);
      if (c == nullptr) break;
      c->add_weak();  // a listed cell's block is not freed
      held_[count_++] = c;
    }
    return {held_.data(), count_};
  }

 private:
  void let_go() noexcept {
    while (count_ > 0) held_[--count_]->drop_weak();
  }

  Lock& lock_;
  cell_list& list_;
  cell_list::place place_;
  std::size_t count_ = 0;
  std::array<cell*, most_at_once> held_;
};

}  // namespace garrick::core
