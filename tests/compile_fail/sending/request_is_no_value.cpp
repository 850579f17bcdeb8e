// each: text number result number_result in_case system system_result
// expect: garrick: request(...) gives a response that has not come yet|garrick: system.request(...) gives a response that has not come yet
// A response that is used as if it were the answer.
#include <garrick/garrick.hpp>

#include <string>

using namespace garrick;

struct query {};
struct count {};
using names = protocol<std::string(query), long(count)>;

struct server : actor<names> {
  ref<names> names_;
#ifdef GARRICK_WITHOUT_text
  std::string on(query q) { return request(names_, q); }
#elif defined(GARRICK_WITHOUT_result)
  result<std::string> on(query q) { return request(names_, q); }
#else
  auto on(query q) { return delegate(names_, q); }
#endif
#ifdef GARRICK_WITHOUT_number
  long on(count) {
    const long n = request(names_, count{});
    return n;
  }
#elif defined(GARRICK_WITHOUT_number_result)
  result<long> on(count) { return request(names_, count{}); }
#else
  auto on(count c) { return delegate(names_, c); }
#endif
};
#ifdef GARRICK_WITHOUT_in_case
behavior cases(server& self) {
  return {[&self](query q) -> std::string { return self.request(self.names_, q); }};
}
#endif
void test(actor_system& system) {
  const auto first = system.spawn<server>();
#ifdef GARRICK_WITHOUT_system
  const std::string name = system.request(first, query{});
#elif defined(GARRICK_WITHOUT_system_result)
  const result<long> number = system.request(first, count{});
#else
  const result<long> number = system.request(first, count{}).get();
#endif
}
