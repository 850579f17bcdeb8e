// Kernels as actors.
//
//   auto add = gpu::spawn<std::vector<float>(std::vector<float>, std::vector<float>)>(
//       system, program, "add", gpu::nd_range::per_element());
//   std::vector<float> sum = system.request(add, a, b).get().value();
//
// The actor checks the message, lets the device run the kernel, and answers with the kernel's
// outputs. Many requests may be under way at once; the requests of one sender are answered in their
// order.
//
// Thread safety: with an actor system, any thread; with an actor, that actor's turn.
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
/// if the signature has only values, containers and device_refs. An in_out<C> becomes C among the
/// arguments, and precedes the outputs in the answer; local<T> is left out.
template <class Sig>
using kernel_ref =
    ref<typename detail::kernel_protocol<typename detail::kernel_shape<Sig>::messages,
                                         typename detail::kernel_shape<Sig>::answers>::type>;

/// Spawns an actor for a kernel, and returns its handle. Sig is the kernel's signature in the types
/// of arguments.hpp: the parameters in their order, and the output as the result. `from` is an
/// actor system or an actor (`*this`).
///
/// The actor answers each request with the output, or with an error that names kernel and device:
/// `gpu_errc::wrong_size`, `empty_argument`, `bad_range`, `other_device`, `out_of_memory`,
/// `overload`, `deadline`, `device_lost`, `closed`, `driver`. If the kernel cannot run at all, the
/// actor answers each request with the reason: `kernel_not_found`, `wrong_arguments`,
/// `unsupported`, `no_device`; `try_spawn` returns this error at once. The actor ends when no
/// handle is left and no request is under way. No worker waits for the device. The deadline of a
/// request counts from the time when the actor handles it.
///
/// Requires that the kernel writes only within its outputs, and that structs have the same layout
/// on both sides: OpenCL checks neither, and not every driver compares the size of a value.
template <class Sig, class From>
[[nodiscard]] kernel_ref<Sig> spawn(From& from, program p, std::string kernel, nd_range range,
                                    kernel_options o = {}) {
  return spawn<Sig>(from, std::move(p), std::move(kernel), range, std::move(o), as_is, as_is);
}
/// Spawns such an actor with a function before the kernel and a function after it, and returns its
/// handle. The functions determine the actor's protocol. `pre` takes the message and returns the
/// kernel's arguments: one value, a std::tuple, a `prepared` with a range for this request, or a
/// result of one of these. `post` takes the kernel's answer and returns the actor's, or a result.
/// `as_is` stands for no function. Both functions run on the actor's turn; an exception becomes the
/// answer `receiver_failed`. They must own everything that they hold, as actors do.
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
/// Spawns like `spawn`, but returns an error if the kernel cannot run.
template <class Sig, class From>
[[nodiscard]] result<kernel_ref<Sig>> try_spawn(From& from, program p, std::string kernel,
                                                nd_range range, kernel_options o = {}) {
  const detail::kernel_seed s{p, kernel, range, o};
  if (const auto lanes = detail::lanes_of(s, detail::kernel_shape<Sig>::expected); !lanes)
    return lanes.error();
  return spawn<Sig>(from, std::move(p), std::move(kernel), range, std::move(o));
}

}  // namespace garrick::gpu
