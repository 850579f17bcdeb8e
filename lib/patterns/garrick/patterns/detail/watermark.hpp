// How far time has come, as the tuples say: the watermark of a node that reads several producers.
//
// Each input has a watermark of its own: the latest time that it has brought, less the disorder.
// The node's is the lowest of them, without those that have ended or are idle; when all of them
// are, the highest. It moves by whole grains, the pieces that a window is made of, since nothing
// could happen in between.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the node's run right.
//
// Invariants
// E1 It never goes back. So a window that has been put out stays closed.
// E2 While an input is neither idle nor has ended, it is at most that input's latest time less the
//    disorder. So a tuple that is not further behind in its own input is in time.
#pragma once

#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

class watermark {
 public:
  static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();

  watermark(std::int64_t disorder, duration idle_after) noexcept
      : disorder_(disorder), idle_after_(idle_after) {}
  /// It moves in steps of this. Before the first tuple.
  void grain_is(std::int64_t g) noexcept { grain_ = g; }

  /// How far it is.
  [[nodiscard]] std::int64_t value() const noexcept { return value_; }

  /// At the beginning of a step: which inputs there are. They may have ended.
  template <class Inputs>
  void inputs_are(Inputs& in) {
    if (inputs_.empty()) inputs_.resize(in.size(), {.heard = now_});
    if (inputs_.size() == 1) return;
    bool ended = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].ended && in.ended_at(i)) ended = inputs_[i].ended = true;
      if (in.waits_at(i)) inputs_[i].heard = now_;
    }
    if (ended) look();
  }
  /// The next tuples are of this input.
  void reads(std::size_t i) {
    at_ = i;
    inputs_[i].heard = now_;
    if (std::exchange(inputs_[i].idle, false)) look();
  }
  /// One of them has this time.
  void saw(std::int64_t t) noexcept {
    input& i = inputs_[at_];
    if (t <= i.latest) return;
    i.latest = t;
    if (at_ == slowest_ && t - disorder_ >= next_) look();
  }

  /// It is as far as this at least, whatever the inputs bring.
  void is_at_least(std::int64_t t) noexcept {
    value_ = std::max(value_, t);
    next_ = std::max(next_, value_);
  }

  void time_is(instant now) noexcept { now_ = now; }
  /// The node has not read since its last step: it had no room for results, or waited for others.
  /// That time does not count as an input's silence. After `time_is`, before `inputs_are`.
  void was_not_read() noexcept {
    for (input& i : inputs_) i.heard = now_;
  }
  /// When an input is idle if nothing comes from it.
  [[nodiscard]] instant deadline() const noexcept {
    instant first = instant::never();
    if (inputs_.size() > 1)
      for (const input& i : inputs_)
        if (!i.ended && !i.idle) first = std::min(first, i.heard + idle_after_);
    return first;
  }
  void on_time(instant now) noexcept {
    for (input& i : inputs_)
      if (!i.ended && i.heard + idle_after_ <= now) i.idle = true;
    look();
  }

 private:
  struct input {
    std::int64_t latest = unknown;
    instant heard{};
    bool ended = false;
    bool idle = false;

    [[nodiscard]] bool holds_back() const noexcept { return !ended && !idle; }
  };

  void look() noexcept {
    std::size_t lowest = inputs_.size();
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].holds_back() &&
          (lowest == inputs_.size() || inputs_[i].latest < inputs_[lowest].latest))
        lowest = i;
    if (lowest == inputs_.size()) {
      lowest = 0;
      for (std::size_t i = 1; i < inputs_.size(); ++i)
        if (inputs_[i].latest > inputs_[lowest].latest) lowest = i;
    }
    slowest_ = lowest;
    if (inputs_[lowest].latest == unknown) return;
    value_ = std::max(value_, floor_to(inputs_[lowest].latest - disorder_, grain_));
    next_ = value_ + grain_;
  }

  std::int64_t disorder_;
  duration idle_after_;
  std::int64_t grain_ = 1;
  std::int64_t value_ = unknown;
  std::int64_t next_ = unknown;  ///< where the next step is
  std::vector<input> inputs_;
  std::size_t at_ = 0;       ///< the input that is read
  std::size_t slowest_ = 0;  ///< the one that holds the others back
  instant now_{};
};

}  // namespace garrick::patterns::detail
