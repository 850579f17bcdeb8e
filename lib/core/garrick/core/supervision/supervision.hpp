// What a supervisor can be told: which children to restart together, how often, how fast, and how
// long to wait when they are stopped.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/spawn_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace garrick::core {

/// Which children are restarted when one fails.
enum class restart_strategy : std::uint8_t {
  one_for_one,   ///< that child
  one_for_all,   ///< all children
  rest_for_one,  ///< that child and those that were started after it
};
inline constexpr restart_strategy one_for_one = restart_strategy::one_for_one;
inline constexpr restart_strategy one_for_all = restart_strategy::one_for_all;
inline constexpr restart_strategy rest_for_one = restart_strategy::rest_for_one;

/// When a supervisor restarts a child.
enum class restart_policy : std::uint8_t {
  permanent,  ///< whenever it ends
  transient,  ///< when it fails or is killed, not when it quits or is asked to end
  temporary,  ///< never
};
inline constexpr restart_policy permanent = restart_policy::permanent;
inline constexpr restart_policy transient = restart_policy::transient;
inline constexpr restart_policy temporary = restart_policy::temporary;

/// How long to wait before a restart: nothing by default; else `first`, times `factor` for each
/// further restart within the window, at most `longest`.
struct backoff {
  base::duration first{};
  base::duration longest = base::duration::seconds(30);
  double factor = 2.0;
  /// the delay is spread evenly over this fraction of it, up and down: 0 to 1
  double jitter = 0.25;
};

struct supervision {
  restart_strategy strategy = one_for_one;
  /// more failures than this within `window`: the supervisor gives up and fails itself
  std::uint32_t max_restarts = 5;
  base::duration window = base::duration::seconds(10);
  backoff delay{};
  /// one_for_all, rest_for_one: do the children that are restarted keep their unread mail?
  bool keep_mail = true;
  /// For each child when it is stopped; then it is named as still alive, and left. The same for a
  /// child that is to be restarted with its group, and for its constructor then; after that the
  /// supervisor gives up, and its reason names it.
  base::duration stop_within = base::duration::seconds(5);
  std::uint64_t seed = 0;  ///< of the jitter; 0: the supervisor's id
};

/// What one child is started with.
struct child_options {
  /// empty: the type's name; else no other child of the same supervisor may have it
  std::string name{};
  restart_policy restart = restart_policy::permanent;
  base::duration stop_within{};  ///< zero: the supervisor's
  bool detached = false;         ///< a thread of its own
  /// mailbox, limits, locality; `name` and `detached` above win; not `linked`, not `monitored`
  spawn_options spawn{};
};

/// A child, as its supervisor describes it.
struct child_info {
  std::string name;
  std::uint64_t id = 0;
  std::uint32_t restarts = 0;
  bool running = true;  ///< false: suspended, waits for its restart or is being stopped
};

/// Who had not ended when its time was over.
struct stop_report {
  std::vector<std::string> still_alive;
};

}  // namespace garrick::core
