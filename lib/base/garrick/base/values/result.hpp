// A value or an error: the return type of every operation that can fail in an expected way.
//
//   result<int> port = parse(text);
//   if (!port) return port.error();
//   listen(*port);
//
// `result<T>` holds a T, `result<>` and `result<void>` hold nothing, and `result<A, B>` holds a
// `std::tuple<A, B>`; instead of its value, each may hold an `error`. A result allocates nothing.
// Of its own functions only `value()` throws, if there is an error.
//
// Thread safety: as for the value.
//
// Invariant:
// R1 The value is alive exactly while the error member says "no error".
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/base/values/error.hpp"

namespace garrick::base {

/// A value or an error; see the specialisations below.
template <class... Ts>
class result;

/// The class `error`, for scopes where that name means a member function.
using error_value = error;

/// Thrown by `value()` of a result that holds an error.
class bad_result_access : public std::exception {
 public:
  /// Throws std::bad_alloc if there is no memory for the text.
  explicit bad_result_access(error_value why);
  /// Returns "no value in the result: " and the error's text.
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  /// Returns the error that the result held.
  [[nodiscard]] const error& reason() const noexcept { return error_; }

 private:
  error_value error_;
  std::string text_;
};

/// True if T is a `result` of anything.
template <class T>
inline constexpr bool is_result = false;
template <class... Ts>
inline constexpr bool is_result<result<Ts...>> = true;

/// A list of types. A class that wraps values names their types by a member `garrick_parts` of this
/// kind, and the isolation check looks at those (sendable.hpp).
template <class... Ts>
struct type_list {};

namespace detail {

[[noreturn, gnu::cold]] void throw_bad_result_access(const error& e);

template <class F, class... Args>
using invoked = decltype(std::declval<F>()(std::declval<Args>()...));

/// Calls f with v, or with v's elements where the result holds several values.
template <bool Multi, class F, class V>
constexpr decltype(auto) call_with(F&& f, V&& v) {
  if constexpr (Multi)
    return std::apply(std::forward<F>(f), std::forward<V>(v));
  else
    return std::forward<F>(f)(std::forward<V>(v));
}

template <class T>
struct mapped_result {
  using type = result<std::remove_cvref_t<T>>;
};
template <class T>
  requires std::is_void_v<T>
struct mapped_result<T> {
  using type = result<void>;
};

/// Calls f and wraps its return value: void becomes `result<void>`.
template <class Call>
constexpr auto map_call(Call&& call) {
  using mapped = decltype(call());
  if constexpr (std::is_void_v<mapped>) {
    call();
    return typename mapped_result<mapped>::type();
  } else {
    return typename mapped_result<mapped>::type(call());
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wmaybe-uninitialized"  // GCC 12 does not see that error_ tells whether value_ lives (R1)
#endif

/// The common base of `result<T>` and `result<A, B>`. `Self` is the result itself; `Multi` says
/// that the value is a tuple of several.
template <class Self, class Value, bool Multi>
class value_result {
  static_assert(std::is_object_v<Value> && !std::is_array_v<Value>,
                "a result holds values: neither references nor arrays");
  static_assert(!std::is_same_v<std::remove_cv_t<Value>, error_value>,
                "result<error> would be ambiguous: use result<> or error");

 public:
  using value_type = Value;  ///< T, or std::tuple<A, B>

  /// Holds a default-constructed value.
  constexpr value_result()
    requires std::default_initializable<Value>
      : value_() {}

  /// Holds a value that is made in place from the arguments.
  template <class U>
    requires std::constructible_from<Value, U>
  constexpr value_result(std::in_place_t, U&& value) : value_(std::forward<U>(value)) {}
  template <class... Args>
    requires(sizeof...(Args) != 1 && std::constructible_from<Value, Args...>)
  constexpr value_result(std::in_place_t, Args&&... args) : value_(std::forward<Args>(args)...) {}

  /// Holds this error. Requires an error: "no error" ends the process.
  value_result(error_value e) noexcept : error_(std::move(e)) {
    GARRICK_ASSERT(static_cast<bool>(error_),
                   "a result was made of error{}, which is no error (by `return` in a handler or "
                   "by hand): return the value, or a real error");
  }

  constexpr value_result(const value_result& other)
    requires std::copy_constructible<Value>
      : error_(other.error_) {
    if (!error_) std::construct_at(std::addressof(value_), other.value_);
  }
  constexpr value_result(value_result&& other) noexcept(std::is_nothrow_move_constructible_v<Value>)
    requires std::move_constructible<Value>
  {
    if (other.error_)
      error_ = other.error_;  // copied: the source must stay "without a value" (R1)
    else
      std::construct_at(std::addressof(value_), std::move(other.value_));
  }
  constexpr value_result& operator=(const value_result& other)
    requires std::copy_constructible<Value>
  {
    if (this != &other) {
      value_result copy(other);
      reset_to(std::move(copy));
    }
    return *this;
  }
  constexpr value_result& operator=(value_result&& other) noexcept(
      std::is_nothrow_move_constructible_v<Value>)
    requires std::move_constructible<Value>
  {
    if (this != &other) reset_to(std::move(other));
    return *this;
  }
  constexpr ~value_result() {
    if (!error_) value_.~Value();
  }

  /// Returns true if this holds a value and no error.
  [[nodiscard]] constexpr bool has_value() const noexcept { return !error_; }
  /// Returns `has_value()`.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return !error_; }

  /// Returns the value; for a temporary result a value of its own, so that no reference outlives
  /// the result. If there is no value, throws `bad_result_access` with the error's text. The return
  /// value may be ignored: a statement that matters only for its effect may end with `.value();`,
  /// also for `result<>`.
  constexpr Value& value() & { return checked(), value_; }
  constexpr const Value& value() const& { return checked(), value_; }
  constexpr Value value() && { return checked(), std::move(value_); }

  /// Returns the value or, if there is none, `other`.
  template <class U>
  [[nodiscard]] constexpr Value value_or(U&& other) const& {
    return has_value() ? value_ : static_cast<Value>(std::forward<U>(other));
  }
  template <class U>
  [[nodiscard]] constexpr Value value_or(U&& other) && {
    return has_value() ? std::move(value_) : static_cast<Value>(std::forward<U>(other));
  }

  /// Returns the error; "no error" if there is a value. Valid while this object lives.
  [[nodiscard]] constexpr const error_value& error() const noexcept { return error_; }

  /// Returns the value. Requires that there is one: otherwise the process ends with an assertion.
  [[nodiscard]] constexpr Value& operator*() & noexcept { return asserted(), value_; }
  [[nodiscard]] constexpr const Value& operator*() const& noexcept { return asserted(), value_; }
  [[nodiscard]] constexpr Value&& operator*() && noexcept { return asserted(), std::move(value_); }
  [[nodiscard]] constexpr Value* operator->() noexcept {
    return asserted(), std::addressof(value_);
  }
  [[nodiscard]] constexpr const Value* operator->() const noexcept {
    return asserted(), std::addressof(value_);
  }

  /// Applies `f` to the value and returns its return value as a result; an error passes through.
  /// Several values are passed as several arguments. An exception of `f` leaves this function.
  ///
  ///     result<std::string> text = read(file).map([](const page& p) { return p.text; });
  template <class F>
  [[nodiscard]] constexpr auto map(F&& f) const& {
    using mapped = decltype(map_call(
        [&]() -> decltype(auto) { return call_with<Multi>(std::forward<F>(f), value_); }));
    if (error_) return mapped(error_);
    return map_call(
        [&]() -> decltype(auto) { return call_with<Multi>(std::forward<F>(f), value_); });
  }
  template <class F>
  [[nodiscard]] constexpr auto map(F&& f) && {
    using mapped = decltype(map_call([&]() -> decltype(auto) {
      return call_with<Multi>(std::forward<F>(f), std::move(value_));
    }));
    if (error_) return mapped(error_);
    return map_call([&]() -> decltype(auto) {
      return call_with<Multi>(std::forward<F>(f), std::move(value_));
    });
  }

  /// Like `map`, for an `f` that returns a result itself.
  ///
  ///     result<int> port = find("port").and_then(parse_port);
  template <class F>
  [[nodiscard]] constexpr auto and_then(F&& f) const& {
    using next = std::remove_cvref_t<decltype(call_with<Multi>(std::forward<F>(f), value_))>;
    static_assert(is_result<next>, "the function given to and_then returns a result");
    return error_ ? next(error_) : next(call_with<Multi>(std::forward<F>(f), value_));
  }
  template <class F>
  [[nodiscard]] constexpr auto and_then(F&& f) && {
    using next =
        std::remove_cvref_t<decltype(call_with<Multi>(std::forward<F>(f), std::move(value_)))>;
    static_assert(is_result<next>, "the function given to and_then returns a result");
    return error_ ? next(error_) : next(call_with<Multi>(std::forward<F>(f), std::move(value_)));
  }

  /// Applies `f` to the error and returns its return value: a result of the same type, or a value.
  /// A value passes through.
  template <class F>
  [[nodiscard]] constexpr Self or_else(F&& f) const& {
    return error_ ? Self(std::forward<F>(f)(error_)) : static_cast<const Self&>(*this);
  }
  template <class F>
  [[nodiscard]] constexpr Self or_else(F&& f) && {
    return error_ ? Self(std::forward<F>(f)(error_)) : static_cast<Self&&>(*this);
  }

  [[nodiscard]] friend constexpr bool operator==(const value_result& a, const value_result& b)
    requires std::equality_comparable<Value>
  {
    return a.has_value() && b.has_value() ? a.value_ == b.value_ : a.error_ == b.error_;
  }

 private:
  constexpr void checked() const {
    if (error_) [[unlikely]]
      throw_bad_result_access(error_);
  }
  constexpr void asserted() const noexcept {
    GARRICK_ASSERT(has_value(), "check the result before you take its value");
  }

  constexpr void reset_to(value_result&& other) {
    if (!error_) value_.~Value();
    if (other.error_) {
      error_ = other.error_;
      return;
    }
    // If the value's move throws, this result must not claim to hold a value.
    if constexpr (!std::is_nothrow_move_constructible_v<Value>) error_ = errc::broken_promise;
    std::construct_at(std::addressof(value_), std::move(other.value_));
    error_ = {};
  }

  error_value error_;
  union {
    Value value_;
  };
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace detail

/// Success or an error.
///
///     result<> done = save(file);
///     if (!done) log(done.error().to_string());
template <>
class [[nodiscard]] result<> {
 public:
  using garrick_sendable = void;  ///< may be sent
  using value_type = void;        ///< there is no value

  /// Makes a success.
  constexpr result() noexcept = default;
  /// Holds this error. Requires an error: "no error" ends the process. Return `{}` for success.
  result(error_value e) noexcept : error_(std::move(e)) {
    GARRICK_ASSERT(static_cast<bool>(error_),
                   "a result<void> was made of error{}, which is no error (by `return` in a "
                   "handler or by hand): return {} for success");
  }
  /// Holds this error.
  template <error_enum E>
  result(E e) noexcept : error_(e) {}

  /// Returns true if this is success.
  [[nodiscard]] constexpr bool has_value() const noexcept { return !error_; }
  /// Returns `has_value()`.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return !error_; }
  /// Throws `bad_result_access` with the error's text if there is an error; otherwise does nothing.
  constexpr void value() const {
    if (error_) [[unlikely]]
      detail::throw_bad_result_access(error_);
  }
  /// Requires success: otherwise the process ends with an assertion.
  constexpr void operator*() const noexcept {
    GARRICK_ASSERT(has_value(), "check the result before you take its value");
  }
  /// Returns the error; "no error" if this is success. Valid while this object lives.
  [[nodiscard]] constexpr const error_value& error() const noexcept { return error_; }
  /// Returns "ok", or the error's text.
  [[nodiscard]] std::string to_string() const { return error_ ? error_.to_string() : "ok"; }

  /// Calls `f()` and returns its return value as a result; an error passes through.
  template <class F>
  [[nodiscard]] constexpr auto map(F&& f) const {
    using mapped = decltype(detail::map_call(std::forward<F>(f)));
    return error_ ? mapped(error_) : detail::map_call(std::forward<F>(f));
  }
  /// Like `map`, for an `f` that returns a result itself.
  template <class F>
  [[nodiscard]] constexpr auto and_then(F&& f) const {
    using next = std::remove_cvref_t<detail::invoked<F>>;
    static_assert(is_result<next>, "the function given to and_then returns a result");
    return error_ ? next(error_) : next(std::forward<F>(f)());
  }
  /// Applies `f` to the error and returns its return value; success passes through.
  template <class F>
  [[nodiscard]] constexpr result or_else(F&& f) const {
    return error_ ? result(std::forward<F>(f)(error_)) : *this;
  }

  [[nodiscard]] friend bool operator==(const result& a, const result& b) noexcept {
    return a.error_ == b.error_;
  }

 private:
  error_value error_;
};

/// The same as `result<>`, for code that is generic in the value's type.
template <>
class [[nodiscard]] result<void> : public result<> {
 public:
  using result<>::result;
  /// Makes a success.
  constexpr result() noexcept = default;
  /// Holds the same outcome: success, or the error.
  result(result<> r) noexcept : result<>(std::move(r)) {}
};

/// A T or an error.
///
///     result<int> half(int n) { return n % 2 == 0 ? result<int>(n / 2) : errc::user; }
///     const int x = half(8).value_or(0);
///
/// `has_value`, `value`, `value_or`, `error`, `*`, `->`, `map`, `and_then` and `or_else` work as in
/// std::expected. T is neither a reference nor an array nor `error`.
template <class T>
class [[nodiscard]] result<T> : public detail::value_result<result<T>, T, false> {
  using base_type = detail::value_result<result<T>, T, false>;

 public:
  using garrick_parts = type_list<T>;  ///< may be sent if T may

  /// Holds a default-constructed T.
  constexpr result() = default;
  /// Holds a T that is made in place from the arguments.
  template <class... Args>
  constexpr result(std::in_place_t, Args&&... args)
      : base_type(std::in_place, std::forward<Args>(args)...) {}
  /// Holds this value.
  template <class U = T>
    requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, result> &&
             !std::same_as<std::remove_cvref_t<U>, error_value> &&
             (std::same_as<std::remove_cvref_t<U>, T> || !error_enum<std::remove_cvref_t<U>>))
  constexpr result(U&& value) : base_type(std::in_place, std::forward<U>(value)) {}
  /// Holds this error. Requires an error: "no error" ends the process.
  result(error_value e) noexcept : base_type(std::move(e)) {}
  /// Holds this error.
  template <error_enum E>
    requires(!std::same_as<E, T>)
  result(E e) noexcept : base_type(error_value(e)) {}
};

/// Several values, or an error: the return type of a handler that answers with more than one value.
///
///     result<int, std::string> r = {1, "one"};
///     auto [number, name] = *r;
template <class A, class B, class... Rest>
class [[nodiscard]] result<A, B, Rest...>
    : public detail::value_result<result<A, B, Rest...>, std::tuple<A, B, Rest...>, true> {
  using base_type = detail::value_result<result<A, B, Rest...>, std::tuple<A, B, Rest...>, true>;

 public:
  using garrick_parts = type_list<A, B, Rest...>;  ///< may be sent if all of them may

  /// Holds default-constructed values.
  constexpr result() = default;
  /// Holds these values.
  constexpr result(A a, B b, Rest... rest)
      : base_type(std::in_place, std::move(a), std::move(b), std::move(rest)...) {}
  /// Holds the values of the tuple.
  constexpr result(std::tuple<A, B, Rest...> values)
      : base_type(std::in_place, std::move(values)) {}
  /// Holds this error. Requires an error: "no error" ends the process.
  result(error_value e) noexcept : base_type(std::move(e)) {}
  /// Holds this error.
  template <error_enum E>
  result(E e) noexcept : base_type(error_value(e)) {}
};

}  // namespace garrick::base
