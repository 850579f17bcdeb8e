// What a driver has not given back when a runtime ends stays where it is: it may still be written
// to. So it is kept for as long as the process runs.
//
// Thread safety: any thread; takes a short lock.
#pragma once

#include <memory>

namespace garrick::gpu::internal {

/// Never destroys `what`. Without memory for that the process ends.
void leave_behind(std::shared_ptr<void> what) noexcept;

}  // namespace garrick::gpu::internal
