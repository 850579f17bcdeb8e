// each: closure argument container scanned filtered key choice again actor
// expect: stage_shares_something<
// expect: garrick: a stage owns its parts
// A stage runs on any worker, and its copies beside each other: none refers to data of others.
#include <garrick/patterns/patterns.hpp>

#include <span>
#include <string>
#include <vector>

using namespace garrick::patterns;

struct sink {
  template <class... Args>
  explicit sink(Args&&...) {}
  void consume(int) {}
};
class adder : public stage_actor<int, int> {
 public:
  template <class... Args>
  explicit adder(Args&&...) {}
  void consume(int x) { send_next(x); }
};

void test(int& n, int* p, const std::string& text) {
  const auto number = [&n](int x) { return x + n; };
  const auto choice = [p](const int& x, std::size_t) { return static_cast<std::size_t>(x + *p); };
  const auto is = [&n](const int& x) { return x < n; };
  const auto sum = [&n](int x, int y) { return x + y + n; };
  const auto some = [p](int) { return std::vector<int>{*p}; };
#ifdef GARRICK_WITHOUT_closure
  static_cast<void>(pipeline(counting(1, 7), number, discard<int>()));
#elif defined(GARRICK_WITHOUT_argument)
  static_cast<void>(seq<sink>(1, p));
#elif defined(GARRICK_WITHOUT_container)
  static_cast<void>(from(std::span<int>(p, 1)));
#elif defined(GARRICK_WITHOUT_scanned)
  static_cast<void>(scan(0, sum));
#elif defined(GARRICK_WITHOUT_filtered)
  static_cast<void>(filter(is));
#elif defined(GARRICK_WITHOUT_key)
  static_cast<void>(farm(discard<int>()).by_key(number));
#elif defined(GARRICK_WITHOUT_choice)
  static_cast<void>(parallel(discard<int>(), discard<int>()).by(choice));
#elif defined(GARRICK_WITHOUT_again)
  static_cast<void>(feedback(filter(garrick::lent(is)), is));
#elif defined(GARRICK_WITHOUT_actor)
  static_cast<void>(seq_actor<adder>(1, p));
#else
  using garrick::lent;
  static_cast<void>(
      pipeline(counting(1, 7), lent(number), filter(lent(is)), scan(0, lent(sum)),
               flat_map(lent(some)), feedback(seq_actor<adder>(text, lent(p)), lent(is)),
               farm(seq_actor<adder>(text)).by_key(lent(number)),
               parallel(seq<sink>(text, "text", lent(p)), seq<sink>(lent(n))).by(lent(choice))));
  static_cast<void>(fold(0, lent(sum)));
#endif
}
