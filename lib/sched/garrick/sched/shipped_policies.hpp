// The policies that can be chosen by name, and the pool of the one that was chosen.
//
// The list itself stands in policy_list.hpp; to register another policy, add it there.
//
//   auto pool = garrick::sched::make_scheduler({.policy = "work_sharing", .workers = 2});
//   pool->start();
//
// Thread safety: any thread.
#pragma once

#include <garrick/sched/scheduler.hpp>
#include <garrick/sched/scheduler_options.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace garrick::sched {

/// A policy that this version of the framework knows, whether or not this build contains it.
struct shipped_policy {
  std::string_view name;     ///< as `scheduler_options::policy` has it
  std::string_view summary;  ///< one line, for help texts
  /// Builds the pool; no thread runs yet. Requires options that were `checked`. Null: this build
  /// does not contain the policy.
  std::unique_ptr<scheduler> (*make)(scheduler_options options) = nullptr;

  /// Whether this build contains the policy.
  [[nodiscard]] bool is_available() const noexcept { return make != nullptr; }
};

/// All shipped policies, the default first. The table lives as long as the program.
[[nodiscard]] std::span<const shipped_policy> shipped_policies() noexcept;

/// The names of the policies that this build contains, the default first.
[[nodiscard]] std::vector<std::string> available_policies();

/// Why `make_scheduler` refuses this name, with the names that it accepts, as the end of a sentence
/// that begins with the value. Empty: it accepts it.
[[nodiscard]] std::string why_not_available(std::string_view policy);

/// Builds the pool of `options.policy`; no thread runs yet. Takes microseconds, and milliseconds
/// where the machine has to be read (locality_guided, or threads that are pinned).
///
/// Throws std::invalid_argument that names the setting if one is wrong.
[[nodiscard]] std::unique_ptr<scheduler> make_scheduler(const scheduler_options& options = {});

}  // namespace garrick::sched
