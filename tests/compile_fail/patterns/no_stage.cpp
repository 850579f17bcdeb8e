// each: generic lost_emit wrong_source reference
// expect: garrick: a stage is
// expect: no_stage<|signature_of_no_stage<
// The requirements on a function that is a stage.
#include <garrick/patterns/patterns.hpp>

#include <optional>
#include <string>

using namespace garrick::patterns;

struct plain {
  int operator()(int x) const { return x; }
};

void test() {
#ifdef GARRICK_WITHOUT_generic
  static_cast<void>(pipeline(counting(1, 7), [](auto x) { return x; }));
#elif defined(GARRICK_WITHOUT_lost_emit)
  static_cast<void>(seq([](emit<int>, int) {}).named("stage"));
#elif defined(GARRICK_WITHOUT_wrong_source)
  static_cast<void>(seq([] { return 7; }));
#elif defined(GARRICK_WITHOUT_reference)
  static_cast<void>(seq([](std::string& text) { text.clear(); }));
#else
  static_cast<void>(pipeline(counting(1, 7), plain(), [](const int& x, emit<int> out) { out(x); }));
  static_cast<void>(seq([](emit<int>) { return false; }));
  static_cast<void>(seq([] { return std::optional<int>(); }));
  static_cast<void>(seq([](std::string&& text) { text.clear(); }));
#endif
}
