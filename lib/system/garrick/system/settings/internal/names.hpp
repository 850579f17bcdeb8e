// The names of a setting: its key, the section that the key is in, and its variable.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "garrick/base/settings/setting_table.hpp"

namespace garrick::system::internal {

/// Returns the section of a key: "mailbox" of "mailbox.soft_limit".
[[nodiscard]] std::string section_of(std::string_view key);

/// Returns the variable of a key: "GARRICK_MAILBOX_SOFT_LIMIT" of "mailbox.soft_limit".
[[nodiscard]] std::string variable_of(std::string_view key);

/// Returns the section that a variable's name begins with: "net" of "GARRICK_NET_PORT".
[[nodiscard]] std::string section_of_variable(std::string_view name);

/// Returns the keys of all rows, in their order.
[[nodiscard]] std::vector<std::string> keys_of(const base::setting_table& table);

}  // namespace garrick::system::internal
