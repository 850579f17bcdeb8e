// The policies that can be chosen by name, and the function that makes a pool with one of them.
//
// The list itself is in policy_list.hpp; to register another policy, add it there.
//
//   auto pool = garrick::sched::make_scheduler({.policy = "work_sharing", .workers = 2});
//   pool->start();
//
// Thread safety: any thread.
#pragma once

#include <garrick/sched/scheduler.hpp>
#include <garrick/sched/scheduler_settings.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace garrick::sched {

/// A policy that this version of the framework knows, also if this build does not contain it.
struct shipped_policy {
  std::string_view name;     ///< the value of `scheduler_settings::policy` that chooses it
  std::string_view summary;  ///< one line, for help texts
  bool available = false;    ///< true if this build contains it
  /// Builds the pool; no thread runs yet. Requires settings that were `checked`. Null if the policy
  /// is not available.
  std::unique_ptr<scheduler> (*make)(scheduler_settings settings) = nullptr;
};

/// Returns all shipped policies, the default first. The table lives as long as the program.
[[nodiscard]] std::span<const shipped_policy> shipped_policies() noexcept;

/// Returns the names of the policies that this build contains, the default first.
[[nodiscard]] std::vector<std::string> available_policies();

/// Adds the row of `scheduler.policy`, which fills `policy` with the name of a policy that this
/// build contains.
void add_policy_setting(base::setting_table& table, std::string& policy);

/// Returns a pool with the policy `settings.policy`; no thread runs yet. Takes microseconds, or
/// milliseconds if the machine has to be read (locality_guided, or threads that are pinned).
///
/// Throws std::invalid_argument that names the key of a wrong setting and its requirement.
[[nodiscard]] std::unique_ptr<scheduler> make_scheduler(const scheduler_settings& settings = {});

}  // namespace garrick::sched
