// Runs small lock-free components in every order that a seed can make: fibres that switch at each
// atomic operation.
//
//   interleaving run(seed);
//   run.add([&] { gate.push(a); });
//   run.add([&] { gate.push(b); });
//   run.go();                                         // all fibres, interleaved operation by operation
//   CHECK(run.failure() == "");
//
// A header that takes its atomics as a policy (base::atomics_policy) runs unchanged with
// `scheduled_atomics`: each operation is a place where another fibre may go on, chosen by the seed.
// What is seen is sequentially consistent: orders of events are explored, memory orders are not
// (the model checker does that). Weak compare-exchanges fail for no reason now and then.
//
// A run that has failed is left where it is: its fibres are not unwound. So a fibre should own
// nothing on its stack; what it works on lives outside.
//
// Thread safety: one thread; one run at a time on a thread.
#pragma once

#include <garrick/base/values/random.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace garrick::machine {

class interleaving {
 public:
  explicit interleaving(std::uint64_t seed);
  ~interleaving();
  interleaving(const interleaving&) = delete;
  interleaving& operator=(const interleaving&) = delete;

  /// A fibre. Before go().
  void add(std::function<void()> body);
  /// Runs all fibres to their end, or until one fails.
  void go();
  /// After go(): what must hold then.
  void require(bool holds, const char* otherwise);
  /// Why the run failed; empty: it did not.
  [[nodiscard]] const std::string& failure() const noexcept;
  [[nodiscard]] base::random_source& random() noexcept;

  // ---- from inside a fibre; from elsewhere they do nothing --------------------------------------

  /// Another fibre may go on here.
  static void point() noexcept;
  /// Another fibre should go on: this one waits for something that others do.
  static void pause() noexcept;
  /// True now and then, as the seed decides.
  [[nodiscard]] static bool chance(std::uint32_t one_in) noexcept;
  /// The run has failed; the fibre does not go on.
  static void fail(const char* why) noexcept;
  static void check(bool holds, const char* otherwise) noexcept {
    if (!holds) fail(otherwise);
  }

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The atomics policy whose every operation is a place to switch. Memory orders are ignored:
/// everything is sequentially consistent.
struct scheduled_atomics {
  template <class T>
  class atomic {
   public:
    constexpr atomic() noexcept = default;
    constexpr atomic(T value) noexcept : value_(value) {}  // as std::atomic
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order) const noexcept {
      interleaving::point();
      return value_;
    }
    void store(T value, std::memory_order) noexcept {
      interleaving::point();
      value_ = value;
    }
    T exchange(T value, std::memory_order) noexcept {
      interleaving::point();
      return std::exchange(value_, value);
    }
    T fetch_add(T by, std::memory_order) noexcept {
      interleaving::point();
      return std::exchange(value_, static_cast<T>(value_ + by));
    }
    T fetch_sub(T by, std::memory_order) noexcept {
      interleaving::point();
      return std::exchange(value_, static_cast<T>(value_ - by));
    }
    T fetch_or(T bits, std::memory_order) noexcept {
      interleaving::point();
      return std::exchange(value_, static_cast<T>(value_ | bits));
    }
    T fetch_and(T bits, std::memory_order) noexcept {
      interleaving::point();
      return std::exchange(value_, static_cast<T>(value_ & bits));
    }
    bool compare_exchange_strong(T& expected, T wanted, std::memory_order,
                                 std::memory_order) noexcept {
      interleaving::point();
      if (value_ != expected) {
        expected = value_;
        return false;
      }
      value_ = wanted;
      return true;
    }
    bool compare_exchange_weak(T& expected, T wanted, std::memory_order success,
                               std::memory_order failure) noexcept {
      if (interleaving::chance(16)) {
        interleaving::point();
        expected = value_;
        return false;
      }
      return compare_exchange_strong(expected, wanted, success, failure);
    }

   private:
    T value_{};
  };

  template <class T>
  class cell {
   public:
    cell() = default;
    explicit cell(T value) noexcept : value_(value) {}
    [[nodiscard]] T get() const noexcept { return value_; }
    void set(T value) noexcept { value_ = value; }

   private:
    T value_{};
  };

  template <auto Place>
  static constexpr std::memory_order order(std::memory_order as_written) noexcept {
    return as_written;
  }
  static void full_fence() noexcept {}
  static void light_fence() noexcept {}
  static void heavy_fence() noexcept {}
  static void wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    // order: ignored by this policy
    while (word.load(std::memory_order_relaxed) == expected) interleaving::pause();
  }
  static bool wait_for(atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t) noexcept {
    interleaving::pause();
    return word.load(std::memory_order_relaxed) != expected;  // order: ignored by this policy
  }
  static void wake_one(atomic<std::uint32_t>&) noexcept { interleaving::point(); }
  static void pause() noexcept { interleaving::pause(); }
};

/// The first of the seeds 1 to `seeds` under which `f` (a function of an interleaving, which it
/// fills and checks) fails; 0: none. GARRICK_SEED chooses one seed.
struct interleaving_failure {
  std::uint64_t seed = 0;
  std::string text;
};
[[nodiscard]] interleaving_failure find_interleaving(std::uint64_t seeds,
                                                     const std::function<void(interleaving&)>& f);

}  // namespace garrick::machine
