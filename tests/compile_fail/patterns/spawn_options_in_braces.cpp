// max-lines: clang 16: it complains of each argument that an ellipsis takes
// expect: garrick: in braces stand members of stream_options|Garrick = detail::options_in_braces_have_no_such_member
// Options in braces before the pattern, with a member that they do not have.
#include <garrick/patterns/patterns.hpp>

using namespace garrick;
using namespace garrick::patterns;

void drop(int) {}

void test(actor_system& system) {
  const auto stream = pipeline(counting(0, 9), drop);
#ifdef GARRICK_CONTROL
  static_cast<void>(spawn(system, {.name = "log"}, stream));
#else
  static_cast<void>(spawn(system, {.capacity = 64}, stream));
#endif
}
