// Windows of so many tuples of a key.
//
// A key's tuples are cut into panes, as long as the greatest common divisor of a window's length
// and its slide, so that a tuple is folded into one pane. A tumbling window is one pane. What has
// begun when the stream ends is put out then, shorter than the others.
//
// Each key counts towards at_most, with the pane that it fills, and so does each full pane that is
// kept; if tuples are kept, each of them instead of the panes.
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
#include <deque>
#include <numeric>
#include <optional>
#include <utility>

namespace garrick::patterns::detail {

/// `Slides`: windows overlap, and the states of panes are copied and merged.
template <bool Slides, class T, class Key, class Aggregate, class Window>
class counted_windows {
  using state = typename Aggregate::state;

 public:
  counted_windows(std::int64_t length, std::int64_t slide, Aggregate a, std::size_t at_most)
      : length_(length),
        slide_(slide),
        pane_(std::gcd(length, slide)),
        at_most_(at_most),
        aggregate_(std::move(a)),
        counts_(at_most) {}
  /// Each copy begins anew.
  counted_windows(const counted_windows& o)
      : counted_windows(o.length_, o.slide_, o.aggregate_, o.at_most_) {}
  counted_windows(counted_windows&&) noexcept = default;
  counted_windows& operator=(const counted_windows&) = delete;
  ~counted_windows() = default;

  [[nodiscard]] window_counts& counts() noexcept { return counts_; }
  [[nodiscard]] const window_counts& counts() const noexcept { return counts_; }
  void goes_on_after_failures() noexcept { aggregate_.goes_on_after_failures(); }

  /// Takes a tuple, whose key may be a part of it, and puts out the window that it ends, if any. If
  /// that throws, the window's other tuples are lost; if the tuple cannot be taken, the windows are
  /// as before.
  template <class K, class To>
  void take(const K& key, T&& in, To& out) {
    const std::size_t hash = hash_of<Key>(key);
    auto* e = keys_.find(key, hash);
    const bool keeps_one_more = Aggregate::keeps_tuples || (Slides && fills_pane(e));
    if (e == nullptr || keeps_one_more)
      counts_.room_for_one_more(pieces_ + (e == nullptr && keeps_one_more ? 1 : 0));
    if (e == nullptr) {
      Key own(key);  // before the tuple is moved on
      windows_of_key fresh;
      fresh.open.emplace(aggregate_.begin(std::move(in)));
      e = &keys_.insert(std::move(own), hash, std::move(fresh));
      ++pieces_;
    } else if (auto& open = e->cell.open; open) {
      aggregate_.step(*open, std::move(in));
    } else {
      open.emplace(aggregate_.begin(std::move(in)));
    }
    if (keeps_one_more) ++pieces_;
    counts_.take();
    windows_of_key& w = e->cell;
    ++w.fresh;
    if (++w.tuples % pane_ != 0) return;
    if constexpr (!Slides) {
      if constexpr (Aggregate::keeps_tuples) pieces_ -= static_cast<std::size_t>(length_);
      put(*e, [&] { return *std::exchange(w.open, {}); }, w.tuples - length_, out);
    } else {
      w.full.push_back(*std::exchange(w.open, {}));
      if (w.tuples < length_ || (w.tuples - length_) % slide_ != 0) return;
      finish(*e, out);
    }
  }

  /// No tuple comes any more: what has begun is to be put out.
  void end() noexcept { ended_ = true; }
  [[nodiscard]] bool is_due() const noexcept { return ended_ && at_ < keys_.size(); }
  /// Puts out what is due, as far as there is room.
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
  struct windows_of_key {
    std::optional<state> open;  ///< the pane that is not full
    std::deque<state> full;     ///< of windows that are open, if windows slide
    std::int64_t tuples = 0;
    std::int64_t begin = 0;  ///< of the first window that was not put out
    std::size_t fresh = 0;   ///< tuples that are in no result yet
  };
  using keys = dense_map<Key, windows_of_key>;

  /// Is the next tuple of this key, which may be new, the last one of a pane?
  [[nodiscard]] bool fills_pane(const typename keys::entry* of) const noexcept {
    return ((of == nullptr ? 0 : of->cell.tuples) + 1) % pane_ == 0;
  }
  /// The window whose state `make()` gives.
  template <class Make, class To>
  void put(typename keys::entry& of, const Make& make, std::int64_t begin, To& out) {
    const std::size_t fresh = std::exchange(of.cell.fresh, 0);
    try {
      out.put(Window{of.key, begin, of.cell.tuples, aggregate_.give(make())});
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
  /// The window is full that begins at `begin`.
  template <class To>
  void finish(typename keys::entry& e, To& out) {
    windows_of_key& w = e.cell;
    const std::int64_t begin = std::exchange(w.begin, w.begin + slide_);
    struct forget_panes {
      counted_windows& of;
      windows_of_key& w;
      ~forget_panes() { of.forget(w); }
    } const at_the_end{*this, w};
    put(e, [&] { return together(w); }, begin, out);
  }
  /// The panes that no open window has.
  void forget(windows_of_key& w) noexcept {
    for (std::int64_t n = slide_ / pane_; n != 0 && !w.full.empty(); --n) {
      w.full.pop_front();
      pieces_ -= Aggregate::keeps_tuples ? static_cast<std::size_t>(pane_) : 1;
    }
  }
  [[nodiscard]] state together(windows_of_key& w) {
    std::optional<state> all;
    const auto add = [&](const state& s) {
      if (all)
        aggregate_.merge(*all, state(s));
      else
        all.emplace(s);
    };
    for (const state& s : w.full) add(s);
    if (w.open) add(*w.open);
    return *std::move(all);
  }
  /// At the end, the next window of a key, or the next key.
  template <class To>
  void put_rest(typename keys::entry& e, To& out) {
    windows_of_key& w = e.cell;
    if constexpr (!Slides) {
      ++at_;
      if (w.open)
        put(e, [&] { return *std::exchange(w.open, {}); }, w.tuples - w.tuples % length_, out);
    } else {
      if (w.begin >= w.tuples) {
        ++at_;
        return;
      }
      finish(e, out);
    }
  }

  std::int64_t length_;
  std::int64_t slide_;
  std::int64_t pane_;
  std::size_t at_most_;
  Aggregate aggregate_;
  window_counts counts_;
  keys keys_;
  std::size_t pieces_ = 0;
  bool ended_ = false;
  std::size_t at_ = 0;  ///< at the end: the key whose windows are put out
};

}  // namespace garrick::patterns::detail
