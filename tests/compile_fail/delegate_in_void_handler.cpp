// expect: return-statement with a value|should not return a value
// expect: garrick: the handlers on(...) for these signatures
// expect: and one that delegates returns auto or a result<T>
// max-lines: clang 18: the compiler's own error comes first, which no library can know of
// A handler that delegates has a result, and no void.
#include <garrick/garrick.hpp>

#include <string>

struct query {};
using names = garrick::protocol<std::string(query)>;

struct server : garrick::actor<names> {
  garrick::ref<names> to_;
#ifdef GARRICK_CONTROL
  auto on(query q) { return delegate(to_, q); }
#else
  void on(query q) { return delegate(to_, q); }
#endif
};
void test(garrick::actor_system& system) { static_cast<void>(system.spawn<server>()); }
