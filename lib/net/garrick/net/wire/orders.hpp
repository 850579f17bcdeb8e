// What frames carry that is not a message: names, protocols, orders. Ordinary aggregates, so the
// codec encodes them and they may grow.
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "garrick/base/values/exit_reason.hpp"
#include "garrick/net/wire/codec.hpp"
#include "garrick/net/wire/schema.hpp"

namespace garrick::net {

/// An actor is to end at once.
struct kill_order {
  base::exit_reason reason;  ///< what its watchers are told
  bool final = false;        ///< its supervisor is not to restart it
};

/// Who was published under this name, with a protocol that supports this one?
struct resolve_order {
  std::string name;  ///< as published
  schema protocol;   ///< what the asker expects
};

/// An actor of a type that the other node has on its list is to be spawned.
struct spawn_order {
  std::string name;                  ///< of the actor's type
  std::vector<std::byte> arguments;  ///< of its constructor: an encoded tuple
  schema types;                      ///< what they look like: one signature, the tuple
};

}  // namespace garrick::net
