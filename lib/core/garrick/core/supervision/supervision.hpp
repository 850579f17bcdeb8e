// The options of a supervisor: which children to restart together, how often, how fast, and how
// long to wait when they are stopped.
//
// Thread safety: values.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/spawn_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace garrick::core {

/// The group of children that is restarted when one fails.
enum class restart_strategy : std::uint8_t {
  one_for_one,   ///< the failed child
  one_for_all,   ///< all children
  rest_for_one,  ///< the failed child and those that were started after it
};
/// Restart the child that failed.
inline constexpr restart_strategy one_for_one = restart_strategy::one_for_one;
/// Restart all children when one fails.
inline constexpr restart_strategy one_for_all = restart_strategy::one_for_all;
/// Restart the child that failed, and those that were started after it.
inline constexpr restart_strategy rest_for_one = restart_strategy::rest_for_one;

/// The ends of a child after which its supervisor restarts it.
enum class restart_policy : std::uint8_t {
  permanent,  ///< whenever it ends
  transient,  ///< when it fails or is killed; not when it quits or is asked to end
  temporary,  ///< never
};
/// Restart the child whenever it ends.
inline constexpr restart_policy permanent = restart_policy::permanent;
/// Restart the child when it fails or is killed.
inline constexpr restart_policy transient = restart_policy::transient;
/// Never restart the child.
inline constexpr restart_policy temporary = restart_policy::temporary;

/// The wait before a restart. By default there is no wait. Otherwise it is `first`, multiplied by
/// `factor` for each failure of this child in a row, and at most `longest`. A child that has been
/// up for longer than the window begins with `first` again. No value may be negative, `longest`
/// must not be below `first`, and `first` and `factor` must be finite; a bad value throws where the
/// supervision is set.
struct backoff {
  base::duration first{};    ///< before the first restart; 0: none
  base::duration longest{};  ///< before the jitter; 0: 30 s, or `first` if that is more
  double factor = 2.0;       ///< at least 1, and finite
  /// the delay is spread evenly over this fraction of it, up and down: 0 to 1
  double jitter = 0.25;
};

/// The rules of a supervisor for its children. A bad setting throws std::invalid_argument where it
/// is set: `set_supervision`, or the spawn of a `supervisor`, which then fails.
///
///     set_supervision({.strategy = one_for_all, .max_restarts = 3, .delay = {.first = 100ms}});
struct supervision {
  restart_strategy strategy = one_for_one;  ///< the children that are restarted when one fails
  /// more failures than this within `window`: the supervisor gives up and fails itself
  std::uint32_t max_restarts = 5;
  base::duration window = base::duration::seconds(10);  ///< above zero
  backoff delay{};                                      ///< before a restart
  /// one_for_all, rest_for_one: the children that are restarted keep their unread mail
  bool keep_mail = true;
  /// The time that a stopped child may take to end; after that the child is reported as still
  /// alive, and no longer awaited. A child that must be restarted with its group may take as long
  /// to suspend, and its constructor may take as long again; after that the supervisor gives up,
  /// and its reason names the child.
  base::duration stop_within = base::duration::seconds(5);
  std::uint64_t seed = 0;  ///< of the jitter; 0: the supervisor's id
};

/// The options of one child. A bad combination is refused: the child's spawn fails with
/// `spawn_failed`, and the error names the option.
struct child_options {
  /// empty: the type's name; otherwise no other child of the same supervisor may have it
  std::string name{};
  restart_policy restart = restart_policy::permanent;  ///< when it is restarted
  base::duration stop_within{};                        ///< not negative; zero: the supervisor's
  bool detached = false;                               ///< a thread of its own
  /// mailbox, limits, locality; `name` and `detached` above win; not `linked`, not `monitored`
  spawn_options spawn{};
};

/// A child, as its supervisor describes it.
struct child_info {
  std::string name;            ///< as given, or the type's
  std::uint64_t id = 0;        ///< the actor's
  std::uint32_t restarts = 0;  ///< so far
  bool running = true;         ///< false: it waits for its restart, or is being stopped
};

/// The children that had not ended when their time had passed.
struct stop_report {
  std::vector<std::string> still_alive;  ///< each as "name#id"
};

}  // namespace garrick::core
