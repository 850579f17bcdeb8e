// each: type source value function try_function
// expect: error: conversion from|error: no viable|garrick: spawn(system, pattern, options) takes
// The handle of a stream that takes other tuples, takes none, or yields another type; and a
// function in the place of a pattern.
#include <garrick/patterns/patterns.hpp>

#include <string>

using namespace garrick;
using namespace garrick::patterns;

void drop(int) {}
int twice(int x) { return 2 * x; }

#if defined(GARRICK_WITHOUT_type)
void test(actor_system& system) { stream_ref<std::string> in = spawn(system, for_each(drop)); }
#elif defined(GARRICK_WITHOUT_source)
void test(actor_system& system) {
  stream_ref<int> in = spawn(system, pipeline(counting(0, 9), drop));
}
#elif defined(GARRICK_WITHOUT_value)
void test(actor_system& system) {
  stream_ref<void, long> in = spawn(system, pipeline(counting(0, 9), drop));
}
#elif defined(GARRICK_WITHOUT_function)
void test(actor_system& system) { stream_ref<int> in = spawn(system, twice); }
#elif defined(GARRICK_WITHOUT_try_function)
void test(actor_system& system) { stream_ref<int> in = try_spawn(system, twice).value(); }
#else
void test(actor_system& system) {
  stream_ref<int> in = spawn(system, for_each(drop));
  stream_ref<void> out = spawn(system, pipeline(counting(0, 9), drop));
  any_ref any(out);
  static_cast<void>(in);
}
#endif
