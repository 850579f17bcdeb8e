// The system's own log: through spdlog to standard error, or plain text where spdlog is not linked
// (minimal preset). Quiet unless something is wrong.
//
// Thread safety: any thread.
#pragma once

#include <garrick/system/settings/options.hpp>

#include <string_view>

namespace garrick::system {

/// Writes one line: level, the actor's name and id (0: the system), text.
void write_log(log_level level, std::string_view actor, std::uint64_t id,
               std::string_view text) noexcept;

}  // namespace garrick::system
