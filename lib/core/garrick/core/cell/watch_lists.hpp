// The watchers of an actor, and the actors that it watches: links and monitors.
//
// Private: installed with its room; only sources of core, system and the testkit include it.
//
// Thread safety: the actor's turn.
#pragma once

#include <garrick/core/cell/handle.hpp>
#include <garrick/core/cell/keyed_list.hpp>

#include <cstdint>

namespace garrick::core {

class continuation;

/// An actor that is told of this actor's end.
struct watcher {
  address who;
  std::uint64_t monitor;  ///< the watcher's number of the monitor; 0: a link
  [[nodiscard]] keyed_list_key key() const noexcept { return {who.id(), monitor}; }
};

/// A monitor that this actor set.
struct own_monitor {
  std::uint64_t id;
  address target;
  continuation* callback;  ///< null: a `down` message
  [[nodiscard]] keyed_list_key key() const noexcept { return {0, id}; }
};

/// The watchers of an actor, and the monitors that it set.
struct watch_lists {
  keyed_list<watcher> watchers;
  keyed_list<own_monitor> monitors;
  std::uint64_t next_monitor = 1;
};

}  // namespace garrick::core
