// Whether a peer lives, judged by how long nothing was heard of it.
//
// An end that has sent nothing for an interval sends a heartbeat, and any packet is a sign of life.
// A silence that is unusual makes the peer *suspected*, which anything that is heard ends. A
// silence of `down_after` is final. What is unusual `phi_accrual` learns from the peer's pauses.
//
// Silence is what was observed. If this end itself was called later than it has asked for, the
// delay is taken out of the silence: it is an excuse.
//
// It is a part of `session`, which sends what this wants to be sent.
//
// Invariants
// L1 A delay of this end counts as no silence of the peer, for the limits as for what is learnt.
// L2 A peer is suspected from a silence that is longer than usual until it is heard, or until the
//    session goes on with another stream.
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

/// See above. Requires times in the ranges of `session::check`.
class liveness {
 public:
  /// What was counted.
  struct figures {
    std::uint64_t heartbeats_sent = 0;      ///< also as probes
    std::uint64_t heartbeats_received = 0;  ///< from the peer
    std::uint64_t suspicions = 0;           ///< how often the peer was suspected
    base::duration round_trip{};            ///< of the newest heartbeat that was answered
    base::duration paused{};                ///< delays of this end
  };

  /// Beats each `interval`, and gives the peer up after `down_after`.
  liveness(phi_settings s, base::duration interval, base::duration down_after)
      : interval_(interval), down_after_(down_after), detector_(s, interval) {}

  // ---- calls of this end ------------------------------------------------------------------------

  /// The last call.
  [[nodiscard]] base::instant seen() const noexcept { return seen_; }
  /// Returns true if this call may be late. Most calls come soon after another.
  [[nodiscard]] bool may_be_late(base::instant now) const noexcept {
    return now - seen_ >= interval_ / 4;
  }
  /// This end was called so much later than it has asked for.
  void excuse(base::duration pause, base::instant now) noexcept {
    counted_.paused = counted_.paused + pause;
    last_heard_ = last_heard_ + pause;
    detector_.skip(now);
  }
  /// This end is called now.
  void see(base::instant now) noexcept { seen_ = now; }

  // ---- while the session is open ----------------------------------------------------------------

  /// The session is open now, or goes on. Returns true if the peer was suspected.
  [[nodiscard]] bool begin(base::instant now) noexcept {
    last_sent_ = last_heard_ = now;
    detector_.skip(now);
    return std::exchange(suspected_, false);
  }
  /// The peer says how often it beats.
  void expect(base::duration interval) { detector_.expect(interval); }
  /// Something was sent to the peer.
  void sent(base::instant now) noexcept { last_sent_ = now; }
  /// Something was heard of the peer. Returns true if it was suspected.
  [[nodiscard]] bool heard(base::instant now) {
    last_heard_ = now;
    detector_.heard(now);
    return std::exchange(suspected_, false);
  }
  /// When something was heard, as far as this end's own delays are excused.
  [[nodiscard]] base::instant last_heard() const noexcept { return last_heard_; }
  /// Returns true while the peer is suspected.
  [[nodiscard]] bool is_suspected() const noexcept { return suspected_; }

  /// When the next heartbeat is due.
  [[nodiscard]] base::instant beat_at() const noexcept { return last_sent_ + interval_; }
  /// When the peer is to be suspected; never, if it is.
  [[nodiscard]] base::instant suspected_at() const noexcept {
    return suspected_ ? base::instant::never() : last_heard_ + detector_.patience();
  }
  /// When the peer is given up.
  [[nodiscard]] base::instant down_at() const noexcept { return last_heard_ + down_after_; }
  /// The first of these three.
  [[nodiscard]] base::instant deadline() const noexcept {
    return std::min({beat_at(), down_at(), suspected_at()});
  }
  /// Returns true if the peer is suspected from now on.
  [[nodiscard]] bool suspect(base::instant now) noexcept {
    if (suspected_at() > now) return false;
    ++counted_.suspicions;
    return suspected_ = true;
  }
  /// How unusual the silence is by now.
  [[nodiscard]] double phi(base::instant now) const noexcept {
    return detector_.phi(now - last_heard_);
  }

  // ---- heartbeats -------------------------------------------------------------------------------

  /// The number that the next heartbeat will have.
  [[nodiscard]] std::uint32_t next_number() const noexcept { return number_ + 1; }
  /// A heartbeat is sent now. Returns its number.
  [[nodiscard]] std::uint32_t beat(base::instant now) noexcept {
    beat_sent_ = now;
    ++counted_.heartbeats_sent;
    return ++number_;
  }
  /// One of the peer has come.
  void beaten() noexcept { ++counted_.heartbeats_received; }
  /// The heartbeat with this number was answered.
  void answered(std::uint32_t number, base::instant now) noexcept {
    if (number == number_) counted_.round_trip = now - beat_sent_;
  }

  /// What was counted since the beginning.
  [[nodiscard]] const figures& counted() const noexcept { return counted_; }

 private:
  base::duration interval_;
  base::duration down_after_;
  phi_accrual detector_;
  bool suspected_ = false;
  base::instant seen_{};        // the last call
  base::instant last_sent_{};   // while open
  base::instant last_heard_{};  // moved forward by this end's own delays
  std::uint32_t number_ = 0;    // of the newest heartbeat
  base::instant beat_sent_{};   // when
  figures counted_;
};

}  // namespace garrick::net
