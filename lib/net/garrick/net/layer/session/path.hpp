// Searches for the largest datagram that the path takes (in the spirit of RFC 8899).
//
// The search begins with a size that every path takes, and probes larger sizes with padded
// heartbeats: one is sent at a time, and its answer raises the size. If several probes of one size
// are lost, the search ends, and begins again much later. A lost probe of a larger size does not
// lower the size.
//
// A path may change to one that silently drops datagrams of the present size: a black hole. So
// while datagrams above the base are sent, a probe of the current size has to be answered from time
// to time. If several in a row are not, though other packets of the peer come, the size goes back
// to the base.
//
// This class is a part of `session`, which sends the probes.
//
// Invariants:
//   P1  size_ <= limit_, and size_ is at least the smaller of the base and the limit.
//   P2  While the search is enabled, size_ grows only by an answer to a datagram of that size.
//       Otherwise size_ is limit_.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "garrick/base/time/clock.hpp"

namespace garrick::net {

/// Settings of `path`.
struct probing_settings {
  bool enabled = true;      ///< false: the carrier's limit is believed
  std::size_t base = 1200;  ///< bytes of a datagram that every path takes
  base::duration timeout = base::duration::seconds(1);  ///< unanswered after that, a probe is lost
  std::uint32_t tries = 3;                              ///< lost probes that end the search
  /// The interval of confirmations while datagrams above the base are sent.
  base::duration confirm = base::duration::seconds(5);
  std::uint32_t confirm_tries = 5;  ///< lost confirmations in a row that mean a black hole
  base::duration again = base::duration::seconds(600);  ///< from a search to the next
};

/// Searches for the largest datagram, and watches it.
class path {
 public:
  /// Makes a path of which only the base is known.
  explicit path(probing_settings s) noexcept : settings_(s) {}

  /// Begins the search when the session opens. The carrier takes `limit` bytes.
  void begin(std::size_t limit, base::instant now) noexcept;
  /// Sets another limit of the carrier. Returns true if the size has changed.
  [[nodiscard]] bool limit_changed(std::size_t limit, base::instant now) noexcept;
  /// Records that a datagram of `n` bytes was sent.
  void sent(std::size_t n) noexcept { large_ = large_ || n > settings_.base; }
  /// Records a sign of life of the peer.
  void heard() noexcept { heard_ = true; }
  /// Records the answer to the probe with this number. Returns true if the size has grown.
  [[nodiscard]] bool answered(std::uint32_t number, base::instant now) noexcept;

  /// The caller's part of an `advance`.
  struct step {
    std::size_t probe = 0;  ///< not 0: send a heartbeat of this many bytes, with the number given
    bool lowered = false;   ///< the size is the base again
  };
  /// Returns the time for the next `advance`.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// Takes the steps that are due, and returns the caller's part of them. A probe that is sent now
  /// has this number.
  [[nodiscard]] step advance(base::instant now, std::uint32_t number) noexcept;

  /// Returns the bytes of a datagram that the path takes; nothing before the session is open.
  [[nodiscard]] std::optional<std::size_t> size() const noexcept {
    return limit_ == 0 ? std::nullopt : std::optional(size_);
  }
  /// Returns the same before the session is open, for a carrier with this limit.
  [[nodiscard]] std::size_t first_size(std::size_t limit) const noexcept;
  /// Returns the number of probes that were not answered in time.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  /// Returns the number of times that the size went back to the base.
  [[nodiscard]] std::uint64_t black_holes() const noexcept { return black_holes_; }

 private:
  enum class mode : std::uint8_t {
    idle,        // waits for again_ or, if large_, for confirm_
    searching,   // probes a larger size
    confirming,  // probes the current size
  };
  [[nodiscard]] std::size_t candidate() const noexcept;
  void rest(base::instant now) noexcept;
  void search() noexcept;
  void probe_lost(step& s) noexcept;

  probing_settings settings_;
  mode mode_ = mode::idle;
  std::size_t limit_ = 0;  // 0: not begun
  std::size_t size_ = 0;
  std::size_t probed_ = 0;  // size of the probe that is under way; 0: none
  std::uint32_t number_ = 0;
  std::uint32_t tries_ = 0;
  base::instant due_ = base::instant::never();      // of the probe under way, or the next one
  base::instant again_ = base::instant::never();    // the next search
  base::instant confirm_ = base::instant::never();  // the next confirmation, if large_
  bool large_ = false;  // a datagram above the base was sent since the last confirmation
  bool heard_ = false;  // a packet of the peer has come since the last probe was sent
  std::uint64_t lost_ = 0;
  std::uint64_t black_holes_ = 0;
};

}  // namespace garrick::net
