#include "garrick/gpu/device.hpp"

#include <algorithm>
#include <string_view>

namespace garrick::gpu {
namespace {

bool contains(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return !std::ranges::search(text, part, {}, lower, lower).empty() || part.empty();
}

}  // namespace

bool device_filter::takes(const device_info& d) const {
  return (type == device_type::any || type == d.type) && (d.can & needs) == needs &&
         d.memory >= memory &&
         (contains(d.name, name) || contains(d.vendor, name) || contains(d.platform, name));
}

}  // namespace garrick::gpu
