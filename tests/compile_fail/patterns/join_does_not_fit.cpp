// each: side little pair keys units
// expect: garrick:
// expect: join_with_no_source<|join_says_too_little<|pairs_do_not_fit<|keys_of_join_differ<|units_differ<
// The parts of a join.
#include <garrick/patterns/patterns.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace garrick::patterns;
using namespace std::chrono_literals;

struct order {
  int id;
  std::chrono::seconds at;
};
struct payment {
  int order;
  std::string name;
  std::chrono::seconds at;
};
int paid(const order& o, const payment&) { return o.id; }
int twice(int x) { return 2 * x; }
payment same(payment p) { return p; }

void test(std::vector<payment> all) {
  const auto joined = join_with(from(std::move(all)));
  static_cast<void>(joined);
#ifdef GARRICK_WITHOUT_side
  static_cast<void>(join_with(same).by(&order::id, &payment::order).with(paid));
#elif defined(GARRICK_WITHOUT_little)
  static_cast<void>(joined.by(&order::id, &payment::order).within(3s).with(paid));
#elif defined(GARRICK_WITHOUT_pair)
  static_cast<void>(joined.by(&order::id, &payment::order)
                        .event_time(&order::at, &payment::at)
                        .within(3s)
                        .with(twice));
#elif defined(GARRICK_WITHOUT_keys)
  static_cast<void>(joined.by(&order::id, &payment::name)
                        .event_time(&order::at, &payment::at)
                        .within(3s)
                        .with(paid));
#elif defined(GARRICK_WITHOUT_units)
  static_cast<void>(joined.by(&order::id, &payment::order)
                        .event_time(&order::at, &payment::at)
                        .within(3)
                        .with(paid));
#else
  static_cast<void>(joined.by(&order::id, &payment::order)
                        .event_time(&order::at, &payment::at)
                        .within(3s)
                        .with(paid));
#endif
}
