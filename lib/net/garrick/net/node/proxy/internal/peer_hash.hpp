// The hash of tables with keys that a peer has chosen: mixed with a secret, so that the peer cannot
// choose keys that meet in one bucket.
//
// Thread safety: a value.
#pragma once

#include <garrick/net/node/internal/unguessable_numbers.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>

namespace garrick::net::internal {

/// The key of a link or a monitor between two actors.
struct watch_key {
  actor_id there{};          ///< the number that the peer has given
  std::uint64_t here = 0;    ///< the identity of a cell
  std::uint64_t number = 0;  ///< the number of a monitor; 0: a link
  bool operator==(const watch_key&) const = default;
};

/// A hash with a secret. A default one serves empty tables only.
class peer_hash {
 public:
  peer_hash() = default;
  explicit peer_hash(std::uint64_t secret) noexcept : secret_(secret) {}
  /// Returns the secret of a seed, or one from the system for seed 0. May throw.
  [[nodiscard]] static std::uint64_t secret_of(std::uint64_t seed) {
    if (seed != 0) return seed * 0x9e3779b97f4a7c15u;
    return unguessable_numbers()();
  }

  std::size_t operator()(std::uint64_t n) const noexcept {
    return static_cast<std::size_t>(mixed(n ^ secret_));
  }
  std::size_t operator()(const actor_id& a) const noexcept {
    return static_cast<std::size_t>(mixed(mixed(a.low ^ secret_) + a.high));
  }
  std::size_t operator()(const watch_key& k) const noexcept {
    return static_cast<std::size_t>(mixed(mixed((*this)(k.there) + k.here) + k.number));
  }

 private:
  /// Returns a number of which each bit depends on all bits of `x`: the last steps of MurmurHash3.
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
  }

  std::uint64_t secret_ = 0;
};

}  // namespace garrick::net::internal
