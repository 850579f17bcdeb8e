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
//   using compressed_stream = stack<byte_stream, actor_protocol, compression, reconnect, slicing,
//                                   failure_detection, framing>;
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

/// The name of a stack, as an argument of a template.
template <std::size_t Size>
struct stack_name {
  /// From a literal.
  consteval stack_name(const char (&from)[Size]) { std::copy_n(from, Size, text); }
  /// The name.
  [[nodiscard]] constexpr std::string_view view() const { return {text, Size - 1}; }
  char text[Size]{};  ///< with its final zero
};

namespace detail {

/// The settings of a stack of this name. Ends the program if they are wrong, or if the carrier is
/// of another kind than what the stack's transport offers.
[[nodiscard]] link_settings settings_of(const link_settings& s, std::string_view name,
                                        const carrier& below, const properties& offered);

/// The layer of class L with its settings.
template <class L>
[[nodiscard]] L layer_of(const link_settings& s) {
  if constexpr (std::is_same_v<L, actor_protocol>)
    return L(s.questions);
  else if constexpr (std::is_same_v<L, reconnect>)
    return L(s.mailbox);
  else if constexpr (std::is_same_v<L, slicing>)
    return L(s.slicing);
  else if constexpr (std::is_same_v<L, ordering>)
    return L(s.ordering);
  else if constexpr (std::is_same_v<L, reliability>)
    return L(s.reliability);
  else if constexpr (std::is_same_v<L, failure_detection>)
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
  /// Adds a `stack` of these layers, each made when a link is. The library's own get their part of
  /// the `link_settings`. Another is made of all of them, if it has such a constructor, or else
  /// of nothing. Requires as above.
  ///
  ///     stacks.add<"compressed", compressed_stream>();
  template <stack_name Name, class Stack>
  void add() {
    using maker = detail::stack_maker<Name, Stack>;
    // Of the object that the template's argument is, which lives as long as the program.
    add({Name.view(), maker::on, Stack::provides, &maker::make});
  }
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
