// expect: overloaded function
// A name that stands for several functions: the compiler's message is short.
#include <garrick/patterns/patterns.hpp>

#include <string>

using namespace garrick::patterns;

int grown(int x) { return x + 1; }
#ifndef GARRICK_CONTROL
std::string grown(std::string x) { return x + "."; }
#endif

void test() { static_cast<void>(pipeline(counting(0, 9), grown, discard<int>())); }
