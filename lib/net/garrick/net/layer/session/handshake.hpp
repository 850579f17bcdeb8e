// The first packets between two ends: their identities, versions and capabilities.
//
// This is the part of `session` that only encodes and decodes. An accept policy uses it, too: it
// peeks at the first packet of a new connection to find the session that continues, and it can
// refuse a peer for which it will not make a stack.
//
// The shape of these packets is the same in all versions: fields are only appended, and a reader
// skips the bytes behind the fields that it knows.
//
// Invariants:
//   H1  A decoded packet has a bounded size: one above `largest_hello` is neither a hello nor a
//       refusal.
//   H2  Decoding allocates only a text, of at most `longest_program` bytes, or of `longest_words`
//       bytes behind a fixed beginning.
//
// Thread safety: plain functions and values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "garrick/base/values/error.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/peer_identity.hpp"

namespace garrick::net {

/// The first byte of each packet of `session`.
enum class session_packet : std::uint8_t {
  data = 1,       ///< a message from above
  hello,          ///< the first packet of the end that connects
  hello_ack,      ///< the answer of the end that accepts
  challenge,      ///< asks an end that says hello to prove that it is at its address
  heartbeat,      ///< asks for an answer; with padding it probes the path
  heartbeat_ack,  ///< the answer to a heartbeat
  leave,          ///< the sender leaves in good order
  refuse,         ///< the sender refuses the session
};

/// The versions of the protocol that one end speaks.
struct version_range {
  std::uint16_t lowest = 1;   ///< the oldest
  std::uint16_t highest = 1;  ///< the newest

  /// Returns the newest version in both ranges; nothing if there is none.
  [[nodiscard]] std::optional<std::uint16_t> common(const version_range& other) const noexcept;
  /// Returns both numbers, for people.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const version_range&, const version_range&) = default;
};

/// The abilities of an end beyond those of its version: 256 bits. An end ignores bits that it does
/// not know.
class capability_set {
 public:
  /// The number of bits.
  static constexpr std::size_t size = 256;

  /// Adds a capability. Requires `number < size`.
  void add(std::size_t number) noexcept;
  /// Returns true if this capability was added.
  [[nodiscard]] bool has(std::size_t number) const noexcept;
  /// Returns the capabilities in both sets.
  [[nodiscard]] capability_set common(const capability_set& other) const noexcept;
  /// Returns the set as bytes, the lowest bits first, without zeros at the end.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  /// Returns the set that `bytes` describes; bytes beyond `size` bits are ignored.
  [[nodiscard]] static capability_set from(std::span<const std::byte> bytes) noexcept;

  friend bool operator==(const capability_set&, const capability_set&) = default;

 private:
  std::array<std::byte, size / 8> bits_{};
};

/// A capability: this end understands `refusal::has_session`, and `hello::begins_anew` of its
/// hellos can be believed.
inline constexpr std::size_t hears_of_sessions = 0;

/// The most bytes of a program's name for itself.
inline constexpr std::size_t longest_program = 64;
/// The most bytes of the words of a refusal.
inline constexpr std::size_t longest_words = 128;
/// The most bytes of a hello: it fits into every datagram.
inline constexpr std::size_t largest_hello = 512;

/// The statement of an end about itself: the body of `hello`, `hello_ack` and `challenge`.
struct hello {
  version_range versions;       ///< the versions that it speaks
  peer_identity self;           ///< its identity
  std::uint64_t to = 0;         ///< the incarnation that it addresses; 0: not known yet
  bool resumes = false;         ///< it has a session with `to` that it wants to continue
  bool begins_anew = false;     ///< it was refused because of a session that it does not have
  std::uint32_t interval = 0;   ///< the longest time between its heartbeats: milliseconds
  std::uint32_t layers = 0;     ///< the fingerprint of its stack
  capability_set capabilities;  ///< its capabilities
  std::string program;          ///< the program's name; at most `longest_program` bytes
  /// The secret of the sender, not 0. In a challenge the cookie. In a hello that resumes, and in
  /// the answer to it, how often the sender of that hello has tried.
  std::uint64_t number = 1;
  /// The cookie of the last challenge; 0: none. In an answer the receiver's secret. In a hello that
  /// resumes, and in the answer to it, the proof (secrets.hpp).
  std::uint64_t proof = 0;

  friend bool operator==(const hello&, const hello&) = default;
};

/// The reasons to refuse a session.
enum class refusal : std::uint8_t {
  incompatible = 1,  ///< no common version
  not_allowed,       ///< the rules of the refusing end do not allow the peer
  given_up,          ///< this incarnation was given up before, and is in quarantine
  no_session,        ///< there is no session that could go on
  oneself,           ///< both ends are the same
  other_layers,      ///< the two ends have different stacks
  has_session,       ///< `refusal_notice::self` has a session with this incarnation already
};

/// The body of `refuse`.
struct refusal_notice {
  refusal why{};            ///< the reason
  version_range versions;   ///< the versions of the refusing end
  std::uint64_t to = 0;     ///< the incarnation that is refused
  std::string words{};      ///< for people; at most `longest_words` bytes
  peer_identity self{};     ///< the refusing end, if it says so; otherwise the incarnation is 0
  std::uint64_t proof = 0;  ///< the secret of the refused end; 0: its hello had none
};

/// The reasons to end a session, in the first byte of the body of `leave`. A `leave` without a
/// body, or with a reason that the reader does not know, means that the sender has left in good
/// order.
enum class parting : std::uint8_t {
  given_up = 1,  ///< the sender has heard nothing, and has given the peer up
  refused,       ///< the sender can take nothing more from the peer; the rest of the body is text
};

/// Appends `kind` and the body to `to`. A program's text beyond its limit is cut.
void encode_hello(session_packet kind, const hello& h, packet& to);
/// Returns the hello in a packet, behind the byte of its kind; nothing if it is none.
[[nodiscard]] std::optional<hello> decode_hello(std::span<const std::byte> packet);
/// Appends a whole refusal to `to`. Words beyond their limit are cut.
void encode_refusal(const refusal_notice& r, packet& to);
/// Returns the refusal in a packet, behind the byte of its kind; nothing if it is none.
[[nodiscard]] std::optional<refusal_notice> decode_refusal(std::span<const std::byte> packet);

/// Appends the body of a `leave` that refuses. Words beyond `longest_words` are cut.
void encode_parting(std::string_view words, packet& to);
/// Returns the reason in the body of a `leave`, for people.
[[nodiscard]] std::string parting_text(std::span<const std::byte> body);

/// The result of a look at the first bytes of a new connection.
struct peeked {
  /// The kinds of first bytes.
  enum class kind : std::uint8_t {
    incomplete,  ///< more bytes are needed
    foreign,     ///< another protocol, which `why` names if it is known
    found,       ///< a hello: `says`
  };
  kind what = kind::incomplete;  ///< the kind, as far as it is known
  hello says;                    ///< if found
  base::error why{};             ///< if foreign: `not_garrick`
};

/// Returns the hello of a datagram from an unknown address. The bytes are not used up: feed them to
/// the stack that is found or made for the peer.
///
///     if (auto p = peek_datagram(bytes); p.what == peeked::kind::found) choose(p.says.self);
[[nodiscard]] peeked peek_datagram(std::span<const std::byte> datagram);
/// Returns the hello at the beginning of a new stream, given its bytes so far, with their frame.
/// Returns `incomplete` until the whole hello is there, at most `largest_hello` + 4 bytes.
[[nodiscard]] peeked peek_stream(std::span<const std::byte> bytes);
/// Returns true if a packet has the mark of this protocol's handshake behind its kind.
[[nodiscard]] bool has_mark(std::span<const std::byte> packet) noexcept;
/// Returns the error for bytes that are not a packet of this protocol. It names the protocol that
/// they look like, or quotes them.
[[nodiscard]] base::error foreign_protocol(std::span<const std::byte> first_bytes);

}  // namespace garrick::net
