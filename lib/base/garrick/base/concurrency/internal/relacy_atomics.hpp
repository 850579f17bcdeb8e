// The atomics policy of the model checker (Relacy): the shipped headers run on it unchanged, every
// interleaving and every stale value that C++ allows may happen, and one memory order, or one
// fence, can be weakened to show that it is needed.
//
// Include it last: Relacy defines macros for `new`, `delete` and the memory orders; they are
// removed again below.
//
// Relacy's templates would take most of a model's time to compile if they were instantiated for its
// suites and its types. So relacy_engine.model.cpp has them, once for all models: it knows a suite
// by calls (`suite_calls`), and a value by its bits (`word`).
//
// Requires: a suite derives from rl::test_suite, and has from `fewest_threads` to `most_threads`
// threads. A value of an atomic object or a cell is an integer, an enumerator or a pointer.
//
// Guarantees: each exploration is the same each time, and the same as Relacy's own
// rl::simulate<Suite> would make.
//
// Thread safety: the model checker runs one fiber at a time.
#pragma once

#include <garrick/base/concurrency/parker.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iosfwd>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

// Relacy's replacements of the global allocation functions are inline: these declarations make sure
// that the whole program gets them, and not a part of it.
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
// order: none; from here on these names have their meaning in std
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
  place(List which) noexcept  // implicit: an enumerator names its place
      : list_(&list_mark<List>), which_(static_cast<int>(which)) {}
  bool operator==(const place&) const = default;

 private:
  template <class List>
  static constexpr char list_mark = 0;  // its address stands for the list

  const char* list_ = nullptr;
  int which_ = 0;
};

/// The order or the fence that is weakened in the present run.
struct weakening {
  enum class kind : std::uint8_t { nothing, order, light_fence, heavy_fence };
  kind what = kind::nothing;
  place at{};                 ///< the place of the order
  std::memory_order to = {};  ///< the weaker order
};
inline constexpr weakening::kind no_light_fence = weakening::kind::light_fence;
inline constexpr weakening::kind no_heavy_fence = weakening::kind::heavy_fence;

inline weakening weakened;

/// The model of the two-sided fence: both sides a full fence, or nothing on the one side and a
/// system-wide fence on the other.
enum class fences : std::uint8_t { symmetric, asymmetric };
inline fences fence_kind = fences::symmetric;

inline rl::debug_info here() { return rl::debug_info("", "", 0); }

/// A value of an atomic object or a cell, as the engine keeps it. All types share this class, since
/// Relacy's code for one type, with every operation and order, takes a second to compile.
class word {
 public:
  word() = default;
  template <class T>
  explicit word(T value) noexcept
      : bytes_(sizeof(T)), is_address_(std::is_pointer_v<T>), is_signed_(std::is_signed_v<T>) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>);
    std::memcpy(&bits_, &value, sizeof value);
  }
  /// Returns the value. Requires that the word was made of a T.
  template <class T>
  [[nodiscard]] T as() const noexcept {
    T value;
    std::memcpy(&value, &bits_, sizeof value);
    return value;
  }

  /// Requires, like the operators below, that both words are of one type.
  bool operator==(word other) const noexcept { return bits_ == other.bits_; }
  /// Sums and differences wrap, as those of std::atomic.
  word operator+(word) const noexcept;
  word operator-(word) const noexcept;
  word operator&(word) const noexcept;
  word operator|(word) const noexcept;

  /// Writes the value as its type is written, for Relacy's histories.
  friend std::ostream& operator<<(std::ostream&, word);

 private:
  [[nodiscard]] word with(std::uint64_t bits) const noexcept;

  std::uint64_t bits_ = 0;  ///< the value's bytes, and zeros above them
  std::uint8_t bytes_ = sizeof bits_;
  bool is_address_ = false;
  bool is_signed_ = false;
};

/// Relacy's atomic object. The engine has its code.
class engine_atomic {
 public:
  explicit engine_atomic(word value);
  ~engine_atomic();
  engine_atomic(const engine_atomic&) = delete;
  engine_atomic& operator=(const engine_atomic&) = delete;

  [[nodiscard]] word load(std::memory_order) const;
  void store(word, std::memory_order);
  word exchange(word, std::memory_order);
  word fetch_add(word, std::memory_order);
  word fetch_sub(word, std::memory_order);
  word fetch_or(word, std::memory_order);
  word fetch_and(word, std::memory_order);
  /// Exchanges if the value is `expected`. A failed exchange is relaxed.
  bool compare_exchange_weak(word& expected, word, std::memory_order);
  bool compare_exchange_strong(word& expected, word, std::memory_order);

  /// Compares and falls asleep in one step, as the kernel does, with spurious returns.
  void wait(word expected);
  /// Like `wait`, for some time; returns false if the time has passed.
  bool wait_for(word expected);
  void wake_one();
  void wake_all();

 private:
  void wake(rl::thread_id_t most);

  rl::atomic<word> value_;
};

/// Relacy's plain memory. The engine has its code.
class engine_cell {
 public:
  explicit engine_cell(word value);
  ~engine_cell();
  engine_cell(const engine_cell&) = delete;
  engine_cell& operator=(const engine_cell&) = delete;
  [[nodiscard]] word get() const;
  void set(word);

 private:
  rl::var<word> value_;
};

struct relacy_atomics {
  template <class T>
  class atomic {
   public:
    atomic() : value_(word(T{})) {}
    atomic(T value) : value_(word(value)) {}  // implicit, as in std::atomic
    T load(std::memory_order order) const { return value_.load(order).template as<T>(); }
    void store(T value, std::memory_order order) { value_.store(word(value), order); }
    T exchange(T value, std::memory_order order) {
      return value_.exchange(word(value), order).template as<T>();
    }
    T fetch_add(T value, std::memory_order order) {
      return value_.fetch_add(word(value), order).template as<T>();
    }
    T fetch_sub(T value, std::memory_order order) {
      return value_.fetch_sub(word(value), order).template as<T>();
    }
    T fetch_or(T value, std::memory_order order) {
      return value_.fetch_or(word(value), order).template as<T>();
    }
    T fetch_and(T value, std::memory_order order) {
      return value_.fetch_and(word(value), order).template as<T>();
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order success, std::memory_order) {
      word found(expected);
      const bool is_done = value_.compare_exchange_weak(found, word(value), success);
      expected = found.template as<T>();
      return is_done;
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                 std::memory_order) {
      word found(expected);
      const bool is_done = value_.compare_exchange_strong(found, word(value), success);
      expected = found.template as<T>();
      return is_done;
    }

   private:
    friend relacy_atomics;

    engine_atomic value_;
  };

  /// Plain memory; an unordered access is reported.
  template <class T>
  class cell {
   public:
    cell() : value_(word(T{})) {}
    explicit cell(T value) : value_(word(value)) {}
    [[nodiscard]] T get() const { return value_.get().template as<T>(); }
    void set(T value) { value_.set(word(value)); }

   private:
    engine_cell value_;
  };

  template <auto Place>
  static std::memory_order order(std::memory_order as_written) {
    return weakened.what == weakening::kind::order && weakened.at == place(Place) ? weakened.to
                                                                                  : as_written;
  }

  static void full_fence() { rl::atomic_thread_fence(rl::mo_seq_cst, here()); }
  /// A fence that is weakened, like an order, is left out.
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

  static void wait(atomic<std::uint32_t>& at, std::uint32_t expected) {
    at.value_.wait(word(expected));
  }
  static bool wait_for(atomic<std::uint32_t>& at, std::uint32_t expected, std::uint64_t) {
    return at.value_.wait_for(word(expected));
  }
  static void wake_one(atomic<std::uint32_t>& at) { at.value_.wake_one(); }
  static void wake_all(atomic<std::uint32_t>& at) { at.value_.wake_all(); }
  static void pause() { rl::yield(1, here()); }
};

/// For waits with time limits that are never reached: such a wait ends when another thread wakes
/// the waiting thread, or spuriously. So a lost wake-up is a deadlock.
struct patient_atomics : relacy_atomics {
  static bool wait_for(atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t) {
    wait(word, expected);
    return true;
  }
};

using parker = base::basic_parker<relacy_atomics>;

/// Returns the factor for the length of explorations that must pass: the variable GARRICK_TORTURE,
/// or 1.
inline unsigned long torture() {
  const char* const times = std::getenv("GARRICK_TORTURE");
  const unsigned long n = times != nullptr ? std::strtoul(times, nullptr, 10) : 0;
  return n != 0 ? n : 1;
}

/// A suite as the engine knows it. Each function takes the memory in which the suite lies.
struct suite_calls {
  const std::type_info* type;  ///< names it
  rl::thread_id_t threads;
  std::size_t size;
  std::align_val_t alignment;
  void (*construct)(void* at);
  void (*destroy)(void* at);
  void (*before)(void* at);
  void (*thread)(void* at, unsigned index);
  void (*after)(void* at);
  void (*invariant)(void* at);
};

template <class Suite>
inline constexpr suite_calls calls_of{
    .type = &typeid(Suite),
    .threads = Suite::params::thread_count,
    .size = sizeof(Suite),
    .alignment = std::align_val_t{alignof(Suite)},
    .construct = [](void* at) { std::construct_at(static_cast<Suite*>(at)); },
    .destroy = [](void* at) { static_cast<Suite*>(at)->Suite::~Suite(); },
    .before = [](void* at) { static_cast<Suite*>(at)->before(); },
    .thread = [](void* at, unsigned index) { static_cast<Suite*>(at)->thread(index); },
    .after = [](void* at) { static_cast<Suite*>(at)->after(); },
    .invariant = [](void* at) { static_cast<Suite*>(at)->invariant(); },
};

/// Runs a suite for `iterations` random interleavings, as `weakened` and `fence_kind` say. Returns
/// the failure that was found; empty if none.
std::string explore(const suite_calls& suite, unsigned long iterations);
inline constexpr rl::thread_id_t fewest_threads = 2;
inline constexpr rl::thread_id_t most_threads = 5;

/// Runs `Suite` for `iterations` random interleavings with `what` weakened. Returns the failure
/// that was found; empty if none.
template <class Suite>
std::string explore(unsigned iterations, weakening what = {}, fences kind = fences::symmetric) {
  static_assert(Suite::params::expected_result == rl::test_result_success);
  static_assert(Suite::params::dynamic_thread_count == 0);
  static_assert(Suite::params::thread_count >= fewest_threads &&
                Suite::params::thread_count <= most_threads);
  const bool must_pass = what.what == weakening::kind::nothing;
  weakened = what;
  fence_kind = kind;
  std::string found = explore(calls_of<Suite>, must_pass ? iterations * torture() : iterations);
  weakened = {};
  fence_kind = fences::symmetric;
  return found;
}

/// Returns the orders that are one step weaker than `as_written`.
inline std::vector<std::memory_order> weaker(std::memory_order as_written) {
  switch (as_written) {
    case seq_cst: return {acq_rel};
    case acq_rel: return {acquire, release};
    default: return {relaxed};
  }
}

/// Returns true if `Suite` fails under every order that is one step weaker than `as_written` at
/// `at`.
template <class Suite>
bool needs(place at, std::memory_order as_written, unsigned iterations,
           fences kind = fences::symmetric) {
  for (const std::memory_order to : weaker(as_written))
    if (explore<Suite>(iterations, {weakening::kind::order, at, to}, kind).empty()) return false;
  return true;
}

}  // namespace garrick::base::model
