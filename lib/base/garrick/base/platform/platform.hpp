// The few services that Garrick asks of the operating system, behind one header: waiting on a word,
// a process-wide memory barrier, time, thread names, and the number of cores that the process may
// use.
//
// Linux has the full services (futex, membarrier, sched_getaffinity, cgroup files). Elsewhere every
// function has a portable fallback with the same contract, and `process_barrier_enabled()` stays
// false.
//
// Thread safety: every function may be called from any thread at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace garrick::base::platform {

// --- waiting on a word ---------------------------------------------------------------------------

/// Blocks while `word == expected`, until a wake-up of `word`. May return early for no reason, so
/// the caller must check again.
[[gnu::hot]] void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// Like `futex_wait`, but for at most `timeout_ns` nanoseconds. Returns false if the time has
/// passed.
bool futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::uint64_t timeout_ns) noexcept;

/// Wakes one thread that waits on `word`. The word's memory may be gone already: then nothing
/// happens, or some other waiter returns early.
[[gnu::hot]] void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept;
/// Like `futex_wake_one`, for all threads that wait on `word`.
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept;

/// Tells the processor that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// --- a barrier on behalf of all threads ----------------------------------------------------------

/// True if `process_barrier` is more than a fence. The first `enable_process_barrier` decides it
/// for the life of the process; only that function writes it.
inline constinit std::atomic<bool> process_barrier_ready{false};

/// Asks the system for `process_barrier`; returns true if it is available. The first call decides:
/// later ones return the same, since threads that were started in between rely on it. So call it
/// before starting such threads. In a process with several threads, the first call takes the kernel
/// up to ten milliseconds.
bool enable_process_barrier() noexcept;

/// Returns true if `process_barrier` works. If it does not, both sides (the thread that calls it,
/// and the threads that rely on it) must use a full fence. Both sides must see the same answer, so
/// a call of `enable_process_barrier` must happen before this one: before the start of the calling
/// thread, or before this thread learned of the other side.
inline bool process_barrier_enabled() noexcept {
  // order: none needed; the call that decided it happened before (see above)
  return process_barrier_ready.load(std::memory_order_relaxed);
}

/// Makes every running thread of the process execute a full memory barrier, and returns when all of
/// them have executed it. Takes 0.15 to 0.4 µs, as measured. Without `process_barrier_enabled()` it
/// is a full fence of the calling thread only.
///
/// If the system has no memory for this, the barrier is executed for all processes, which takes
/// milliseconds. If the system refuses that, too (a seccomp filter that was installed after the
/// start), ends the process with a message: threads that rely on the barrier have no fence of their
/// own, and would run an actor twice or never.
void process_barrier() noexcept;

// --- time ----------------------------------------------------------------------------------------

/// Returns the nanoseconds of a clock that never goes back.
[[nodiscard, gnu::hot]] std::uint64_t monotonic_ns() noexcept;

/// Returns the processor time that the calling thread has used, in nanoseconds; 0 where the system
/// does not say.
[[nodiscard]] std::uint64_t thread_cpu_ns() noexcept;

/// Blocks the calling thread for `ns` nanoseconds or a little more; for less only if a signal
/// interrupts it.
void sleep_ns(std::uint64_t ns) noexcept;

/// Makes the calling thread's later sleeps end as close to their time as the system can manage.
/// Otherwise Linux adds up to 50 µs.
void precise_sleeps() noexcept;

/// Asks the system to let this thread run soon after it is woken, for short times: it requests a
/// time slice of a tenth of a millisecond, which does not reduce the thread's share of the
/// processor. If other threads want its processor, this thread then waits for less than one of
/// their slices. Works on Linux 6.12 and later; elsewhere, and for a thread with a real-time
/// policy, nothing happens.
void short_time_slices() noexcept;

// --- threads and cores ---------------------------------------------------------------------------

/// Names the calling thread for debuggers. The name is cut at the system's limit, 15 characters on
/// Linux.
void name_this_thread(std::string_view name) noexcept;

/// Returns the calling thread's number in the operating system; 0 where the system does not say.
/// May be called in a signal's handler.
[[nodiscard]] std::uint64_t this_thread_id() noexcept;

/// Returns the size of the stack that a new thread gets by default, in bytes.
[[nodiscard]] std::size_t default_stack_bytes() noexcept;

/// The system's account of a thread, from its beginning until now.
struct processor_times {
  std::uint64_t ran_ns = 0;     ///< the time for which it had a processor
  std::uint64_t waited_ns = 0;  ///< the time for which it could run, until it got a processor
};

/// The processor on which a thread runs, for other threads to read.
class thread_place {
 public:
  /// The result of `processor` when the system does not say.
  static constexpr std::int32_t unknown = -1;

  /// Makes the place of no thread: always unknown.
  thread_place() noexcept = default;
  /// Returns the place of the calling thread.
  static thread_place of_this_thread() noexcept;

  /// Returns the processor on which the thread runs or, if it does not run now, on which it ran
  /// last; `unknown` where the system does not say. Any thread; costs a load. Requires that the
  /// thread has not ended.
  [[nodiscard]] std::int32_t processor() const noexcept;

  /// Returns the system's account of the thread; nothing if the system keeps none, or while no file
  /// can be opened. Any thread; costs three system calls, some 2 µs.
  [[nodiscard]] std::optional<processor_times> times() const noexcept;

 private:
  std::uint64_t id_ = 0;  ///< 0: unknown
  /// written by the kernel (restartable sequences)
  const volatile std::uint32_t* number_ = nullptr;
};

/// Moves the calling thread to a processor that is not among `busy`, and keeps it off those until
/// the next call. Returns false and changes nothing if there is no other processor or the thread
/// cannot be moved.
bool leave_processors(std::span<const std::int32_t> busy) noexcept;

/// Returns the processors on which the calling thread may run, in ascending order: those of the
/// process, unless this thread was bound. Empty where the system does not say. Throws
/// std::bad_alloc.
[[nodiscard]] std::vector<std::int32_t> usable_processors();

/// Binds the calling thread to these processors. Returns false and changes nothing if none of them
/// is usable or the system cannot bind threads.
bool bind_this_thread(std::span<const std::int32_t> processors) noexcept;

/// Fills `to` with bytes that cannot be guessed outside of this machine. Blocks only if the system
/// has just been started. Throws std::exception if the system has no such bytes.
void draw_unguessable(std::span<std::byte> to);

/// Reserves a range of addresses without memory behind it, aligned to pages. Returns null if the
/// system has none. The range is never given back.
[[nodiscard]] void* reserve_addresses(std::size_t bytes) noexcept;

/// Makes whole pages of a reserved range usable, with memory preferably from this node (the number
/// is the system's). Returns false if the system refuses or has no such node.
bool open_on_node(void* begin, std::size_t bytes, std::uint32_t node) noexcept;

/// Returns the memory node that holds this byte; -1 where the system does not say. The byte must
/// have been touched.
[[nodiscard]] std::int32_t memory_node_of(const void* byte) noexcept;

/// Returns the number of cores that this process may keep busy, at least 1: the smaller of its
/// affinity mask and of the cgroup's processor quota, rounded up. Reads files; call it once.
[[nodiscard]] std::uint32_t usable_cores() noexcept;

/// For tests: returns the same as `usable_cores`, but the affinity mask has `affinity` processors
/// and the cgroup's files are looked up below `root` instead of `/`.
[[nodiscard]] std::uint32_t usable_cores_at(std::string_view root, std::uint32_t affinity) noexcept;

}  // namespace garrick::base::platform
