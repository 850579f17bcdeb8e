// The number of bytes that may be under way: a window that grows while no packet is lost, and
// shrinks at a loss (CUBIC, RFC 9438).
//
// A session begins in slow start, in which the window doubles in each round trip, until a packet is
// lost or the round-trip time rises, a sign that a queue builds up (HyStart, RFC 9406). From then
// on the window follows a cubic curve around the size of the last loss, and is never below Reno's
// window.
//
// At a loss the window shrinks to 0.7 of its size. A loss while the round-trip time is at its
// shortest does not come from a full queue, more likely from the medium: the window shrinks to
// 0.85, like that of two flows of which one has lost a packet.
//
// Transmissions have consecutive numbers, their order. All losses of transmissions before the
// window shrank are one event. If all of them turn out to be no losses, the window gets its old
// size back.
//
// Thread safety: none; a plain value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/layer/reliability/round_trip.hpp"

namespace garrick::net {

/// A window on bytes in flight.
class congestion {
 public:
  /// Begins in slow start, with ten packets of `packet` bytes.
  explicit congestion(std::size_t packet = 1200) noexcept;

  /// Sets the size of a full packet. The window stays, unless it is smaller than two packets.
  void packet_size(std::size_t packet) noexcept;

  /// Returns the bytes that may be in flight. At least two packets.
  [[nodiscard]] std::size_t window() const noexcept { return static_cast<std::size_t>(now_.size); }
  /// Returns true until the first loss, or until a queue has built up.
  [[nodiscard]] bool slow_start() const noexcept { return now_.size < now_.threshold; }
  /// Returns the time that a byte should take on its way out, in 1/1024 of a nanosecond, so that
  /// the window is spread over a round trip. The result is a little shorter, so that pacing is not
  /// the limit.
  [[nodiscard]] std::int64_t pace(const round_trip& times) const noexcept;

  /// Records the round-trip time of the transmission `order`; `next` is that of the next one.
  void sampled(base::duration time, std::uint64_t order, std::uint64_t next) noexcept;
  /// Records the acknowledgement of `bytes`; the newest of them had the number `order`. `limited`:
  /// the window held more bytes back; otherwise it was large enough, and does not grow.
  void acknowledged(std::size_t bytes, std::uint64_t order, bool limited, const round_trip& times,
                    base::instant now) noexcept;
  /// Records the loss of the transmission `order`; `next` is that of the next one. Returns true if
  /// the window has shrunk.
  bool lost(std::uint64_t order, std::uint64_t next, const round_trip& times,
            base::instant now) noexcept;
  /// Returns the event of the last loss.
  [[nodiscard]] std::uint32_t event() const noexcept { return event_; }
  /// Takes back a loss that was part of `event`.
  void was_not_lost(std::uint32_t event) noexcept;
  /// Begins again with two packets, after several time-outs without any acknowledgement.
  void collapse(std::uint64_t next, base::instant now) noexcept;

 private:
  struct state {
    double size = 0;       ///< bytes; the window
    double threshold = 0;  ///< bytes; below it is slow start
    double most = 0;       ///< bytes; the window at the last loss
    double reno = 0;       ///< bytes; Reno's window
    double delay = 0;      ///< seconds from the curve's beginning until it is at `most` again
    base::instant begin;   ///< of the curve
  };
  [[nodiscard]] bool queue_stands(const round_trip& times) const noexcept;
  void grow(std::size_t bytes, const round_trip& times, base::instant now) noexcept;
  [[nodiscard]] double smallest() const noexcept { return 2 * packet_; }

  double packet_;
  state now_;
  state before_;                    ///< before the last event
  std::uint64_t recovered_at_ = 0;  ///< transmissions from this one on are after the last event
  std::uint32_t event_ = 0;
  std::uint32_t losses_ = 0;  ///< of the last event, less those that proved to be none
  base::instant last_;        ///< the last acknowledgement's time
  // Rounds: from a transmission until it is acknowledged.
  std::uint64_t round_end_ = 0;
  base::duration round_shortest_ = base::duration::infinite();
  base::duration last_round_ = base::duration::infinite();
  std::uint32_t samples_ = 0;
};

}  // namespace garrick::net
