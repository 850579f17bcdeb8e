// The identity of a stack on the wire: a number made of the names of its layers.
//
// Two ends with different layers cannot talk, and would notice that late or never, since one end
// would read the header of one layer as that of another. So each hello names the sender's layers in
// four bytes, which `session` compares.
//
// A layer's name is its `wire_name`, which its author chooses, because compilers differ in their
// names of a class. A layer without a name counts as well, so one layer more or less is always
// noticed.
//
// Thread safety: constants.
#pragma once

#include <cstdint>
#include <string_view>

namespace garrick::net {

/// Replaces the name of a layer that has none.
inline constexpr std::string_view unnamed_layer = "?";

/// Returns the name by which the other end knows layer `L`.
template <class L>
consteval std::string_view wire_name_of() {
  if constexpr (requires { L::wire_name; })
    return std::string_view(L::wire_name);
  else
    return unnamed_layer;
}

/// Returns the number of a stack with these layers, the top first: the hash FNV-1a of their names,
/// each with a zero behind it, 32 bits. It is the same with every compiler.
///
///     static_assert(fingerprint_of<ordering, session>() != fingerprint_of<session>());
template <class... Ls>
consteval std::uint32_t fingerprint_of() {
  std::uint32_t hash = 0x811c9dc5;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x01000193u; };
  const auto add_name = [&](std::string_view name) {
    for (const char c : name) add(static_cast<std::uint8_t>(c));
    add(0);
  };
  (add_name(wire_name_of<Ls>()), ...);
  return hash;
}

}  // namespace garrick::net
