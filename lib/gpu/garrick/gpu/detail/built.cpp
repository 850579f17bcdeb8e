#include "garrick/gpu/detail/built.hpp"

#include <utility>

namespace garrick::gpu::detail {

device_program::device_program(std::shared_ptr<internal::device_core> device,
                               void* driver_object) noexcept
    : on(std::move(device)), program_(driver_object) {}

const built_kernel* device_program::find(const std::string& name) const noexcept {
  for (const built_kernel& k : kernels)
    if (k.name == name) return &k;
  return nullptr;
}

}  // namespace garrick::gpu::detail
