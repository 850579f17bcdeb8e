// The stacks over which the programs of the testkit run, a line for each.
//
// Thread safety: constants.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "garrick/net/stack/stack.hpp"
#include "garrick/net/testkit/exchange.hpp"
#include "garrick/net/testkit/internal/planted.hpp"

namespace garrick::net::testkit::internal {

/// Returns a function that makes a `stack<Transport, Ls...>` of layers that need no settings.
template <class Transport, class... Ls>
[[nodiscard]] auto maker_of() {
  return [](link_owner& owner, carrier& below, const stack_place&) -> std::unique_ptr<any_link> {
    return std::make_unique<stack<Transport, Ls...>>(owner, below, Ls()...);
  };
}

inline constexpr promise framed_promise{.once = true, .ordered = true, .gapless = true};
/// The guarantees of `basic_window`, which does not know sessions.
inline constexpr promise window_promise{
    .once = true, .lanes = true, .ordered = true, .gapless = true, .to_mailbox = true};

/// Returns a stack with these layers over streams.
template <class... Ls>
[[nodiscard]] stack_kind framed_kind(std::string name) {
  return {.name = std::move(name),
          .promises = framed_promise,
          .streams = true,
          .reopens = false,
          .largest = 20'000,
          .make = maker_of<byte_stream, Ls...>()};
}
/// Returns a stack with these layers over datagrams.
template <class... Ls>
[[nodiscard]] stack_kind window_kind(std::string name) {
  return {
      .name = std::move(name), .promises = window_promise, .make = maker_of<datagrams, Ls...>()};
}

}  // namespace garrick::net::testkit::internal
