// Any text is an affinity with usable processors in every group, or an error that tells the
// mistake.
#include <garrick/base/platform/assert.hpp>
#include <garrick/sched/places/affinity.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array<std::int32_t, 6> usable{0, 1, 2, 3, 8, 9};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto found = garrick::sched::affinity::parse(text, usable);
  if (!found) {
    GARRICK_ASSERT(
        found.error() == garrick::base::errc::invalid_setting && !found.error().to_string().empty(),
        "the error says nothing");
    return 0;
  }
  for (std::size_t thread = 0; thread < found->size(); ++thread) {
    const auto& group = found->of(thread);
    GARRICK_ASSERT(!group.empty(), "a group without processors");
    for (const std::int32_t p : group)
      GARRICK_ASSERT(std::find(usable.begin(), usable.end(), p) != usable.end(),
                     "a processor that may not be used");
  }
  return 0;
}
