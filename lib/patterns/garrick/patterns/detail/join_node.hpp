// The node that joins two streams by key, within an interval of their tuples' times.
//
// A tuple meets the tuples of the other side that have come, and is kept for later ones until the
// other side's watermark has passed the latest time that a partner could have. So state is bounded
// by the watermarks: the tuples of one side are freed by the other side's time. If both sides have
// tuples, the side that is behind is read. When half of the room is taken, only the side that is
// behind is read, so that further tuples of the other side wait in its channels. The node does not
// wait for a side that has ended or is idle. The sides have sources of their own, so neither source
// waits for the other.
//
// The kept tuples of a side lie in buckets of time. A bucket is as long as the interval, so a tuple
// looks at two of them at most, and whole buckets are freed.
//
// Private: installed because templates need it.
//
// Thread safety: as in node.hpp.
//
// Invariants
// J1 A tuple is late if it is behind the watermark of its own side. So the set of late tuples does
//    not depend on the order in which the sides are read.
// J2 A tuple is kept until no tuple of the other side that is in time can meet it. So two tuples
//    that are in time, of one key and near enough, meet once: the second to come finds the first.
// J3 If failures are skipped, a pair that throws is lost alone, and both tuples stay. So even then
//    the set of pairs does not depend on the order in which the sides are read.
#pragma once

#include <garrick/base/types/copyable.hpp>
#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/detail/stage_type.hpp>
#include <garrick/patterns/detail/time_map.hpp>
#include <garrick/patterns/detail/watermark.hpp>
#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// The part of a side's kept tuples that does not depend on their type: their number, and how long
/// each is needed.
class kept_side_base {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns true if a tuple of time `t` may still meet another one, when the other side's
  /// watermark is at `others`.
  [[nodiscard]] bool is_needed(std::int64_t t, std::int64_t others) const noexcept {
    return t + reach_ >= others;
  }
  /// Frees the tuples that can meet no other one any more.
  void free_behind(std::int64_t others) noexcept;
  void clear() noexcept;

 protected:
  /// The tuples of a stretch of time.
  struct any_bucket : time_entry {
    std::size_t tuples = 0;
  };

  /// Makes a side in which a tuple of time t meets others up to t + `reach`.
  kept_side_base(std::int64_t bucket, std::int64_t reach,
                 time_map::destroy_function destroy) noexcept
      : bucket_(bucket), reach_(reach), buckets_(destroy) {}

  std::int64_t bucket_;
  std::int64_t reach_;
  time_map buckets_;
  std::size_t size_ = 0;
};
/// The tuples that one side keeps.
template <class T, class Key>
class kept_side : public kept_side_base {
  struct one {
    std::int64_t at;
    T tuple;
  };

 public:
  struct bucket;
  /// The place of a kept tuple.
  struct place {
    bucket* in;
    std::vector<one>* of_key;
  };
  struct bucket : any_bucket {
    dense_map<Key, std::vector<one>> by_key;
  };

  kept_side(std::int64_t bucket_length, std::int64_t reach) noexcept
      : kept_side_base(bucket_length, reach, &destroy) {}

  /// Returns the place for a tuple of this time and key. Requires that there is room for one.
  [[nodiscard]] place place_for(std::int64_t t, const Key& key, std::size_t hash,
                                asks_tuples& asks) {
    bucket& in = bucket_of(floor_to(t, bucket_));
    auto* e = asks.asked([&] { return in.by_key.find(key, hash); });
    if (e == nullptr) e = &in.by_key.insert(asks.asked([&] { return Key(key); }), hash, {});
    std::vector<one>& p = e->cell;
    if (p.size() == p.capacity()) p.reserve(std::max<std::size_t>(1, 2 * p.size()));
    return {&in, &p};
  }
  void keep(place at, std::int64_t t, T&& in) noexcept {
    at.of_key->push_back({t, std::move(in)});
    ++at.in->tuples;
    ++size_;
  }
  /// Calls `f` with each tuple of this key from time `first` to `last`.
  template <class F>
  void for_each(std::int64_t first, std::int64_t last, const Key& key, std::size_t hash,
                asks_tuples& asks, const F& f) {
    for (time_entry* b = buckets_.from(floor_to(first, bucket_)); b != nullptr && b->at <= last;
         b = b->next)
      if (auto* const e =
              asks.asked([&] { return static_cast<bucket&>(*b).by_key.find(key, hash); }))
        for (const one& x : e->cell)
          if (first <= x.at && x.at <= last) f(x.tuple);
  }

 private:
  static void destroy(time_entry* b) noexcept { delete static_cast<bucket*>(b); }
  [[nodiscard]] bucket& bucket_of(std::int64_t begin) {
    if (time_entry* const there = buckets_.find(begin)) return static_cast<bucket&>(*there);
    auto made = std::make_unique<bucket>();
    made->at = begin;
    buckets_.add(made.get());
    return *made.release();
  }
};

/// The progress of one side's stream.
struct side_progress {
  watermark mark;
  instant heard{};
  bool ended = false;
  bool idle = false;
  bool waits = false;  ///< for the other side, so it was not read in the last step
};

/// A join's numbers.
struct join_times {
  std::int64_t disorder;
  std::int64_t before;  ///< the right tuple's time may be this much less than the left tuple's
  std::int64_t after;   ///< the right tuple's time may be this much more
  duration idle_after;  ///< infinite: a side is never idle
  std::size_t at_most;
};
template <class KeyL, class KeyR, class TimeL, class TimeR, class F>
struct join_parts {
  [[no_unique_address]] KeyL key_l;
  [[no_unique_address]] KeyR key_r;
  [[no_unique_address]] TimeL time_l;
  [[no_unique_address]] TimeR time_r;
  [[no_unique_address]] F pair;
};

class join_node;

/// The running part of a join, as far as it does not depend on types.
class join_base : public stage_defaults, protected asks_tuples {
 public:
  static constexpr bool has_counts = true;

  join_base& operator=(const join_base&) = delete;

  void goes_on_after_failures() noexcept { each_pair_alone_ = true; }
  /// Drops the kept tuples, unless a tuple's time or key has thrown. The watermarks stay.
  void restart() noexcept;
  [[nodiscard]] std::size_t kept() const noexcept {
    return left_kept_->size() + right_kept_->size();
  }
  [[nodiscard]] std::size_t take_lost() noexcept { return std::exchange(lost_, 0); }
  [[nodiscard]] std::size_t take_late() noexcept { return std::exchange(late_, 0); }

  [[nodiscard]] side_progress& left() noexcept { return left_is_; }
  [[nodiscard]] side_progress& right() noexcept { return right_is_; }
  /// Returns true if the left side is behind.
  [[nodiscard]] bool left_is_behind() const noexcept;
  /// Returns true if this side must wait for the other one, even after tuples that are no longer
  /// needed are freed.
  [[nodiscard]] bool must_wait(bool left) noexcept { return is_half_full() && is_ahead(left); }

  /// Takes tuples of that side, and puts their pairs out: at least one tuple, then as far as there
  /// is room and the side need not wait. A tuple that throws counts as taken. If the stage goes on
  /// after failures, the node is told of each pair that throws.
  virtual void take(bool left, stage_batch& b, output& out, join_node& of) = 0;
  /// Brings both sides up to date, after a batch, and when a side is idle or has ended.
  void look() noexcept;

  /// Returns true if a side may become idle.
  [[nodiscard]] bool idles() const noexcept { return idles_; }
  /// Returns the time at which the next side becomes idle.
  [[nodiscard]] instant deadline_of_sides() const noexcept;
  void on_time_of_sides(instant now) noexcept;

 protected:
  explicit join_base(const join_times& t);
  ~join_base() = default;
  /// Copies the times only: the copy has no tuples. The derived class gives its sides by `keeps`.
  join_base(const join_base& o) : join_base(o.times_) {}
  void keeps(kept_side_base& left, kept_side_base& right) noexcept {
    left_kept_ = &left;
    right_kept_ = &right;
  }
  [[nodiscard]] static std::int64_t bucket(const join_times& t) noexcept {
    return std::max<std::int64_t>(t.before + t.after, 1);
  }
  [[nodiscard]] bool is_late(side_progress& side, std::int64_t t) noexcept {
    if (t < side.mark.value()) {
      ++late_;
      return true;
    }
    side.mark.saw(t);
    return false;
  }
  /// Makes room for one tuple. Throws std::length_error if that is impossible.
  void make_room_for_one() {
    if (kept() >= times_.at_most) [[unlikely]]
      make_room();
  }
  [[nodiscard]] bool each_pair_alone() const noexcept { return each_pair_alone_; }

  const join_times times_;
  side_progress left_is_;
  side_progress right_is_;

 private:
  [[nodiscard]] bool is_half_full() const noexcept { return 2 * kept() >= times_.at_most; }
  [[nodiscard]] bool is_ahead(bool left) noexcept;
  void make_room();

  kept_side_base* left_kept_ = nullptr;
  kept_side_base* right_kept_ = nullptr;
  std::size_t lost_ = 0;
  std::size_t late_ = 0;
  bool each_pair_alone_ = false;  ///< a pair that throws takes no tuple with it
  const bool idles_;
};

/// The node of a join, which reads both sides.
class join_node final : public stage_node_base {
 public:
  /// `stage_of` returns the stage to which `s` points, as a join_base.
  join_node(graph& of, const node_options& o, on_failure policy, const stage_type& type,
            const void* prototype, const tuple_type& l, const tuple_type& r,
            join_base& (*stage_of)(void* s) noexcept);

  [[nodiscard]] inputs& in() noexcept { return left_; }
  [[nodiscard]] inputs& other() noexcept { return right_; }
  std::size_t drop_inputs() noexcept override { return left_.drop() + right_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override {
    return left_.waiting() + right_.waiting();
  }
  /// Reports a pair whose function has thrown. Its tuples stay, so the dead letter has copies, if
  /// the tuples can be copied.
  template <class L, class R>
  void lose_pair(const L& l, const R& r) noexcept {
    if constexpr (garrick::base::copyable_message<L> && garrick::base::copyable_message<R>)
      static_cast<void>(told_of(std::current_exception(), l, r));
    count_failure();
  }

 private:
  [[nodiscard]] join_base& joins() noexcept { return stage_of_(stage()); }
  step_outcome step(turn& t) override;
  bool look_at(inputs& in, side_progress& side, instant now, bool was_blocked);
  std::optional<step_outcome> read(bool left, turn& t);
  void take_or_lose(bool left, const tuple_type& type, stage_batch& b);
  step_outcome nothing(turn& t, bool wait, bool left_is_behind);

  inputs left_;
  inputs right_;
  join_base& (*const stage_of_)(void* s) noexcept;
};

/// The running part of a join.
template <class L, class R, class Out, class Key, class Parts>
class join_stage final : public join_base {
 public:
  join_stage(Parts p, const join_times& t)
      : join_base(t), parts_(std::move(p)), left_(bucket(t), t.after), right_(bucket(t), t.before) {
    keeps(left_, right_);
  }
  /// Copies the functions and times only: the copy has no tuples.
  join_stage(const join_stage& o) : join_stage(o.parts_, o.times_) {}
  join_stage& operator=(const join_stage&) = delete;
  ~join_stage() = default;

  void take(bool left, stage_batch& b, output& out, join_node& of) override {
    slots<Out> to(out);
    const auto take_all = [&](auto* tuples, const auto& take_one) {
      do {
        to.begin_input();
        take_one(tuples[b.done++]);
      } while (b.done != b.size && !must_wait(left) && !to.is_blocked() &&
               !b.stream.is_cancelled());
    };
    if (left)
      take_all(static_cast<L*>(b.first), [&](L& in) {
        meet<L>(in, parts_.time_l, parts_.key_l, left_is_, left_, right_is_, right_, times_.before,
                times_.after, [&](const L& l, const R& r) { put(l, r, to, of); });
      });
    else
      take_all(static_cast<R*>(b.first), [&](R& in) {
        meet<R>(in, parts_.time_r, parts_.key_r, right_is_, right_, left_is_, left_, times_.after,
                times_.before, [&](const R& r, const L& l) { put(l, r, to, of); });
      });
  }

 private:
  /// Joins `in` with the tuples of the other side, and keeps it for later ones.
  template <class T, class TimeOf, class KeyOf, class Mine, class Others, class Put>
  void meet(T& in, TimeOf& time_of, KeyOf& key_of, side_progress& mine, Mine& kept,
            side_progress& others, Others& with, std::int64_t before, std::int64_t after,
            const Put& put) {
    const std::int64_t t = asked([&] { return time_by(time_of, std::as_const(in)); });
    decltype(auto) key =
        asked([&]() -> decltype(auto) { return part_of(key_of, std::as_const(in)); });
    const std::size_t hash = asked([&] { return hash_of<Key>(key); });
    if (is_late(mine, t)) return;
    // the tuple's own failures come before its pairs
    const bool stays = !others.ended && kept.is_needed(t, others.mark.value());
    typename Mine::place place{};
    if (stays) {
      make_room_for_one();
      place = kept.place_for(t, key, hash, *this);
    }
    with.for_each(t - before, t + after, key, hash, *this,
                  [&](const auto& other) { put(std::as_const(in), other); });
    if (stays) kept.keep(place, t, std::move(in));
  }
  void put(const L& l, const R& r, slots<Out>& to, join_node& of) {
    if (!each_pair_alone()) {
      to.put(called(parts_.pair)(l, r));
      return;
    }
    to.begin_input();  // a pair that throws takes no other one with it
    try {
      to.put(called(parts_.pair)(l, r));
    } catch (...) {
      to.take_back();
      of.lose_pair(l, r);
    }
  }

  Parts parts_;
  kept_side<L, Key> left_;
  kept_side<R, Key> right_;
};

/// The options of a join, for any types.
struct join_options {
  join_options();
  join_options(const join_options& o);
  join_options& operator=(const join_options& o);
  ~join_options();

  join_times times{.disorder = 0,
                   .before = 0,
                   .after = 0,
                   .idle_after = duration::infinite(),
                   .at_most = std::size_t{1} << 20};
  on_failure policy = on_failure::fail;
  std::string name = "join";
};

/// The table of a join's running part. `joins_of` returns that part.
template <class Stage, class Out>
inline constexpr stage_type join_type_of =
    stage_functions<Stage, Out>::template table<void, false>();
template <class Stage>
[[nodiscard]] join_base& joins_of(void* s) noexcept {
  return *static_cast<Stage*>(s);
}
/// Returns the new node of a join, which puts out to `next`.
[[nodiscard]] join_node& add_join(const builder& b, const any_seq& join, bool idles,
                                  const tuple_type& l, const tuple_type& r,
                                  join_base& (*stage_of)(void* s) noexcept,
                                  const any_inlet_ptr& next);
/// Returns the builder of the join's source.
[[nodiscard]] builder beside_of_join(const builder& b, const any_seq& join);

}  // namespace garrick::patterns::detail
