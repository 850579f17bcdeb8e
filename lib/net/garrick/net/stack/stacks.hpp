// The stacks that the library composes, and a catalogue of stacks by name.
//
// Composition is at compile time; a word in the configuration picks one of the finished stacks:
//
//   std::string name = "stream";
//   link_settings settings;
//   add_settings(table, name, settings);   // net.stack, net.slicing_largest, …
//   …
//   const stack_catalogue stacks = standard_stacks();
//   const named_stack* chosen = stacks.find(name);
//   std::unique_ptr<any_link> l = chosen->make(owner, carrier, settings);
//
// A program adds a stack of its own under a new name:
//
//   using compressed_stream = stack<byte_stream, actor_protocol, compression, redelivery, slicing,
//                                   session, framing>;
//   stacks.add<"compressed", compressed_stream>();
//
// Thread safety: a catalogue is constant once it is filled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "garrick/base/settings/setting_table.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/layer/actor_protocol.hpp"
#include "garrick/net/layer/duplicate_suppression.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/ordering.hpp"
#include "garrick/net/layer/redelivery.hpp"
#include "garrick/net/layer/reliability.hpp"
#include "garrick/net/layer/session.hpp"
#include "garrick/net/layer/slicing.hpp"
#include "garrick/net/stack/any_link.hpp"
#include "garrick/net/stack/stack.hpp"
#include "garrick/net/transport/endpoint.hpp"

namespace garrick::net {

/// Over TCP and Unix domain sockets: exactly once into the mailbox, in order, also if the stream is
/// lost and opened again.
using stream_stack = stack<byte_stream, actor_protocol, redelivery, slicing, session, framing>;
/// The same transports, without acknowledgements: in order, at most once; messages under way are
/// lost with the stream.
using plain_stream_stack = stack<byte_stream, actor_protocol, slicing, session, framing>;
/// Over UDP: as `stream_stack`.
using datagram_stack =
    stack<datagrams, actor_protocol, redelivery, slicing, ordering, reliability, session>;
/// Over UDP: at most once, in order.
using ordered_datagram_stack = stack<datagrams, actor_protocol, slicing, ordering, session>;
/// Over UDP: at most once, in any order.
using plain_datagram_stack =
    stack<datagrams, actor_protocol, slicing, duplicate_suppression, session>;

/// Settings of all layers; a stack ignores those of layers that it does not have.
struct link_settings {
  /// The identity of this end, and the time until the other one is given up. If `session.stack` is
  /// empty, a standard stack fills in its own name.
  session_settings session;
  actor_protocol_settings questions;  ///< the most open requests
  redelivery_settings mailbox;        ///< the messages kept until they are in a mailbox
  slicing_settings slicing;           ///< the largest messages
  ordering_settings ordering;         ///< the buffer for messages that wait for earlier ones
  reliability_settings reliability;   ///< the rules of retransmission
  framing_settings framing;           ///< the largest frame
};

/// Adds the rows of `net.*` to the table. They fill `stack`, the name of a stack, and `s`, the
/// common settings of its layers. A key is `net.`, the layer, `_` and the field; `check` names each
/// setting by its key.
void add_settings(base::setting_table& table, std::string& stack, link_settings& s);

/// Checks the settings of all layers, including those that a stack does not have. Returns
/// `errc::invalid_setting`, with the setting and its range in the text, or no error. Call it after
/// settings were loaded: a table knows each setting's range, but no contradictions between two.
[[nodiscard]] base::error check(const link_settings& s);

/// The name of a stack, as an argument of a template.
template <std::size_t Size>
struct stack_name {
  /// Copies a literal.
  consteval stack_name(const char (&from)[Size]) { std::copy_n(from, Size, text); }
  /// Returns the name.
  [[nodiscard]] constexpr std::string_view view() const { return {text, Size - 1}; }
  char text[Size]{};  ///< with its final zero
};

namespace detail {

/// Returns the settings for a stack of this name. Ends the program if they are wrong, or if the
/// carrier is of another kind than the stack's transport.
[[nodiscard]] link_settings settings_of(const link_settings& s, std::string_view name,
                                        const carrier& below, const properties& offered);

/// Returns the layer of class L with its settings.
template <class L>
[[nodiscard]] L layer_of(const link_settings& s) {
  if constexpr (std::is_same_v<L, actor_protocol>)
    return L(s.questions);
  else if constexpr (std::is_same_v<L, redelivery>)
    return L(s.mailbox);
  else if constexpr (std::is_same_v<L, slicing>)
    return L(s.slicing);
  else if constexpr (std::is_same_v<L, ordering>)
    return L(s.ordering);
  else if constexpr (std::is_same_v<L, reliability>)
    return L(s.reliability);
  else if constexpr (std::is_same_v<L, session>)
    return L(s.session);
  else if constexpr (std::is_same_v<L, framing>)
    return L(s.framing);
  else if constexpr (std::is_constructible_v<L, const link_settings&>)
    return L(s);
  else
    return L();
}

template <stack_name Name, class Stack>
struct stack_maker;
template <stack_name Name, class Transport, class... Ls>
struct stack_maker<Name, stack<Transport, Ls...>> {
  static std::unique_ptr<any_link> make(link_owner& owner, carrier& below, const link_settings& s) {
    const link_settings mine = settings_of(s, Name.view(), below, Transport::offers);
    return std::make_unique<stack<Transport, Ls...>>(owner, below, layer_of<Ls>(mine)...);
  }
  static constexpr carrier_kind on =
      Transport::offers.messages ? carrier_kind::datagrams : carrier_kind::stream;
};

}  // namespace detail

/// A composed stack, with its name.
struct named_stack {
  std::string_view name;   ///< a literal
  carrier_kind transport;  ///< the transport that it needs
  properties provides;     ///< the guarantees for its user
  /// Returns a new link. Requires `!check(s)`; otherwise the standard stacks end the program with
  /// that error's text. Owner and carrier must outlive the link.
  std::unique_ptr<any_link> (*make)(link_owner& owner, carrier& below, const link_settings& s);

  /// Returns `errc::invalid_setting` if the endpoint's transport is not the stack's, as a stream
  /// under "datagrams"; or no error. Call it where stack and endpoint come from a configuration: a
  /// standard stack ends the program when it is made on the wrong kind of transport.
  [[nodiscard]] base::error fits(const endpoint& e) const;
};

/// Stacks by name.
class stack_catalogue {
 public:
  /// Adds a stack. Requires that the name is new.
  void add(const named_stack& s);
  /// Adds a `stack`. Its layers are made with each link: the library's own layers from their part
  /// of the `link_settings`, another layer from all of these settings if it has such a constructor,
  /// or else without arguments. Requires that the name is new.
  ///
  ///     stacks.add<"compressed", compressed_stream>();
  template <stack_name Name, class Stack>
  void add() {
    using maker = detail::stack_maker<Name, Stack>;
    // The template's argument is an object that lives as long as the program.
    add({Name.view(), maker::on, Stack::provides, &maker::make});
  }
  /// Returns the stack of this name, or null. Valid until the next `add`.
  [[nodiscard]] const named_stack* find(std::string_view name) const noexcept;
  /// Returns all stacks in the order in which they were added.
  [[nodiscard]] const std::vector<named_stack>& all() const noexcept { return stacks_; }
  /// Returns no error if `find` finds the name, or `errc::invalid_setting` with the known names.
  [[nodiscard]] base::error explain(std::string_view name) const;

 private:
  std::vector<named_stack> stacks_;
};

/// Returns the catalogue of "stream", "plain_stream", "datagrams", "ordered_datagrams",
/// "plain_datagrams".
[[nodiscard]] stack_catalogue standard_stacks();

}  // namespace garrick::net
