// The counts and injections of the tests' OpenCL layer. The layer is a library that the loader of
// drivers puts between a program and its driver (OPENCL_LAYERS); a test finds this structure in it.
//
// Thread safety: atomics; a test changes the orders while nothing is under way.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpu_layer {

struct control {
  // counted
  std::atomic<std::uint64_t> calls{0};     ///< all that are watched
  std::atomic<std::uint64_t> writes{0};    ///< host to device
  std::atomic<std::uint64_t> reads{0};     ///< device to host
  std::atomic<std::uint64_t> copies{0};    ///< on the device
  std::atomic<std::uint64_t> maps{0};      ///< pinned memory
  std::atomic<std::uint64_t> kernels{0};   ///< enqueued
  std::atomic<std::uint64_t> flushes{0};   ///< of queues
  std::atomic<std::uint64_t> sources{0};   ///< programs from source
  std::atomic<std::uint64_t> binaries{0};  ///< programs from a binary
  std::atomic<std::uint64_t> blocking{0};  ///< calls that wait: clFinish, blocking transfers, …
  /// Watched calls by the program's callbacks, which may call nothing.
  std::atomic<std::uint64_t> by_callbacks{0};
  std::atomic<std::int64_t> buffers{0};  ///< that live now
  /// Called for each watched call, on its thread, with its name. Null: no observer.
  std::atomic<void (*)(const char* called)> observer{nullptr};

  // injected; 0: nothing
  std::atomic<int> buffer_code{0};            ///< the error of the creation of a buffer
  std::atomic<int> kernel_code{0};            ///< the error of the enqueueing of a kernel
  std::atomic<int> write_code{0};             ///< the error of the enqueueing of a write
  std::atomic<int> read_code{0};              ///< the error of the enqueueing of a read
  std::atomic<int> argument_code{0};          ///< the error of the setting of an argument
  std::atomic<int> kernel_status{0};          ///< the status that callbacks of kernels report
  std::atomic<int> build_code{0};             ///< the error of a build
  std::atomic<bool> lost{false};              ///< devices are not available, for any question
  std::atomic<bool> no_doubles{false};        ///< devices say that they have none
  std::atomic<bool> no_devices{false};        ///< drivers have none
  std::atomic<bool> no_argument_info{false};  ///< drivers do not tell a kernel's parameters
  std::atomic<bool> in_order{false};          ///< devices have no out-of-order queues
  std::atomic<bool> hold_callbacks{false};    ///< all are kept back, and events seem to run
  std::atomic<bool> hold_reads{false};        ///< callbacks of reads are kept back
  std::atomic<bool> hold_kernels{false};      ///< a thread that enqueues a kernel waits until this
                                              ///< is false
  std::atomic<bool> hold_builds{false};       ///< a thread that builds a program waits until this
                                              ///< is false
  std::atomic<int> held_threads{0};           ///< that wait for one of these two
  std::atomic<int> held_callbacks{0};         ///< that are kept back
  /// Calls the callbacks that are kept back, on the calling thread.
  void (*release_callbacks)() = nullptr;
  /// Ends both holds, and wakes the threads that wait for it here: only these can be woken from
  /// here.
  void (*release_threads)() = nullptr;
};

}  // namespace gpu_layer

/// The structure in the layer, found by dlsym.
extern "C" gpu_layer::control* garrick_layer_control();
