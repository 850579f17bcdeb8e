// Tumbling and sliding windows of time.
//
// Time is cut into panes, as long as the greatest common divisor of a window's length and its
// slide. A tuple is folded into one pane, however many windows it is in. A window is put together
// from its panes when the watermark reaches its end; a tumbling window is one pane.
//
//   panes    |    a   |  a b   |        |   b    |
//   windows  [--------- 1 -------------)
//                     [--------- 2 -------------)        length 3 panes, slide 1 pane
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the node's run right.
//
// Invariants
// W1 `next_` is the end of the first window that has a pane and was not put out. No tuple is taken
//    while it is behind the watermark: what is due is put out before.
// W2 A pane is there as long as one of its windows was not put out. So whoever finds one may add.
// W3 A tuple of which all windows have closed is late. One that is in time for some of its windows
//    is in those.
#pragma once

#include <garrick/patterns/detail/aggregate.hpp>
#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// `Slides`: windows overlap, and the states of panes are copied and merged.
template <bool Slides, class T, class Key, class Aggregate, class Window>
class pane_windows : public cut_windows<Aggregate> {
  using base = cut_windows<Aggregate>;
  using base::aggregate_, base::counts_, base::length_, base::slide_, base::pane_;
  using state = typename Aggregate::state;
  using unit = typename Window::time;

 public:
  using base::base;
  /// Each copy begins anew.
  pane_windows(const pane_windows& o) : base(o) {}
  pane_windows(pane_windows&&) noexcept = default;
  pane_windows& operator=(const pane_windows&) = delete;
  ~pane_windows() = default;

  /// Nothing happens while the watermark stays within one of these.
  [[nodiscard]] std::int64_t grain() const noexcept { return pane_; }

  /// Takes a tuple of time `t`, whose key may be a part of it. False: it is late, and `in` is as it
  /// was. If it throws, the windows are as before.
  template <class K>
  [[nodiscard]] bool take(std::int64_t t, const K& key, T&& in) {
    if (here_ == nullptr || t < here_->begin || t >= here_->begin + pane_) {
      const std::int64_t begin = floor_to(t, pane_);
      if (last_end(begin) <= watermark_) return false;
      const auto at = panes_.find(begin);
      if (at == panes_.end()) {
        first_of_pane(begin, key, std::move(in));
        return true;
      }
      here_ = &at->second;
    }
    add(*here_, key, std::move(in));
    return true;
  }

  void watermark_is(std::int64_t w) noexcept { watermark_ = w; }
  /// The watermark at which something is to be put out.
  [[nodiscard]] std::int64_t next() const noexcept { return next_; }
  /// Is something to be put out at watermark `w`?
  [[nodiscard]] bool is_due(std::int64_t w) const noexcept {
    return next_ <= w || at_ < closing_.size();
  }
  /// Puts out what is due, the earliest window first, as far as there is room. What throws has lost
  /// that result and no other.
  template <class To>
  void put_due(To& out) {
    while (true) {
      while (at_ < closing_.size()) {
        out.begin_input();
        put_one(out);
        if (out.is_blocked()) return;
      }
      closing_.clear();
      bad_.clear();
      at_ = 0;
      if (next_ > watermark_) return;
      out.begin_input();  // what throws takes no result of the window before with it
      close_next();
    }
  }
  void clear() noexcept {
    counts_.lose_all();
    panes_.clear();
    closing_.clear();
    bad_.clear();
    at_ = 0;
    pieces_ = 0;
    here_ = nullptr;
    next_ = no_time;
  }

 private:
  struct cell {
    state now;
    std::uint64_t fresh;  ///< tuples that are in no result yet
  };
  using cells = dense_map<Key, cell>;
  struct pane {
    std::int64_t begin;
    std::size_t pieces = 0;
    cells of;
  };

  /// The end of the last window that a pane is in.
  [[nodiscard]] std::int64_t last_end(std::int64_t begin) const noexcept {
    return floor_to(begin, slide_) + length_;
  }
  /// The first end of a window behind `t`.
  [[nodiscard]] std::int64_t end_behind(std::int64_t t) const noexcept {
    return floor_to(t - length_, slide_) + slide_ + length_;
  }
  /// The end of the first open window that the pane is in.
  [[nodiscard]] std::int64_t first_open_end(std::int64_t begin) const noexcept {
    return end_behind(std::max(begin, std::max(watermark_, -2 * most_time)));
  }

  template <class K>
  void first_of_pane(std::int64_t begin, const K& key, T&& in) {
    counts_.room_for_one_more(pieces_);
    pane fresh{.begin = begin, .pieces = 1, .of = std::exchange(spare_, {})};
    const std::size_t hash = hash_of<Key>(key);
    Key own(key);  // before the tuple is moved on
    fresh.of.insert(std::move(own), hash, {aggregate_.begin(std::move(in)), 1});
    here_ = &panes_.emplace(begin, std::move(fresh)).first->second;
    ++pieces_;
    counts_.take();
    next_ = std::min(next_, first_open_end(begin));
  }
  template <class K>
  void add(pane& to, const K& key, T&& in) {
    const std::size_t hash = hash_of<Key>(key);
    auto* const e = to.of.find(key, hash);
    if (e == nullptr || Aggregate::keeps_tuples) counts_.room_for_one_more(pieces_);
    if (e == nullptr) {
      Key own(key);  // before the tuple is moved on
      to.of.insert(std::move(own), hash, {aggregate_.begin(std::move(in)), 1});
    } else {
      aggregate_.step(e->cell.now, std::move(in));
      ++e->cell.fresh;
    }
    if (e == nullptr || Aggregate::keeps_tuples) ++to.pieces, ++pieces_;
    counts_.take();
  }
  template <class To>
  void put_one(To& out) {
    const std::size_t number = at_++;
    auto& e = closing_[number];
    try {
      for (const auto& [which, why] : bad_)
        if (which == number) std::rethrow_exception(why);
      out.put(Window{std::move(e.key), in_unit<unit>(end_ - length_), in_unit<unit>(end_),
                     aggregate_.give(std::move(e.cell.now))});
    } catch (...) {
      counts_.lose(e.cell.fresh);
      throw;
    }
    counts_.gave(e.cell.fresh);
  }
  /// The next window to `closing_`.
  void close_next() {
    end_ = next_;
    here_ = nullptr;
    try {
      if constexpr (Slides)
        for (auto p = panes_.begin(); p != panes_.end() && p->first < end_; ++p) gather(p->second);
      else
        spare_ = std::exchange(closing_, std::exchange(panes_.begin()->second.of, {}));
    } catch (...) {
      for (auto& e : closing_) counts_.lose(e.cell.fresh);
      closing_.clear();
      bad_.clear();
      forget_done();
      throw;
    }
    forget_done();
  }
  /// The panes of which no window is open any more. What the last one did not gather is lost.
  void forget_done() noexcept {
    while (!panes_.empty() && last_end(panes_.begin()->first) <= end_) {
      for (const auto& e : panes_.begin()->second.of) counts_.lose(e.cell.fresh);
      pieces_ -= panes_.begin()->second.pieces;
      panes_.erase(panes_.begin());
    }
    next_ = panes_.empty() ? no_time : end_behind(std::max(end_, panes_.begin()->first));
  }
  /// A pane of a window that is put together.
  void gather(pane& from) {
    const bool last = last_end(from.begin) <= end_;
    for (auto& e : from.of) {
      auto* const into = closing_.find(e.key, e.hash());
      const std::uint64_t fresh = std::exchange(e.cell.fresh, 0);
      if (into == nullptr) {
        try {
          closing_.insert(e.key, e.hash(),
                          {last ? std::move(e.cell.now) : state(e.cell.now), fresh});
        } catch (...) {
          counts_.lose(fresh);
          throw;
        }
        continue;
      }
      into->cell.fresh += fresh;
      try {
        aggregate_.merge(into->cell.now, last ? std::move(e.cell.now) : state(e.cell.now));
      } catch (...) {
        bad_.push_back({static_cast<std::size_t>(into - &closing_[0]), std::current_exception()});
      }
    }
  }

  std::int64_t watermark_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t next_ = no_time;
  std::map<std::int64_t, pane> panes_;
  pane* here_ = nullptr;    ///< the pane of the last tuple
  std::size_t pieces_ = 0;  ///< in all panes

  std::int64_t end_ = 0;  ///< of the window that is being put out
  cells closing_;         ///< its results
  std::size_t at_ = 0;    ///< the next of them
  /// Results that could not be put together, and why.
  std::vector<std::pair<std::size_t, std::exception_ptr>> bad_;
  cells spare_;  ///< memory for the next pane
};

}  // namespace garrick::patterns::detail
