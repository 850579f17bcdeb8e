// The environment as a layer of settings: GARRICK_MAILBOX_SOFT_LIMIT sets `mailbox.soft_limit`.
//
// Thread safety: any thread, while none changes the environment.
#pragma once

#include <string>
#include <vector>

#include "garrick/base/settings/setting_table.hpp"
#include "garrick/system/settings/internal/layers.hpp"
#include "garrick/system/settings/settings.hpp"

namespace garrick::system::internal {

/// The settings of the variables.
struct environment_layer {
  assignments settings;
  std::string file;  ///< of GARRICK_CONFIG
};

/// Returns the process' environment, "NAME=value" each; only names that begin with GARRICK_.
[[nodiscard]] std::vector<std::string> environment_of_process();

/// Returns the assignments of `entries` to the table, in their order. Error:
/// `errc::invalid_setting` for a name that begins with GARRICK_ and is not a key of the table, nor
/// meant for tests, nor one of `reserved`.
[[nodiscard]] base::result<environment_layer> read_environment(
    const std::vector<std::string>& entries, const base::setting_table& table,
    const std::vector<std::string>& reserved = {});

/// Reserves the variables of these keys for the program, and GARRICK_CONFIG, too:
/// `settings_of_environment` passes over them.
void reserve_variables(const base::setting_table& own);

/// Returns the settings of a system for which none were loaded: those of `entries`, sorted, without
/// the `reserved` names. Throws std::invalid_argument that names the wrong variable.
[[nodiscard]] settings settings_of(const std::vector<std::string>& entries,
                                   const std::vector<std::string>& reserved);

/// The same for the process' environment and the keys given to `reserve_variables`.
[[nodiscard]] settings settings_of_environment();

}  // namespace garrick::system::internal
