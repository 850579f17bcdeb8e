#include "garrick/gpu/range.hpp"

#include <limits>

namespace garrick::gpu {
namespace {

std::string text_of(const nd_range::extent& e, unsigned dimensions) {
  std::string s;
  for (unsigned d = 0; d < dimensions; ++d) {
    if (d != 0) s += " x ";
    s += std::to_string(e[d]);
  }
  return s;
}

/// Returns true if a sum or product of the range's numbers overflows.
bool overflows(const nd_range& r) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t product = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (r.global()[d] > most - r.offset()[d]) return true;
    const std::size_t end = r.global()[d] + r.offset()[d];
    if (end != 0 && product > most / end) return true;
    product *= end;
  }
  return false;
}

}  // namespace

std::string nd_range::trouble(std::size_t most_group_items) const {
  if (dimensions_ == 0) return "per_element() needs a container among the arguments";
  if (overflows(*this)) return "its items are more than a number can count";
  for (unsigned d = 0; d < 3; ++d) {
    if (global_[d] == 0) return "it has no items";
    if (d >= dimensions_ && offset_[d] != 0) return "its offset has more dimensions than it has";
    if (!has_groups()) continue;
    if (local_[d] == 0) return "its groups have no items";
    if (d >= dimensions_ && local_[d] != 1) return "its groups have more dimensions than it has";
    if (global_[d] % local_[d] != 0)
      return "its groups of " + text_of(local_, dimensions_) + " do not divide it";
  }
  if (!has_groups()) return {};
  std::size_t room = most_group_items;
  for (const std::size_t n : local_) room /= n;
  if (room == 0)
    return "its groups of " + text_of(local_, dimensions_) + " are more than the " +
           std::to_string(most_group_items) + " items that the device can run together";
  return {};
}

std::string nd_range::to_string() const {
  if (dimensions_ == 0) return "one for each element";
  std::string s = text_of(global_, dimensions_);
  if (has_groups()) s += " in groups of " + text_of(local_, dimensions_);
  if (offset_ != extent{}) s += " from " + text_of(offset_, dimensions_);
  return s;
}

}  // namespace garrick::gpu
