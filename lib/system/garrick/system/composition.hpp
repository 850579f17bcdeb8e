// fan_out and first_of for an ordinary thread: the system is passed where an actor passes `*this`.
//
//   result<std::vector<result<int>>> all = fan_out(system, workers, job{7}).get();
//   result<int> fastest = first_of(system, replicas, query{}).within(1s).get();
//
// In all else both work as in core/composition.hpp. Thread safety: any thread; on a worker `get()`
// returns the error `would_block`.
#pragma once

#include <garrick/core/composition.hpp>
#include <garrick/system/spawner.hpp>

#include <type_traits>
#include <utility>

namespace garrick::system {

namespace detail {

template <class... Rs>
std::type_identity<blocking_response<Rs...>> blocking_of(const core::pending_response<Rs...>&);
template <class Pending>
using blocking_for = decltype(blocking_of(std::declval<Pending>()));

template <class System>
concept can_spawn = std::is_base_of_v<spawner<System>, System>;

}  // namespace detail

/// Sends a request to every target from this thread. `get()` of the returned response blocks until
/// all have answered, and returns a result for each, in the order of the targets; see
/// core::fan_out. Any thread; on a worker, `get()` returns the error `would_block`.
template <detail::can_spawn System, class Range, class... Args>
[[nodiscard]] auto fan_out(System& from, const Range& targets, Args&&... args) {
  const auto ask = [&](core::blocking_actor& asker) {
    return core::fan_out(asker, targets, std::forward<Args>(args)...);
  };
  return typename detail::blocking_for<decltype(ask(std::declval<core::blocking_actor&>()))>::type(
      from.env(), ask);
}

/// Sends a request to every target from this thread. `get()` of the returned response blocks until
/// a target has answered with a value, and returns it, or until all have answered with errors; see
/// core::first_of. Any thread; on a worker, `get()` returns the error `would_block`.
template <detail::can_spawn System, class Range, class... Args>
[[nodiscard]] auto first_of(System& from, const Range& targets, Args&&... args) {
  const auto ask = [&](core::blocking_actor& asker) {
    return core::first_of(asker, targets, std::forward<Args>(args)...);
  };
  return typename detail::blocking_for<decltype(ask(std::declval<core::blocking_actor&>()))>::type(
      from.env(), ask);
}

}  // namespace garrick::system
