// For any file, environment and command line, the load gives settings that a system accepts, or an
// error that names the mistake.
#include <garrick/base/platform/assert.hpp>
#include <garrick/system/settings/load.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// The input is the file up to the first zero byte, then arguments and "NAME=value" lines of the
// environment, each ended by a line feed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("config", 0);
  GARRICK_ASSERT(file >= 0, "no file in memory");
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view content = input.substr(0, input.find('\0'));
  GARRICK_ASSERT(ftruncate(file, 0) == 0 && pwrite(file, content.data(), content.size(), 0) ==
                                                static_cast<ssize_t>(content.size()),
                 "the file could not be written");

  garrick::system::setting_layers from;
  if (!content.empty()) from.file = "/proc/self/fd/" + std::to_string(file);
  for (std::string_view rest = input.substr(std::min(content.size() + 1, input.size()));
       !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    // The input must not name another file, which would make the outcome depend on the machine.
    if (line.find("config") != std::string_view::npos ||
        line.find("CONFIG") != std::string_view::npos)
      continue;
    (line.substr(0, 8) == "GARRICK_" ? from.environment : from.arguments).emplace_back(line);
  }
  bool mine = false;
  double share = 0;
  garrick::base::setting_table own;
  own.add({"fuzz.mine", &mine, {}, "", "A switch"});
  own.add({"fuzz.share", &share, {0.0, 1.0}, "", "A number"});
  from.own = &own;

  const auto found = garrick::system::load_settings(from);
  if (!found) {
    GARRICK_ASSERT(
        found.error() == garrick::base::errc::invalid_setting && !found.error().to_string().empty(),
        "the error says nothing");
    return 0;
  }
  GARRICK_ASSERT(garrick::system::why_refused(found->system).empty() && share >= 0 && share <= 1,
                 "a setting out of its range");
  return 0;
}
