// The stacks of stack/stacks.hpp as kinds for the guarantee programs: without `actor_protocol` for
// `exchange`, which sends numbers and no frames, and with it for `dialogue`, which asks questions.
//
// Thread safety: plain functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "garrick/net/layer/actor_protocol.hpp"
#include "garrick/net/layer/duplicate_suppression.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/ordering.hpp"
#include "garrick/net/layer/redelivery.hpp"
#include "garrick/net/layer/reliability.hpp"
#include "garrick/net/layer/session.hpp"
#include "garrick/net/layer/slicing.hpp"
#include "garrick/net/stack/stack.hpp"
#include "garrick/net/testkit/exchange.hpp"

namespace garrick::net::testkit::internal {

/// Returns a layer of class L, with its place's properties.
template <class L>
[[nodiscard]] L layer_at([[maybe_unused]] const stack_place& place) {
  if constexpr (std::is_base_of_v<session, L>) {
    session_settings s;
    s.self.node.low = static_cast<unsigned char>(place.host[0]);
    s.self.incarnation = place.life | 1;
    s.connects = place.connects;
    s.seed = place.seed;
    return L(s);
  } else {
    return L();
  }
}

template <class Transport, class... Ls>
[[nodiscard]] stack_kind kind_of(std::string name, promise promises, std::size_t largest) {
  return {.name = std::move(name),
          .promises = promises,
          .streams = std::is_same_v<Transport, byte_stream>,
          .largest = largest,
          .make = [](link_owner& owner, carrier& below,
                     const stack_place& place) -> std::unique_ptr<any_link> {
            return std::make_unique<stack<Transport, Ls...>>(owner, below, layer_at<Ls>(place)...);
          }};
}

// `Planted...` are layers beneath `slicing`, for bugs that are planted.
template <class... Planted>
[[nodiscard]] stack_kind stream_kind(std::string name = "stream") {
  return kind_of<byte_stream, redelivery, slicing, Planted..., session, framing>(
      std::move(name), to_mailbox, 50'000);
}
template <class... Planted>
[[nodiscard]] stack_kind plain_stream_kind(std::string name = "plain_stream") {
  return kind_of<byte_stream, slicing, Planted..., session, framing>(std::move(name), in_order,
                                                                     50'000);
}
template <class... Planted>
[[nodiscard]] stack_kind datagram_kind(std::string name = "datagrams") {
  return kind_of<datagrams, redelivery, slicing, Planted..., ordering, reliability, session>(
      std::move(name), to_mailbox, 20'000);
}
template <class Detection = session>
[[nodiscard]] stack_kind ordered_datagram_kind(std::string name = "ordered_datagrams") {
  return kind_of<datagrams, slicing, ordering, Detection>(std::move(name), in_order, 5'000);
}
[[nodiscard]] inline stack_kind plain_datagram_kind() {
  return kind_of<datagrams, slicing, duplicate_suppression, session>("plain_datagrams",
                                                                     at_most_once, 5'000);
}

// The same stacks with a top that carries frames: `actor_protocol`, or a layer with a planted bug.
template <class... Top>
[[nodiscard]] stack_kind talking_stream_kind(std::string name) {
  return kind_of<byte_stream, Top..., redelivery, slicing, session, framing>(std::move(name),
                                                                             to_mailbox, 50'000);
}
template <class... Top>
[[nodiscard]] stack_kind talking_plain_stream_kind(std::string name) {
  return kind_of<byte_stream, Top..., slicing, session, framing>(std::move(name), in_order, 50'000);
}
template <class... Top>
[[nodiscard]] stack_kind talking_datagram_kind(std::string name) {
  return kind_of<datagrams, Top..., redelivery, slicing, ordering, reliability, session>(
      std::move(name), to_mailbox, 20'000);
}
template <class Detection, class... Top>
[[nodiscard]] stack_kind talking_ordered_datagram_kind(std::string name) {
  return kind_of<datagrams, Top..., slicing, ordering, Detection>(std::move(name), in_order, 5'000);
}
template <class... Top>
[[nodiscard]] stack_kind talking_plain_datagram_kind(std::string name) {
  return kind_of<datagrams, Top..., slicing, duplicate_suppression, session>(std::move(name),
                                                                             at_most_once, 5'000);
}
/// Returns the five stacks as the library composes them.
[[nodiscard]] inline std::vector<stack_kind> talking_kinds() {
  return {talking_stream_kind<actor_protocol>("stream"),
          talking_plain_stream_kind<actor_protocol>("plain_stream"),
          talking_datagram_kind<actor_protocol>("datagrams"),
          talking_ordered_datagram_kind<session, actor_protocol>("ordered_datagrams"),
          talking_plain_datagram_kind<actor_protocol>("plain_datagrams")};
}

}  // namespace garrick::net::testkit::internal
