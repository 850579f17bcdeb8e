#include "garrick/net/layer/duplicate_suppression.hpp"

#include <utility>

#include "garrick/net/little_endian.hpp"

namespace garrick::net {

void duplicate_suppression::send(outgoing&& m, layer_context& c) {
  store_le(m.bytes.prepend(header_size), next_++);
  c.down(std::move(m));
}

void duplicate_suppression::mark(std::uint32_t number, bool seen) noexcept {
  std::uint64_t& word = seen_[number / 64 % seen_.size()];
  const std::uint64_t bit = std::uint64_t{1} << number % 64;
  word = seen ? word | bit : word & ~bit;
}

bool duplicate_suppression::is_new(std::uint32_t number) noexcept {
  const auto ahead = static_cast<std::int32_t>(number - newest_);
  if (ahead > 0) {
    if (ahead >= static_cast<std::int32_t>(remembered))
      seen_ = {};
    else
      for (std::uint32_t skipped = newest_ + 1; skipped != number; ++skipped) mark(skipped, false);
    newest_ = number;
  } else if (ahead <= -static_cast<std::int32_t>(remembered)) {
    return ++counters_.too_old, false;
  } else if (marked(number)) {
    return ++counters_.duplicates, false;
  }
  mark(number, true);
  return true;
}

void duplicate_suppression::receive(const incoming& m, layer_context& c) {
  if (m.bytes.size() < header_size) {
    ++counters_.malformed;
    return;
  }
  if (!is_new(load_le<std::uint32_t>(m.bytes.data()))) return;
  static_cast<void>(c.up(m.with(m.bytes.subspan(header_size))));
}

}  // namespace garrick::net
