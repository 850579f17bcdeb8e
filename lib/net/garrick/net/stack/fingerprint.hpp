// What tells one stack from another on the wire: a number that is made of the names of its layers.
//
// Two ends whose layers differ cannot talk, and would notice that late or never: what one of them
// writes as a header, the other takes for something else. So each says in its hello which layers it
// has, in four bytes, which `failure_detection` compares.
//
// A layer's name is its `wire_name`, which its author chooses: the name that a compiler makes of
// a class is another one with each compiler. A layer without a name counts as well, so that one
// layer more or less is noticed whatever it is.
//
// Thread safety: constants.
#pragma once

#include <cstdint>
#include <string_view>

namespace garrick::net {

/// Stands for the name of a layer that has none.
inline constexpr std::string_view unnamed_layer = "?";

/// The name by which layer `L` is known to the other end.
template <class L>
consteval std::string_view wire_name_of() {
  if constexpr (requires { L::wire_name; })
    return std::string_view(L::wire_name);
  else
    return unnamed_layer;
}

/// The number of a stack with these layers, the top first: the hash FNV-1a of their names, each
/// with a zero behind it, 32 bits. It is the same with every compiler.
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
