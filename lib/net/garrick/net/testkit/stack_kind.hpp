// A stack by its name, for the programs that every stack has to pass (`exchange`, `dialogue`).
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "garrick/net/stack/any_link.hpp"
#include "garrick/net/testkit/guarantee_checker.hpp"
#include "garrick/net/transport/carrier.hpp"

namespace garrick::net::testkit {

/// The place of a stack: the host and the end of the link for which it is made.
struct stack_place {
  std::string host;           ///< a node's name
  std::uint32_t incarnation;  ///< 1 for a host that has not crashed
  bool connects;              ///< true if this end opens the connection
  std::uint64_t seed;         ///< for the random choices of the stack
  /// The incarnation that the stack claims: a new one for each link, or the same until the host
  /// crashes (`exchange_settings::same_life`).
  std::uint64_t life;
};

/// A stack by its name, with its guarantees.
struct stack_kind {
  std::string name;            ///< its name in a configuration
  promise promises;            ///< the guarantees of its user
  bool streams = false;        ///< over streams, otherwise over datagrams
  bool reopens = true;         ///< true if the stack, not its owner, opens a lost stream again
  std::size_t largest = 1000;  ///< the largest size of a message to try, in bytes
  /// Makes a stack.
  std::function<std::unique_ptr<any_link>(link_owner&, carrier&, const stack_place&)> make;
};

}  // namespace garrick::net::testkit
