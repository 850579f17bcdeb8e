// A protocol at run time: its messages with their answers, for handles that are stored under a
// name.
//
// As everywhere, types are compared by the addresses of their descriptors
// (base/types/message_type.hpp), not by name.
//
// Thread safety: constants.
#pragma once

#include <garrick/base/types/message_type.hpp>
#include <garrick/core/protocol/protocol.hpp>

#include <array>
#include <cstddef>

namespace garrick::system {

/// A signature: `answer(content)`.
struct signature_id {
  const base::message_type* content;  ///< the type of the message
  const base::message_type* answer;   ///< the type of the answer; the descriptor of `unit` for void
  friend bool operator==(const signature_id&, const signature_id&) = default;
};

/// The set of a protocol's signatures; the wildcard has none.
struct protocol_set {
  const signature_id* first = nullptr;  ///< of an array with static storage duration
  std::size_t count = 0;                ///< its length
  bool wildcard = false;  ///< the protocol of any_ref: any message, checked when it is handled

  /// Returns true if the signature is in the set. Looks at each.
  [[nodiscard]] bool has(const signature_id& s) const noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (first[i] == s) return true;
    return false;
  }
  /// Returns true if a handle with this protocol may be used where `wanted` is asked for.
  [[nodiscard]] bool covers(const protocol_set& wanted) const noexcept {
    if (wanted.wildcard) return true;
    if (wildcard) return false;
    return first_missing(wanted) == nullptr;
  }
  /// Returns the first signature of `wanted` that is not in the set; null if all are. Neither set
  /// may be the wildcard.
  [[nodiscard]] const signature_id* first_missing(const protocol_set& wanted) const noexcept {
    for (std::size_t i = 0; i < wanted.count; ++i)
      if (!has(wanted.first[i])) return &wanted.first[i];
    return nullptr;
  }
};

namespace detail {

template <class P>
struct protocol_table;
template <class... Sigs>
struct protocol_table<core::protocol<Sigs...>> {
  // One element more than needed: an empty protocol has no signatures, but an array needs an
  // element.
  static constexpr std::array<signature_id, sizeof...(Sigs) + 1> ids{signature_id{
      &base::message_type_of<typename core::detail::signature<Sigs>::content>,
      &base::message_type_of<typename core::detail::signature<Sigs>::answer::content>}...};
  static protocol_set set() noexcept { return {ids.data(), sizeof...(Sigs), false}; }
};
template <>
struct protocol_table<core::any_protocol> {
  static protocol_set set() noexcept { return {nullptr, 0, true}; }
};

}  // namespace detail

/// Returns the set of P, a protocol or `any_protocol`. Allocates nothing.
///
///     const bool fits = protocol_set_of<account>().covers(protocol_set_of<reader>());
template <class P>
[[nodiscard]] protocol_set protocol_set_of() noexcept {
  return detail::protocol_table<P>::set();
}

}  // namespace garrick::system
