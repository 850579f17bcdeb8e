// The tally: each unit counts once, however often and in whatever order it arrives.
#include "tally.hpp"

#include <doctest/doctest.h>

namespace tally_test {

using namespace word_count;

namespace {
constexpr auto nothing = [] {};
batch words(std::uint32_t unit, std::uint32_t file = 0) {
  return {.units = {unit}, .words = {{"a", {2, file}}, {"b", {1, file}}}};
}
}  // namespace

TEST_CASE("a unit counts once, however often it comes") {
  tally t;
  CHECK(t.apply(words(3), nothing));
  CHECK_FALSE(t.apply(words(3), nothing));
  CHECK(t.apply(words(70), nothing));
  CHECK(t.words.at("a").count == 4);
  CHECK(t.words.at("b").count == 2);
  CHECK(t.sequence == 2);
}

TEST_CASE("a batch with a unit that is held is refused as a whole") {
  tally t;
  CHECK(t.apply(words(3), nothing));
  CHECK_FALSE(t.apply({.units = {2, 3}, .words = {{"a", {1, 0}}}}, nothing));
  CHECK_FALSE(t.applied.has(2));
  CHECK(t.words.at("a").count == 2);
}

TEST_CASE("a unit without words for this part is held all the same") {
  tally t;
  CHECK(t.apply({.units = {0}, .words = {}}, nothing));
  CHECK(t.applied.has(0));
  CHECK(t.words.empty());
}

TEST_CASE("midway is in the middle of a change") {
  tally t;
  std::size_t seen = 0;
  t.apply(words(0), [&] { seen = t.words.size(); });
  CHECK(seen == 1);
}

TEST_CASE("a set of units knows its missing units") {
  unit_set s;
  CHECK(s.has_all(0));
  CHECK_FALSE(s.has_all(1));
  for (std::uint32_t u = 0; u < 100; ++u) s.add(u);
  CHECK(s.has_all(100));
  CHECK_FALSE(s.has_all(101));
  CHECK_FALSE(s.has(100));
}

TEST_CASE("a word has a home while one file alone has it, in any order of the units") {
  tally t;
  t.apply(words(0, 7), nothing);
  t.apply(words(1, 7), nothing);
  CHECK(t.words.at("a") == entry{4, 7});
  t.apply({.units = {2}, .words = {{"b", {1, 8}}}}, nothing);
  t.apply(words(3, 7), nothing);
  CHECK(t.words.at("a") == entry{6, 7});
  CHECK(t.words.at("b") == entry{4, several_files});
  t.apply({.units = {4, 5}, .words = {{"a", {2, several_files}}}}, nothing);
  CHECK(t.words.at("a") == entry{8, several_files});
}

TEST_CASE("the ranking puts frequent words first and equal ones in order") {
  const auto list =
      ranked({{"b", {2, 1}}, {"d", {1, 1}}, {"a", {3, several_files}}, {"c", {1, 2}}});
  REQUIRE(list.size() == 4);
  CHECK(list[0].word == "a");
  CHECK(list[0].count == 3);
  CHECK(list[0].home == several_files);
  CHECK(list[1].word == "b");
  CHECK(list[2].word == "c");
  CHECK(list[2].home == 2);
  CHECK(list[3].word == "d");
}

}  // namespace tally_test
