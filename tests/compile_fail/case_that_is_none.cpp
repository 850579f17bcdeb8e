// each: become returned typed received without_function
// expect: garrick: a case is a function whose parameters have types (not auto), or
#include <garrick/garrick.hpp>

#ifdef GARRICK_WITHOUT_become
void test(garrick::dynamic_actor& self) {
  self.become([](auto) {});
}
#elif defined(GARRICK_WITHOUT_returned)
garrick::behavior test() {
  return {[](int) {}, [](auto) {}};
}
#elif defined(GARRICK_WITHOUT_typed)
garrick::typed_behavior<garrick::protocol<void(int)>> test() {
  return {[](auto) {}};
}
#elif defined(GARRICK_WITHOUT_received)
void test(garrick::blocking_actor& self) {
  self.receive([](auto) {});
}
#elif defined(GARRICK_WITHOUT_without_function)
garrick::behavior test() { return {garrick::on(1)}; }
#else
garrick::behavior test() {
  return {[](int) {}};
}
#endif
