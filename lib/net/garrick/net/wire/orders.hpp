// Payloads of frames that are not messages: names, protocols, orders. They are ordinary aggregates,
// so the codec encodes them, and they may grow.
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

/// Orders an actor to end at once.
struct kill_order {
  base::exit_reason reason;  ///< the reason for its watchers
  bool final = false;        ///< its supervisor must not restart it
};

/// Asks for the actor of a name. The actor's protocol must support the asker's.
struct resolve_order {
  std::string name;  ///< the published name
  schema protocol;   ///< the protocol that the asker expects
};

/// Orders the spawn of an actor of a type that the other node allows.
struct spawn_order {
  std::string name;                  ///< the allowed name of the actor's type
  std::vector<std::byte> arguments;  ///< the arguments of its constructor: an encoded tuple
  schema types;                      ///< the arguments' types: one signature, the tuple
};

}  // namespace garrick::net
