// Values as bytes and back, by looking into their types: what two processes know as the same type
// lies the same way on the wire, whatever compiler and machine made it. docs/wire.md has the rules
// byte by byte.
//
//   struct order { std::string what; int count; };
//   base::result<packet> p = encode(order{"tea", 2});
//   base::result<order> o = decode<order>(p->bytes());
//
// Types grow: fields that are appended to an aggregate read as their defaults from older data, and
// older programs skip them. So each aggregate carries the length of its fields. All else is fixed.
//
// Encoding is one pass and cannot fail but by size, depth, or a value that has no encoding (a
// variant without a value). Decoding believes nothing: it never allocates more than the bytes that
// are there account for, nor more than `decode_limits` allow, and is no deeper than these allow.
// A hash table may be attacked by keys that share a bucket: one that looks so is refused.
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

/// Appends `x`. Failures stay in `out`. Throws std::bad_alloc.
template <class T>
void encode_value(byte_writer& out, const T& x) {
  static_assert(detail::wire_report<T>::reported);
  if constexpr (encodable<T>) detail::coder<T>::encode(out, x);  // else that was the one error
}

/// Reads `x`, which has to be as default-made: where an aggregate's last fields are missing, those
/// of `x` stay. Failures stay in `in`, and then `x` is some value of its type. Throws
/// std::bad_alloc.
template <class T>
void decode_value(byte_reader& in, T& x) {
  static_assert(detail::wire_report<T>::reported);
  if constexpr (encodable<T>) detail::coder<T>::decode(in, x);
}

/// `x` as bytes, behind the room that the settings ask for. Errors: `not_encodable`, `too_large`.
/// Throws std::bad_alloc.
template <class T>
[[nodiscard]] base::result<packet> encode(const T& x, const writer_settings& s = {}) {
  static_assert(detail::wire_report<T>::reported);
  byte_writer out(s);
  if constexpr (encodable<T>) detail::coder<T>::encode(out, x);
  return std::move(out).finish();
}

/// What `encode` made of a T, or of one with more or fewer fields at the end. Error:
/// `decode_failed`, with a text that says where and why. Throws std::bad_alloc.
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
