#include <garrick/patterns/detail/dense_map.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace garrick::patterns::detail {

namespace {

constexpr std::size_t largest_kept = 8192;

}  // namespace

void throw_key_is_not_itself() {
  throw std::invalid_argument(
      "garrick: a key is not equal to itself, as NaN is: nothing could be found by it");
}

void dense_index::widen(std::size_t n) {
  if (n >= std::numeric_limits<std::uint32_t>::max() / 2)
    throw std::length_error("garrick: a window has more keys than can be counted");
  std::vector<std::uint32_t> wider(slots_.empty() ? 8 : 2 * slots_.size());
  slots_.swap(wider);
  bits_ = static_cast<unsigned>(std::countr_zero(slots_.size()));
}

bool dense_index::clear_index() noexcept {
  if (slots_.size() > largest_kept) {
    slots_ = std::vector<std::uint32_t>();  // `= {}` would keep the memory
    return false;
  }
  std::fill(slots_.begin(), slots_.end(), 0);
  return true;
}

}  // namespace garrick::patterns::detail
