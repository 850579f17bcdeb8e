#include "garrick/gpu/split.hpp"

namespace garrick::gpu::detail {

void split_ratio::note(double& speed, std::size_t elements, duration d) noexcept {
  const double now =
      static_cast<double>(elements) / static_cast<double>(std::max<std::int64_t>(d.count(), 1));
  speed = speed == 0 ? now : speed * 0.75 + now * 0.25;
}

double split_ratio::share() const noexcept {
  if (host_ == 0 || device_ == 0) return 0.5;
  return device_ / (device_ + host_);
}

std::size_t split_ratio::for_device(std::size_t n) const noexcept {
  if (n < 2) return 0;
  const auto part = static_cast<std::size_t>(static_cast<double>(n) * share());
  // Each side gets some elements, since a side without work would not be measured any more.
  const std::size_t least = std::max<std::size_t>(n / 64, 1);
  return std::clamp(part, least, n - least);
}

}  // namespace garrick::gpu::detail
