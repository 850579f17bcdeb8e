// each: become typed
// expect: garrick: a case is a function whose parameters have types (not auto), or
#include <garrick/garrick.hpp>

#ifdef GARRICK_WITHOUT_become
void test(garrick::dynamic_actor& self) {
  self.become([](auto) {});
}
#elif defined(GARRICK_WITHOUT_typed)
garrick::typed_behavior<garrick::protocol<void(int)>> test() {
  return {[](auto) {}};
}
#else
garrick::behavior test() {
  return {[](int) {}};
}
#endif
