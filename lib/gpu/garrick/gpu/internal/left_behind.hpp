// Objects that a driver has not given back when a runtime ends stay where they are: the driver may
// still write to them. So they are kept for as long as the process runs.
//
// Thread safety: any thread; takes a short lock.
#pragma once

#include <memory>

namespace garrick::gpu::internal {

/// Never destroys `what`. Without memory for that the process ends.
void leave_behind(std::shared_ptr<void> what) noexcept;

}  // namespace garrick::gpu::internal
