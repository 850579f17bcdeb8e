#include "garrick/gpu/detail/transfers.hpp"

#include "garrick/gpu/internal/device_core.hpp"

namespace garrick::gpu::detail {

duration deadline_of(const std::shared_ptr<internal::device_core>& d) noexcept {
  return d == nullptr ? duration::infinite() : d->settings().deadline;
}

void begin_transfer(std::shared_ptr<call> c, const std::shared_ptr<internal::device_core>& to) {
  for (const argument& a : c->arguments)
    if (a.bytes == 0) {
      c->settle(make_error(gpu_errc::empty_argument, c->what));
      return;
    }
  if (to == nullptr) {
    c->settle(make_error(gpu_errc::no_device, c->what, "the device's handle is empty"));
    return;
  }
  for (const argument& a : c->arguments)
    if (a.bytes > to->info().largest_buffer) {
      c->settle(make_error(gpu_errc::out_of_memory, c->where(*to),
                           "no buffer of the device has " + std::to_string(a.bytes) + " bytes"));
      return;
    }
  to->post(std::move(c));
}

}  // namespace garrick::gpu::detail
