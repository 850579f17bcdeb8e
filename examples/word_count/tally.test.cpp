#include "tally.hpp"

#include <doctest/doctest.h>

using namespace word_count;

namespace {
constexpr auto nothing = [] {};
unit_words words(std::uint32_t unit) { return {unit, {{"a", 2}, {"b", 1}}}; }
}  // namespace

TEST_CASE("a unit counts once, however often it comes") {
  tally t;
  CHECK(t.apply(words(3), nothing));
  CHECK_FALSE(t.apply(words(3), nothing));
  CHECK(t.apply(words(70), nothing));
  CHECK(t.words.at("a") == 4);
  CHECK(t.words.at("b") == 2);
  CHECK(t.sequence == 2);
}

TEST_CASE("a unit without words for this part is held all the same") {
  tally t;
  CHECK(t.apply({0, {}}, nothing));
  CHECK(t.applied.has(0));
  CHECK(t.words.empty());
}

TEST_CASE("midway is in the middle of a change") {
  tally t;
  std::size_t seen = 0;
  t.apply(words(0), [&] { seen = t.words.size(); });
  CHECK(seen == 1);
}

TEST_CASE("a set of units knows what it lacks") {
  unit_set s;
  CHECK(s.has_all(0));
  CHECK_FALSE(s.has_all(1));
  for (std::uint32_t u = 0; u < 100; ++u) s.add(u);
  CHECK(s.has_all(100));
  CHECK_FALSE(s.has_all(101));
  CHECK_FALSE(s.has(100));
}
