// Prints any value field by field: for logs, dead letters and test failures.
//
//   to_string(order{12, "tea", {1, 2}});            // shop::order{12, "tea", [1, 2]}
//
// Numbers, text (quoted), enumerations, containers, pairs and tuples, optionals, variants,
// durations, owning pointers and aggregates of these print in the usual notation. A class prints
// itself if it has `to_string() const`, or a `to_string(x)` beside it that argument-dependent
// lookup finds. Everything else prints as its type in angle brackets.
//
// No standard container header is included: types are recognised by their shape, so this header
// stays cheap.
//
// A value may be as large as memory. `print_to(out, x, limit)` stops after `limit` bytes and adds
// the size of the rest: "[1, 2, 3… (999997 elements left out)". It looks at no element beyond the
// limit.
//
// Thread safety: as for the printed value. Cost: appends to the string, and allocates nothing else.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "garrick/base/types/fields.hpp"
#include "garrick/base/types/type_name.hpp"

namespace garrick::base {

template <class T>
void print_to(std::string& out, const T& x);

namespace detail {

/// While this object lives, its thread prints at most `limit` bytes into `out`; other strings are
/// not affected. Such objects may nest, also those of one string; then the innermost one counts.
class print_limit {
 public:
  print_limit(std::string& out, std::size_t limit) noexcept;
  ~print_limit();
  print_limit(const print_limit&) = delete;
  print_limit& operator=(const print_limit&) = delete;

  /// Appends the size of the part that was left out, if any.
  void tell();

 private:
  friend bool is_full(const std::string& out) noexcept;
  friend void leave_out(const std::string& out, std::uint64_t elements) noexcept;
  friend void put(std::string& out, std::string_view text);
  /// Returns the innermost object that limits `out`; null if there is none.
  static print_limit* of(const std::string& out) noexcept;

  std::string& out_;
  const std::size_t begin_;
  const std::size_t end_;
  std::uint64_t bytes_ = 0;  ///< left out
  std::uint64_t elements_ = 0;
  bool full_ = false;
  print_limit* const outer_;
};

/// Returns true if the limit is reached, so that the rest is left out.
[[nodiscard]] bool is_full(const std::string& out) noexcept;
/// Counts elements that are left out without a look, once `is_full` is true.
void leave_out(const std::string& out, std::uint64_t elements) noexcept;

// These functions are neither templates nor inline: every message type instantiates its printing
// code, even if it is unused, so that code must be small.
void put(std::string& out, std::string_view text);
/// Writes a comma, except the first time.
void separate(std::string& out, bool& first);
void print_boolean(std::string& out, bool x);
void print_signed(std::string& out, std::int64_t x);
void print_unsigned(std::string& out, std::uint64_t x);
void print_floating(std::string& out, double x);
void print_long_double(std::string& out, long double x);
void print_character(std::string& out, char32_t c);
void print_text(std::string& out, std::string_view text);
/// Writes "(name)value", like a cast, since C++20 cannot name an enumerator.
void print_enumerator(std::string& out, std::string_view name, std::int64_t x);
/// Prints `count` periods of numerator/denominator seconds, with the usual unit if there is one.
void print_duration(std::string& out, double count, std::intmax_t numerator,
                    std::intmax_t denominator);
void print_opaque(std::string& out, std::string_view name);

namespace adl {
void to_string();  // hides outer names: only functions beside the argument's type are found
template <class T>
concept has_to_string = requires(const T& x) {
  { to_string(x) } -> std::convertible_to<std::string>;
};
template <class T>
std::string call_to_string(const T& x) {
  return to_string(x);
}
}  // namespace adl

template <class T>
concept prints_itself = requires(const T& x) {
  { x.to_string() } -> std::convertible_to<std::string>;
};
template <class T>
concept text_like = std::convertible_to<const T&, std::string_view>;
template <class T>
concept path_like = requires(const T& x) {
  { x.string() } -> std::same_as<std::string>;
};
template <class T>
concept range_like = requires(const T& x) {
  x.begin();
  x.end();
  *x.begin();
};
template <class T>
concept map_like = range_like<T> && requires { typename T::mapped_type; };
template <class T>
concept optional_like = requires(const T& x) {
  { x.has_value() } -> std::convertible_to<bool>;
  *x;
};
template <class T>
concept pointer_like = requires(const T& x) {
  typename T::element_type;
  { x.get() } -> std::convertible_to<const volatile void*>;
};
template <class T>
concept duration_like = requires(const T& x) {
  { T::period::num } -> std::convertible_to<std::intmax_t>;
  typename T::rep;
  x.count();
};
template <class T>
concept time_like = requires(const T& x) {
  typename T::clock;
  x.time_since_epoch();
};
template <class T>
concept tuple_like = requires { std::tuple_size<T>::value; } && !range_like<T>;
template <class T>
concept variant_like = requires(const T& x) {
  { x.index() } -> std::same_as<std::size_t>;
  { x.valueless_by_exception() } -> std::same_as<bool>;
};

struct list_printer {
  std::string& out;
  bool first = true;
  template <class T>
  void operator()(const T& x) {
    separate(out, first);
    print_to(out, x);
  }
};

template <class T>
[[gnu::cold]] void print_range(std::string& out, const T& x) {
  put(out, map_like<T> ? "{" : "[");
  bool first = true;
  std::uint64_t printed = 0;
  for (const auto& element : x) {
    if (is_full(out)) {
      if constexpr (requires { x.size(); })
        leave_out(out, static_cast<std::uint64_t>(x.size()) - printed);
      else
        leave_out(out, 1);  // at least
      break;
    }
    ++printed;
    separate(out, first);
    if constexpr (map_like<T>) {
      print_to(out, element.first);
      put(out, ": ");
      print_to(out, element.second);
    } else {
      print_to(out, element);
    }
  }
  put(out, map_like<T> ? "}" : "]");
}

template <class T>
[[gnu::cold]] void print_tuple(std::string& out, const T& x) {
  put(out, "(");
  list_printer print{out};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    using std::get;  // for standard types; the `get` of other types is beside them
    (print(get<I>(x)), ...);
  }(std::make_index_sequence<std::tuple_size<T>::value>());
  put(out, ")");
}

template <template <class...> class V, class... Ts>
void print_variant(std::string& out, const V<Ts...>& x) {
  using std::get;
  if (x.valueless_by_exception()) return print_opaque(out, "valueless");
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (static_cast<void>(x.index() == I && (print_to(out, get<I>(x)), true)), ...);
  }(std::index_sequence_for<Ts...>());
}

/// Prints an optional without a value, a null pointer, or a result with an error.
template <class T>
[[gnu::cold]] void print_absent(std::string& out, const T& x) {
  if constexpr (requires { x.error(); })
    print_to(out, x.error());
  else
    put(out, pointer_like<T> ? "null" : "none");
}

template <class T>
[[gnu::cold]] void print_aggregate(std::string& out, const T& x) {
  put(out, shown_name<T>);
  if constexpr (field_count<T> != 0) {
    put(out, "{");
    for_each_field(x, list_printer{out});
    put(out, "}");
  } else if constexpr (!std::is_empty_v<T>) {
    put(out, "{...}");
  }
}

template <class T>
[[gnu::cold]] void print_scalar(std::string& out, const T& x) {
  if constexpr (std::is_same_v<T, bool>)
    print_boolean(out, x);
  else if constexpr (std::is_same_v<T, char> || std::is_same_v<T, wchar_t> ||
                     std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> ||
                     std::is_same_v<T, char32_t>)
    print_character(out, static_cast<char32_t>(static_cast<std::make_unsigned_t<T>>(x)));
  else if constexpr (std::is_same_v<T, long double>)
    print_long_double(out, x);
  else if constexpr (std::is_floating_point_v<T>)
    print_floating(out, static_cast<double>(x));
  else if constexpr (std::is_signed_v<T>)
    print_signed(out, static_cast<std::int64_t>(x));
  else
    print_unsigned(out, static_cast<std::uint64_t>(x));
}

/// Prints a class by the first shape that it fits.
template <class T>
[[gnu::cold]] void print_class(std::string& out, const T& x) {
  if constexpr (prints_itself<T>) {
    put(out, x.to_string());
  } else if constexpr (adl::has_to_string<T>) {
    put(out, adl::call_to_string(x));
  } else if constexpr (text_like<T>) {
    print_text(out, static_cast<std::string_view>(x));
  } else if constexpr (path_like<T>) {
    print_text(out, x.string());
  } else if constexpr (duration_like<T>) {
    print_duration(out, static_cast<double>(x.count()), T::period::num, T::period::den);
  } else if constexpr (time_like<T>) {
    print_to(out, x.time_since_epoch());
  } else if constexpr (i_promise_this_owns_everything<T>) {
    print_opaque(out, type_name<T>);
  } else if constexpr (range_like<T>) {
    print_range(out, x);
  } else if constexpr (variant_like<T>) {
    print_variant(out, x);
  } else if constexpr (pointer_like<T> || optional_like<T>) {
    if (!x)
      print_absent(out, x);
    else if constexpr (requires(std::string& s) { print_to(s, *x); })
      print_to(out, *x);
    else
      print_opaque(out, type_name<T>);
  } else if constexpr (tuple_like<T>) {
    print_tuple(out, x);
  } else if constexpr (inspectable<T>) {
    print_aggregate(out, x);
  } else {
    print_opaque(out, type_name<T>);
  }
}

}  // namespace detail

/// Appends `x` to `out` as text. An exception of `x` leaves this function; `out` then holds the
/// text printed so far.
template <class T>
[[gnu::cold]] void print_to(std::string& out, const T& x) {
  if constexpr (std::is_same_v<T, std::string>)
    detail::print_text(out, x);
  else if constexpr (std::is_arithmetic_v<T>)
    detail::print_scalar(out, x);
  else if constexpr (detail::adl::has_to_string<T> && std::is_enum_v<T>)
    detail::put(out, detail::adl::call_to_string(x));
  else if constexpr (std::is_enum_v<T>)
    detail::print_enumerator(out, type_name<T>, static_cast<std::int64_t>(x));
  else if constexpr (std::is_array_v<T> &&
                     std::is_same_v<std::remove_cv_t<std::remove_extent_t<T>>, char>) {
    const std::string_view text(x, std::extent_v<T>);
    detail::print_text(out, text.substr(0, text.find('\0')));
  } else if constexpr (std::is_array_v<T>) {
    detail::put(out, "[");
    detail::list_printer print{out};
    std::uint64_t printed = 0;
    for (const auto& element : x) {
      if (detail::is_full(out)) {
        detail::leave_out(out, std::extent_v<T> - printed);
        break;
      }
      ++printed;
      print(element);
    }
    detail::put(out, "]");
  } else if constexpr (std::is_same_v<std::decay_t<T>, const char*> ||
                       std::is_same_v<std::decay_t<T>, char*>)
    x == nullptr ? detail::print_opaque(out, "null") : detail::print_text(out, x);
  else if constexpr (std::is_class_v<T>)
    detail::print_class(out, x);
  else
    detail::print_opaque(out, type_name<T>);
}

/// Like `print_to`, but appends no more than `limit` bytes of `x`, cut between characters, and then
/// "…" and the size of the rest: bytes of a value that was begun, and elements of containers that
/// were not looked at. A text that a class prints itself is made in full before it is cut.
template <class T>
[[gnu::cold]] void print_to(std::string& out, const T& x, std::size_t limit) {
  detail::print_limit bound(out, limit);
  print_to(out, x);
  bound.tell();
}

namespace detail {
struct to_string_function {
  template <class T>
  [[nodiscard]] std::string operator()(const T& x) const {
    std::string out;
    print_to(out, x);
    return out;
  }
};
}  // namespace detail

/// `to_string(x)` is `x` as text, printed field by field.
///
/// It is an object and not a function, so that argument-dependent lookup does not find it where a
/// class's own `to_string` is meant.
inline constexpr detail::to_string_function to_string{};

}  // namespace garrick::base
