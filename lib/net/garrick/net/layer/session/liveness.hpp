// Judges whether a peer lives, by the time since its last packet.
//
// An end that has sent nothing for an interval sends a heartbeat, and any packet is a sign of life.
// An unusual silence makes the peer *suspected*, until a packet comes again. A silence of
// `down_after` is final. `phi_accrual` learns from the peer's pauses which silence is unusual.
//
// Only an observed silence counts. If this end itself was called later than it has asked for, the
// delay is taken out of the silence (`excuse`).
//
// This class is a part of `session`, which sends the heartbeats.
//
// Invariants
// L1 A delay of this end does not count as the peer's silence, neither for the limits nor for the
//    pauses that are learnt.
// L2 A peer is suspected from a silence that is longer than usual until its next packet, or until
//    the session goes on with another stream.
// L3 Only the answer to the newest heartbeat gives a round trip.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/layer/session/phi_accrual.hpp"

namespace garrick::net {

/// Judges whether a peer lives. Requires times in the ranges of `session::check`.
class liveness {
 public:
  /// Counters and times.
  struct figures {
    std::uint64_t heartbeats_sent = 0;      ///< also as probes
    std::uint64_t heartbeats_received = 0;  ///< from the peer
    std::uint64_t suspicions = 0;           ///< times that the peer became suspected
    base::duration round_trip{};            ///< of the newest heartbeat that was answered
    base::duration paused{};                ///< delays of this end
  };

  /// Makes a judge that beats each `interval`, and gives the peer up after `down_after`.
  liveness(phi_settings s, base::duration interval, base::duration down_after)
      : interval_(interval), down_after_(down_after), detector_(s, interval) {}

  // ---- calls of this end ------------------------------------------------------------------------

  /// Returns the time of the last call.
  [[nodiscard]] base::instant seen() const noexcept { return seen_; }
  /// Returns true if this call may be late. Most calls come soon after another.
  [[nodiscard]] bool may_be_late(base::instant now) const noexcept {
    return now - seen_ >= interval_ / 4;
  }
  /// Takes a delay of this end, which was called too late by `pause`, out of the peer's silence.
  void excuse(base::duration pause, base::instant now) noexcept {
    counted_.paused = counted_.paused + pause;
    last_heard_ = last_heard_ + pause;
    detector_.skip(now);
  }
  /// Records a call of this end.
  void see(base::instant now) noexcept { seen_ = now; }

  // ---- while the session is open ----------------------------------------------------------------

  /// Begins when the session opens or is resumed. Returns true if the peer was suspected.
  [[nodiscard]] bool begin(base::instant now) noexcept {
    last_sent_ = last_heard_ = now;
    detector_.skip(now);
    return std::exchange(suspected_, false);
  }
  /// Sets the interval of the peer's heartbeats.
  void expect(base::duration interval) { detector_.expect(interval); }
  /// Records that a packet was sent to the peer.
  void sent(base::instant now) noexcept { last_sent_ = now; }
  /// Records a sign of life. Returns true if the peer was suspected.
  [[nodiscard]] bool heard(base::instant now) {
    last_heard_ = now;
    detector_.heard(now);
    return std::exchange(suspected_, false);
  }
  /// Returns the time of the last sign of life, moved forward by later delays of this end.
  [[nodiscard]] base::instant last_heard() const noexcept { return last_heard_; }
  /// Returns true while the peer is suspected.
  [[nodiscard]] bool is_suspected() const noexcept { return suspected_; }

  /// Returns the time of the next heartbeat.
  [[nodiscard]] base::instant beat_at() const noexcept { return last_sent_ + interval_; }
  /// Returns the time at which the peer becomes suspected; never, if it is already.
  [[nodiscard]] base::instant suspected_at() const noexcept {
    return suspected_ ? base::instant::never() : last_heard_ + detector_.patience();
  }
  /// Returns the time at which the peer is given up.
  [[nodiscard]] base::instant down_at() const noexcept { return last_heard_ + down_after_; }
  /// Returns the earliest of these three times.
  [[nodiscard]] base::instant deadline() const noexcept {
    return std::min({beat_at(), down_at(), suspected_at()});
  }
  /// Suspects the peer if that is due. Returns true if it becomes suspected now.
  [[nodiscard]] bool suspect(base::instant now) noexcept {
    if (suspected_at() > now) return false;
    ++counted_.suspicions;
    return suspected_ = true;
  }
  /// Returns how unusual the silence is by now.
  [[nodiscard]] double phi(base::instant now) const noexcept {
    return detector_.phi(now - last_heard_);
  }

  // ---- heartbeats -------------------------------------------------------------------------------

  /// Returns the number of the next heartbeat.
  [[nodiscard]] std::uint32_t next_number() const noexcept { return number_ + 1; }
  /// Records a heartbeat that is sent now. Returns its number.
  [[nodiscard]] std::uint32_t beat(base::instant now) noexcept {
    beat_sent_ = now;
    ++counted_.heartbeats_sent;
    return ++number_;
  }
  /// Records a heartbeat of the peer.
  void beaten() noexcept { ++counted_.heartbeats_received; }
  /// Records the answer to the heartbeat with this number.
  void answered(std::uint32_t number, base::instant now) noexcept {
    if (number == number_) counted_.round_trip = now - beat_sent_;
  }

  /// Returns the figures since the beginning.
  [[nodiscard]] const figures& counted() const noexcept { return counted_; }

 private:
  base::duration interval_;
  base::duration down_after_;
  phi_accrual detector_;
  bool suspected_ = false;
  base::instant seen_{};        // the time of the last call
  base::instant last_sent_{};   // while open
  base::instant last_heard_{};  // moved forward by this end's own delays
  std::uint32_t number_ = 0;    // of the newest heartbeat
  base::instant beat_sent_{};   // the time of the newest heartbeat
  figures counted_;
};

}  // namespace garrick::net
