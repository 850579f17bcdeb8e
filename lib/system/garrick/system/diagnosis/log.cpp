// The two ways to standard error.
#include <garrick/system/diagnosis/log.hpp>

#ifdef GARRICK_MINIMAL
#include <array>
#include <cstdio>
#else
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <exception>
#endif

namespace garrick::system {

#ifdef GARRICK_MINIMAL

void write_log(log_level level, std::string_view who, std::uint64_t id,
               std::string_view text) noexcept {
  static constexpr const char* names[] = {"debug", "info", "warning", "error", "off"};
  std::array<char, 24> number{};
  if (id != 0)
    std::snprintf(number.data(), number.size(), "#%llu", static_cast<unsigned long long>(id));
  std::fprintf(stderr, "garrick %s: %.*s%s: %.*s\n", names[static_cast<std::size_t>(level)],
               static_cast<int>(who.size()), who.data(), number.data(),
               static_cast<int>(text.size()), text.data());
}

#else

namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("garrick",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(
        spdlog::level::debug);  // what is to be said was decided by the system's options
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
      logger().log(as_theirs, "{}: {}", who, text);
    else
      logger().log(as_theirs, "{}#{}: {}", who, id, text);
  } catch (const std::exception&) {  // no memory for the logger: the line is lost
  }
}

#endif

log_sink standard_error() noexcept {
  return {[](void*, log_level level, std::string_view who, std::uint64_t id,
             std::string_view text) noexcept { write_log(level, who, id, text); }};
}

}  // namespace garrick::system
