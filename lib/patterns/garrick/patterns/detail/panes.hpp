// Tumbling and sliding windows of time.
//
// Time is cut into panes. A pane is as long as the greatest common divisor of a window's length and
// its slide. A tuple is folded into one pane, however many windows it is in. A window is put
// together from its panes when the watermark reaches its end; a tumbling window is one pane.
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
//    while `next_` is behind the watermark: due windows are put out before.
// W2 A pane exists until its last window was put out. So tuples may be added to any pane that is
//    found.
// W3 A tuple of which all windows have closed is late. A tuple that is in time for some of its
//    windows is in those.
#pragma once

#include <garrick/patterns/detail/aggregate.hpp>
#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/detail/time_map.hpp>
#include <garrick/patterns/event_time.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// The part of time windows that does not depend on their content's types: their panes, and the
/// times at which results are due.
class pane_windows_base {
 public:
  /// Results become due at the ends of panes alone, so no other watermark makes a difference.
  static constexpr bool needs_every_watermark = false;
  [[nodiscard]] static bool is_overfull() noexcept { return true; }
  /// Returns the length of a stretch of time within which no result becomes due.
  [[nodiscard]] std::int64_t grain() const noexcept { return times_.pane; }
  void watermark_is(std::int64_t w) noexcept { watermark_ = w; }
  /// Returns the watermark at which the next result is due.
  [[nodiscard]] std::int64_t next() const noexcept { return next_; }

 protected:
  /// A pane. It is in the time map at the time of its begin.
  struct any_pane : time_entry {
    std::size_t pieces = 0;
    std::size_t fresh = 0;  ///< tuples that are in no result yet
  };

  pane_windows_base(const cut_times& times, time_map::destroy_function destroy);
  /// Copies the times only: the copy has no panes.
  pane_windows_base(const pane_windows_base& o);
  pane_windows_base(pane_windows_base&& o) noexcept;
  pane_windows_base& operator=(const pane_windows_base&) = delete;
  ~pane_windows_base();

  /// The pane of a tuple. It is null if there is none yet, or if the tuple is late.
  struct found_pane {
    any_pane* pane = nullptr;
    bool late = false;
  };
  [[nodiscard]] found_pane pane_of(std::int64_t t) noexcept {
    if (here_ != nullptr && t >= here_->at && t < here_->at + times_.pane) [[likely]]
      return {here_};
    return look_for_pane(t);
  }
  [[nodiscard]] std::int64_t begin_of_pane(std::int64_t t) const noexcept {
    return floor_to(t, times_.pane);
  }
  /// Takes ownership of a new pane.
  void add_pane(any_pane* p);
  /// Returns the end of the last window that a pane is in.
  [[nodiscard]] std::int64_t last_end(std::int64_t begin) const noexcept {
    return floor_to(begin, times_.slide) + times_.length;
  }
  /// Forgets the panes that belong to no open window any more. Tuples that the last window did not
  /// gather are lost.
  void forget_done(window_counts& counts) noexcept;
  void forget_all() noexcept;

  /// Notes that result `number` of the window that is being put out could not be put together,
  /// because of the exception being handled.
  void is_bad(std::size_t number);
  void rethrow_if_bad(std::size_t number) const;

  cut_times times_;
  std::int64_t watermark_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t next_ = no_time;
  time_map panes_;
  any_pane* here_ = nullptr;  ///< the pane of the last tuple
  std::size_t pieces_ = 0;    ///< in all panes
  std::int64_t end_ = 0;      ///< the end of the window that is being put out
  std::size_t at_ = 0;        ///< the number of the next result of that window
  std::vector<std::pair<std::size_t, std::exception_ptr>> bad_;

 private:
  [[nodiscard]] found_pane look_for_pane(std::int64_t t) noexcept;
  /// Returns the first end of a window after `t`.
  [[nodiscard]] std::int64_t end_behind(std::int64_t t) const noexcept;
};

/// `Slides`: windows overlap, and the states of panes are copied and merged.
template <bool Slides, class T, class Key, class Aggregate, class Window>
class pane_windows : public windows_base<Aggregate>, public pane_windows_base {
  using base = windows_base<Aggregate>;
  using base::aggregate_, base::counts_;
  using state = typename Aggregate::state;
  using unit = typename Window::time;

 public:
  pane_windows(std::int64_t length, std::int64_t slide, const Aggregate& a, std::size_t at_most)
      : base(a, at_most), pane_windows_base(cut_times(length, slide), &destroy) {}
  /// Copies the parameters only: the copy has no windows.
  pane_windows(const pane_windows& o) : base(o), pane_windows_base(o) {}
  pane_windows(pane_windows&&) noexcept = default;
  pane_windows& operator=(const pane_windows&) = delete;
  ~pane_windows() = default;

  /// Takes a tuple of time `t`. `key`, with this hash, may be a part of the tuple. Returns false if
  /// the tuple is late: then `in` is as it was. If `take` throws, the windows are as before.
  template <class K>
  [[nodiscard]] bool take(std::int64_t t, const K& key, std::size_t hash, T&& in) {
    const found_pane to = pane_of(t);
    if (to.late) return false;
    add(static_cast<pane*>(to.pane), t, key, hash, std::move(in));
    return true;
  }

  /// Returns true if something is due at watermark `w`.
  [[nodiscard]] bool is_due(std::int64_t w) const noexcept {
    return next_ <= w || at_ < closing_.size();
  }
  /// Puts out the windows that are due, the earliest first, as far as there is room. An exception
  /// loses one result and no other.
  template <class To>
  void put_due(To& out) {
    while (true) {
      while (at_ < closing_.size()) {
        out.begin_input();
        put_one(out);
        if (out.is_blocked()) return;
      }
      clear_closing();
      if (next_ > watermark_) return;
      out.begin_input();  // an exception takes no result of the window before with it
      close_next();
    }
  }
  void clear() noexcept {
    counts_.lose_all();
    clear_closing();
    forget_all();
  }

 private:
  struct cell {
    state now;
    std::uint64_t fresh;  ///< tuples that are in no result yet
  };
  using cells = dense_map<Key, cell>;
  struct pane : any_pane {
    cells of;
  };
  static void destroy(time_entry* p) noexcept { delete static_cast<pane*>(p); }

  /// Adds a tuple to the pane of its time, `to`, which is null if there is no pane yet.
  template <class K>
  void add(pane* to, std::int64_t t, const K& key, std::size_t hash, T&& in) {
    auto* const e = to == nullptr ? nullptr : this->asked([&] { return to->of.find(key, hash); });
    if (e == nullptr) [[unlikely]]
      return add_cell(to, t, key, hash, std::move(in));
    if constexpr (Aggregate::keeps_tuples) counts_.room_for_one_more(pieces_);
    aggregate_.step(e->cell.now, std::move(in));
    ++e->cell.fresh;
    if constexpr (Aggregate::keeps_tuples) ++to->pieces, ++pieces_;
    ++to->fresh;
    counts_.take();
  }
  /// The same for a key that is not in the pane yet.
  template <class K>
  [[gnu::noinline]] void add_cell(pane* to, std::int64_t t, const K& key, std::size_t hash,
                                  T&& in) {
    counts_.room_for_one_more(pieces_);
    std::unique_ptr<pane> made;
    if (to == nullptr) {
      made.reset(new pane{{{.at = begin_of_pane(t)}}, {}});
      made->of.swap(spare_);
    }
    Key own = this->asked([&] { return Key(key); });  // before the tuple is moved on
    (made ? made.get() : to)->of.insert(std::move(own), hash, {aggregate_.begin(std::move(in)), 1});
    if (made) {
      add_pane(made.get());
      to = made.release();
    }
    ++to->pieces, ++pieces_;
    ++to->fresh;
    counts_.take();
  }
  template <class To>
  void put_one(To& out) {
    const std::size_t number = at_++;
    auto& e = closing_[number];
    try {
      rethrow_if_bad(number);
      out.put(Window{std::move(e.key), in_unit<unit>(end_ - times_.length), in_unit<unit>(end_),
                     aggregate_.give(std::move(e.cell.now))});
    } catch (...) {
      counts_.lose(e.cell.fresh);
      throw;
    }
    counts_.gave(e.cell.fresh);
  }
  void clear_closing() noexcept {
    closing_.clear();
    bad_.clear();
    at_ = 0;
  }
  /// Puts the next window together in `closing_`, which is empty.
  void close_next() {
    end_ = next_;
    here_ = nullptr;
    if constexpr (Slides) {
      try {
        for (time_entry* p = panes_.first(); p != nullptr && p->at < end_; p = p->next)
          gather(static_cast<pane&>(*p));
      } catch (...) {
        for (auto& e : closing_) counts_.lose(e.cell.fresh);
        clear_closing();
        forget_done(counts_);
        throw;
      }
    } else {
      pane& only = static_cast<pane&>(*panes_.first());
      closing_.swap(only.of);
      spare_.swap(only.of);
      only.fresh = 0;
    }
    forget_done(counts_);
  }
  /// Adds a pane to the window that is being put together.
  void gather(pane& from) {
    const bool last = last_end(from.at) <= end_;
    for (auto& e : from.of) {
      auto* const into = closing_.find(e.key, e.hash());
      const std::uint64_t fresh = std::exchange(e.cell.fresh, 0);
      from.fresh -= fresh;
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
      } catch (...) { is_bad(static_cast<std::size_t>(into - &closing_[0])); }
    }
  }

  cells closing_;  ///< the results of the window that is being put out
  cells spare_;    ///< memory for the next pane
};

}  // namespace garrick::patterns::detail
