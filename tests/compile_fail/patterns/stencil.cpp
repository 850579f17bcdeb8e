// each: signature takes made state captures copied container lists rule pointer
// expect: garrick:
// expect: names its types|several threads call this function at once|a stage owns its parts|has every element twice|lie side by side|beyond the edges of a stencil|a tuple owns all it refers to
// The requirements on a stencil's function, its container and the rule for its edges.
#include <garrick/patterns/patterns.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

using namespace garrick;
using namespace garrick::patterns;

int same(const neighbourhood<int>& n) { return n[0]; }
int left(const grid_neighbourhood<int>& n) { return n(-1, 0); }

struct only_moves {
  std::unique_ptr<int> what;
};

void test() {
#ifdef GARRICK_WITHOUT_signature
  static_cast<void>(stencil([](const auto& n) { return n[0]; }, 1, 1));
#elif defined(GARRICK_WITHOUT_takes)
  static_cast<void>(stencil([](const int& x) { return x; }, 1, 1).dynamic(2));
#elif defined(GARRICK_WITHOUT_made)
  static_cast<void>(stencil([](const neighbourhood<int>& n) { return n[0] / 2.0; }, 1, 1));
#elif defined(GARRICK_WITHOUT_state)
  static_cast<void>(stencil(
      patterns::bind([](int& all, const neighbourhood<int>& n) { return all += n[0]; }, 0), 1, 1));
#elif defined(GARRICK_WITHOUT_captures)
  int factor = 0;
  static_cast<void>(
      stencil([&factor](const neighbourhood<int>& n) { return factor * n[0]; }, 1, 1));
#elif defined(GARRICK_WITHOUT_copied)
  static_cast<void>(stencil([](const neighbourhood<only_moves>&) { return only_moves(); }, 1, 1));
#elif defined(GARRICK_WITHOUT_container)
  static_cast<void>(stencil<std::deque<int>>(same, 1, 1));
#elif defined(GARRICK_WITHOUT_lists)
  static_cast<void>(stencil<std::vector<int>>(left, 1, 1));
#elif defined(GARRICK_WITHOUT_rule)
  static_cast<void>(stencil(same, 1, 1, edges::constant(std::string("none"))).own_threads());
#elif defined(GARRICK_WITHOUT_pointer)
  static_cast<void>(stencil([](const neighbourhood<int*>& n) { return n[0]; }, 1, 1));
#else
  static_cast<void>(stencil(same, 1, 1, edges::constant(short{7})));
  static_cast<void>(stencil(left, 1, 1, edges::wrap));
  static_cast<void>(stencil(
      patterns::bind([](const int& f, const neighbourhood<int>& n) { return f * n[0]; }, 2), 1, 1));
  static_cast<void>(stencil<std::vector<int>>(same, 1, 1));
#endif
}
