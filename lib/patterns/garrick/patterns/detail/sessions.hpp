// Windows of sessions: for each key, tuples of which each is less than a gap from the next one.
//
// A session ends a gap after its latest tuple, and is open until the watermark reaches that end. A
// tuple behind the watermark is taken only if it lies within an open session of its key, from the
// session's begin to its end; otherwise the tuple is late. So no tuple reaches a session that was
// put out. A tuple that is not behind the watermark may begin a session, or move the begin of a
// session back. A tuple may join two sessions, which then are one.
//
// Due sessions are found in a heap of ends. Each session has one entry there, with the end that it
// had when the entry was made. A session that has grown meanwhile is put back with its new end. So
// sessions are put out in the order of their ends.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the node's run right.
//
// Invariants
// S1 The sessions of a key are at least a gap from each other, in the order of their begins.
// S2 A session has one entry in the heap, at its end or before it. The entry of a session that is
//    gone stays until its turn comes, and so does the session's key.
// S3 The begin of a session is set only at a time that the watermark has not passed. A session that
//    was put out ended at the watermark or before it. So sessions of a key do not overlap.
// S4 A session that has ended takes no tuple, even if it is still to be put out.
#pragma once

#include <garrick/patterns/detail/aggregate.hpp>
#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

template <class T, class Key, class Aggregate, class Window>
class session_windows : public windows_base<Aggregate> {
  using base = windows_base<Aggregate>;
  using base::aggregate_, base::counts_;
  using state = typename Aggregate::state;
  using unit = typename Window::time;

 public:
  session_windows(std::int64_t gap, Aggregate a, std::size_t at_most)
      : base(std::move(a), at_most), gap_(gap) {}
  /// Copies the parameters only: the copy has no sessions.
  session_windows(const session_windows& o) : base(o), gap_(o.gap_) {}
  session_windows(session_windows&&) noexcept = default;
  session_windows& operator=(const session_windows&) = delete;
  ~session_windows() = default;

  /// Sessions end at any time, so a tuple has to be compared with the very watermark that it meets.
  static constexpr bool needs_every_watermark = true;
  [[nodiscard]] static std::int64_t grain() noexcept { return 1; }
  /// Returns the time between a tuple that begins a session, and the end of that session.
  [[nodiscard]] std::int64_t shortest() const noexcept { return gap_; }

  /// Takes a tuple of time `t`. `key`, with this hash, may be a part of the tuple. Returns false if
  /// the tuple is late: then `in` is as it was. If `take` throws, the windows are as before, unless
  /// it was joining two sessions: then both are lost.
  template <class K>
  [[nodiscard]] bool take(std::int64_t t, const K& key, std::size_t hash, T&& in) {
    auto at = look_for(key, hash);
    session* into = nullptr;
    session* other = nullptr;
    if (at != keys_.end())
      for (session& s : at->second.sessions)
        if (s.begin - gap_ < t && t < s.last + gap_) (into == nullptr ? into : other) = &s;
    if (t < watermark_ && (into == nullptr || t < into->begin || has_ended(*into))) return false;
    if (into == nullptr) {
      if (!counts_.has_room_for_one_more(std::max(pieces_, ends_.size()))) {
        make_room();
        at = look_for(key, hash);
      }
      open(t, at, key, hash, std::move(in));
      return true;
    }
    if constexpr (Aggregate::keeps_tuples)
      if (!counts_.has_room_for_one_more(pieces_)) make_room();
    aggregate_.step(into->now, std::move(in));
    ++into->pieces;
    if constexpr (Aggregate::keeps_tuples) ++pieces_;
    ++into->tuples;
    counts_.take();
    into->begin = std::min(into->begin, t);
    into->last = std::max(into->last, t);
    if (other != nullptr) join(at->second, *into, *other);
    return true;
  }

  void watermark_is(std::int64_t w) noexcept { watermark_ = w; }
  /// Returns the watermark at which something may have to be put out.
  [[nodiscard]] std::int64_t next() const noexcept {
    return ends_.empty() ? no_time : ends_.front().end;
  }
  /// Returns true if a session has to be put out before the next tuple is taken. Otherwise due
  /// sessions may wait for the end of the batch, since a session that has ended takes no tuple, and
  /// its pieces do not count.
  [[nodiscard]] bool is_overfull() const noexcept { return overfull_; }
  /// Returns true if there is something to look at, at watermark `w`.
  [[nodiscard]] bool is_due(std::int64_t w) const noexcept { return next() <= w; }
  /// Puts out the sessions that are due, in the order of their ends, as far as there is room. An
  /// exception loses one result and no other.
  template <class To>
  void put_due(To& out) {
    overfull_ = false;
    while (session* const s = first_that_has_ended()) {
      put(*out_of_heap().of, *s, out);
      if (out.is_blocked()) return;
    }
  }
  void clear() noexcept {
    counts_.lose_all();
    keys_.clear();
    ends_.clear();
    pieces_ = 0;
  }

 private:
  struct session {
    std::int64_t begin;
    std::int64_t last;
    std::uint64_t number;
    state now;
    std::size_t pieces = 1;
    std::size_t tuples = 1;
  };
  struct sessions_of_key {
    std::vector<session> sessions;
    std::size_t in_heap = 0;
  };
  /// A key keeps its hash, so no function of the user's runs when it is forgotten.
  struct hashed_key {
    std::size_t hash;
    Key key;
  };
  /// A key for a look-up by value.
  struct wanted_key {
    std::size_t hash;
    const Key& key;
  };
  /// A key for a look-up of the very object that is in the map.
  struct known_key {
    std::size_t hash;
    const hashed_key* at;
  };
  struct kept_hash {
    using is_transparent = void;
    std::size_t operator()(const auto& k) const noexcept { return k.hash; }
  };
  struct same_key {
    using is_transparent = void;
    bool operator()(const auto& a, const hashed_key& b) const {
      return a.hash == b.hash && static_cast<bool>(a.key == b.key);
    }
    bool operator()(const known_key& a, const hashed_key& b) const noexcept { return a.at == &b; }
  };
  using key_map = std::unordered_map<hashed_key, sessions_of_key, kept_hash, same_key>;
  using one_key = typename key_map::value_type;
  /// An entry of the heap: the session with this number may end at `end`. The earliest entry is the
  /// largest of the heap.
  struct turn_of_session {
    std::int64_t end;
    std::uint64_t number;
    one_key* of;

    [[nodiscard]] friend bool operator<(const turn_of_session& a,
                                        const turn_of_session& b) noexcept {
      return a.end != b.end ? a.end > b.end : a.number > b.number;
    }
  };

  template <class K>
  [[nodiscard]] typename key_map::iterator look_for(const K& key, std::size_t hash) {
    return this->asked([&] { return keys_.find(wanted_key{hash, key}); });
  }
  [[nodiscard]] bool has_ended(const session& s) const noexcept {
    return s.last + gap_ <= watermark_;
  }
  void in_heap(one_key& of, const session& s) {
    ends_.push_back({s.last + gap_, s.number, &of});
    std::push_heap(ends_.begin(), ends_.end());
    ++of.second.in_heap;
  }
  /// Takes the first entry out of the heap.
  turn_of_session out_of_heap() noexcept {
    std::pop_heap(ends_.begin(), ends_.end());
    const turn_of_session turn = ends_.back();
    ends_.pop_back();
    --turn.of->second.in_heap;
    return turn;
  }
  /// Returns the session whose entry is the first in the heap, if it has ended, or null. Before
  /// that, removes the entries of sessions that are gone, and replaces those of sessions that have
  /// grown.
  [[nodiscard]] session* first_that_has_ended() {
    while (next() <= watermark_) {
      const turn_of_session& first = ends_.front();
      auto& all = first.of->second.sessions;
      const auto at = std::find_if(all.begin(), all.end(),
                                   [&](const session& s) { return s.number == first.number; });
      if (at != all.end() && at->last + gap_ == first.end) return &*at;
      one_key& of = *out_of_heap().of;
      if (at != all.end())
        in_heap(of, *at);  // there was room for one a moment ago
      else
        forget(of);
    }
    return nullptr;
  }
  /// Called when there is no room for one more piece. If a session has ended, it is put out before
  /// the next tuple, and its pieces do not count; otherwise `make_room` throws std::length_error.
  /// Keys without sessions may be gone after the call.
  void make_room() {
    if (first_that_has_ended() != nullptr)
      overfull_ = true;
    else
      counts_.room_for_one_more(std::max(pieces_, ends_.size()));
  }
  void forget(one_key& of) noexcept {
    if (of.second.sessions.empty() && of.second.in_heap == 0)
      keys_.erase(keys_.find(known_key{of.first.hash, &of.first}));
  }
  template <class K>
  void open(std::int64_t t, typename key_map::iterator at, const K& key, std::size_t hash, T&& in) {
    hashed_key own{hash, this->asked([&] { return Key(key); })};  // before the tuple is moved on
    session fresh{
        .begin = t, .last = t, .number = ++numbers_, .now = aggregate_.begin(std::move(in))};
    if (at == keys_.end())
      at = this->asked([&] { return keys_.try_emplace(std::move(own)).first; });
    auto& all = at->second.sessions;
    try {
      const auto place =
          std::find_if(all.begin(), all.end(), [&](const session& s) { return s.begin > t; });
      in_heap(*at, fresh);
      all.insert(place, std::move(fresh));
    } catch (...) {
      if (all.empty() && at->second.in_heap == 0) keys_.erase(at);
      throw;
    }
    ++pieces_;
    counts_.take();
  }
  /// Joins two sessions, because a tuple is near both.
  void join(sessions_of_key& of, session& earlier, session& later) {
    const std::size_t number = static_cast<std::size_t>(&later - of.sessions.data());
    try {
      aggregate_.merge(earlier.now, std::move(later.now));
    } catch (...) {
      counts_.lose(earlier.tuples + later.tuples - 1);
      counts_.gave(1);  // the tuple itself, which is a dead letter
      pieces_ -= weight(earlier) + weight(later);
      of.sessions.erase(of.sessions.begin() + static_cast<std::ptrdiff_t>(number - 1),
                        of.sessions.begin() + static_cast<std::ptrdiff_t>(number + 1));
      throw;
    }
    earlier.last = std::max(earlier.last, later.last);
    earlier.tuples += later.tuples;
    earlier.pieces += later.pieces;
    if constexpr (!Aggregate::keeps_tuples) --pieces_;
    of.sessions.erase(of.sessions.begin() + static_cast<std::ptrdiff_t>(number));
  }
  [[nodiscard]] static std::size_t weight(const session& s) noexcept {
    return Aggregate::keeps_tuples ? s.pieces : 1;
  }
  template <class To>
  void put(one_key& of, session& which, To& out) {
    out.begin_input();
    auto& all = of.second.sessions;
    session s = std::move(which);
    all.erase(all.begin() + (&which - all.data()));
    pieces_ -= weight(s);
    struct forgets_key {
      session_windows& windows;
      one_key& of;
      ~forgets_key() { windows.forget(of); }
    } const at_the_end{*this, of};
    try {
      out.put(Window{of.first.key, in_unit<unit>(s.begin), in_unit<unit>(s.last + gap_),
                     aggregate_.give(std::move(s.now))});
    } catch (...) {
      counts_.lose(s.tuples);
      throw;
    }
    counts_.gave(s.tuples);
  }

  std::int64_t gap_;
  std::int64_t watermark_ = std::numeric_limits<std::int64_t>::min();
  key_map keys_;
  std::vector<turn_of_session> ends_;  ///< a heap
  std::uint64_t numbers_ = 0;
  std::size_t pieces_ = 0;
  bool overfull_ = false;  ///< there is a piece too many, until the next result is put out
};

}  // namespace garrick::patterns::detail
