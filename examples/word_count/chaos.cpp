#include "chaos.hpp"

#include <string>

namespace word_count {

namespace {

// The first strikes of a role come early, so that a role with few messages is struck, too.
constexpr std::uint64_t early_strikes = 2;
constexpr std::uint32_t early_every = 3;

std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

void chaos::maybe_strike(role r) {
  per_role& me = at(r);
  if (over_.load(std::memory_order_relaxed)) return;  // order: a hint
  // order: any numbering of the places is valid
  const std::uint64_t n = me.places.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t so_far = me.strikes.load(std::memory_order_relaxed);  // order: a statistic
  const std::uint32_t every = so_far < early_strikes && every_ > early_every ? early_every : every_;
  if (mixed(seed_ + mixed((std::uint64_t{static_cast<std::uint8_t>(r)} << 56) + n + 1)) % every !=
      0)
    return;
  // order: a statistic
  const std::uint64_t strike = me.strikes.fetch_add(1, std::memory_order_relaxed) + 1;
  throw chaos_strike(std::string(strike_text) + " a " +
                     std::string(role_names[static_cast<std::size_t>(r)]) + " for the " +
                     std::to_string(strike) + ". time");
}

std::uint64_t chaos::messages(role r) const noexcept {
  return at(r).messages.load(std::memory_order_relaxed);  // order: a statistic
}
std::uint64_t chaos::strikes(role r) const noexcept {
  return at(r).strikes.load(std::memory_order_relaxed);  // order: a statistic
}

std::uint64_t chaos::messages() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < role_count; ++i) sum += messages(static_cast<role>(i));
  return sum;
}
std::uint64_t chaos::strikes() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < role_count; ++i) sum += strikes(static_cast<role>(i));
  return sum;
}

}  // namespace word_count
