// What two ends say before they talk: who they are, which versions they speak, and what they can.
//
// This is the part of `session` that is bytes alone. An accept policy uses it, too: it
// peeks at the first packet of a new connection to find the session that is to go on, and it can
// say no to a peer for which it will not make a stack.
//
// The shape of these packets never changes, whatever the versions: fields are only appended, and a
// reader skips what comes behind those that it knows.
//
// Invariants:
//   H1  Whatever is decoded has a bounded size: a hello above `largest_hello` is none.
//   H2  Decoding allocates only a text, of at most `longest_program` or `longest_words` bytes.
//
// Thread safety: plain functions and values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "garrick/base/values/error.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/peer_identity.hpp"

namespace garrick::net {

/// The first byte of each packet of `session`.
enum class session_packet : std::uint8_t {
  data = 1,       ///< a message from above
  hello,          ///< who connects says who it is
  hello_ack,      ///< who is connected to answers
  challenge,      ///< as hello_ack, from who has a session with another incarnation
  heartbeat,      ///< wants an answer; with padding it asks how much the path takes
  heartbeat_ack,  ///< the answer
  leave,          ///< goes in good order
  refuse,         ///< does not want the session
};

/// The versions of the protocol that one end speaks.
struct version_range {
  std::uint16_t lowest = 1;   ///< the oldest
  std::uint16_t highest = 1;  ///< the newest

  /// The newest that both speak; nothing if there is none.
  [[nodiscard]] std::optional<std::uint16_t> common(const version_range& other) const noexcept;
  /// Both numbers, for people.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const version_range&, const version_range&) = default;
};

/// What an end can do beyond what its version says: 256 bits, of which each has a meaning for both
/// ends or for none. Those that an end does not know it ignores.
class capability_set {
 public:
  /// How many there can be.
  static constexpr std::size_t size = 256;

  /// Adds one. Requires `number < size`.
  void add(std::size_t number) noexcept;
  /// True if it was added.
  [[nodiscard]] bool has(std::size_t number) const noexcept;
  /// Those that both have.
  [[nodiscard]] capability_set common(const capability_set& other) const noexcept;
  /// As bytes, the lowest bits first, without zeros at the end.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  /// What `bytes` gave; bytes beyond `size` bits are ignored.
  [[nodiscard]] static capability_set from(std::span<const std::byte> bytes) noexcept;

  friend bool operator==(const capability_set&, const capability_set&) = default;

 private:
  std::array<std::byte, size / 8> bits_{};
};

/// A capability: this end understands `refusal::has_session`, and `hello::begins_anew` of its
/// hellos can be believed.
inline constexpr std::size_t hears_of_sessions = 0;

/// Bytes of the text by which a program names itself, at most.
inline constexpr std::size_t longest_program = 64;
/// Bytes of the words of a refusal, at most.
inline constexpr std::size_t longest_words = 128;
/// Bytes of a hello, at most; it fits into every datagram.
inline constexpr std::size_t largest_hello = 512;

/// What an end says about itself: the body of `hello`, `hello_ack` and `challenge`.
struct hello {
  version_range versions;       ///< what it speaks
  peer_identity self;           ///< who it is
  std::uint64_t to = 0;         ///< the incarnation that it talks to; 0: it knows none yet
  bool resumes = false;         ///< it has a session with `to` that is to go on
  bool begins_anew = false;     ///< it was refused for a session, and has none with this peer
  std::uint32_t interval = 0;   ///< its heartbeats come at least so often: milliseconds
  std::uint32_t layers = 0;     ///< the fingerprint of its stack
  capability_set capabilities;  ///< what it can
  std::string program;          ///< for people; at most `longest_program` bytes

  friend bool operator==(const hello&, const hello&) = default;
};

/// Why a session was not wanted.
enum class refusal : std::uint8_t {
  incompatible = 1,  ///< no common version
  not_allowed,       ///< this end's rules do not take the peer
  given_up,          ///< this incarnation was given up before, and is in quarantine
  no_session,        ///< there is no session that could go on
  oneself,           ///< both ends are the same
  other_layers,      ///< the two ends have different stacks
  has_session,       ///< `refusal_notice::self` has a session with this incarnation already
};

/// The body of `refuse`.
struct refusal_notice {
  refusal why{};           ///< the reason
  version_range versions;  ///< what the refusing end speaks
  std::uint64_t to = 0;    ///< the incarnation that is refused
  std::string words{};     ///< for people; at most `longest_words` bytes
  peer_identity self{};    ///< who refuses, if it says so; else the incarnation is 0
};

/// Appends `kind` and the body to `to`. A program's text beyond its limit is cut.
void encode_hello(session_packet kind, const hello& h, packet& to);
/// The hello in a packet whose first byte is its kind; nothing if it is none.
[[nodiscard]] std::optional<hello> decode_hello(std::span<const std::byte> packet);
/// Appends a whole refusal to `to`. Words beyond their limit are cut.
void encode_refusal(const refusal_notice& r, packet& to);
/// The refusal in a packet whose first byte is its kind; nothing if it is none.
[[nodiscard]] std::optional<refusal_notice> decode_refusal(std::span<const std::byte> packet);

/// The mark in each datagram from `sender` to `receiver`, two incarnations.
[[nodiscard]] std::uint32_t session_tag(std::uint64_t sender, std::uint64_t receiver) noexcept;

/// What the first bytes of a new connection are.
struct peeked {
  /// What is known so far.
  enum class kind : std::uint8_t {
    incomplete,  ///< more bytes are needed
    foreign,     ///< it is not this protocol: `why` says what it looks like
    found,       ///< `says` is what the peer says
  };
  kind what = kind::incomplete;  ///< what is known so far
  hello says;                    ///< if found
  base::error why{};             ///< if foreign: `not_garrick`
};

/// Reads the hello of a datagram that comes from an unknown address. Takes nothing: feed the same
/// bytes to the stack that is found or made for the peer.
///
///     if (auto p = peek_datagram(bytes); p.what == peeked::kind::found) choose(p.says.self);
[[nodiscard]] peeked peek_datagram(std::span<const std::byte> datagram);
/// The same for the bytes, from the first on, that have come by a new stream, whose packets are
/// framed. `incomplete` until the whole hello is there, which takes `largest_hello` + 4 bytes at
/// most.
[[nodiscard]] peeked peek_stream(std::span<const std::byte> bytes);
/// True if a packet has the mark of this protocol's handshake behind its kind.
[[nodiscard]] bool has_mark(std::span<const std::byte> packet) noexcept;
/// The error for bytes that are no packet of this protocol. It names what they look like.
[[nodiscard]] base::error foreign_protocol(std::span<const std::byte> first_bytes);

}  // namespace garrick::net
