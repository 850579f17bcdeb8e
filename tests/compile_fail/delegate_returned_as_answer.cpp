// expect: garrick: a handler that delegates has no answer at hand
// A handler that delegates returns a result, and not the answer itself.
#include <garrick/garrick.hpp>

#include <string>

struct query {};
using names = garrick::protocol<std::string(query)>;

struct server : garrick::actor<names> {
  garrick::ref<names> names_;
#ifdef GARRICK_CONTROL
  garrick::result<std::string> on(query q) { return delegate(names_, q); }
#else
  std::string on(query q) { return delegate(names_, q); }
#endif
};
