// The name by which two processes know a type: the same text from GCC and clang, from different
// builds and on different machines.
//
//   wire_name<std::map<long, std::vector<order>>>   // "std::map<i64, std::vector<shop::order>>"
//
// `type_name` is for people: it repeats how a compiler spells a type, and compilers differ where a
// template has values as arguments, or where a type is local. So this name is put together from the
// type's structure:
//
// - integers by width: `i8` … `u64`; `f32`, `f64`; `bool`, `char`, `char8`, `char16`, `char32`
// - classes and enumerations by their qualified name; those of the framework as `garrick::x`,
//   for all of its parts
// - templates with types as arguments, and templates with values, or a type and values: by name and
//   arguments. Arguments that equal the template's defaults are left out (allocators, comparators).
// - arrays as `T[n]`; `const` inside a template's arguments stays
//
// Refused, with the reason: types without a name of their own (local, anonymous, closures) as far
// as the compiler shows it, `long double` and `wchar_t` (their widths differ), pointers, and
// templates with otherwise mixed arguments. A class may name itself:
//
//   static constexpr std::string_view garrick_wire_name = "shop::matrix<3x3>";
//
// The properties that the compiler does not show are checked at run time, when a type is published:
// `has_portable_wire_name`.
//
// Other headers name their own templates by a specialisation of `wire_name_rule`.
//
// Thread safety: constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include "garrick/base/types/type_name.hpp"

namespace garrick::base {

/// The rule that writes the wire name of a T, and tells if every compiler writes the same name.
/// Specialise it for a template with arguments that need special names.
template <class T>
struct wire_name_rule;

namespace detail {

template <class... Ts>
struct type_pack {};

template <class T>
concept names_itself = requires { std::string_view(T::garrick_wire_name); };

/// Appends the wire name of T to `out`, which has `put` and `refuse`.
template <class T, class Out>
constexpr void write_wire_name(Out& out) {
  if constexpr (names_itself<T>)
    out.put(T::garrick_wire_name);
  else
    wire_name_rule<T>::write(out);
}

template <class T>
[[nodiscard]] bool is_portable() noexcept {
  if constexpr (names_itself<T>)
    return true;
  else
    return wire_name_rule<T>::is_portable();
}

/// The reason why a type has no wire name.
enum class no_wire_name : std::uint8_t {
  fine,
  nobody_can_say_it,
  width_varies,
  not_a_value,
  arguments_vary,
  two_messages_alike,
};

/// Counts the written characters, and keeps the first reason against the name.
struct name_length {
  std::size_t size = 0;
  no_wire_name reason = no_wire_name::fine;
  constexpr void put(std::string_view piece) noexcept { size += piece.size(); }
  constexpr void refuse(no_wire_name why) noexcept {
    if (reason == no_wire_name::fine) reason = why;
  }
};

/// Keeps the written text.
template <std::size_t N>
struct name_text {
  char text[N]{};
  std::size_t size = 0;
  constexpr void put(std::string_view piece) noexcept {
    for (const char c : piece) text[size++] = c;
  }
  constexpr void refuse(no_wire_name) noexcept {}
};

template <class T>
[[nodiscard]] consteval name_length measured_name() {
  name_length length;
  write_wire_name<T>(length);
  return length;
}

template <class T, no_wire_name Why>
struct has_no_wire_name {
  using why = no_wire_name;
  static_assert(Why != why::nobody_can_say_it,
                "garrick: a type that travels between processes needs a name that other programs "
                "can say: no local or anonymous type, no lambda");
  static_assert(Why != why::width_varies,
                "garrick: the width of long double and wchar_t differs between machines: use a "
                "number of known width");
  static_assert(Why != why::not_a_value,
                "garrick: pointers, references and functions do not travel between processes");
  static_assert(Why != why::arguments_vary,
                "garrick: compilers spell this template's arguments differently: give the type a "
                "garrick_wire_name (wire_name.hpp)");
  static_assert(Why != why::two_messages_alike,
                "garrick: two messages of this protocol have one wire name, so other processes "
                "could not tell them apart (long and long long of one width?)");
  static constexpr bool reported = true;
};

template <class T>
[[nodiscard]] consteval auto written_name() {
  constexpr name_length length = measured_name<T>();
  static_assert(has_no_wire_name<T, length.reason>::reported);
  name_text<length.size> name;
  write_wire_name<T>(name);
  return name;
}

template <class T>
inline constexpr auto written_wire_name = written_name<T>();

template <class Out>
constexpr void put_number(Out& out, unsigned long long n) {
  char digits[std::numeric_limits<unsigned long long>::digits10 + 1]{};
  std::size_t at = sizeof(digits);
  do digits[--at] = static_cast<char>('0' + n % 10);
  while ((n /= 10) != 0);
  out.put(std::string_view(digits + at, sizeof(digits) - at));
}

template <auto Value, class Out>
constexpr void put_value(Out& out) {
  using type = decltype(Value);
  if constexpr (!std::is_integral_v<type> && !std::is_enum_v<type>) {
    out.refuse(no_wire_name::arguments_vary);
  } else if constexpr (std::is_same_v<std::remove_const_t<type>, bool>) {
    out.put(Value ? "true" : "false");
  } else {
    const auto n = static_cast<long long>(Value);
    const bool negative = n < 0 && !std::is_unsigned_v<type>;
    if (negative) out.put("-");
    const auto bits = static_cast<unsigned long long>(n);
    put_number(out, negative ? 0 - bits : bits);
  }
}

/// Returns true if `name` consists only of words and colons, as "a::b" does.
[[nodiscard]] constexpr bool is_qualified_name(std::string_view name) noexcept {
  if (name.empty()) return false;
  for (const char c : name)
    if (!is_word(c) && c != ':') return false;
  return true;
}

/// Returns the first place of `c` in `text`, or npos. To GCC with sanitizers `text.find(c)` is not
/// a constant.
[[nodiscard]] constexpr std::size_t place_of(char c, std::string_view text) noexcept {
  for (std::size_t i = 0; i != text.size(); ++i)
    if (text[i] == c) return i;
  return std::string_view::npos;
}
template <class T>
inline constexpr bool has_arguments = place_of('<', type_name<T>) != std::string_view::npos;

/// Returns the name of T, or of the template that T is made of.
template <class T>
[[nodiscard]] constexpr std::string_view name_without_arguments() noexcept {
  return type_name<T>.substr(0, place_of('<', type_name<T>));
}

template <class T, class Out>
constexpr void put_class_name(Out& out) {
  constexpr std::string_view name = name_without_arguments<T>();
  if (!is_qualified_name(name)) out.refuse(no_wire_name::nobody_can_say_it);
  constexpr std::string_view ours = "garrick::";
  if constexpr (name.starts_with(ours)) {
    out.put(ours);
    out.put(name.substr(name.rfind(':') + 1));
  } else {
    out.put(name);
  }
}

/// Returns true if the linker knows the class by this name. `mangled` is the text of
/// `typeid(T).name()`, the linker's name. If the class is local or in an anonymous namespace, or if
/// `name` leaves out an inline namespace, the linker's name differs.
[[nodiscard]] bool is_linker_name(std::string_view mangled, std::string_view name) noexcept;

template <class T>
[[nodiscard]] bool has_linker_name() noexcept {
#if defined(__cpp_rtti)
  return is_linker_name(typeid(T).name(), name_without_arguments<T>());
#else
  return true;
#endif
}

/// True if `Whole` is `C<Kept…>`, so that its further arguments are the template's defaults.
template <template <class...> class C, class Whole, class... Kept>
inline constexpr bool rest_is_default = requires { requires std::is_same_v<C<Kept...>, Whole>; };
template <template <class...> class C, class Whole, class Kept, class Rest>
struct needed_arguments;
template <template <class...> class C, class Whole, class... Kept>
struct needed_arguments<C, Whole, type_pack<Kept...>, type_pack<>> {
  using type = type_pack<Kept...>;
};
template <template <class...> class C, class Whole, class... Kept, class Next, class... Rest>
struct needed_arguments<C, Whole, type_pack<Kept...>, type_pack<Next, Rest...>>
    : std::conditional_t<rest_is_default<C, Whole, Kept...>,
                         needed_arguments<C, Whole, type_pack<Kept...>, type_pack<>>,
                         needed_arguments<C, Whole, type_pack<Kept..., Next>, type_pack<Rest...>>> {
};

/// Writes ", " before each piece but the first.
template <class Out>
class separator {
 public:
  constexpr explicit separator(Out& out) noexcept : out_(&out) {}
  constexpr void operator()() {
    if (!first_) out_->put(", ");
    first_ = false;
  }

 private:
  Out* out_;
  bool first_ = true;
};

template <class Out, class... Ts>
constexpr void put_types(Out& out, type_pack<Ts...>) {
  separator<Out> next(out);
  ((next(), write_wire_name<Ts>(out)), ...);
}
template <class... Ts>
[[nodiscard]] bool are_portable(type_pack<Ts...>) noexcept {
  return (is_portable<Ts>() && ...);
}

template <class T>
[[nodiscard]] consteval std::string_view arithmetic_name() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, char>)
    return "char";
  else if constexpr (std::is_same_v<T, char8_t>)
    return "char8";
  else if constexpr (std::is_same_v<T, char16_t>)
    return "char16";
  else if constexpr (std::is_same_v<T, char32_t>)
    return "char32";
  else if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, double>)
    return "f64";
  else if constexpr (!std::is_integral_v<T> || std::is_same_v<T, wchar_t>)
    return {};  // long double, wchar_t
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? "i8" : "u8";
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? "i16" : "u16";
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? "i32" : "u32";
  else if constexpr (sizeof(T) == 8)
    return std::is_signed_v<T> ? "i64" : "u64";
  else
    return {};
}

}  // namespace detail

/// Numbers, classes and enumerations that are not templates.
template <class T>
struct wire_name_rule {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    if constexpr (std::is_arithmetic_v<T>) {
      constexpr std::string_view name = detail::arithmetic_name<T>();
      if (name.empty()) out.refuse(detail::no_wire_name::width_varies);
      out.put(name);
    } else if constexpr (!std::is_class_v<T> && !std::is_enum_v<T> && !std::is_union_v<T>) {
      out.refuse(detail::no_wire_name::not_a_value);
    } else if constexpr (detail::has_arguments<T>) {
      constexpr std::size_t none = std::string_view::npos;
      out.refuse(detail::place_of('(', type_name<T>) != none ||
                         detail::place_of('{', type_name<T>) != none
                     ? detail::no_wire_name::nobody_can_say_it
                     : detail::no_wire_name::arguments_vary);
    } else {
      detail::put_class_name<T>(out);
    }
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept {
    if constexpr (std::is_arithmetic_v<T>)
      return true;
    else
      return detail::has_linker_name<T>();
  }
};

/// A constant T: the word `const`, and the name of T.
template <class T>
struct wire_name_rule<const T> {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    out.put("const ");
    detail::write_wire_name<T>(out);
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept { return detail::is_portable<T>(); }
};

/// Arrays of the language.
template <class T, std::size_t N>
struct wire_name_rule<T[N]> {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    detail::write_wire_name<T>(out);
    out.put("[");
    detail::put_number(out, N);
    out.put("]");
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept { return detail::is_portable<T>(); }
};

/// Templates with types as arguments: containers, optional, variant, pair, the user's own.
template <template <class...> class C, class... Args>
struct wire_name_rule<C<Args...>> {
  using needed =
      typename detail::needed_arguments<C, C<Args...>, detail::type_pack<>,
                                        detail::type_pack<Args...>>::type;  ///< without defaults
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    detail::put_class_name<C<Args...>>(out);
    // "std::string" is the whole name already
    if constexpr (detail::has_arguments<C<Args...>>) {
      out.put("<");
      detail::put_types(out, needed{});
      out.put(">");
    }
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept {
    return detail::has_linker_name<C<Args...>>() && detail::are_portable(needed{});
  }
};

/// Templates with values as arguments: ratios, bit sets, the user's own.
template <template <auto...> class C, auto... Values>
  requires(sizeof...(Values) > 0)
struct wire_name_rule<C<Values...>> {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    detail::put_class_name<C<Values...>>(out);
    out.put("<");
    detail::separator<Out> next(out);
    ((next(), detail::put_value<Values>(out)), ...);
    out.put(">");
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept {
    return detail::has_linker_name<C<Values...>>();
  }
};

/// Templates with a type and values as arguments: std::array, a matrix of the user's.
template <template <class, auto...> class C, class T, auto... Values>
  requires(sizeof...(Values) > 0)
struct wire_name_rule<C<T, Values...>> {
  /// Appends the name to `out`.
  template <class Out>
  static constexpr void write(Out& out) {
    detail::put_class_name<C<T, Values...>>(out);
    out.put("<");
    detail::write_wire_name<T>(out);
    ((out.put(", "), detail::put_value<Values>(out)), ...);
    out.put(">");
  }
  /// Returns has_portable_wire_name of the type.
  [[nodiscard]] static bool is_portable() noexcept {
    return detail::has_linker_name<C<T, Values...>>() && detail::is_portable<T>();
  }
};

/// The name by which other processes know T; cv-qualifiers and references do not count. Two types
/// with one name (`long` and `long long` of the same width) are one type to other processes.
///
///     wire_name<std::uint16_t>;              // "u16"
///     wire_name<std::vector<shop::order>>;   // "std::vector<shop::order>"
template <class T>
inline constexpr std::string_view wire_name{detail::written_wire_name<std::remove_cvref_t<T>>.text,
                                            detail::written_wire_name<std::remove_cvref_t<T>>.size};

/// Returns true if every compiler would give T the same wire name, as far as this program can tell.
/// If clang compiled it, returns false for a local type, and for a type in an inline namespace,
/// which clang spells without the namespace and GCC with it. If GCC compiled it, does not notice an
/// inline namespace. Returns true where run-time type information is switched off. Call this before
/// you publish a type, and for the types of its fields.
template <class T>
[[nodiscard]] bool has_portable_wire_name() noexcept {
  return detail::is_portable<std::remove_cvref_t<T>>();
}

}  // namespace garrick::base
