// The one translation unit that compiles the test framework itself; test files only include its
// header.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
