// The stacks that the library composes, and a catalogue of stacks by name.
//
// Composition is at compile time; which of the finished stacks a program uses is a word in its
// configuration:
//
//   std::string name = "stream";
//   link_settings settings;
//   add_settings(table, name, settings);   // net.stack, net.slicing_largest, …
//   …
//   const stack_catalogue stacks = standard_stacks();
//   const named_stack* chosen = stacks.find(name);
//   std::unique_ptr<any_link> l = chosen->make(owner, carrier, settings);
//
// A program adds its own, under a name of its own:
//
//   stacks.add({"compressed", carrier_kind::stream, compressed_stack::provides, &make_mine});
//
// Thread safety: a catalogue is constant once it is filled.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "garrick/base/settings/setting_table.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/layer/actor_protocol.hpp"
#include "garrick/net/layer/duplicate_suppression.hpp"
#include "garrick/net/layer/failure_detection.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/ordering.hpp"
#include "garrick/net/layer/reconnect.hpp"
#include "garrick/net/layer/reliability.hpp"
#include "garrick/net/layer/slicing.hpp"
#include "garrick/net/stack/any_link.hpp"
#include "garrick/net/stack/stack.hpp"
#include "garrick/net/transport/endpoint.hpp"

namespace garrick::net {

/// Over TCP and Unix domain sockets: exactly once into the mailbox, in order, also when the stream
/// was lost and came back.
using stream_stack =
    stack<byte_stream, actor_protocol, reconnect, slicing, failure_detection, framing>;
/// The same transports, without acknowledgements: in order, at most once; what is under way when
/// the stream is lost is lost.
using plain_stream_stack = stack<byte_stream, actor_protocol, slicing, failure_detection, framing>;
/// Over UDP: as `stream_stack`.
using datagram_stack =
    stack<datagrams, actor_protocol, reconnect, slicing, ordering, reliability, failure_detection>;
/// Over UDP: at most once, in order.
using ordered_datagram_stack =
    stack<datagrams, actor_protocol, slicing, ordering, failure_detection>;
/// Over UDP: at most once, in any order.
using plain_datagram_stack =
    stack<datagrams, actor_protocol, slicing, duplicate_suppression, failure_detection>;

/// What the layers of a stack are told; those that it does not have are not asked.
struct link_settings {
  /// Who this end is, and when the other one is given up. If `session.stack` is empty, a standard
  /// stack puts its own name in.
  failure_detection_settings session;
  actor_protocol_settings questions;  ///< how many may be open
  reconnect_settings mailbox;         ///< what is kept until it is in a mailbox
  slicing_settings slicing;           ///< how large messages may be
  ordering_settings ordering;         ///< what waits for what is missing
  reliability_settings reliability;   ///< what is sent again, and when
  framing_settings framing;           ///< how large a frame may be
};

/// Adds the rows of `net.*`, which fill these: a stack's name, and what people want to set of its
/// layers. A key is `net.`, the layer, `_` and the field; `check` names each by its key.
void add_settings(base::setting_table& table, std::string& stack, link_settings& s);

/// What is wrong with the settings, of all layers, whichever a stack has: `errc::invalid_setting`,
/// whose text names the setting and what it may be; or no error. To be asked after settings were
/// loaded: a table knows each setting's range, but not that two contradict each other.
[[nodiscard]] base::error check(const link_settings& s);

/// A stack that is composed, by its name.
struct named_stack {
  std::string_view name;   ///< a literal
  carrier_kind transport;  ///< what it stands on
  properties provides;     ///< what its user may rely on
  /// Makes one. Requires `!check(s)`; otherwise the standard stacks end the program with that
  /// error's text. Owner and carrier must outlive it.
  std::unique_ptr<any_link> (*make)(link_owner& owner, carrier& below, const link_settings& s);

  /// `errc::invalid_setting` if the endpoint's transport is not what the stack stands on, as a
  /// stream under "datagrams"; or no error. To be asked where stack and endpoint come from a
  /// configuration: a standard stack ends the program when it is made on the wrong kind.
  [[nodiscard]] base::error fits(const endpoint& e) const;
};

/// Stacks by name.
class stack_catalogue {
 public:
  /// Adds one. Requires a name that is not there yet.
  void add(const named_stack& s);
  /// Null: there is none of this name. Valid until one is added.
  [[nodiscard]] const named_stack* find(std::string_view name) const noexcept;
  /// In the order in which they were added.
  [[nodiscard]] const std::vector<named_stack>& all() const noexcept { return stacks_; }
  /// As `find`, with an error (`errc::invalid_setting`) that says which names there are.
  [[nodiscard]] base::error explain(std::string_view name) const;

 private:
  std::vector<named_stack> stacks_;
};

/// Those above: "stream", "plain_stream", "datagrams", "ordered_datagrams", "plain_datagrams".
[[nodiscard]] stack_catalogue standard_stacks();

}  // namespace garrick::net
