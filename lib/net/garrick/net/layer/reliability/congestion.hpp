// How many bytes may be under way: a window that grows while nothing is lost, and shrinks when
// something is (CUBIC, RFC 9438).
//
// A session begins in slow start, the window doubling in each round trip, until something is lost
// or the round-trip time rises, which says that a queue builds up (HyStart, RFC 9406). From then on
// the window follows a cubic curve around the size at which something was lost, and is never below
// what Reno would have.
//
// At a loss the window shrinks to 0.7 of what it was. A loss while the round-trip time is at its
// shortest is not the work of a full queue, more likely of the medium: the window shrinks to 0.85,
// as that of two flows does of which one has lost a packet.
//
// Transmissions have consecutive numbers, their order. All losses of what was sent before the
// window shrank are one event. If in the end all of them turn out to have been none, the window is
// what it was.
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
  /// In slow start, with ten packets of `packet` bytes.
  explicit congestion(std::size_t packet = 1200) noexcept;

  /// The size of a full packet has changed. The window stays.
  void packet_size(std::size_t packet) noexcept;

  /// Bytes that may be in flight. At least two packets.
  [[nodiscard]] std::size_t window() const noexcept { return static_cast<std::size_t>(now_.size); }
  /// True until the first loss, or until a queue has built up.
  [[nodiscard]] bool slow_start() const noexcept { return now_.size < now_.threshold; }
  /// The time that a byte should take on its way out, in 1/1024 of a nanosecond, for the window to
  /// be spread over a round trip: some less, so that pacing is not what limits.
  [[nodiscard]] std::int64_t pace(const round_trip& times) const noexcept;

  /// The round-trip time of the transmission `order`; `next` is the one to come.
  void sampled(base::duration time, std::uint64_t order, std::uint64_t next) noexcept;
  /// `bytes` have been acknowledged. `limited`: more would have been sent, but for the window; else
  /// it has not proved too small, and does not grow. The newest of them had the number `order`.
  void acknowledged(std::size_t bytes, std::uint64_t order, bool limited, const round_trip& times,
                    base::instant now) noexcept;
  /// The transmission `order` was lost; `next` is the one to come. True: the window has shrunk.
  bool lost(std::uint64_t order, std::uint64_t next, const round_trip& times,
            base::instant now) noexcept;
  /// Which event `lost` has just been part of.
  [[nodiscard]] std::uint32_t event() const noexcept { return event_; }
  /// A loss that was part of `event` was none.
  void was_not_lost(std::uint32_t event) noexcept;
  /// Nothing at all was acknowledged for several time-outs: begins again with two packets.
  void collapse(std::uint64_t next, base::instant now) noexcept;

 private:
  struct state {
    double size = 0;       ///< bytes; the window
    double threshold = 0;  ///< bytes; below it is slow start
    double most = 0;       ///< bytes; the window at which something was lost
    double reno = 0;       ///< bytes; what Reno's window would be
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
  std::uint32_t losses_ = 0;  ///< of the last event, but for those that were none
  base::instant last_;        ///< when something was acknowledged
  // Rounds: from a transmission until it is acknowledged.
  std::uint64_t round_end_ = 0;
  base::duration round_shortest_ = base::duration::infinite();
  base::duration last_round_ = base::duration::infinite();
  std::uint32_t samples_ = 0;
};

}  // namespace garrick::net
