// Builds programs one after the other on a thread of its own, and keeps the results.
//
// Invariants (with G7 of docs/decisions/0012-gpu.md)
// P1 A key contains source, options, driver and device, so equal keys mean equal machine code.
// P2 `kept_` has at most `most_kept` programs. It refers to devices, which refer to the builder, so
//    the thread empties it at its end.
// P3 `asker_` holds the completion of the program that is being built. The thread that takes it
//    out, under the lock, gives the answer. This is the builder's thread, or the thread that ends
//    the runtime, which does not wait for ever.
//
// Thread safety: any thread calls `post`; the runtime's thread calls `start`, `begin_close` and
// `end_close`; the rest belongs to the builder's thread.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/gpu/program.hpp>
#include <garrick/gpu/settings.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "garrick/gpu/internal/opencl.hpp"

namespace garrick::gpu::internal {

class device_core;

/// The most programs that a builder remembers for one runtime.
inline constexpr std::size_t most_kept = 256;

/// A requested program, and the completion for its requester.
struct build_job {
  std::string source;
  build_options options;
  completion<program> done;
};

/// The builder of one runtime.
class builder : public std::enable_shared_from_this<builder> {
 public:
  explicit builder(const gpu_settings& s) : settings_(s) {}

  void start();
  /// Queues the job, which is always answered. Throws std::bad_alloc.
  void post(build_job j);
  void begin_close() noexcept;
  void end_close(std::chrono::steady_clock::time_point until) noexcept;

 private:
  using kept_program = std::shared_ptr<const detail::device_program>;

  void run() noexcept;
  void answer(const build_job& j) noexcept;
  [[nodiscard]] std::optional<completion<program>> take_asker() noexcept;
  [[nodiscard]] result<program> build(const build_job& j);
  [[nodiscard]] result<kept_program> build_on(const device& d, const build_job& j);
  void keep(std::string key, kept_program p);

  const gpu_settings settings_;
  std::deque<std::pair<std::string, kept_program>> kept_;  ///< for the builder's thread

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable ended_;
  // under the lock
  std::deque<build_job> waiting_;
  std::optional<completion<program>> asker_;
  std::string asked_for_;  ///< the name of the program that is being built
  bool closing_ = false;
  bool thread_ended_ = false;
  std::thread thread_;
};

}  // namespace garrick::gpu::internal
