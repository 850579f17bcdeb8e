// each: swapped weak pointer self function asked system address in_case
// expect: garrick: request(to, ...) and delegate(to, ...) take a handle first
// Delegations and requests to something that is no handle. No further error names the handler.
#include <garrick/garrick.hpp>

#include <string>

struct query {};
using names = garrick::protocol<std::string(query)>;

struct server : garrick::actor<names> {
  garrick::ref<names> to_;
  garrick::weak_ref<names> weak_;
#ifdef GARRICK_WITHOUT_swapped
  auto on(query q) { return delegate(q, to_); }
#elif defined(GARRICK_WITHOUT_weak)
  auto on(query q) { return delegate(weak_, q); }
#elif defined(GARRICK_WITHOUT_pointer)
  auto on(query q) { return delegate(&to_, q); }
#elif defined(GARRICK_WITHOUT_self)
  auto on(query q) { return delegate(*this, q); }
#elif defined(GARRICK_WITHOUT_function)
  garrick::result<std::string> on(query q) {
    return delegate([](query) { return std::string(); }, q);
  }
#elif defined(GARRICK_WITHOUT_address)
  garrick::result<std::string> on(query q) { return delegate(to_.address(), q); }
#elif defined(GARRICK_WITHOUT_in_case)
  auto on(query q) { return delegate(to_, q); }
  garrick::behavior cases() {
    return {[this](query q) { return delegate(to_.address(), q); }};
  }
#elif defined(GARRICK_WITHOUT_asked)
  garrick::task<std::string> on(query q) { co_return *co_await request(weak_, q); }
#else
  auto on(query q) { return delegate(weak_.lock(), q); }
#endif
};
void test(garrick::actor_system& system) {
  const auto first = system.spawn<server>();
#ifdef GARRICK_WITHOUT_system
  static_cast<void>(system.request(query{}, first).get());
#else
  static_cast<void>(system.request(first, query{}).get());
#endif
}
