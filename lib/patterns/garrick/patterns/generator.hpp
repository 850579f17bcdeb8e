// A coroutine that gives values one after the other: a stage with many results for one tuple, or
// endlessly many.
//
//   seq([](line l) -> generator<word> { for (word w : words_of(l)) co_yield std::move(w); })
//   seq([]() -> generator<int> { for (int i = 0;; ++i) co_yield i; })        a source
//
// A plain stage keeps results without room until its `consume` is over. A generator is suspended as
// soon as the channel is full, and is resumed when there is room: its output needs no more memory
// than the channel.
//
// With GCC 12, `co_yield` a named variable, moved if you like, or a value of a class with a
// constructor: that compiler destroys a temporary aggregate with a destructor twice (guide 6).
//
// Thread safety: as a plain value; used by one thread at a time.
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

/// The values of a coroutine, which runs up to its next value when `next` is called. A generator
/// can be moved, not copied. Its destructor destroys the coroutine at the present suspension point.
template <class T>
class generator {
 public:
  /// For the compiler.
  class promise_type {
    using value_type = std::remove_reference_t<T>;  // a stage refuses a reference
    struct copied {
      explicit copied(const value_type& v) : value(v) {}
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        h.promise().value_ = std::addressof(value);
      }
      void await_resume() const noexcept {}
      value_type value;
    };

   public:
    /// For the compiler.
    [[nodiscard]] generator get_return_object() noexcept {
      return generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    /// For the compiler: the coroutine begins with the first `next`.
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    /// For the compiler: the generator destroys the coroutine.
    [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
    /// For the compiler: the value lies in the coroutine until it is resumed.
    [[nodiscard]] std::suspend_always yield_value(value_type&& value) noexcept {
      value_ = std::addressof(value);
      return {};
    }
    /// For the compiler: a copy of the value lies in the coroutine until it is resumed.
    [[nodiscard]] copied yield_value(const value_type& value) { return copied(value); }
    /// This overload refuses a value that does not convert to T.
    template <class Other>
      requires(!std::is_convertible_v<Other, value_type>)
    [[nodiscard]] std::suspend_always yield_value(Other&& /*value*/) noexcept {
      static_assert(std::is_convertible_v<Other, value_type>,
                    "garrick: a generator<T> yields values of the type T");
      return {};
    }
    /// For the compiler.
    void return_void() const noexcept {}
    /// For the compiler: `next` throws the exception.
    void unhandled_exception() noexcept { why_ = std::current_exception(); }
    /// Refuses `co_await`: a generator only yields.
    void await_transform() = delete;

   private:
    friend class generator;
    value_type* value_ = nullptr;
    std::exception_ptr why_;
  };

  /// Makes a generator without values.
  generator() noexcept = default;
  generator(generator&& o) noexcept : coroutine_(std::exchange(o.coroutine_, {})) {}
  generator& operator=(generator&& o) noexcept {
    std::swap(coroutine_, o.coroutine_);
    return *this;
  }
  ~generator() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Runs up to the next value. Returns false if there is no further value. Throws the exceptions
  /// of the coroutine; after that there is no further value.
  [[nodiscard]] bool next() {
    if (!coroutine_ || coroutine_.done()) return false;
    coroutine_.resume();
    if (!coroutine_.done()) return true;
    if (auto& why = coroutine_.promise().why_) std::rethrow_exception(std::exchange(why, nullptr));
    return false;
  }
  /// Returns the value that `next` has found, which lasts until the next call of `next`. It may be
  /// moved from.
  [[nodiscard]] T& value() const noexcept { return *coroutine_.promise().value_; }

 private:
  explicit generator(std::coroutine_handle<promise_type> c) noexcept : coroutine_(c) {}
  std::coroutine_handle<promise_type> coroutine_;
};

}  // namespace garrick::patterns
