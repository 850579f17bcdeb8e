// Keeps objects that a driver has not given back at the end of a runtime until the process ends,
// since the driver may still write to them.
//
// Thread safety: any thread; takes a short lock.
#pragma once

#include <memory>

namespace garrick::gpu::internal {

/// Keeps `what` until the process ends. Ends the process if memory for it is short.
void leave_behind(std::shared_ptr<void> what) noexcept;

}  // namespace garrick::gpu::internal
