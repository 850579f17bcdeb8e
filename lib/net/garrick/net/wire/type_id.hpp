// The number by which a message's type is known on the wire: 64 bits made from its wire name.
//
// A number that each end assigns to a type at its first use would be shorter. But the message that
// tells the assignment may be lost or late in an unreliable stack, a session that outlives its
// connection would have to remember the assignment, and a relaying node would have to translate the
// number. The bits of the name mean the same everywhere and always.
//
// Two names may have one number. The publication of types detects that (`schema_table`), and a
// receiver looks a number up among the types that it has published: received bytes can choose no
// other type.
//
// Thread safety: constants.
#pragma once

#include <cstdint>
#include <string_view>

#include "garrick/base/types/wire_name.hpp"

namespace garrick::net {

/// Returns the number of the type with this wire name: the hash FNV-1a of its characters, 64 bits.
[[nodiscard]] constexpr std::uint64_t type_id_of(std::string_view wire_name) noexcept {
  std::uint64_t x = 0xcbf29ce484222325u;
  for (const char c : wire_name) x = (x ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return x;
}

/// The number of T.
///
///     out.type = type_id<shop::order>;
template <class T>
inline constexpr std::uint64_t type_id = type_id_of(base::wire_name<T>);

}  // namespace garrick::net
