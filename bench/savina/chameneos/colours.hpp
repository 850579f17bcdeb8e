// The colours of workload `savina_chameneos`.
#pragma once

#include <cstdint>

namespace bench::savina {

enum class colour : std::uint8_t { yellow, blue, red };

/// The colour of a creature after a meeting: the third one, or its own if both have the same.
constexpr colour complement(colour own, colour other) {
  if (own == other) return own;
  return static_cast<colour>(3 - static_cast<int>(own) - static_cast<int>(other));
}
static_assert(complement(colour::red, colour::yellow) == colour::blue &&
              complement(colour::blue, colour::red) == colour::yellow);

constexpr colour first_colour(std::uint64_t creature) { return static_cast<colour>(creature % 3); }

}  // namespace bench::savina
