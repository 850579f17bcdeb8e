#include "garrick/net/layer/reliability/packet_parts.hpp"

#include <algorithm>
#include <utility>

namespace garrick::net {

packet_parts::partial* packet_parts::room_for(sequence_number s, std::size_t size) {
  const auto found = std::find_if(partial_.begin(), partial_.end(),
                                  [&](const partial& p) { return p.number == s; });
  if (found != partial_.end()) return found->bytes.size() == size ? &*found : nullptr;
  partial fresh{s, size, std::vector<std::byte>(size), std::vector<bool>(size)};
  if (partial_.size() < most) {
    partial_.push_back(std::move(fresh));
    return &partial_.back();
  }
  const auto farthest = std::max_element(
      partial_.begin(), partial_.end(),
      [](const partial& a, const partial& b) { return sequence_distance(a.number, b.number) > 0; });
  if (sequence_distance(s, farthest->number) <= 0) return nullptr;
  *farthest = std::move(fresh);
  return &*farthest;
}

std::optional<std::vector<std::byte>> packet_parts::add(sequence_number s, packet_part where,
                                                        std::span<const std::byte> part) {
  if (part.empty() || std::size_t{where.offset} + part.size() > where.size) return {};
  partial* const p = room_for(s, where.size);
  if (p == nullptr) return {};
  const auto first = static_cast<std::ptrdiff_t>(where.offset);
  const auto end = first + static_cast<std::ptrdiff_t>(part.size());
  p->missing -=
      static_cast<std::size_t>(std::count(p->come.begin() + first, p->come.begin() + end, false));
  std::fill(p->come.begin() + first, p->come.begin() + end, true);
  std::copy(part.begin(), part.end(), p->bytes.begin() + first);
  if (p->missing != 0) return {};
  std::vector<std::byte> whole = std::move(p->bytes);
  forget(s);
  return whole;
}

void packet_parts::forget(sequence_number s) noexcept {
  std::erase_if(partial_, [&](const partial& p) { return p.number == s; });
}

}  // namespace garrick::net
