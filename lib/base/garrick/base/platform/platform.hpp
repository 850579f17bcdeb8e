// The few things Garrick asks of the operating system, behind one header: waiting on a word, a
// process-wide memory barrier, time, thread names, and how many cores the process may use.
//
// Linux comes first (futex, membarrier, sched_getaffinity, cgroup files). Elsewhere every function
// has a portable fallback with the same contract, and `process_barrier_enabled()` stays false.
//
// Thread safety: every function may be called from any thread at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace garrick::base::platform {

// --- waiting on a word ---------------------------------------------------------------------------

/// Waits while `word == expected`. May return early for no reason: the caller looks again.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// As `futex_wait`, at most `timeout_ns` long. False: the time is over.
bool futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::uint64_t timeout_ns) noexcept;

/// Wakes one thread, or all threads, that wait on `word`. The word's memory may be gone already:
/// then nothing happens.
void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept;
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept;

/// Tells the core that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// --- a barrier on behalf of all threads ----------------------------------------------------------

/// Set once, before any thread relies on it, and never cleared.
inline constinit std::atomic<bool> process_barrier_ready{false};

/// Asks the system for `process_barrier`; true if it can be had. Call it before the threads that
/// rely on it are started.
bool enable_process_barrier() noexcept;

/// Whether `process_barrier` works. While false, both sides must use a full fence.
inline bool process_barrier_enabled() noexcept {
  // order: none needed; a stale false costs one fence, see real_atomics
  return process_barrier_ready.load(std::memory_order_relaxed);
}

/// Every running thread of the process executes a full memory barrier before this returns.
/// Measured: 0.15 to 0.4 µs.
void process_barrier() noexcept;

// --- time ----------------------------------------------------------------------------------------

/// Nanoseconds of a clock that never goes back.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

/// Processor time that the calling thread has used, in nanoseconds.
[[nodiscard]] std::uint64_t thread_cpu_ns() noexcept;

/// Sleeps about `ns`; never shorter unless a signal comes.
void sleep_ns(std::uint64_t ns) noexcept;

/// The calling thread's sleeps end as close to their time as the system can do it (Linux otherwise
/// adds up to 50 µs).
void precise_sleeps() noexcept;

// --- threads and cores ---------------------------------------------------------------------------

/// Names the calling thread for debuggers; cut at the system's limit (15 characters on Linux).
void name_this_thread(std::string_view name) noexcept;

/// Which processor a thread runs on, for other threads to read.
class thread_place {
 public:
  static constexpr std::int32_t unknown = -1;

  /// Of no thread: always unknown.
  thread_place() noexcept = default;
  /// Of the calling thread.
  static thread_place of_this_thread() noexcept;

  /// The processor on which the thread runs or, if it does not run now, on which it ran last;
  /// `unknown` where the system does not say. Costs a load. Requires that the thread has not ended.
  /// Thread safety: any.
  [[nodiscard]] std::int32_t processor() const noexcept;

 private:
  /// written by the kernel (restartable sequences)
  const volatile std::uint32_t* number_ = nullptr;
};

/// Moves the calling thread to a processor that is not among `busy`, and keeps it off those until
/// the next call. False and no change if there is no other.
bool leave_processors(std::span<const std::int32_t> busy) noexcept;

/// The processors on which the calling thread may run, ascending; the process's own, unless this
/// thread was bound. Empty where the system does not say.
[[nodiscard]] std::vector<std::int32_t> usable_processors();

/// From now on the calling thread runs on these processors only. False and no change: the system
/// refuses (none of them is usable), or cannot.
bool bind_this_thread(std::span<const std::int32_t> processors) noexcept;

/// A range of addresses without memory behind it, aligned to pages; null: the system has none. It
/// is never given back.
[[nodiscard]] void* reserve_addresses(std::size_t bytes) noexcept;

/// Makes a part of such a range usable, whole pages, with memory preferably from this node, by the
/// system's number. False: refused, or there is no such node.
bool open_on_node(void* begin, std::size_t bytes, std::uint32_t node) noexcept;

/// The memory node that holds this byte; -1 where the system does not say. The byte must have been
/// touched.
[[nodiscard]] std::int32_t memory_node_of(const void* byte) noexcept;

/// How many cores this process may keep busy: its affinity mask, and the cgroup's processor quota
/// rounded up. At least 1.
[[nodiscard]] std::uint32_t usable_cores() noexcept;

/// As `usable_cores`, with the affinity mask's count given and the cgroup files looked up below
/// `root` instead of `/`. For tests.
[[nodiscard]] std::uint32_t usable_cores_at(std::string_view root, std::uint32_t affinity) noexcept;

}  // namespace garrick::base::platform
