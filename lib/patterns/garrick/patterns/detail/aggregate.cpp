#include <garrick/patterns/detail/aggregate.hpp>

#include <numeric>
#include <stdexcept>
#include <string>

namespace garrick::patterns::detail {

void window_counts::no_room() const {
  throw std::length_error("garrick: window: " + std::to_string(most_) +
                          " pieces of windows are open, as many as at_most() allows");
}

cut_times::cut_times(std::int64_t length_of_windows, std::int64_t slide_of_windows) noexcept
    : length(length_of_windows),
      slide(slide_of_windows),
      pane(std::gcd(length_of_windows, slide_of_windows)) {}

}  // namespace garrick::patterns::detail
