// A request to a device's or the builder's thread, by an actor or by a waiting thread.
//
// Private: installed because templates need it.
//
// Thread safety: like `adapt` with an actor, and like `actor_system::request` with a system.
#pragma once

#include <garrick/garrick.hpp>

#include <type_traits>
#include <utility>

namespace garrick::gpu::detail {

/// Calls `start(completion<Rs...>)`. Returns the response that the completion fulfils.
template <class... Rs, class From, class Start>
[[nodiscard]] auto ask_outside(From& from, Start start) {
  if constexpr (std::is_base_of_v<actor_base, From>)
    return adapt<Rs...>(from, std::move(start));
  else
    return system::blocking_response<Rs...>(
        from.env(), [&](blocking_actor& me) { return adapt<Rs...>(me, std::move(start)); });
}

}  // namespace garrick::gpu::detail
