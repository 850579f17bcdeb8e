// each: result value promise nothing coroutine dynamic
// expect: garrick: delegate(): the actor that is to answer answers with another type than this
// expect: delegation_becomes
// An answer that another actor is to give has the type that the handler promises.
#include <garrick/garrick.hpp>

#include <string>

struct query {};
using names = garrick::protocol<std::string(query)>;

template <class Answer>
struct front : garrick::actor<garrick::protocol<Answer(query)>> {
  garrick::ref<names> names_;
};

#ifdef GARRICK_WITHOUT_result
struct server : front<int> {
  garrick::result<int> on(query q) { return delegate(names_, q); }
};
#elif defined(GARRICK_WITHOUT_value)
struct server : front<int> {
  int on(query q) { return delegate(names_, q); }
};
#elif defined(GARRICK_WITHOUT_promise)
struct server : front<int> {
  garrick::response_promise<int> on(query q) { return delegate(names_, q); }
};
#elif defined(GARRICK_WITHOUT_nothing)
struct server : front<void> {
  garrick::result<void> on(query q) { return delegate(names_, q); }
};
#elif defined(GARRICK_WITHOUT_coroutine)
struct server : front<int> {
  garrick::task<int> on(query q) { co_return delegate(names_, q); }
};
#elif defined(GARRICK_WITHOUT_dynamic)
garrick::behavior server(garrick::dynamic_actor& self, garrick::any_ref to) {
  return {[&self, to](query q) -> garrick::result<int> { return self.delegate(to, q); }};
}
#else
struct server : front<std::string> {
  garrick::result<std::string> on(query q) { return delegate(names_, q); }
};
struct waiting : front<std::string> {
  garrick::task<std::string> on(query q) { co_return delegate(names_, q); }
};
struct short_one : front<std::string> {
  auto on(query q) { return delegate(names_, q); }
};
void test(garrick::actor_system& system) {
  static_cast<void>(system.spawn<server>());
  static_cast<void>(system.spawn<waiting>());
  static_cast<void>(system.spawn<short_one>());
}
#endif
