// Counts of messages, with the sums of their bytes.
//
// Private: installed because `redelivery` has such members.
//
// Thread safety: values.
#pragma once

#include <algorithm>
#include <cstdint>

namespace garrick::net::detail {

/// Messages and their bytes.
struct message_amount {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const message_amount&, const message_amount&) = default;
};

/// Returns the sum of both.
[[nodiscard]] constexpr message_amount sum_of(const message_amount& a,
                                              const message_amount& b) noexcept {
  return {a.messages + b.messages, a.bytes + b.bytes};
}
/// Returns the smaller number of messages and the smaller number of bytes.
[[nodiscard]] constexpr message_amount smaller(const message_amount& a,
                                               const message_amount& b) noexcept {
  return {std::min(a.messages, b.messages), std::min(a.bytes, b.bytes)};
}
/// Adds a message of `size` bytes.
constexpr void add(message_amount& to, std::uint64_t size) noexcept {
  ++to.messages;
  to.bytes += size;
}
/// Subtracts a message of `size` bytes.
constexpr void take(message_amount& from, std::uint64_t size) noexcept {
  --from.messages;
  from.bytes -= size;
}

}  // namespace garrick::net::detail
