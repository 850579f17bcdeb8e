// The progress of time by the tuples' own times: the watermark of a node that reads several
// producers. Also the watermarks that the replicas behind such a node wait for.
//
// Each input has a watermark of its own: the latest time that it has brought, less the disorder.
// The node's watermark is the lowest of those inputs that have not ended and are not idle; if there
// are none, it is the highest of all. It moves by whole grains, the pieces that a window is made
// of, since nothing could happen in between.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the node's run right, except for `awaited_watermarks`.
//
// Invariants
// E1 The watermark never goes back. So a window that has been put out stays closed.
// E2 While an input is neither idle nor has ended, the watermark is at most that input's latest
//    time less the disorder. So a tuple is in time if it is not further than the disorder behind
//    the latest tuple of its own input.
//
// For replicas that get tuples with the watermarks that these meet, and watermarks alone:
// E3 A replica that has said `reached` and `next` has nothing due before `next`, of the tuples that
//    it had taken until then. Tuples that it takes later meet `reached` or a later watermark.
// E4 A tuple behind the watermark that it meets makes nothing due earlier; any other tuple makes
//    something due at least `shortest` after that watermark. So nothing is due before the earlier
//    of `next` and `reached + shortest`, whichever tuples are on their way, and a replica needs no
//    watermark below that time. The replica gets the next watermark that is not below it.
#pragma once

#include <garrick/patterns/channel/input.hpp>
#include <garrick/patterns/event_time.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace garrick::patterns::detail {

class watermark {
 public:
  static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();

  watermark(std::int64_t disorder, duration idle_after) noexcept;
  watermark(const watermark& o);
  watermark(watermark&& o) noexcept;
  watermark& operator=(const watermark&) = delete;
  ~watermark();
  /// Sets the steps in which the watermark moves. Called before the first tuple.
  void grain_is(std::int64_t g) noexcept { grain_ = g; }

  /// Returns the watermark.
  [[nodiscard]] std::int64_t value() const noexcept { return value_; }

  /// Sets the inputs, at the beginning of a step. They may have ended.
  void inputs_are(inputs& in);
  /// Sets the input of the next tuples.
  void reads(std::size_t i);
  /// Notes a tuple of this time from the present input.
  void saw(std::int64_t t) noexcept {
    input& i = inputs_[at_];
    if (t <= i.latest) return;
    i.latest = t;
    if (at_ == slowest_ && t - disorder_ >= next_) look();
  }

  /// Raises the watermark to at least `t`, whatever the inputs say.
  void is_at_least(std::int64_t t) noexcept;

  void time_is(instant now) noexcept { now_ = now; }
  /// Called if the node has not read since its last step, because it had no room for results or
  /// waited for others. The time since then does not count as an input's silence. After `time_is`,
  /// before `inputs_are`.
  void was_not_read() noexcept;
  /// Returns the first time at which an input becomes idle if nothing comes from it.
  [[nodiscard]] instant deadline() const noexcept;
  void on_time(instant now) noexcept;

 private:
  struct input {
    std::int64_t latest = unknown;
    instant heard{};
    bool ended = false;
    bool idle = false;

    [[nodiscard]] bool holds_back() const noexcept { return !ended && !idle; }
  };

  void look() noexcept;

  std::int64_t disorder_;
  duration idle_after_;
  std::int64_t grain_ = 1;
  std::int64_t value_ = unknown;
  std::int64_t next_ = unknown;  ///< the lowest value of the next move
  std::vector<input> inputs_;
  std::size_t at_ = 0;       ///< the input that is read
  std::size_t slowest_ = 0;  ///< the input that holds the others back
  instant now_{};
};

/// The watermarks that replicas wait for. The node before them need not send any others.
///
/// Thread safety: `says` is for the holder of that replica's run right, `awaits` and `some_awaits`
/// for any thread.
class awaited_watermarks {
 public:
  /// Requires that a tuple that is not behind the watermark makes nothing due earlier than
  /// `shortest` after it.
  awaited_watermarks(std::size_t replicas, std::int64_t shortest);
  ~awaited_watermarks();
  awaited_watermarks(const awaited_watermarks&) = delete;
  awaited_watermarks& operator=(const awaited_watermarks&) = delete;

  /// Notes that replica `i` has dealt with its tuples up to the watermark `reached`, and that none
  /// of them makes anything due before `next`.
  void says(std::size_t i, std::int64_t reached, std::int64_t next) noexcept;
  /// Returns false if replica `i` has certainly nothing to do at the watermark `w`.
  [[nodiscard]] bool awaits(std::size_t i, std::int64_t w) const noexcept;
  [[nodiscard]] bool some_awaits(std::int64_t w) const noexcept;

 private:
  struct alignas(64) replica {
    std::atomic<std::int64_t> reached{watermark::unknown};
    std::atomic<std::int64_t> next{std::numeric_limits<std::int64_t>::max()};
  };
  const std::int64_t shortest_;
  std::vector<replica> all_;
};

}  // namespace garrick::patterns::detail
