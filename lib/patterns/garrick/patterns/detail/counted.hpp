// Windows of a number of tuples of a key.
//
// A key's tuples are cut into panes. A tumbling window is one pane. A window that has begun when
// the stream ends is put out then, shorter than the others.
//
// Each key, with the pane that it fills, counts towards at_most, and so does each full pane that is
// kept; if tuples are kept, each tuple counts instead of the panes. A key stays for ever, since its
// tuples are numbered; so at_most is also the largest number of keys.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the node's run right.
#pragma once

#include <garrick/patterns/detail/aggregate.hpp>
#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// States in a row, which are not moved.
template <class State>
class pane_list {
  struct link {
    State state;
    std::unique_ptr<link> next{};
  };

 public:
  pane_list() = default;
  pane_list(pane_list&& o) noexcept
      : first_(std::move(o.first_)),
        last_(std::exchange(o.last_, nullptr)),
        size_(std::exchange(o.size_, 0)) {}
  pane_list& operator=(pane_list&& o) noexcept {
    first_.swap(o.first_);
    std::swap(last_, o.last_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~pane_list() {
    while (first_) pop_front();
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] State& back() const noexcept { return last_->state; }
  void push_back(State&& s) {
    std::unique_ptr<link> made(new link{std::move(s)});
    link* const at = made.get();
    (last_ == nullptr ? first_ : last_->next) = std::move(made);
    last_ = at;
    ++size_;
  }
  void pop_front() noexcept {
    first_ = std::unique_ptr<link>(std::move(first_->next));
    if (!first_) last_ = nullptr;
    --size_;
  }
  template <class F>
  void for_each(const F& f) const {
    for (const link* at = first_.get(); at != nullptr; at = at->next.get()) f(at->state);
  }

 private:
  std::unique_ptr<link> first_;
  link* last_ = nullptr;
  std::size_t size_ = 0;
};

/// `Slides`: windows overlap, and the states of panes are copied and merged.
template <bool Slides, class T, class Key, class Aggregate, class Window>
class counted_windows : public windows_base<Aggregate> {
  using base = windows_base<Aggregate>;
  using base::aggregate_, base::counts_;
  using state = typename Aggregate::state;

 public:
  counted_windows(std::int64_t length, std::int64_t slide, const Aggregate& a, std::size_t at_most)
      : base(a, at_most), times_(length, slide) {}
  /// Copies the parameters only: the copy has no windows.
  counted_windows(const counted_windows& o) : base(o), times_(o.times_) {}
  counted_windows(counted_windows&&) noexcept = default;
  counted_windows& operator=(const counted_windows&) = delete;
  ~counted_windows() = default;

  /// Takes a tuple, whose key may be a part of it, and puts out the window that it ends, if any. If
  /// putting it out throws, the window's other tuples are lost; if the tuple cannot be taken, the
  /// windows are as before.
  template <class K, class To>
  void take(const K& key, T&& in, To& out) {
    const std::size_t hash = this->asked([&] { return hash_of<Key>(key); });
    auto* e = this->asked([&] { return keys_.find(key, hash); });
    const bool keeps_one_more = Aggregate::keeps_tuples || (Slides && fills_pane(e));
    if (e == nullptr || keeps_one_more)
      counts_.room_for_one_more(pieces_ + (e == nullptr && keeps_one_more ? 1 : 0));
    if (e == nullptr) {
      Key own = this->asked([&] { return Key(key); });  // before the tuple is moved on
      windows_of_key fresh;
      begin_pane(fresh, std::move(in));
      e = &keys_.insert(std::move(own), hash, std::move(fresh));
      ++pieces_;
    } else if (state* const open = open_pane(e->cell)) {
      aggregate_.step(*open, std::move(in));
    } else {
      begin_pane(e->cell, std::move(in));
    }
    if (keeps_one_more) ++pieces_;
    counts_.take();
    windows_of_key& w = e->cell;
    ++w.fresh;
    ++w.tuples;
    if (++w.in_pane != times_.pane) return;
    w.in_pane = 0;
    if constexpr (Slides)
      if (w.tuples < times_.length || (w.tuples - times_.length) % times_.slide != 0) return;
    finish(*e, out);
  }

  /// Notes that no further tuple comes: all windows that have begun are due.
  void end() noexcept { ended_ = true; }
  [[nodiscard]] bool is_due() const noexcept { return ended_ && at_ < keys_.size(); }
  /// Puts due windows out, as far as there is room.
  template <class To>
  void put_due(To& out) {
    while (at_ < keys_.size()) {
      out.begin_input();
      put_rest(keys_[at_], out);
      if (out.is_blocked()) return;
    }
  }
  void clear() noexcept {
    counts_.lose_all();
    keys_.clear();
    pieces_ = 0;
    at_ = 0;
  }

 private:
  /// The panes of a key's open windows; the last pane may not be full. Panes are not moved, so
  /// nothing can fail when a pane is full or is freed.
  using panes = std::conditional_t<Slides, pane_list<state>, std::optional<state>>;
  struct windows_of_key {
    panes all{};
    std::int64_t tuples = 0;
    std::int64_t in_pane = 0;  ///< how many of the tuples are in the pane that is not full
    std::int64_t begin = 0;    ///< the begin of the first window that was not put out
    std::size_t fresh = 0;     ///< tuples that are in no result yet
  };
  using keys = dense_map<Key, windows_of_key>;

  /// Returns the pane that is not full, or null if there is none.
  [[nodiscard]] state* open_pane(windows_of_key& w) const noexcept {
    if constexpr (Slides)
      return w.in_pane != 0 ? &w.all.back() : nullptr;
    else
      return w.all ? &*w.all : nullptr;
  }
  void begin_pane(windows_of_key& w, T&& in) {
    if constexpr (Slides)
      w.all.push_back(aggregate_.begin(std::move(in)));
    else
      w.all.emplace(aggregate_.begin(std::move(in)));
  }
  /// Returns true if the next tuple of this key, which may be new, is the last one of a pane.
  [[nodiscard]] bool fills_pane(const typename keys::entry* of) const noexcept {
    return (of == nullptr ? 0 : of->cell.in_pane) + 1 == times_.pane;
  }
  /// Puts out a key's first window that was not put out yet, and forgets it.
  template <class To>
  void finish(typename keys::entry& of, To& out) {
    windows_of_key& w = of.cell;
    const std::int64_t begin = std::exchange(w.begin, w.begin + times_.slide);
    const std::size_t fresh = std::exchange(w.fresh, 0);
    struct forget_panes {
      counted_windows& of;
      windows_of_key& w;
      ~forget_panes() { of.forget(w); }
    } const at_the_end{*this, w};
    try {
      out.put(Window{of.key, begin, w.tuples, aggregate_.give(together(w))});
    } catch (...) {
      if (ended_) {
        counts_.lose(fresh);
      } else {
        counts_.lose(fresh - 1);
        counts_.gave(1);  // the tuple itself, which is a dead letter
      }
      throw;
    }
    counts_.gave(fresh);
  }
  /// Drops the panes that belong to no open window.
  void forget(windows_of_key& w) noexcept {
    if constexpr (Slides) {
      const std::size_t full = w.all.size() - (open_pane(w) == nullptr ? 0 : 1);
      const std::size_t n = std::min(static_cast<std::size_t>(times_.slide / times_.pane), full);
      for (std::size_t i = 0; i < n; ++i) w.all.pop_front();
      pieces_ -= n * (Aggregate::keeps_tuples ? static_cast<std::size_t>(times_.pane) : 1);
    } else {
      w.all.reset();
      if constexpr (Aggregate::keeps_tuples)
        pieces_ -= static_cast<std::size_t>((w.tuples - 1) % times_.length + 1);
    }
  }
  [[nodiscard]] state together(windows_of_key& w) {
    if constexpr (Slides) {
      std::optional<state> all;
      w.all.for_each([&](const state& s) {
        if (all)
          aggregate_.merge(*all, state(s));
        else
          all.emplace(s);
      });
      return *std::move(all);
    } else {
      return *std::move(w.all);
    }
  }
  /// At the end: puts out the next window of this key, or goes on to the next key.
  template <class To>
  void put_rest(typename keys::entry& e, To& out) {
    if (e.cell.begin >= e.cell.tuples)
      ++at_;
    else
      finish(e, out);
  }

  cut_times times_;
  keys keys_;
  std::size_t pieces_ = 0;
  bool ended_ = false;
  std::size_t at_ = 0;  ///< at the end: the number of the key to put out next
};

}  // namespace garrick::patterns::detail
