// The errors of a stencil's neighbourhood (neighbourhood.hpp).
#include <garrick/patterns/neighbourhood.hpp>

#include <stdexcept>
#include <string>

namespace garrick::patterns::detail {

void throw_beyond_radius(std::ptrdiff_t dx, std::ptrdiff_t dy, std::size_t radius) {
  std::string where = std::to_string(dx);
  if (dy != 0) where += ", " + std::to_string(dy);
  throw std::out_of_range("garrick: a neighbour at " + where + " is beyond the radius, which is " +
                          std::to_string(radius));
}

}  // namespace garrick::patterns::detail
