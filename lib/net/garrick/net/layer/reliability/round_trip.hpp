// The measured time until a packet is acknowledged (RFC 6298).
//
// Each sample belongs to a transmission that the acknowledgement names, so a sample of a packet
// that was sent several times is as good as any (Karn's problem does not arise).
//
// Thread safety: none; a plain value.
#pragma once

#include <algorithm>

#include "garrick/base/time/clock.hpp"

namespace garrick::net {

/// Smoothed round-trip time, its variation, and the shortest of all.
class round_trip {
 public:
  /// Records the time until a transmission was acknowledged. Less than a nanosecond counts as one,
  /// and more than a minute as a minute.
  void sample(base::duration time) noexcept;

  /// Returns true after the first sample. Before, all times are zero.
  [[nodiscard]] bool known() const noexcept { return smoothed_ != base::duration(); }
  /// Returns an average in which each sample is an eighth.
  [[nodiscard]] base::duration smoothed() const noexcept { return smoothed_; }
  /// Returns the last sample.
  [[nodiscard]] base::duration latest() const noexcept { return latest_; }
  /// Returns an average of the samples' distances from the average.
  [[nodiscard]] base::duration variation() const noexcept { return variation_; }
  /// Returns the shortest sample of all: the path without a queue. A path that has become longer
  /// seems to have a queue, a mistake on the careful side.
  [[nodiscard]] base::duration shortest() const noexcept { return shortest_; }
  /// Returns the time after which an acknowledgement is late, without the peer's delay. A steady
  /// path is allowed a sixteenth of its time.
  [[nodiscard]] base::duration late() const noexcept {
    return smoothed_ + std::max(variation_ * 4, smoothed_ / 16);
  }

 private:
  base::duration smoothed_;
  base::duration latest_;
  base::duration variation_;
  base::duration shortest_;
};

}  // namespace garrick::net
