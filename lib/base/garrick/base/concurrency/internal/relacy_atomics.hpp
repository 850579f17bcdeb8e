// The atomics policy of the model checker (Relacy): the shipped headers run on it unchanged, every
// interleaving and every stale value that C++ allows may happen, and one memory order, or one
// fence, can be weakened to show that it is needed.
//
// Include it last: Relacy defines macros for `new`, `delete` and the memory orders; they are
// removed again below.
//
// Thread safety: the model checker runs one fiber at a time.
#pragma once

#include <garrick/base/concurrency/parker.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

// Relacy replaces the global allocation functions, but inline: make sure that the whole program
// gets them, and not a part of it.
[[gnu::used, gnu::noinline]] void* operator new(std::size_t size);
[[gnu::used, gnu::noinline]] void* operator new[](std::size_t size);
[[gnu::used, gnu::noinline]] void operator delete(void* p) noexcept;
[[gnu::used, gnu::noinline]] void operator delete[](void* p) noexcept;

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#endif
#include <relacy/relacy.hpp>
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
// order: none; from here on these names mean what std means by them
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
// order: none, as above
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

[[gnu::used]] inline void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
[[gnu::used]] inline void operator delete[](void* p, std::size_t) noexcept { operator delete[](p); }

namespace garrick::base::model {

// Models name the orders briefly.
using enum std::memory_order;

/// A place whose memory order can be weakened: an enumerator of a header's list.
class place {
 public:
  place() = default;
  template <class List>
    requires std::is_enum_v<List>
  place(List which) noexcept  // as the enumerator itself
      : list_(&list_mark<List>), which_(static_cast<int>(which)) {}
  bool operator==(const place&) const = default;

 private:
  template <class List>
  static constexpr char list_mark = 0;  // its address stands for the list

  const char* list_ = nullptr;
  int which_ = 0;
};

/// What is weakened in the present run.
struct weakening {
  enum class kind : std::uint8_t { nothing, order, light_fence, heavy_fence };
  kind what = kind::nothing;
  place at{};                 ///< the order there,
  std::memory_order to = {};  ///< which becomes this
};
inline constexpr weakening::kind no_light_fence = weakening::kind::light_fence;
inline constexpr weakening::kind no_heavy_fence = weakening::kind::heavy_fence;

inline weakening weakened;

/// How the two-sided fence is modelled: both sides a full fence, or nothing on the one side and a
/// system-wide fence on the other.
enum class fences : std::uint8_t { symmetric, asymmetric };
inline fences fence_kind = fences::symmetric;

inline rl::debug_info here() { return rl::debug_info("", "", 0); }

struct relacy_atomics {
  template <class T>
  class atomic {
   public:
    atomic() : value_(T{}) {}
    atomic(T value) : value_(value) {}  // as std::atomic
    T load(std::memory_order order) const { return value_.load(for_load(order), here()); }
    void store(T value, std::memory_order order) { value_.store(value, for_store(order), here()); }
    T exchange(T value, std::memory_order order) {
      return value_.exchange(value, for_both(order), here());
    }
    T fetch_add(T value, std::memory_order order) {
      return value_.fetch_add(value, for_both(order), here());
    }
    T fetch_sub(T value, std::memory_order order) {
      return value_.fetch_sub(value, for_both(order), here());
    }
    T fetch_or(T value, std::memory_order order) {
      return value_.fetch_or(value, for_both(order), here());
    }
    T fetch_and(T value, std::memory_order order) {
      return value_.fetch_and(value, for_both(order), here());
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order success, std::memory_order) {
      return value_.compare_exchange_weak(expected, value, for_both(success), here(),
                                          rl::mo_relaxed, here());
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                 std::memory_order) {
      return value_.compare_exchange_strong(expected, value, for_both(success), here(),
                                            rl::mo_relaxed, here());
    }

   private:
    friend relacy_atomics;

    static rl::memory_order for_both(std::memory_order order) {
      switch (order) {  // order: a translation, name by name
        case std::memory_order_relaxed: return rl::mo_relaxed;
        case std::memory_order_acquire: return rl::mo_acquire;
        case std::memory_order_release: return rl::mo_release;
        case std::memory_order_acq_rel: return rl::mo_acq_rel;  // order: as above
        default: return rl::mo_seq_cst;
      }
    }
    /// A weakened order may be one that a load does not know: then the nearest weaker one.
    static rl::memory_order for_load(std::memory_order order) {
      const rl::memory_order both = for_both(order);
      return both == rl::mo_acq_rel   ? rl::mo_acquire
             : both == rl::mo_release ? rl::mo_relaxed
                                      : both;
    }
    static rl::memory_order for_store(std::memory_order order) {
      const rl::memory_order both = for_both(order);
      return both == rl::mo_acq_rel   ? rl::mo_release
             : both == rl::mo_acquire ? rl::mo_relaxed
                                      : both;
    }

    rl::atomic<T> value_;
  };

  /// Plain memory; an unordered access is reported.
  template <class T>
  class cell {
   public:
    cell() : value_(T{}) {}
    explicit cell(T value) : value_(value) {}
    [[nodiscard]] T get() const { return value_(here()); }
    void set(T value) { value_(here()) = value; }

   private:
    rl::var<T> value_;
  };

  template <auto Place>
  static std::memory_order order(std::memory_order as_written) {
    return weakened.what == weakening::kind::order && weakened.at == place(Place) ? weakened.to
                                                                                  : as_written;
  }

  static void full_fence() { rl::atomic_thread_fence(rl::mo_seq_cst, here()); }
  /// Weakened, as any order: there is no fence.
  template <auto Place>
  static void fence_at() {
    if (order<Place>(seq_cst) == seq_cst) full_fence();
  }
  static void light_fence() {
    if (weakened.what != no_light_fence && fence_kind == fences::symmetric) full_fence();
  }
  static void heavy_fence() {
    if (weakened.what == no_heavy_fence) return;
    if (fence_kind == fences::symmetric) {
      full_fence();
    } else {
      rl::systemwide_fence(here());
    }
  }

  /// As the kernel does it: compare and fall asleep in one step, with early returns for no reason.
  static void wait(atomic<std::uint32_t>& word, std::uint32_t expected) {
    rl::context& c = rl::ctx();
    c.sched();
    if (word.value_.debug_value() == expected) word.value_.wait(c, false, true, here());
  }
  static bool wait_for(atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t) {
    rl::context& c = rl::ctx();
    c.sched();
    if (word.value_.debug_value() != expected) return true;
    return word.value_.wait(c, true, true, here()) != rl::unpark_reason_timeout;
  }
  static void wake_one(atomic<std::uint32_t>& word) { wake(word, 1); }
  static void wake_all(atomic<std::uint32_t>& word) { wake(word, rl::ctx().get_thread_count()); }
  static void pause() { rl::yield(1, here()); }

 private:
  static void wake(atomic<std::uint32_t>& word, rl::thread_id_t most) {
    rl::context& c = rl::ctx();
    c.sched();
    word.value_.wake(c, most, here());
  }
};

/// For waits whose limits are far away: they end when somebody wakes them, or for no reason. So a
/// wake-up that is lost is a deadlock.
struct patient_atomics : relacy_atomics {
  static bool wait_for(atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t) {
    wait(word, expected);
    return true;
  }
};

using parker = base::basic_parker<relacy_atomics>;

/// How many times as long what must pass is explored: the variable GARRICK_TORTURE, or 1.
inline unsigned long torture() {
  const char* const times = std::getenv("GARRICK_TORTURE");
  const unsigned long n = times != nullptr ? std::strtoul(times, nullptr, 10) : 0;
  return n != 0 ? n : 1;
}

/// Runs `Suite` for `iterations` random interleavings with `what` weakened. Empty: nothing found;
/// else what was found.
template <class Suite>
std::string explore(unsigned iterations, weakening what = {}, fences kind = fences::symmetric) {
  // grows during a run, so it must not allocate through the checked operator new
  rl::ostringstream out;
  rl::test_params params;
  const bool must_pass = what.what == weakening::kind::nothing;
  params.iteration_count = must_pass ? iterations * torture() : iterations;
  params.output_stream = &out;
  params.progress_stream = &out;
  params.search_type = rl::random_scheduler_type;
  params.execution_depth_limit = 20'000;
  weakened = what;
  fence_kind = kind;
  const bool passed = rl::simulate<Suite>(params);
  weakened = {};
  fence_kind = fences::symmetric;
  return passed ? std::string()
                : std::string(rl::test_result_str(params.test_result)) + "\n" + out.str().c_str();
}

/// The orders that are one step weaker than `as_written`.
inline std::vector<std::memory_order> weaker(std::memory_order as_written) {
  switch (as_written) {
    case seq_cst: return {acq_rel};
    case acq_rel: return {acquire, release};
    default: return {relaxed};
  }
}

/// Whether `Suite` fails under every order that is one step weaker than `as_written` at `at`.
template <class Suite>
bool needs(place at, std::memory_order as_written, unsigned iterations,
           fences kind = fences::symmetric) {
  for (const std::memory_order to : weaker(as_written))
    if (explore<Suite>(iterations, {weakening::kind::order, at, to}, kind).empty()) return false;
  return true;
}

}  // namespace garrick::base::model
