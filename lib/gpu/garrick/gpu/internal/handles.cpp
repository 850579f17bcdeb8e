// The functions of handles that use the device behind them. They have a source of their own, since
// device_core.hpp includes the headers of these handles.
#include <garrick/gpu/detail/built.hpp>
#include <garrick/gpu/detail/call.hpp>
#include <garrick/gpu/device.hpp>
#include <garrick/gpu/program.hpp>

#include <string>
#include <utility>
#include <vector>

#include "garrick/gpu/internal/device_core.hpp"

namespace garrick::gpu {

const device_info& device::info() const noexcept { return core_->info(); }
std::uint64_t device::memory_budget() const noexcept { return core_->budget(); }
std::uint64_t device::memory_used() const noexcept { return core_->charged(); }
bool device::is_lost() const noexcept { return core_->is_lost(); }

std::vector<device> program::devices() const {
  std::vector<device> all;
  if (built_ != nullptr)
    for (const auto& p : built_->on) all.emplace_back(p->on);
  return all;
}

std::vector<std::string> program::kernels() const {
  std::vector<std::string> names;
  if (built_ != nullptr)
    for (const detail::built_kernel& k : built_->on.front()->kernels) names.push_back(k.name);
  return names;
}

namespace detail {

std::string call::where(const internal::device_core& device) const {
  std::string s;
  if (kernel != nullptr)
    s.append("kernel ").append(kernel->name);
  else
    s.append(what);
  return s.append(" on ").append(device.info().name);
}

void call::abandon() noexcept {
  // order: relaxed: the lock in look_again() orders it
  abandoned_.store(true, std::memory_order_relaxed);
  if (on != nullptr) on->look_again();
}

buffer::buffer(std::shared_ptr<internal::device_core> of, void* memory, std::size_t bytes) noexcept
    : of_(std::move(of)), memory_(memory), bytes_(bytes) {}

void buffer::discard() noexcept {
  const std::shared_ptr<internal::device_core> kept = of_;
  kept->discard(*this);
}

void buffer::dispose() noexcept {
  const std::shared_ptr<internal::device_core> kept = std::move(of_);
  if (address_ != nullptr) kept->unmap(static_cast<cl_mem>(memory_), address_);
  clReleaseMemObject(static_cast<cl_mem>(memory_));
  kept->refund(bytes_);
  delete this;
}

void device_program::dispose() noexcept {
  const std::shared_ptr<internal::device_core> kept = on;
  for (const built_kernel& k : kernels) clReleaseKernel(static_cast<cl_kernel>(k.handle));
  clReleaseProgram(static_cast<cl_program>(program_));
  delete this;
}

void discard_program::operator()(device_program* p) const noexcept {
  const std::shared_ptr<internal::device_core> kept = p->on;
  kept->discard(*p);
}

}  // namespace detail
}  // namespace garrick::gpu
