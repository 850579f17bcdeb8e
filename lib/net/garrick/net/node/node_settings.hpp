// Settings of a node.
//
// Thread safety: values.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/net/node/link_source.hpp>
#include <garrick/net/node/peer_admission.hpp>
#include <garrick/net/peer_identity.hpp>
#include <garrick/net/stack/quarantine_list.hpp>
#include <garrick/net/stack/stacks.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace garrick::net {

/// The number of messages and requests that an actor takes from another node before that node has
/// to be granted more. Part of the protocol: both ends count from here.
inline constexpr std::uint32_t first_credit = 256;

/// The bytes of large messages and requests that an actor takes from another node before that node
/// has to be granted more. Part of the protocol.
inline constexpr std::uint32_t first_bytes = 16u << 20;

/// The size of the smallest payload whose bytes are counted, in bytes. Part of the protocol.
inline constexpr std::size_t least_counted = 2048;

/// The longest name of a published actor, or of an allowed type of actors, in bytes.
inline constexpr std::size_t longest_name = 255;

/// The identity of a node, its links, and its limits. "Flat memory" in lib/net/README.md has the
/// sum of all that may be pending for a peer.
///
///     net::node_settings s;
///     s.program = "word_count";
///     s.link.session.down_after = duration::seconds(30);   // instead of 15
///     net::node node(system, s);
struct node_settings {
  /// The identity of this node over all its lives; all zeros: a new one each time. Two nodes that
  /// run at once must not share an identity: peers would take one node for an earlier life of the
  /// other.
  node_id id{};
  /// The number of this life; 0: drawn at random, as it should be.
  std::uint64_t incarnation = 0;
  /// The program's name for its peers, to be read by people; cut after 64 bytes.
  std::string program{};

  /// The stacks to choose from. A node can use only a stack that confirms delivery
  /// (`properties::confirmed`): with any other, `check`, `listen` and `connect` give
  /// `errc::invalid_setting`.
  stack_catalogue stacks = standard_stacks();
  std::string stream_stack = "stream";       ///< over TCP and Unix domain sockets
  std::string datagram_stack = "datagrams";  ///< over UDP
  link_settings link{};                      ///< of all its layers

  /// Allows addresses that other machines can reach, for `listen` and `connect`. Such addresses
  /// need authentication, which does not exist yet: no peer's identity is proved.
  bool insecure = false;

  /// Decides whether the same life of a node may be a peer again after it was `down`. Its old
  /// handles are dead in any case, and none of its earlier messages is delivered.
  peer_return after_down = peer_return::same_life;

  /// Lets actors of peers end actors here by `exit` and `kill`, if they have a handle. False: such
  /// signals are ignored, and counted. A link that an actor here has set works in both directions:
  /// the actor gets the exit signal of the peer's actor, and ends with it unless it traps exits. A
  /// link that only the peer's actor has set tells that actor of the end of the actor here; its own
  /// end, or the loss of its node, ends the link and nothing else.
  bool let_peers_end = true;

  /// Decides which nodes may be peers; null: every node that speaks the protocol.
  std::shared_ptr<peer_admission> admission{};

  /// The largest number of messages to one peer that are not confirmed, at least 1. Senders wait
  /// beyond it. A large message counts as several, so that half of `most_bytes_waiting` fills the
  /// limit, too. The credit of messages above 64 KiB counts against such messages only. A sender
  /// that may not wait still sends, up to twice the limit; then its message is lost, with
  /// `errc::overload`. Each actor that pauses has sent one message beyond the limit, and any number
  /// of actors may pause.
  std::uint32_t most_under_way = 8192;
  /// The largest number of bytes that wait for the stack, with some 50 for each message, at least
  /// 1. Beyond it no actor pauses: an actor waits in `send`, as a thread does. A sender that may
  /// not wait, or has waited for `patience`, loses its message. Once an actor has waited that long
  /// without success, messages of actors beyond the limit are lost at once until the peer confirms
  /// a message. A message that has credit is accepted even beyond the limit. A refusal is never
  /// lost: a peer counts as down if more bytes of refusals wait for it, with 128 for each, than the
  /// larger of twice this limit and 4608 × `most_questions`.
  std::size_t most_bytes_waiting = 64u << 20;
  /// The time for which a thread waits in `send` for a slow receiver in another node; then its
  /// message counts against the next grant. An actor sends one message without credit, and pauses
  /// for at most this time after its handler; its next message waits in `send`, too. Zero: no
  /// sender waits.
  base::duration patience = base::duration::seconds(1);
  std::uint32_t most_exports = 1u << 20;  ///< actors that one peer may know of; 0: none
  /// The largest number of requests of one peer that wait for their answer, at least 1. Requests of
  /// this node to the peer are limited to seven eighths of this or of
  /// `link.questions.most_questions`, whichever is less; beyond that they get `errc::overload`. An
  /// answer that waits for room in the link to the peer still counts as an open request.
  std::uint32_t most_questions = 1u << 16;
  std::uint32_t most_watches = 1u << 20;  ///< links and monitors of one peer; 0: none
  /// The largest number of actors that were spawned for one peer and that it holds; 0: none.
  std::uint32_t most_spawned = 1u << 16;
  base::duration leave_limit = base::duration::seconds(1);  ///< see node::~node

  /// The source of links; null: sockets, with `io`, `transport` and `accept`.
  std::shared_ptr<link_source> source{};
  io_settings io{};  ///< the I/O threads of these sockets
  /// Lets idle workers of the system wait for the network in place of the first I/O thread. A
  /// message then wakes one thread instead of two. False: never. Has no effect with a policy
  /// without such waits (`work_sharing`), if workers spin (`scheduler.idle_spin`), and for all but
  /// one node of a system.
  bool idle_workers_read = true;
  transport_settings transport{};  ///< sizes and options of sockets
  /// The limits on connections that `listen` takes. The system's log says if a listener has to take
  /// fewer, for lack of descriptors, unless `connections` has its default. A link that the peer has
  /// to let be used gets `admission` for that, too, from the time at which it opened.
  accept_limits accept{};
  /// The seed of actors' numbers, for tests; 0: the source's seed, or the system's randomness.
  std::uint64_t seed = 0;
};

/// Checks the settings, and those of the link. Returns no error, or `errc::invalid_setting`, which
/// names the setting and its range. `node::listen`, `connect`, `remote` and `spawn` check the same
/// themselves, but of the stacks only the one for the address. The settings of the transport are
/// checked by `net::listen` and `net::connect`.
[[nodiscard]] base::error check(const node_settings& s);

namespace internal {
/// Returns the error that `check` finds apart from the stacks. The stacks are checked one by one,
/// because a program that never uses UDP may name a datagram stack that its catalogue lacks.
[[nodiscard]] base::error check_without_stacks(const node_settings& s);
/// Returns the error of the stack for transports of the kind `there`.
[[nodiscard]] base::error check_stack(const node_settings& s, carrier_kind there);
}  // namespace internal

}  // namespace garrick::net
