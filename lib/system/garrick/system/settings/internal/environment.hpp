// The environment as a layer of settings: GARRICK_MAILBOX_SOFT_LIMIT sets `mailbox.soft_limit`.
//
// Thread safety: any thread, while no thread changes the environment.
#pragma once

#include <string>
#include <vector>

#include "garrick/base/settings/setting_table.hpp"
#include "garrick/system/settings/internal/layers.hpp"
#include "garrick/system/settings/settings.hpp"

namespace garrick::system::internal {

/// The settings that variables have set.
struct environment_layer {
  assignments settings;
  std::string file;  ///< the value of GARRICK_CONFIG
};

/// Returns the variables of the process with names that begin with GARRICK_, each as "NAME=value".
[[nodiscard]] std::vector<std::string> environment_of_process();

/// Returns the settings in `entries`, in their order. Error: `errc::invalid_setting` for a name
/// that begins with GARRICK_ and is neither a key of the table, nor meant for tests, nor in
/// `reserved`.
[[nodiscard]] base::result<environment_layer> read_environment(
    const std::vector<std::string>& entries, const base::setting_table& table,
    const std::vector<std::string>& reserved = {});

/// Reserves GARRICK_CONFIG and the variables of these keys for the program:
/// `settings_of_environment` ignores them.
void reserve_variables(const base::setting_table& own);

/// Returns the settings of a system that was made without `load_settings`: those in `entries`,
/// without the names in `reserved`, which is sorted. Throws std::invalid_argument that names the
/// wrong variable.
[[nodiscard]] settings settings_of(const std::vector<std::string>& entries,
                                   const std::vector<std::string>& reserved);

/// Returns the same for the process's environment and the names that `reserve_variables` reserved.
[[nodiscard]] settings settings_of_environment();

}  // namespace garrick::system::internal
