// each: source
// max-lines: clang 16: garrick.hpp is reached through patterns.hpp
// expect: garrick: this message is not in the receiver's protocol
// A stream that begins with a source takes no tuples.
#include <garrick/patterns/patterns.hpp>

#include <string>

using namespace garrick::patterns;

void test(garrick::actor_system& system) {
  const auto own = spawn(system, pipeline(counting(1, 7), discard<int>()));
  const auto fed = spawn(system, discard<std::string>());
#ifdef GARRICK_WITHOUT_source
  send(own, 8);
#else
  send(fed, std::string("eight"));
  send(own, cancel{});
#endif
}
