// each: equal equal_text unequal less sum text_sum printed asked_equal asked_less asked_sum
// each: asked_printed chained both_equal both_less both_sum both_asked
// expect: garrick: request(...) gives a response|garrick: system.request(...) gives a response
// A response that is compared, added or printed as if it were the answer.
#include <garrick/garrick.hpp>

#include <iostream>
#include <string>

using namespace garrick;

struct query {};
struct count {};
using names = protocol<std::string(query), long(count)>;

class client : public actor<protocol<task<bool>(int)>> {
 public:
  task<bool> on(int) {
#if defined(GARRICK_WITHOUT_equal)
    const bool same = request(names_, count{}) == 7;
#elif defined(GARRICK_WITHOUT_equal_text)
    const bool same = request(names_, query{}) == std::string("x");
#elif defined(GARRICK_WITHOUT_unequal)
    const bool same = 7 != request(names_, count{});
#elif defined(GARRICK_WITHOUT_less)
    const bool same = request(names_, count{}) < 7;
#elif defined(GARRICK_WITHOUT_sum)
    const bool same = 0 != 1 + request(names_, count{});
#elif defined(GARRICK_WITHOUT_text_sum)
    const bool same = "x" + request(names_, query{}) == nullptr;
#elif defined(GARRICK_WITHOUT_both_equal)
    const bool same = request(names_, count{}) == request(names_, query{});
#elif defined(GARRICK_WITHOUT_both_less)
    const bool same = request(names_, count{}) < request(names_, count{});
#elif defined(GARRICK_WITHOUT_both_sum)
    static_cast<void>(request(names_, count{}) + request(names_, count{}));
    const bool same = true;
#elif defined(GARRICK_WITHOUT_printed)
    std::cout << request(names_, query{}) << '\n';
    const bool same = true;
#else
    const bool same = (co_await request<count>(names_)).value() == 7;
#endif
    co_return same;
  }

 private:
  ref<names> names_;
};

bool test(actor_system& system, const ref<names>& to) {
#if defined(GARRICK_WITHOUT_asked_equal)
  return system.request(to, query{}) == "x";
#elif defined(GARRICK_WITHOUT_asked_less)
  return system.request(to, count{}) < 7;
#elif defined(GARRICK_WITHOUT_asked_sum)
  const auto sum = system.request(to, count{}) + 1;
  return sum == 2;
#elif defined(GARRICK_WITHOUT_asked_printed)
  std::cout << system.request(to, count{});
  return true;
#elif defined(GARRICK_WITHOUT_both_asked)
  return system.request(to, count{}) != system.request(to, count{});
#elif defined(GARRICK_WITHOUT_chained)
  std::cerr << "got " << system.request(to, query{}).within(duration::seconds(1)) << std::endl;
  return true;
#else
  return system.request(to, count{}).get().value() == 7;
#endif
}
