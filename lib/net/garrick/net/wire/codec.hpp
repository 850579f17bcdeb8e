// Encodes values as bytes and decodes them, by reflection on their types: the same type has the
// same bytes in two processes, for every compiler and machine. docs/wire.md has the rules byte by
// byte.
//
//   struct order { std::string what; int count; };
//   base::result<packet> p = encode(order{"tea", 2});
//   base::result<order> o = decode<order>(p->bytes());
//
// Types grow: fields that are appended to an aggregate read as their defaults from older data, and
// older programs skip them. For this purpose each aggregate carries the length of its fields. No
// other type can grow.
//
// Encoding is one pass. It can fail only by size, by depth, by a variant without a value, or in the
// codec of a class. Decoding trusts no byte: it allocates at most in proportion to the bytes
// present, and `decode_limits` limit the memory and the depth. A hash table is refused if its keys
// seem chosen to share a bucket.
//
// Thread safety: plain functions.
#pragma once

#include <span>
#include <utility>

#include "garrick/base/values/result.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/wire/byte_reader.hpp"
#include "garrick/net/wire/byte_writer.hpp"
#include "garrick/net/wire/detail/coders.hpp"
#include "garrick/net/wire/encodable.hpp"
#include "garrick/net/wire/known_codecs.hpp"

namespace garrick::net {

/// Appends `x`. Records a failure in `out`. Throws std::bad_alloc.
template <class T>
void encode_value(byte_writer& out, const T& x) {
  static_assert(detail::wire_report<T>::reported);
  if constexpr (encodable<T>) detail::coder<T>::encode(out, x);  // else the report suffices
}

/// Reads `x`, which must be as default-made: fields that are missing at the end of an aggregate
/// keep their values. Records a failure in `in`; then `x` is some value of its type. Throws
/// std::bad_alloc.
template <class T>
void decode_value(byte_reader& in, T& x) {
  static_assert(detail::wire_report<T>::reported);
  if constexpr (encodable<T>) detail::coder<T>::decode(in, x);
}

/// Encodes `x`. Returns its bytes, with the room in front that the settings demand. Errors:
/// `not_encodable`, `too_large`. Throws std::bad_alloc.
template <class T>
[[nodiscard]] base::result<packet> encode(const T& x, const writer_settings& s = {}) {
  static_assert(detail::wire_report<T>::reported);
  byte_writer out(s);
  if constexpr (encodable<T>) detail::coder<T>::encode(out, x);
  return std::move(out).finish();
}

/// Returns the value of the bytes that `encode` made of a T, or of a T with more or fewer fields at
/// the end. Errors: `decode_failed`, with a text that names place and reason. Throws
/// std::bad_alloc.
template <class T>
[[nodiscard]] base::result<T> decode(std::span<const std::byte> bytes,
                                     const decode_limits& limits = {}, codec_context context = {}) {
  static_assert(detail::wire_report<T>::reported);
  byte_reader in(bytes, limits, context);
  base::result<T> x;
  if constexpr (encodable<T>) detail::coder<T>::decode(in, *x);
  in.expect_end();
  if (in.failed()) [[unlikely]]
    return in.failure();
  return x;
}

}  // namespace garrick::net
