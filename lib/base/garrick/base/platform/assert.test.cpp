// Assertions: the evaluation of conditions, the text printed before the abort, and the active
// tiers.
#include "garrick/base/platform/assert.hpp"

#include <doctest/doctest.h>
#include <support/in_child.hpp>

#include <string>

namespace assert_test {

using garrick::tests::has_aborted;
using garrick::tests::in_child;

TEST_CASE("an assertion that holds evaluates its condition once and does nothing") {
  int evaluated = 0;
  GARRICK_ASSERT(++evaluated == 1);
  GARRICK_ASSERT(++evaluated == 2, "advice");
  CHECK(evaluated == 2);
}

TEST_CASE("an assertion that fails names the condition, the place and the advice, and aborts") {
  const auto [text, status] = in_child([] { GARRICK_ASSERT(1 + 1 == 3, "count again"); });
  CHECK(has_aborted(status));
  CHECK(text.starts_with("garrick: assertion failed: 1 + 1 == 3: "));
  CHECK(text.find("assert.test.cpp:") != std::string::npos);
  CHECK(text.find(": count again\n") != std::string::npos);
}

TEST_CASE("advice may be left out") {
  const auto [text, status] = in_child([] { GARRICK_ASSERT(false); });
  CHECK(has_aborted(status));
  CHECK(text.find("assertion failed: false: ") != std::string::npos);
}

TEST_CASE("slow assertions are checked where they are on, and compiled everywhere") {
  int evaluated = 0;
  const auto [text, status] = in_child([] { GARRICK_ASSERT_SLOW(false, "slow"); });
  GARRICK_ASSERT_SLOW(++evaluated == 1);
  CHECK(has_aborted(status) == (GARRICK_SLOW_ASSERTS == 1));
  CHECK(evaluated == GARRICK_SLOW_ASSERTS);
}

}  // namespace assert_test
