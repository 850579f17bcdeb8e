// Writes lines to standard error: by spdlog or, in the minimal build, by the C library.
#include <garrick/system/diagnosis/log.hpp>

#ifdef GARRICK_MINIMAL
#include <array>
#include <cstdio>
#include <new>
#else
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <exception>
#endif

#include <cstddef>
#include <string>

namespace garrick::system {

namespace {

/// Returns true if a control character begins at `i`: of ASCII, or of C1 in UTF-8.
bool is_control_at(std::string_view text, std::size_t i) noexcept {
  const auto c = static_cast<unsigned char>(text[i]);
  if (c != 0xc2) return c < 0x20 || c == 0x7f;
  return i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
}

/// Returns a text as one line, with control characters escaped. Names and texts may come from
/// outside the program: a line break in them must not begin a new line of the log, and an escape
/// sequence must not reach the terminal.
std::string as_one_line(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  const auto put_byte = [&line](unsigned char c) {
    line += "\\x";
    line += digits[c >> 4];
    line += digits[c & 15];
  };
  for (std::size_t i = 0; i != text.size(); ++i) {
    const char c = text[i];
    if (!is_control_at(text, i)) {
      line += c;
    } else if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else {
      put_byte(static_cast<unsigned char>(c));
      if (static_cast<unsigned char>(c) == 0xc2) put_byte(static_cast<unsigned char>(text[++i]));
    }
  }
  return line;
}

}  // namespace

#ifdef GARRICK_MINIMAL

void write_log(log_level level, std::string_view who, std::uint64_t id,
               std::string_view text) noexcept try {
  static constexpr const char* names[] = {"debug", "info", "warning", "error", "off"};
  const std::string name = as_one_line(who);
  const std::string line = as_one_line(text);
  std::array<char, 24> number{};
  if (id != 0)
    std::snprintf(number.data(), number.size(), "#%llu", static_cast<unsigned long long>(id));
  std::fprintf(stderr, "garrick %s: %.*s%s: %.*s\n", names[static_cast<std::size_t>(level)],
               static_cast<int>(name.size()), name.data(), number.data(),
               static_cast<int>(line.size()), line.data());
} catch (const std::bad_alloc&) {  // the line is lost
}

#else

namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("garrick",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(
        spdlog::level::debug);  // limited_log has already checked the level that the system has set
    made->set_pattern("%H:%M:%S.%e garrick %l: %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void write_log(log_level level, std::string_view who, std::uint64_t id,
               std::string_view text) noexcept {
  static constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info,
                                                         spdlog::level::warn, spdlog::level::err,
                                                         spdlog::level::off};
  const auto as_theirs = levels[static_cast<std::size_t>(level)];
  try {
    if (id == 0)
      logger().log(as_theirs, "{}: {}", as_one_line(who), as_one_line(text));
    else
      logger().log(as_theirs, "{}#{}: {}", as_one_line(who), id, as_one_line(text));
  } catch (const std::exception&) {  // no memory for the logger: the line is lost
  }
}

#endif

log_sink standard_error() noexcept {
  return {[](void*, log_level level, std::string_view who, std::uint64_t id,
             std::string_view text) noexcept { write_log(level, who, id, text); }};
}

}  // namespace garrick::system
