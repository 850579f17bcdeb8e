// A message of bytes that calls the test while it is encoded.
#pragma once

#include <garrick/net/wire/codec.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace garrick::tests {

struct noted {
  using garrick_sendable = void;
  std::vector<std::uint8_t> bytes;
};
/// Called whenever a `noted` is encoded. A test sets it, and empties it at its end.
inline std::function<void()> at_encoding;

}  // namespace garrick::tests

template <>
struct garrick::net::codec<garrick::tests::noted> {
  static void encode(byte_writer& out, const garrick::tests::noted& x) {
    if (const auto what = garrick::tests::at_encoding) what();
    encode_value(out, x.bytes);
  }
  static void decode(byte_reader& in, garrick::tests::noted& x) { decode_value(in, x.bytes); }
};
