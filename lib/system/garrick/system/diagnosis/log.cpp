#include <garrick/system/diagnosis/log.hpp>

#ifdef GARRICK_MINIMAL
#include <cstdio>
#else
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#endif

namespace garrick::system {

#ifdef GARRICK_MINIMAL

void write_log(log_level level, std::string_view actor, std::uint64_t id,
               std::string_view text) noexcept {
  static constexpr const char* names[] = {"debug", "info", "warning", "error", "off"};
  std::fprintf(stderr, "garrick %s: %.*s#%llu: %.*s\n", names[static_cast<std::size_t>(level)],
               static_cast<int>(actor.size()), actor.data(), static_cast<unsigned long long>(id),
               static_cast<int>(text.size()), text.data());
}

#else

namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto l = std::make_shared<spdlog::logger>("garrick",
                                              std::make_shared<spdlog::sinks::stderr_sink_mt>());
    l->set_level(spdlog::level::debug);  // what is to be said was decided by the system's options
    l->set_pattern("%H:%M:%S.%e garrick %l: %v");
    return l;
  }();
  return *instance;
}

}  // namespace

void write_log(log_level level, std::string_view actor, std::uint64_t id,
               std::string_view text) noexcept {
  static constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info,
                                                         spdlog::level::warn, spdlog::level::err,
                                                         spdlog::level::off};
  const auto l = levels[static_cast<std::size_t>(level)];
  if (id == 0)
    logger().log(l, "{}: {}", actor, text);
  else
    logger().log(l, "{}#{}: {}", actor, id, text);
}

#endif

}  // namespace garrick::system
