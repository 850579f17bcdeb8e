// The secrets of a session: numbers that only its two ends know, and proofs made of them.
//
// Each end draws a secret for each session, and tells it to the other end alone, in its first hello
// or in the answer to one. So an end that repeats the secret has received that packet, and an end
// that knows both secrets is an end of the session. Identities prove neither: others may know them.
//
// Thread safety: plain functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "garrick/net/layer/session/handshake.hpp"
#include "garrick/net/peer_identity.hpp"
#include "garrick/net/siphash.hpp"

namespace garrick::net {

/// Returns the key of the session between ends with these two secrets.
[[nodiscard]] constexpr siphash_key session_key(std::uint64_t one, std::uint64_t other) noexcept {
  return {std::min(one, other), std::max(one, other)};
}

/// Returns the tag of each datagram from the end with the incarnation `sender`.
[[nodiscard]] constexpr std::uint32_t session_tag(const siphash_key& session,
                                                  std::uint64_t sender) noexcept {
  return static_cast<std::uint32_t>(siphash(session, {sender}));
}

/// Returns the proof in a hello or hello_ack that continues a session.
[[nodiscard]] constexpr std::uint64_t resume_proof(const siphash_key& session, session_packet kind,
                                                   const hello& h) noexcept {
  return siphash(session, {static_cast<std::uint64_t>(kind), h.number, h.self.incarnation, h.to});
}

/// Returns `hash`, or 1 in place of 0, which stands for no number.
[[nodiscard]] constexpr std::uint64_t not_zero(std::uint64_t hash) noexcept {
  return hash != 0 ? hash : 1;
}

/// Returns the cookie of an end for another one with this first hello. The key is the end's own,
/// and `place` says what else the cookie is for.
[[nodiscard]] constexpr std::uint64_t cookie_of(const siphash_key& own, const hello& h,
                                                std::uint64_t place) noexcept {
  return not_zero(
      siphash(own, {h.self.node.low, h.self.node.high, h.self.incarnation, h.number, place}));
}

}  // namespace garrick::net
