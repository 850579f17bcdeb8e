// A stack by its name, for programs that every stack is put through (`exchange`, `dialogue`).
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

/// Who makes a stack.
struct stack_place {
  std::string host;           ///< a node's name
  std::uint32_t incarnation;  ///< 1 for a host that has not crashed
  bool connects;              ///< this end opens the connection; the other one accepts it
  std::uint64_t seed;         ///< for what the stack draws
  /// Which life of the host the stack says it is: of each link, or the same until the host crashes
  /// (`exchange_settings::same_life`).
  std::uint64_t life;
};

/// A stack by its name, for programs that run over each.
struct stack_kind {
  std::string name;            ///< as configuration names it
  promise promises;            ///< what its user may rely on
  bool streams = false;        ///< over streams, otherwise over datagrams
  bool reopens = true;         ///< a lost stream is opened again by the stack, not by its owner
  std::size_t largest = 1000;  ///< bytes of a message that it is to be tried with, at most
  /// Makes one.
  std::function<std::unique_ptr<any_link>(link_owner&, carrier&, const stack_place&)> make;
};

}  // namespace garrick::net::testkit
