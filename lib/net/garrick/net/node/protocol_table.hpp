// The functions that turn a protocol's messages into bytes and into envelopes: one constant table
// for each protocol that is published, looked up, or part of a handle in a message.
//
// Types need no registration. A program that names a protocol instantiates its table, and the table
// has the functions that write and read each message and each answer.
//
// Thread safety: constants, made at the first call.
#pragma once

#include <garrick/base/types/message_type.hpp>
#include <garrick/base/types/wire_name.hpp>
#include <garrick/core/protocol/protocol.hpp>
#include <garrick/core/protocol/wire_name.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/schema.hpp>
#include <garrick/net/wire/type_id.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::net {

/// The functions that write and read one content type.
struct content_codec {
  std::uint64_t type;                ///< the type's number on the wire
  const base::message_type* content; /**< the type's identity in envelopes */
  /// Appends a value; failures stay in the writer. Throws std::bad_alloc.
  void (*write)(byte_writer& out, const void* value);
  /// Returns an envelope with a value; null if the bytes are no such value, with the reason in the
  /// reader. Passes on exceptions of the type's constructors.
  core::envelope* (*read)(byte_reader& in);
};

/// A message and its answer.
struct signature_codec {
  content_codec message;  ///< for the message
  content_codec answer;   ///< for its answer
};

/// The messages of a protocol.
class protocol_table {
 public:
  /// For the framework: makes the table of these signatures, whose schema is `described`.
  protocol_table(std::vector<signature_codec> all, base::result<schema> described);

  /// Returns the signature with a message of this number, or null.
  [[nodiscard]] const signature_codec* by_type(std::uint64_t type) const noexcept;
  /// Returns the signature of this content, or null.
  [[nodiscard]] const signature_codec* by_content(const base::message_type* m) const noexcept;
  /// Returns all signatures, in the order of their messages' numbers.
  [[nodiscard]] std::span<const signature_codec> all() const noexcept { return by_type_; }
  /// Returns the content of an answer that has this number, or null. Looks at all signatures.
  [[nodiscard]] const content_codec* answer_by_type(std::uint64_t type) const noexcept;
  /// Returns the protocol as other nodes see it. Errors: those of `schema_builder::finish`.
  [[nodiscard]] const base::result<schema>& described() const noexcept { return described_; }

 private:
  std::vector<signature_codec> by_type_;  // in the order of the numbers
  /// In the order of the addresses, with places in by_type_.
  std::vector<std::pair<const base::message_type*, std::size_t>> by_content_;
  base::result<schema> described_;
};

namespace detail {

template <class T>
void write_content(byte_writer& out, const void* value) {
  encode_value(out, *static_cast<const T*>(value));
}
template <class T>
core::envelope* read_content(byte_reader& in) {
  T value{};
  decode_value(in, value);
  in.expect_end();
  if (in.failed()) return nullptr;
  return core::detail::make_envelope<T>(std::move(value));
}

template <class T>
content_codec codec_of_content() {
  return {type_id<T>, &base::message_type_of<T>, &write_content<T>, &read_content<T>};
}

template <class Sig>
using message_in = typename core::detail::signature<Sig>::content;
template <class Sig>
using answer_in = typename core::detail::signature<Sig>::answer::content;

template <class Sig>
void add_signature(std::vector<signature_codec>& all, schema_builder& s) {
  using message = message_in<Sig>;
  using answer = answer_in<Sig>;
  all.push_back({codec_of_content<message>(), codec_of_content<answer>()});
  const std::uint32_t place = s.add<message>();
  s.sign(base::wire_name<message>, place, {s.add<answer>()});
}

template <class P>
struct table_maker {
  static_assert(!std::is_same_v<P, P>,
                "garrick: this is no protocol<...>: name the actor's protocol, as in "
                "remote<calculator> of `using calculator = protocol<...>`, and not its class");
  static protocol_table make();
};
template <class... Sigs>
struct table_maker<core::protocol<Sigs...>> {
  static protocol_table make() {
    std::vector<signature_codec> all;
    all.reserve(sizeof...(Sigs));
    schema_builder s;
    // No fold expression: protocols may be long, and compilers nest such expressions.
    constexpr bool encodes[] = {true, encodable<message_in<Sigs>>...,
                                encodable<answer_in<Sigs>>...};
    if constexpr (std::find(std::begin(encodes), std::end(encodes), false) == std::end(encodes)) {
      const int in_order[] = {0, (add_signature<Sigs>(all, s), 0)...};
      static_cast<void>(in_order);
    } else {  // reported here, once, and not again for each part
      const bool told[] = {wire_report<message_in<Sigs>, Sigs>::reported...,
                           wire_report<answer_in<Sigs>, Sigs>::reported...};
      static_cast<void>(told);
    }
    return {std::move(all), std::move(s).finish()};
  }
};
template <>
struct table_maker<core::any_protocol> {
  static protocol_table make() { return {{}, schema()}; }
};

}  // namespace detail

/// Returns the table of P. Does not compile if a message or an answer cannot be encoded. Throws
/// std::bad_alloc at the first call.
template <class P>
[[nodiscard]] const protocol_table& protocol_table_of() {
  static const protocol_table made = detail::table_maker<P>::make();
  return made;
}

}  // namespace garrick::net

/// Leaves the table of this protocol to another file of the program. Otherwise each file that
/// publishes or looks up the protocol compiles the functions of its messages. Belongs in the
/// protocol's header, after the protocol and outside of namespaces. Requires
/// `GARRICK_PROTOCOL_TABLE_HERE` in one file; without it the program does not link. Costs nothing
/// at run time.
///
///     GARRICK_PROTOCOL_TABLE_ELSEWHERE(shop::counter_type);   // in shop.hpp
///     GARRICK_PROTOCOL_TABLE_HERE(shop::counter_type);        // in shop.cpp
#define GARRICK_PROTOCOL_TABLE_ELSEWHERE(...)           \
  extern template const ::garrick::net::protocol_table& \
  garrick::net::protocol_table_of<__VA_ARGS__>()
/// Compiles the table of this protocol in this file, for all files that leave it to another one.
/// Belongs outside of namespaces. Does not compile if a message or an answer cannot be encoded.
#define GARRICK_PROTOCOL_TABLE_HERE(...) \
  template const ::garrick::net::protocol_table& garrick::net::protocol_table_of<__VA_ARGS__>()
