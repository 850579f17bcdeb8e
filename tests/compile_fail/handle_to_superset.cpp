// each: value argument wildcard number
// expect: error: conversion|error: could not|error: no viable|error: no matching|error: invalid
// A handle never understands more than the one that it is made from. There is no place for an
// assertion: whether a handle converts may be asked.
#include <garrick/garrick.hpp>

#include <type_traits>

struct more {};
using subset = garrick::protocol<void(int)>;
using superset = garrick::protocol<void(int), void(more)>;
using others = garrick::protocol<void(more)>;
static_assert(!std::is_convertible_v<garrick::ref<subset>, garrick::ref<superset>>);
static_assert(!std::is_convertible_v<garrick::ref<superset>, garrick::any_ref>);
static_assert(std::is_constructible_v<garrick::any_ref, const garrick::ref<superset>&>);
static_assert(!std::is_constructible_v<garrick::ref<subset>, garrick::any_ref>);

int chosen(const garrick::ref<subset>&);
void chosen(const garrick::ref<others>&);
int take(const garrick::ref<superset>&);

#if defined(GARRICK_WITHOUT_value)
garrick::ref<superset> test(const garrick::ref<subset>& r) { return r; }
#elif defined(GARRICK_WITHOUT_argument)
int test(const garrick::ref<subset>& r) { return take(r); }
#elif defined(GARRICK_WITHOUT_wildcard)
garrick::any_ref test(const garrick::ref<subset>& r) { return r; }
#elif defined(GARRICK_WITHOUT_number)
garrick::ref<superset> test() { return 7; }
#else
garrick::ref<subset> test(const garrick::ref<superset>& r) { return r; }
static_assert(
    std::is_same_v<decltype(chosen(garrick::ref<garrick::protocol<int(more), void(int)>>())), int>);
#endif
