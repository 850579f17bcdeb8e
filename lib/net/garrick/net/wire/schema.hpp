// The form of a type on the wire, as a value that can be sent: two programs that were built from
// different sources compare their types before they talk.
//
// A schema is a list of types that refer to each other by their places, so a type may contain
// itself, and a list of signatures: each has a message and the types of its answer. It is an
// ordinary aggregate, so the codec sends it, and it may grow.
//
// Two schemas of a type are compatible if every aggregate's fields here are the first fields of the
// same aggregate there, or the other way round, and all else is the same.
//
// Invariants of a schema that was built, or checked:
//   S1  Every place that is named exists.
//   S2  No two of its types have one name, so the other schema bounds the steps of a comparison,
//       however this one was forged.
//   S3  A type has as many parts as its kind needs (docs/wire.md).
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "garrick/base/types/wire_name.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/base/values/result.hpp"
#include "garrick/net/wire/codec.hpp"
#include "garrick/net/wire/encodable.hpp"
#include "garrick/net/wire/type_id.hpp"

namespace garrick::net {

/// The kinds of types.
enum class schema_kind : std::uint8_t {
  number,       ///< named by its width: `i32`
  enumeration,  ///< one part: the number
  opaque,       ///< a class with a codec, which names the parts
  aggregate,    ///< the parts are its fields
  sequence,     ///< one part
  set,          ///< one part
  map,          ///< two parts: key and value
  array,        ///< one part, `extent` times
  product,      ///< a pair or tuple
  optional,     ///< one part; an owning pointer, too
  variant,      ///< the parts are its alternatives
};

/// A type of a schema.
struct schema_type {
  schema_kind what = schema_kind::number;  ///< the kind
  std::string name;                        ///< a name if it is of the first four kinds
  std::uint64_t extent = 0;                ///< the elements of an array; else 0
  std::vector<std::uint32_t> parts;        ///< places of types

  [[nodiscard]] bool operator==(const schema_type&) const = default;
};

/// A message and the types of its answer.
struct schema_signature {
  std::string name;                   ///< the wire name of the message
  std::uint32_t message = 0;          ///< the place of the message's type
  std::vector<std::uint32_t> answer;  ///< the places of the answer's types

  [[nodiscard]] bool operator==(const schema_signature&) const = default;
};

/// A protocol, or the description of a type.
struct schema {
  std::vector<schema_type> types;            ///< in no particular order
  std::vector<schema_signature> signatures;  ///< a type's description has one, without an answer

  [[nodiscard]] bool operator==(const schema&) const = default;
};

/// Limits of another process's schema.
struct schema_limits {
  std::size_t types = 4096;      ///< types in one schema
  std::size_t signatures = 512;  ///< signatures in one schema
};

/// Checks a schema from another process. Returns `decode_failed` with a text, or no error.
[[nodiscard]] base::error check(const schema& s, const schema_limits& limits = {});

/// Decodes and checks the bytes that `encode` made of a schema. Returns the schema. Errors:
/// `decode_failed`. Throws std::bad_alloc.
[[nodiscard]] base::result<schema> decode_schema(std::span<const std::byte> bytes,
                                                 const schema_limits& limits = {});

/// Compares an expected protocol with an offered one. Returns no error if each expected signature
/// is offered under its name with a compatible message and answer; otherwise `incompatible`, with
/// the path to the first difference. Requires that both are checked.
[[nodiscard]] base::error supports(const schema& expected, const schema& offered);

namespace detail {

template <class T>
inline constexpr char schema_tag = 0;

template <class T>
consteval schema_kind kind_of() {
  switch (shape_of<T>()) {
    case wire_shape::enumeration: return schema_kind::enumeration;
    case wire_shape::opaque:
    case wire_shape::duration: return schema_kind::opaque;  // the unit is in its name
    case wire_shape::aggregate: return schema_kind::aggregate;
    case wire_shape::sequence: return schema_kind::sequence;
    case wire_shape::set: return schema_kind::set;
    case wire_shape::map: return schema_kind::map;
    case wire_shape::array: return schema_kind::array;
    case wire_shape::product: return schema_kind::product;
    case wire_shape::optional:
    case wire_shape::pointer: return schema_kind::optional;
    case wire_shape::variant: return schema_kind::variant;
    default: return schema_kind::number;
  }
}
[[nodiscard]] constexpr bool has_name(schema_kind k) noexcept {
  return k <= schema_kind::aggregate;
}

}  // namespace detail

/// Puts a schema together from types.
///
///     schema_builder b;
///     const auto order = b.add<shop::order>();
///     b.sign(base::wire_name<shop::order>, order, {b.add<int>()});
///     base::result<schema> s = std::move(b).finish();
class schema_builder {
 public:
  /// Adds T and the types inside it, each once; returns its place.
  template <class T>
  std::uint32_t add() {
    if constexpr (encodable<T>) {
      constexpr schema_kind kind = detail::kind_of<T>();
      type_begin opened{&detail::schema_tag<T>, kind, {}, 0, true};
      if constexpr (detail::has_name(kind)) {
        opened.name = base::wire_name<T>;
        opened.portable = base::has_portable_wire_name<T>();
      }
      if constexpr (kind == schema_kind::array) opened.extent = detail::array_extent<T>;
      const auto [place, is_new] = begin(opened);
      if (is_new) add_parts(place, detail::parts_of<T>{});
      return place;
    } else {  // reported once, and not for each part again
      return detail::wire_report<T>::reported;
    }
  }
  /// Adds a signature. Requires places that `add` has returned.
  void sign(std::string_view name, std::uint32_t message, std::vector<std::uint32_t> answer = {});
  /// Returns the schema. Errors: `not_encodable` if other programs cannot spell a type's name
  /// (local types, inline namespaces), `incompatible` if two types that differ have one name.
  [[nodiscard]] base::result<schema> finish() &&;

 private:
  struct type_begin {
    const char* tag;
    schema_kind kind;
    std::string_view name;
    std::uint64_t extent;
    bool portable;
  };
  std::pair<std::uint32_t, bool> begin(const type_begin& t);
  void part(std::uint32_t of, std::uint32_t is);

  template <class... Ts>
  void add_parts([[maybe_unused]] std::uint32_t of, base::type_list<Ts...>) {
    (part(of, add<Ts>()), ...);
  }

  schema made_;
  std::map<const char*, std::uint32_t> places_;
  std::string unsayable_;  ///< the first name that is not portable
};

/// Returns the description of T, made at the first call. Errors: those of
/// `schema_builder::finish`.
template <class T>
[[nodiscard]] const base::result<schema>& schema_of() {
  static const base::result<schema> made = [] {
    schema_builder b;
    const std::uint32_t place = b.add<T>();
    b.sign(base::wire_name<T>, place);
    return std::move(b).finish();
  }();
  return made;
}

/// The types that a program has published. Two different types may share neither a name nor a
/// number.
class schema_table {
 public:
  /// Adds the types and signatures of `s`. Returns `incompatible` if one of them contradicts an
  /// earlier one, and then adds nothing. Requires that `s` is checked.
  [[nodiscard]] base::error add(const schema& s);
  /// Returns the wire name of the message with this number; empty if there is none.
  [[nodiscard]] std::string_view name_of(std::uint64_t type_id) const noexcept;

 private:
  struct place {
    std::size_t schema;
    std::uint32_t type;
  };
  std::vector<schema> all_;
  std::map<std::string, place, std::less<>> names_;
  std::map<std::uint64_t, std::string> messages_;
};

}  // namespace garrick::net
