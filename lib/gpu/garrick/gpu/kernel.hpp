// Kernels as actors.
//
//   auto add = gpu::spawn<std::vector<float>(std::vector<float>, std::vector<float>)>(
//       system, program, "add", gpu::nd_range::per_element());
//   std::vector<float> sum = system.request(add, a, b).get().value();
//
// The actor checks the message, has the device run the kernel, and answers with the kernel's
// outputs. Many requests are under way at once; those of one sender are answered in their order.
//
// Thread safety: any thread for an actor system; an actor's own turn for an actor.
#pragma once

#include <garrick/gpu/arguments.hpp>
#include <garrick/gpu/detail/kernel_actor.hpp>
#include <garrick/gpu/error.hpp>
#include <garrick/gpu/kernel_options.hpp>
#include <garrick/gpu/program.hpp>
#include <garrick/gpu/range.hpp>

#include <string>
#include <utility>

namespace garrick::gpu {

/// The handle of a kernel's actor: `kernel_ref<R(Args...)>` is `ref<protocol<result<R>(Args...)>>`
/// where the signature has values, containers and device_refs; in_out<C> is C among the arguments,
/// and comes before the outputs in the answer; local<T> is left out.
template <class Sig>
using kernel_ref =
    ref<typename detail::kernel_protocol<typename detail::kernel_shape<Sig>::messages,
                                         typename detail::kernel_shape<Sig>::answers>::type>;

/// Makes an actor of a kernel, and returns its handle. Sig is the kernel's signature as
/// arguments.hpp says: its parameters in their order, the output as the result. `from` is an actor
/// system or an actor (`*this`).
///
/// Each request is answered, with the output or with an error that names kernel and device:
/// `gpu_errc::wrong_size`, `empty_argument`, `bad_range`, `other_device`, `out_of_memory`,
/// `overload`, `deadline`, `device_lost`, `closed`, `driver`. If the kernel cannot be run at all,
/// each request is answered with the reason: `kernel_not_found`, `wrong_arguments`, `unsupported`,
/// `no_device`; `try_spawn` gives it at once. The actor ends when no handle is left and no request
/// is under way. No worker waits for the device. A request's time begins when the actor handles it.
///
/// Requires that the kernel writes within its outputs, and that structs are laid out alike on both
/// sides: OpenCL does not look, and not every driver compares the size of a value.
template <class Sig, class From>
[[nodiscard]] kernel_ref<Sig> spawn(From& from, program p, std::string kernel, nd_range range,
                                    kernel_options o = {}) {
  return spawn<Sig>(from, std::move(p), std::move(kernel), range, std::move(o), as_is, as_is);
}
/// Makes such an actor with a function before the kernel, and another behind it, and returns its
/// handle. The actor has the protocol of the functions: `pre` takes the message and gives the
/// kernel's arguments, as one value, a std::tuple, a `prepared` with a range of its own, or a
/// result of one of these; `post` takes the kernel's answer and gives the actor's, or a result.
/// `as_is` stands for no function. Both run on the actor's turn; their exceptions become the answer
/// `receiver_failed`. They own everything that they hold, as actors do.
///
///     auto blur = gpu::spawn<std::vector<float>(std::vector<float>, int)>(
///         system, program, "blur", gpu::nd_range(1), {}, pixels_of, picture_of);
template <class Sig, class From, class Pre, class Post>
[[nodiscard]] auto spawn(From& from, program p, std::string kernel, nd_range range,
                         kernel_options o, Pre pre, Post post) {
  const spawn_options as{.name = o.name.empty() ? kernel : o.name};
  return from.template spawn<detail::kernel_actor<Sig, Pre, Post>>(
      as, detail::kernel_seed{std::move(p), std::move(kernel), range, std::move(o)}, std::move(pre),
      std::move(post));
}
/// Like `spawn`, but returns an error if the kernel cannot be run, or if the spawn fails.
template <class Sig, class From>
[[nodiscard]] result<kernel_ref<Sig>> try_spawn(From& from, program p, std::string kernel,
                                                nd_range range, kernel_options o = {}) {
  const detail::kernel_seed s{p, kernel, range, o};
  if (const auto lanes = detail::lanes_of(s, detail::kernel_shape<Sig>::expected); !lanes)
    return lanes.error();
  return spawn<Sig>(from, std::move(p), std::move(kernel), range, std::move(o));
}

}  // namespace garrick::gpu
