// Refuses a response in an expression, such as `request(...) == 7`, with an error of this
// framework.
//
// Private: installed because templates need it.
#pragma once

#include <compare>
#include <concepts>
#include <type_traits>

namespace garrick::core::detail {

template <class To>
[[noreturn]] To no_value_yet();

/// Base of a response whose value comes later. Its operators refuse every argument: without them,
/// compilers list dozens of operators of the standard library. Told<T, false>::reported is the
/// error.
template <template <class, bool> class Told>
struct not_yet_a_value {
  template <class T>
  friend bool operator==(const not_yet_a_value&, const T&) {
    static_assert(Told<T, false>::reported);
    return false;
  }
  template <class T>
  friend std::strong_ordering operator<=>(const not_yet_a_value&, const T&) {
    static_assert(Told<T, false>::reported);
    return std::strong_ordering::equal;
  }
  // For two responses, the operators above and below would be ambiguous.
  template <std::derived_from<not_yet_a_value> T, std::derived_from<not_yet_a_value> U>
  friend bool operator==(const T&, const U&) {
    static_assert(Told<T, false>::reported);
    return false;
  }
  template <std::derived_from<not_yet_a_value> T, std::derived_from<not_yet_a_value> U>
  friend std::strong_ordering operator<=>(const T&, const U&) {
    static_assert(Told<T, false>::reported);
    return std::strong_ordering::equal;
  }
  template <std::derived_from<not_yet_a_value> T, std::derived_from<not_yet_a_value> U>
  friend T operator+(const T&, const U&) {
    static_assert(Told<T, false>::reported);
    return no_value_yet<T>();
  }
  template <class T>
  friend std::decay_t<T> operator+(const not_yet_a_value&, const T&) {
    static_assert(Told<T, false>::reported);
    return no_value_yet<std::decay_t<T>>();
  }
  template <class T>
  friend std::decay_t<T> operator+(const T&, const not_yet_a_value&) {
    static_assert(Told<T, false>::reported);
    return no_value_yet<std::decay_t<T>>();
  }
  template <class Stream>
  friend Stream& operator<<(Stream& s, const not_yet_a_value&) {
    static_assert(Told<Stream, false>::reported);
    return s;
  }
};

}  // namespace garrick::core::detail
