// each: another nothing time
// expect: garrick: this message is not in the receiver's protocol
// A message that the actor that is to answer does not take. No more is said of the handler then.
#include <garrick/garrick.hpp>

#include <string>

struct query {};
struct other {};
using names = garrick::protocol<std::string(query)>;

struct server : garrick::actor<names> {
  garrick::ref<names> to_;
#ifdef GARRICK_WITHOUT_another
  auto on(query) { return delegate(to_, other{}); }
#elif defined(GARRICK_WITHOUT_nothing)
  auto on(query) { return delegate(to_); }
#elif defined(GARRICK_WITHOUT_time)
  garrick::result<std::string> on(query q) {
    return delegate(to_, q, garrick::duration::seconds(1));
  }
#else
  auto on(query q) { return delegate(to_, q); }
#endif
};
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<server>()); }
