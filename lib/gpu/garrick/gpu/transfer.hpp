// Transfers to a device and back, without a kernel.
//
//   device_ref<float> a = gpu::upload(system, gpu, std::move(numbers)).get().value();
//   result<std::vector<float>> back = co_await gpu::download(*this, a);
//
// If `from` is an actor (`*this`), these functions return a pending_response. If it is an actor
// system, they return a response whose `get()` waits on an ordinary thread. After the time of the
// setting `gpu.deadline`, or of `within`, the answer is `errc::timeout`. Other errors:
// `gpu_errc::empty_argument`, `no_device`, `out_of_memory`, `overload`, `device_lost`, `closed`,
// `driver`.
//
// Thread safety: like `adapt` with an actor, and like `actor_system::request` with a system.
#pragma once

#include <garrick/gpu/detail/transfers.hpp>
#include <garrick/gpu/device_ref.hpp>
#include <garrick/gpu/figures.hpp>
#include <garrick/gpu/pinned.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace garrick::gpu {

/// Writes the elements of a container to a device. Returns the response, which gives their
/// device_ref.
template <class From, class C>
[[nodiscard]] auto upload(From& from, const device& to, C container) {
  using T = typename C::value_type;
  return detail::transfer<device_ref<T>>(
      from, std::make_shared<detail::upload_call<T, C>>(to, std::move(container)));
}
/// Reads the data behind a ref. Returns the response, which gives a vector of the elements.
template <class From, class T>
[[nodiscard]] auto download(From& from, device_ref<T> what) {
  return detail::transfer<std::vector<T>>(
      from, std::make_shared<detail::download_call<T>>(std::move(what)));
}
/// Allocates pinned memory with undefined contents. Returns the response, which gives the memory.
template <class T, class From>
[[nodiscard]] auto allocate_pinned(From& from, const device& on, std::size_t elements) {
  return detail::transfer<pinned<T>>(from, std::make_shared<detail::pin_call<T>>(on, elements));
}
/// Asks a device for its work so far. Returns the response; its figures count all calls that were
/// answered before this request.
template <class From>
[[nodiscard]] auto figures_of(From& from, const device& of) {
  return detail::transfer<device_figures>(from, std::make_shared<detail::figures_call>(of));
}

}  // namespace garrick::gpu
