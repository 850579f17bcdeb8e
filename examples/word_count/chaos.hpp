// Makes handlers and stages fail on purpose, and counts the calls of each role.
//
// Every handler and stage of every role calls `handling(role)` at its beginning and `midway(role)`
// between two changes of its state. With chaos on, either call may throw: the handler then fails
// with its work half done. Whether the n-th such call of a role throws depends only on the seed,
// the role and n; the scheduler decides which actor or replica makes the n-th call.
//
// Thread safety: any thread. It is the only object that the actors share, and their results do not
// depend on it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace word_count {

enum class role : std::uint8_t {
  foreman,
  walker,
  source,
  splitter,
  counter,
  ledger,
  keeper,
  ranker,
  display
};
inline constexpr std::array<std::string_view, 9> role_names{
    "foreman", "walker", "source", "splitter", "counter", "ledger", "keeper", "ranker", "display"};
inline constexpr std::size_t role_count = role_names.size();

/// The first words of every strike's text.
inline constexpr std::string_view strike_text = "chaos strikes";

/// The exception of chaos.
class chaos_strike : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class chaos {
 public:
  /// About one of `every` calls throws; 0: none does.
  chaos(std::uint64_t seed, std::uint32_t every) noexcept : seed_(seed), every_(every) {}

  /// Called at the beginning of a handler or a stage of this role. May throw chaos_strike.
  void handling(role r) {
    at(r).messages.fetch_add(1, std::memory_order_relaxed);  // order: a statistic
    midway(r);
  }
  /// Called in the middle of a handler. May throw chaos_strike.
  void midway(role r) {
    if (every_ != 0) [[unlikely]]
      maybe_strike(r);
  }

  /// Ends the strikes.
  void end() noexcept { over_.store(true, std::memory_order_relaxed); }  // order: a hint

  [[nodiscard]] std::uint64_t messages() const noexcept;
  [[nodiscard]] std::uint64_t messages(role r) const noexcept;
  [[nodiscard]] std::uint64_t strikes(role r) const noexcept;
  [[nodiscard]] std::uint64_t strikes() const noexcept;

 private:
  struct alignas(64) per_role {
    std::atomic<std::uint64_t> messages{0};
    std::atomic<std::uint64_t> places{0};
    std::atomic<std::uint64_t> strikes{0};
  };
  [[nodiscard]] per_role& at(role r) noexcept { return roles_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] const per_role& at(role r) const noexcept {
    return roles_[static_cast<std::size_t>(r)];
  }
  void maybe_strike(role r);

  const std::uint64_t seed_;
  const std::uint32_t every_;
  std::atomic<bool> over_{false};
  std::array<per_role, role_count> roles_;
};

}  // namespace word_count
