#include "garrick/gpu/internal/left_behind.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace garrick::gpu::internal {

void leave_behind(std::shared_ptr<void> what) noexcept {
  // Never destroyed: the driver's threads may outlive all static destructors.
  static auto* const all = new std::pair<std::mutex, std::vector<std::shared_ptr<void>>>();
  const std::lock_guard lock(all->first);
  all->second.push_back(std::move(what));
}

}  // namespace garrick::gpu::internal
