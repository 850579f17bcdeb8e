#include <garrick/patterns/detail/window_kinds.hpp>

#include <numeric>
#include <stdexcept>

namespace garrick::patterns::detail {

void check_slide_as(std::int64_t length, std::int64_t slide, std::string (*text)(std::int64_t n)) {
  constexpr std::int64_t most_panes = 100'000;
  if (slide <= 0 || slide > length)
    throw std::invalid_argument("garrick: window: the slide is " + text(slide) +
                                "; above zero, and at most the length, which is " + text(length));
  if (length / std::gcd(length, slide) > most_panes)
    throw std::invalid_argument("garrick: window: a length of " + text(length) +
                                " and a slide of " + text(slide) +
                                " cut a window into more than 100000 pieces");
}

// ---- options

window_options::window_options() = default;
window_options::window_options(const window_options& o) = default;
window_options& window_options::operator=(const window_options& o) = default;
window_options::~window_options() = default;

}  // namespace garrick::patterns::detail
