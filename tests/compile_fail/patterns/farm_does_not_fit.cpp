// each: source fold key no_hash choice ordered_farm two broadcast
// expect: garrick:
// expect: farm_of_a_source<|farm_of_a_fold<|no_key_of_the_tuple<|no_choice_for_the_tuple<|farm_cannot_be_ordered<|a farm has one policy|gets a copy of the tuple
// The contents of a farm, and its ways to share tuples out.
#include <garrick/patterns/patterns.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace garrick::patterns;

struct word {
  std::string text;
};
struct other {
  std::string text;
};
word same(word w) { return w; }
int twice(int x) { return 2 * x; }

void test() {
#ifdef GARRICK_WITHOUT_source
  static_cast<void>(farm(counting(1, 7)).replicas(3));
#elif defined(GARRICK_WITHOUT_fold)
  static_cast<void>(farm(fold(0, [](int a, int b) { return a + b; })).least_loaded());
#elif defined(GARRICK_WITHOUT_key)
  static_cast<void>(pipeline(farm(same).by_key(&other::text), discard<word>()));
#elif defined(GARRICK_WITHOUT_no_hash)
  static_cast<void>(pipeline(farm(same).by_key([](const word& w) { return w; }), discard<word>()));
#elif defined(GARRICK_WITHOUT_choice)
  static_cast<void>(farm(same).by([](const word& w) { return w.text.size(); }));
#elif defined(GARRICK_WITHOUT_ordered_farm)
  static_cast<void>(pipeline(farm(farm(twice)).ordered(), discard<int>()));
#elif defined(GARRICK_WITHOUT_two)
  static_cast<void>(farm(same).ordered().by_key(&word::text));
#elif defined(GARRICK_WITHOUT_broadcast)
  static_cast<void>(farm(discard<std::unique_ptr<int>>()).broadcast());
#else
  static_cast<void>(pipeline(farm(same).by_key(&word::text), farm(same).ordered()));
  static_cast<void>(
      pipeline(farm(map([](word& w) { w.text += '.'; })).ordered(), discard<std::vector<word>>()));
  static_cast<void>(farm(discard<std::unique_ptr<int>>()).least_loaded());
  static_cast<void>(farm(same).by([](const word& w, std::size_t n) { return w.text.size() % n; }));
#endif
}
