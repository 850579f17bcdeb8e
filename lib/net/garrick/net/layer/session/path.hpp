// Finds out how large a datagram the path takes (in the spirit of RFC 8899).
//
// Begins with a size that every path takes, and asks with padded heartbeats whether it takes more:
// one is sent at a time, and its answer raises the size. A size that is not answered several times
// ends the search, until it is begun again much later. Lost probes of a larger size lower nothing.
//
// A path may change to one that takes less and says nothing: a black hole. So while datagrams above
// the base are sent, one of the current size has to be answered from time to time. If several in a
// row are not, though the peer is heard, the size goes back to the base.
//
// It is a part of `session`, which sends what this wants to be sent.
//
// Invariants:
//   P1  size_ <= limit_, and size_ is at least the smaller of the base and the limit.
//   P2  size_ grows only by an answer to a datagram of that size.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "garrick/base/time/clock.hpp"

namespace garrick::net {

/// What `path` can be told.
struct probing_settings {
  bool enabled = true;      ///< without, the carrier's limit is believed
  std::size_t base = 1200;  ///< bytes of a datagram that every path takes
  base::duration timeout = base::duration::seconds(1);  ///< a probe not answered until then is lost
  std::uint32_t tries = 3;                              ///< lost probes that end the search
  /// While datagrams above the base are sent, one is confirmed so often.
  base::duration confirm = base::duration::seconds(5);
  std::uint32_t confirm_tries = 5;  ///< lost confirmations in a row that mean a black hole
  base::duration again = base::duration::seconds(600);  ///< when a search begins anew
};

/// Searches for the largest datagram, and watches it.
class path {
 public:
  /// Knows the base alone.
  explicit path(probing_settings s) noexcept : settings_(s) {}

  /// The session is open, and the carrier takes `limit` bytes: the search begins.
  void begin(std::size_t limit, base::instant now) noexcept;
  /// The carrier takes other datagrams now. True if the size has changed.
  [[nodiscard]] bool limit_changed(std::size_t limit, base::instant now) noexcept;
  /// A datagram of `n` bytes was sent.
  void sent(std::size_t n) noexcept { large_ = large_ || n > settings_.base; }
  /// Something was heard of the peer.
  void heard() noexcept { heard_ = true; }
  /// The probe with this number was answered. True if the size has grown.
  [[nodiscard]] bool answered(std::uint32_t number, base::instant now) noexcept;

  /// What `advance` wants.
  struct step {
    std::size_t probe = 0;  ///< not 0: send a heartbeat of so many bytes, with the number given
    bool lowered = false;   ///< the size is the base again
  };
  /// When `advance` is to be called.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// The time has come; a probe that is sent now has this number.
  [[nodiscard]] step advance(base::instant now, std::uint32_t number) noexcept;

  /// Bytes of a datagram that the path takes, or nothing before the session is open.
  [[nodiscard]] std::optional<std::size_t> size() const noexcept {
    return limit_ == 0 ? std::nullopt : std::optional(size_);
  }
  /// The same before the session is open, for a carrier with this limit.
  [[nodiscard]] std::size_t first_size(std::size_t limit) const noexcept;
  /// Probes that were not answered in time.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  /// How often the size went back to the base.
  [[nodiscard]] std::uint64_t black_holes() const noexcept { return black_holes_; }

 private:
  enum class mode : std::uint8_t {
    idle,        // waits for again_ or, if large_, for confirm_
    searching,   // a larger size is asked for
    confirming,  // the current size is
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
  bool large_ = false;  // something above the base was sent since the last confirmation
  bool heard_ = false;  // something was heard since the last probe was sent
  std::uint64_t lost_ = 0;
  std::uint64_t black_holes_ = 0;
};

}  // namespace garrick::net
