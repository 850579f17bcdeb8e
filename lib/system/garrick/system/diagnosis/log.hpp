// The system's own log: through spdlog to standard error, or plain text where spdlog is not linked
// (minimal preset). By default it contains only warnings and errors.
//
// Events reach it through limited_log.hpp, which writes only a few lines for an event that occurs
// very often.
//
// Thread safety: any thread.
#pragma once

#include <garrick/system/diagnosis/limited_log.hpp>
#include <garrick/system/settings/settings.hpp>

#include <cstdint>
#include <string_view>

namespace garrick::system {

/// Writes one line: level, the actor's name and id (0: about no single actor), text. Any thread;
/// blocks as long as standard error does. Control characters in the name and the text are written
/// as `\n` or `\x1b`, so that they can neither begin a new line nor control a terminal. A line that
/// cannot be written, for instance because the disk is full, is lost.
///
///     write_log(log_level::warning, "printer", id, "the paper has run out");
void write_log(log_level level, std::string_view who, std::uint64_t id,
               std::string_view text) noexcept;

/// Returns a sink that calls `write_log`.
[[nodiscard]] log_sink standard_error() noexcept;

}  // namespace garrick::system
