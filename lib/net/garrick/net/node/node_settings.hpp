// What a node can be told.
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

/// Messages and requests that an actor takes from another node before that has to be granted more.
/// Part of the protocol: both ends count from here.
inline constexpr std::uint32_t first_credit = 256;

/// Bytes of a name by which a node shows an actor, or a type of actors, to others, at most.
inline constexpr std::size_t longest_name = 255;

/// Who it is, its links, and its limits. What all that may be pending for a peer sums up to:
/// lib/net/README.md, Flat memory.
struct node_settings {
  /// Who this node is over all its lives; all zeros: somebody new each time. No two that run at
  /// once may have the same: their peers take one for an earlier life of the other.
  node_id id{};
  /// Which life this is; 0: drawn at random, as it should be.
  std::uint64_t incarnation = 0;
  /// How the program names itself to its peers, for people; of more than 64 bytes the first 64.
  std::string program{};

  /// What there is to choose from. Only a stack that confirms (`properties::confirmed`) will do:
  /// with any other, `check`, `listen` and `connect` are `errc::invalid_setting`.
  stack_catalogue stacks = standard_stacks();
  std::string stream_stack = "stream";       ///< over TCP and Unix domain sockets
  std::string datagram_stack = "datagrams";  ///< over UDP
  link_settings link{};                      ///< of all its layers

  /// Listening at, and connecting to, addresses that others can reach needs authentication, which
  /// there is none of yet. This says that nobody has to be who he says.
  bool insecure = false;

  /// Whether the same life of a node may be a peer again after it was `down`: see `peer_return`.
  /// Its old handles are dead in any case, and nothing of what was sent before is delivered.
  peer_return after_down = peer_return::same_life;

  /// Whether actors of peers may end actors here to which they have a handle, by `exit` and `kill`.
  /// False: such words are ignored, and counted. Links are no part of it: who is linked with an
  /// actor of a peer hears of that one's end, and ends with it unless it traps exits.
  bool let_peers_end = true;

  /// Who may be a peer; null: everybody who speaks the protocol.
  std::shared_ptr<peer_admission> admission{};

  /// Messages to one peer that are not confirmed: with so many on their way, senders wait. Large
  /// ones count as several: also half of `most_bytes_waiting` is as much. The share of messages
  /// above 64 KiB counts against such messages only. A sender that may not wait goes beyond that,
  /// up to twice as much; then its message is lost, with `errc::overload`. An actor that pauses has
  /// sent one message beyond it, however many such actors there are. At least 1.
  std::uint32_t most_under_way = 8192;
  /// Bytes of what the stack has not taken, and some 50 for each message, beyond which no actor
  /// pauses: it waits in `send`, as a thread does, and who may not wait loses the message, as does
  /// who has waited for `patience`. If an actor has, others do not wait, either, until the peer
  /// goes on. What has credit is taken all the same. A refusal is never lost. Instead a peer counts
  /// as down if more bytes of them wait for it, and 128 for each, than the larger of twice this and
  /// 4608 × `most_questions`. At least 1.
  std::size_t most_bytes_waiting = 64u << 20;
  /// How long a thread waits in `send` for a slow receiver in another node; then its message counts
  /// against the next grant. An actor sends one message without credit, and pauses for as long
  /// after its handler; the next one waits in `send`, too. Zero: nobody waits.
  base::duration patience = base::duration::seconds(1);
  std::uint32_t most_exports = 1u << 20;  ///< actors that one peer may know of; 0: none
  /// Requests of one peer that wait for their answer, and of this node to it: of those, seven
  /// eighths of this or of `link.questions.most_questions`, whichever is less, and then it is
  /// `errc::overload`. An answer that the peer's link has no room for yet counts as such a request.
  /// At least 1.
  std::uint32_t most_questions = 1u << 16;
  std::uint32_t most_watches = 1u << 20;  ///< links and monitors of one peer; 0: none
  /// Actors that one peer has had spawned and holds; 0: none.
  std::uint32_t most_spawned = 1u << 16;
  base::duration leave_limit = base::duration::seconds(1);  ///< see node::~node

  /// Where links come from; null: sockets, with `io`, `transport` and `accept`.
  std::shared_ptr<link_source> source{};
  io_settings io{};  ///< the threads that move their bytes
  /// Whether workers of the system that have nothing to do wait for the network in place of the
  /// first of these threads. A message then wakes one thread instead of two. False: never. It
  /// makes no difference with a policy whose workers cannot (`work_sharing`), if they spin
  /// (`scheduler.idle_spin`), and for all but one of a system's nodes.
  bool idle_workers_read = true;
  transport_settings transport{};  ///< what a socket buffers and allows
  accept_limits accept{};          ///< how many connections `listen` takes
  /// Numbers of actors are drawn from the system's randomness, or as the source says; not 0: from
  /// this seed, for tests.
  std::uint64_t seed = 0;
};

/// Returns what is wrong with the settings, also with those of the link: `errc::invalid_setting`,
/// whose text names the setting and its range; or no error. `node::listen`, `connect`, `remote` and
/// `spawn` ask this themselves, but look at no other stack than that for the address. The settings
/// of the transport are checked by `net::listen` and `net::connect`.
[[nodiscard]] base::error check(const node_settings& s);

namespace internal {
/// The parts of `check`: all but the stacks, and the stack for one kind of transport. A program
/// that never uses UDP may name a datagram stack that its catalogue lacks.
[[nodiscard]] base::error check_without_stacks(const node_settings& s);
/// The stack for transports of the kind `there`.
[[nodiscard]] base::error check_stack(const node_settings& s, carrier_kind there);
}  // namespace internal

}  // namespace garrick::net
