// The node that joins two streams by key, within an interval of their tuples' times.
//
// A tuple meets those of the other side that are there, and stays for those that are still to come,
// until the other side's watermark is behind the last time that could meet it. So state is bounded
// by the watermarks: what one side keeps, the other side's time frees. If both have something, the
// side that is behind is read; and when half of the room is taken, only that one, so that the other
// waits in its channels, from its next tuple on. Nobody waits for a side that has ended or is idle.
// The sides have sources of their own, so neither waits for the other.
//
// What a side keeps lies in buckets of time, as long as the interval: a tuple looks at three of
// them at most, and whole buckets are freed.
//
// Private: installed because templates need it.
//
// Thread safety: as node.hpp.
//
// Invariants
// J1 A tuple is late if it is behind the watermark of its own side. So which ones are late does not
//    depend on how the sides are read in turn.
// J2 A tuple is kept until no tuple of the other side that is in time can meet it. So two tuples
//    that are in time, of one key and near enough, meet once: whichever comes second finds the
//    first.
// J3 If the stage goes on after failures, each pair stands for itself: one that throws is lost
//    alone, and both tuples stay. So which pairs there are does not depend on how the sides are
//    read in turn then either.
#pragma once

#include <garrick/base/types/copyable.hpp>
#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/watermark.hpp>
#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// The tuples that one side keeps.
template <class T, class Key>
class kept_side {
  struct one {
    std::int64_t at;
    T tuple;
  };

 public:
  using place = std::vector<one>;

  /// A tuple of time t meets others up to t + `reach`.
  kept_side(std::int64_t bucket, std::int64_t reach) noexcept : bucket_(bucket), reach_(reach) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Where a tuple of this time and key is to be kept. There is room for one.
  [[nodiscard]] place& place_for(std::int64_t t, const Key& key, std::size_t hash) {
    auto& of = buckets_[floor_to(t, bucket_)];
    auto* e = of.find(key, hash);
    if (e == nullptr) e = &of.insert(Key(key), hash, {});
    place& p = e->cell;
    if (p.size() == p.capacity()) p.reserve(std::max<std::size_t>(1, 2 * p.size()));
    return p;
  }
  void keep(place& at, std::int64_t t, T&& in) noexcept {
    at.push_back({t, std::move(in)});
    ++size_;
  }
  /// Calls `f` with each tuple of this key from time `first` to `last`.
  template <class F>
  void for_each(std::int64_t first, std::int64_t last, const Key& key, std::size_t hash,
                const F& f) {
    for (auto b = buckets_.lower_bound(floor_to(first, bucket_));
         b != buckets_.end() && b->first <= last; ++b)
      if (auto* const e = b->second.find(key, hash))
        for (const one& x : e->cell)
          if (first <= x.at && x.at <= last) f(x.tuple);
  }
  /// May a tuple of time `t` still meet one, when the other side's watermark is there?
  [[nodiscard]] bool is_needed(std::int64_t t, std::int64_t others) const noexcept {
    return t + reach_ >= others;
  }
  /// Frees what nobody can meet any more.
  void free_behind(std::int64_t others) noexcept {
    while (!buckets_.empty() && !is_needed(buckets_.begin()->first + bucket_ - 1, others)) {
      for (auto& e : buckets_.begin()->second) size_ -= e.cell.size();
      buckets_.erase(buckets_.begin());
    }
  }
  void clear() noexcept {
    buckets_.clear();
    size_ = 0;
  }

 private:
  std::int64_t bucket_;
  std::int64_t reach_;
  std::map<std::int64_t, dense_map<Key, place>> buckets_;
  std::size_t size_ = 0;
};

/// How far one side's stream is.
struct side_progress {
  watermark mark;
  instant heard{};
  bool ended = false;
  bool idle = false;
  bool waits = false;  ///< for the other one: it was not read in the last step
};

/// What is said of a join.
template <class KeyL, class KeyR, class TimeL, class TimeR, class F>
struct join_parts {
  [[no_unique_address]] KeyL key_l;
  [[no_unique_address]] KeyR key_r;
  [[no_unique_address]] TimeL time_l;
  [[no_unique_address]] TimeR time_r;
  [[no_unique_address]] F pair;
  std::int64_t disorder;
  std::int64_t before;  ///< the right one's time may be so much less than the left one's
  std::int64_t after;   ///< or so much more
  duration idle_after;
  std::size_t at_most;
};

/// Its running part. `Idles`: a side may become idle.
template <class L, class R, class Out, class Key, class Parts, bool Idles>
class join_stage : private asks_tuples {
 public:
  explicit join_stage(Parts p)
      : parts_(std::move(p)),
        left_(bucket(), parts_.after),
        right_(bucket(), parts_.before),
        left_is_{.mark = watermark(parts_.disorder, parts_.idle_after)},
        right_is_{.mark = watermark(parts_.disorder, parts_.idle_after)} {}
  /// Each copy begins anew.
  join_stage(const join_stage& o) : join_stage(Parts(o.parts_)) {}
  join_stage(join_stage&&) noexcept = default;
  join_stage& operator=(const join_stage&) = delete;
  ~join_stage() = default;

  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  void goes_on_after_failures() noexcept { each_pair_alone_ = true; }
  /// What is kept is lost, unless it was a tuple's time or key that has thrown. How far time is
  /// stays known.
  void restart() noexcept {
    if (has_only_asked()) return;
    lost_ += kept();
    left_.clear();
    right_.clear();
  }
  [[nodiscard]] std::size_t kept() const noexcept { return left_.size() + right_.size(); }
  [[nodiscard]] std::size_t take_lost() noexcept { return std::exchange(lost_, 0); }
  [[nodiscard]] std::size_t take_late() noexcept { return std::exchange(late_, 0); }

  [[nodiscard]] side_progress& left() noexcept { return left_is_; }
  [[nodiscard]] side_progress& right() noexcept { return right_is_; }
  /// Is the left side the one that is behind?
  [[nodiscard]] bool left_is_behind() const noexcept {
    return reached(left_is_) <= reached(right_is_);
  }
  /// Must this side wait for the other one? Frees what it can before.
  [[nodiscard]] bool must_wait(bool left) noexcept {
    if (!is_half_full()) return false;
    look();
    const side_progress& other = left ? right_is_ : left_is_;
    return is_half_full() && left != left_is_behind() && !other.ended && !other.idle;
  }

  /// If the stage goes on after failures, `lost(left, right)` is called, while the exception is
  /// being handled, for each pair that throws. It throws nothing.
  template <class To, class Lost>
  void take_left(L&& in, To& out, const Lost& lost) {
    const std::int64_t t = asked([&] { return time_by(parts_.time_l, std::as_const(in)); });
    decltype(auto) key =
        asked([&]() -> decltype(auto) { return part_of(parts_.key_l, std::as_const(in)); });
    const std::size_t hash = asked([&] { return hash_of<Key>(key); });
    if (is_late(left_is_, t)) return;
    // what can fail for the tuple itself comes before its pairs
    auto* const place = right_is_.ended || !left_.is_needed(t, right_is_.mark.value())
                            ? nullptr
                            : &place_for(left_, t, key, hash);
    right_.for_each(t - parts_.before, t + parts_.after, key, hash,
                    [&](const R& r) { put(std::as_const(in), r, out, lost); });
    if (place != nullptr) left_.keep(*place, t, std::move(in));
  }
  template <class To, class Lost>
  void take_right(R&& in, To& out, const Lost& lost) {
    const std::int64_t t = asked([&] { return time_by(parts_.time_r, std::as_const(in)); });
    decltype(auto) key =
        asked([&]() -> decltype(auto) { return part_of(parts_.key_r, std::as_const(in)); });
    const std::size_t hash = asked([&] { return hash_of<Key>(key); });
    if (is_late(right_is_, t)) return;
    auto* const place = left_is_.ended || !right_.is_needed(t, left_is_.mark.value())
                            ? nullptr
                            : &place_for(right_, t, key, hash);
    left_.for_each(t - parts_.after, t + parts_.before, key, hash,
                   [&](const L& l) { put(l, std::as_const(in), out, lost); });
    if (place != nullptr) right_.keep(*place, t, std::move(in));
  }
  /// After a batch, and when a side is idle or has ended.
  void look() noexcept {
    if (left_is_.idle) left_is_.mark.is_at_least(right_is_.mark.value());
    if (right_is_.idle) right_is_.mark.is_at_least(left_is_.mark.value());
    left_.free_behind(reached(right_is_));
    right_.free_behind(reached(left_is_));
  }

  /// When the next side becomes idle.
  [[nodiscard]] instant deadline() const noexcept
    requires Idles
  {
    instant first = instant::never();
    for (const side_progress* const s : {&left_is_, &right_is_}) {
      if (s->ended) continue;
      first = std::min(first, s->mark.deadline());
      if (!s->idle) first = std::min(first, s->heard + parts_.idle_after);
    }
    return first;
  }
  void on_time(instant now) noexcept {
    for (side_progress* const s : {&left_is_, &right_is_}) {
      if (s->mark.deadline() <= now) s->mark.on_time(now);
      if (s->heard + parts_.idle_after <= now) s->idle = true;
    }
    look();
  }

 private:
  [[nodiscard]] bool is_half_full() const noexcept { return 2 * kept() >= parts_.at_most; }
  [[nodiscard]] std::int64_t bucket() const noexcept {
    return std::max<std::int64_t>(parts_.before + parts_.after, 1);
  }
  [[nodiscard]] static std::int64_t reached(const side_progress& s) noexcept {
    return s.ended ? no_time : s.mark.value();
  }
  [[nodiscard]] bool is_late(side_progress& side, std::int64_t t) noexcept {
    if (t < side.mark.value()) {
      ++late_;
      return true;
    }
    side.mark.saw(t);
    return false;
  }
  template <class Side>
  [[nodiscard]] typename Side::place& place_for(Side& side, std::int64_t t, const Key& key,
                                                std::size_t hash) {
    if (kept() >= parts_.at_most) {
      look();  // this tuple itself may have moved time on
      if (kept() >= parts_.at_most)
        throw std::length_error("garrick: join: " + std::to_string(parts_.at_most) +
                                " tuples wait for others, as many as at_most() allows");
    }
    return side.place_for(t, key, hash);
  }
  template <class To, class Lost>
  void put(const L& l, const R& r, To& out, const Lost& lost) {
    if (!each_pair_alone_) {
      out.put(called(parts_.pair)(l, r));
      return;
    }
    out.begin_input();  // what throws takes no other pair with it
    try {
      out.put(called(parts_.pair)(l, r));
    } catch (...) {
      out.take_back();
      lost(l, r);
    }
  }

  Parts parts_;
  kept_side<L, Key> left_;
  kept_side<R, Key> right_;
  side_progress left_is_;
  side_progress right_is_;
  std::size_t lost_ = 0;
  std::size_t late_ = 0;
  bool each_pair_alone_ = false;  ///< one that throws takes no tuple with it
};

/// Reads both sides.
template <class Stage, class L, class R, class Out, bool Idles>
class join_node final : public stage_node_base<Stage, Out> {
  using base = stage_node_base<Stage, Out>;
  using typename base::in_hand;

 public:
  join_node(graph& of, const node_options& o, on_failure policy, Stage s)
      : base(of, o, policy, std::move(s)) {}

  inputs<L>& in() noexcept { return left_; }
  inputs<R>& other() noexcept { return right_; }
  std::size_t drop_inputs() noexcept override { return left_.drop() + right_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override {
    return left_.waiting() + right_.waiting();
  }

 private:
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    const bool was_blocked = out.is_blocked();
    if (!this->catches_up(t)) return this->blocked();
    this->start();
    if (out.is_unwanted()) {
      left_.leave();
      right_.leave();
    }
    const instant now = Idles ? t.on.now() : instant();
    bool look = look_at(left_, this->stage_.left(), now, was_blocked);
    look |= look_at(right_, this->stage_.right(), now, was_blocked);
    if constexpr (Idles)
      if (this->stage_.deadline() <= now) this->stage_.on_time(now);
    if (look) this->stage_.look();

    const bool first_left = this->stage_.left_is_behind();
    if (const auto did = first_left ? read_left(t) : read_right(t)) return *did;
    bool& waits = (first_left ? this->stage_.right() : this->stage_.left()).waits;
    waits = this->stage_.must_wait(!first_left);
    if (!waits)
      if (const auto did = first_left ? read_right(t) : read_left(t)) return *did;
    return nothing(t, waits, first_left);
  }
  /// What has become of a side. True: it has ended now.
  template <class T>
  bool look_at(inputs<T>& in, side_progress& side, instant now, bool was_blocked) {
    side.mark.time_is(now);
    const bool unread = std::exchange(side.waits, false) || was_blocked;
    if (unread) side.mark.was_not_read();
    side.mark.inputs_are(in);
    if (side.heard == instant() || unread) side.heard = now;
    if (in.waiting() != 0) {
      side.heard = now;
      side.idle = false;
    }
    return !side.ended && in.ended() && (side.ended = true);
  }
  std::optional<step_outcome> read_left(turn& t) {
    const std::span<L> batch = left_.next(this->batch());
    if (batch.empty()) return std::nullopt;
    this->stage_.left().mark.reads(left_.number());
    return read(batch, left_, t, true, [this](L& in, in_hand& to) {
      this->stage_.take_left(std::move(in), to,
                             [this](const L& l, const R& r) noexcept { lose_pair(l, r); });
    });
  }
  std::optional<step_outcome> read_right(turn& t) {
    const std::span<R> batch = right_.next(this->batch());
    if (batch.empty()) return std::nullopt;
    this->stage_.right().mark.reads(right_.number());
    return read(batch, right_, t, false, [this](R& in, in_hand& to) {
      this->stage_.take_right(std::move(in), to,
                              [this](const L& l, const R& r) noexcept { lose_pair(l, r); });
    });
  }
  template <class T, class Take>
  step_outcome read(std::span<T> batch, inputs<T>& from, turn& t, bool left, const Take& take) {
    auto& out = *this->out_;
    const std::size_t before = out.pending();
    const bool spares = this->policy() != on_failure::fail;
    std::size_t n = 0;
    std::exception_ptr bad;
    try {
      while (n < batch.size() && !out.is_blocked() && !this->is_cancelled()) {
        T& in = batch[n++];
        out.begin_input();
        if (spares) {
          take_or_lose(in, take);
        } else {
          in_hand to(out);
          take(in, to);
        }
        if (this->stage_.must_wait(left)) break;
      }
    } catch (...) {
      if (!spares) this->count_lost();
      bad = std::current_exception();
    }
    this->count_in(n);
    this->into_loops(out.pending() - before);
    this->stage_.look();
    const bool all = this->publish(t);
    from.done(n);
    this->settle(left ? n : 0);  // the other side's source is in no loop
    if (bad) std::rethrow_exception(bad);
    return all ? step_outcome::worked : this->blocked();
  }
  template <class T, class Take>
  void take_or_lose(T& in, const Take& take) {
    spare_tuple<T> spare(in);
    try {
      in_hand to(*this->out_);
      take(in, to);
    } catch (...) {
      this->dead_letter(std::move(spare.best(in)), std::current_exception());
      this->failed();
    }
  }
  /// The pair's function has thrown. Its tuples stay, so the letter holds copies, if there may be
  /// any.
  void lose_pair(const L& l, const R& r) noexcept {
    if constexpr (garrick::base::copyable_message<L> && garrick::base::copyable_message<R>)
      static_cast<void>(this->told_of(std::current_exception(), l, r));
    this->count_failure();
  }
  /// `wait`: for the side that is behind alone. If that one has ended meanwhile, there is nothing
  /// to wait for any more, and nobody who would wake the node.
  step_outcome nothing(turn& t, bool wait, bool left_is_behind) {
    if (!this->hands_on_kept(t)) return step_outcome::worked;
    if (wait) {
      if (!(left_is_behind ? left_.sleep() : right_.sleep())) return step_outcome::worked;
    } else {
      const bool left_rests = rests(left_);
      if (!rests(right_) || !left_rests) return step_outcome::worked;
      if (left_.ended() && right_.ended()) {
        this->stop();
        return this->publish_all(t) ? this->ended(t) : this->blocked();
      }
    }
    if constexpr (Idles) this->wake_at(this->stage_.deadline(), t);
    return step_outcome::starved;
  }
  template <class T>
  [[nodiscard]] static bool rests(inputs<T>& in) noexcept {
    return in.sleep() || in.ended();
  }

  inputs<L> left_;
  inputs<R> right_;
};

}  // namespace garrick::patterns::detail
