// The whole job: the actors and one loop have the same counts, also with planted failures.
#include "job.hpp"
#include "support/places.hpp"

#include "scratch_folder.hpp"

#include <doctest/doctest.h>

namespace job_test {

using namespace word_count;

namespace {
const std::vector<std::string> texts{std::string(garrick::tests::places::texts) + "/stories"};
constexpr std::uint32_t small_units = 512;  // bytes: many units from small texts

lexicon sequentially(const std::vector<std::string>& paths) {
  return count_sequentially(make_plan(paths, small_units).files);
}
}  // namespace

TEST_CASE("the actors count the same as one loop") {
  const outcome o = run({.paths = texts, .workers = 2, .unit_bytes = small_units});
  CHECK(o.trouble.empty());
  REQUIRE(o.what != nullptr);
  CHECK(o.what->files.size() == 4);
  CHECK(o.what->problems.empty());
  CHECK(o.changed.empty());
  CHECK(difference(o.words, sequentially(texts)).empty());
}

TEST_CASE("with chaos in every role the counts are the same") {
  const lexicon expected = sequentially(texts);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const outcome o = run(
        {.paths = texts, .workers = 2, .unit_bytes = small_units, .seed = seed, .chaos_every = 30});
    CHECK(o.trouble.empty());
    CHECK(difference(o.words, expected).empty());
    for (std::size_t r = 0; r < role_count; ++r) {
      CAPTURE(role_names[r]);
      if (static_cast<role>(r) != role::display) CHECK(o.strikes[r] > 0);
    }
  }
}

TEST_CASE("nothing to count is a result without words") {
  const outcome o = run({.paths = {"/no/such/path"}, .workers = 1});
  CHECK(o.trouble.empty());
  CHECK(o.words.empty());
  REQUIRE(o.what != nullptr);
  CHECK(o.what->files.empty());
  CHECK(o.what->problems.size() == 1);
}

TEST_CASE("a page of markup is counted in many units, with chaos, as in one piece") {
  const scratch_folder f;
  std::string page = "<!DOCTYPE html><title>A page</title><script>if (a < b) no();</script>";
  for (int i = 0; i < 100; ++i)
    page +=
        "<p class=\"no no\">Stra&szlig;e <b>w</b>ord <!-- no\nno -->and <a\nhref='no "
        "no'>more</a></p>\n";
  f.write("a.html", page);
  f.write("b.txt", "no <b> no");
  const outcome o =
      run({.paths = {f.path()}, .workers = 2, .unit_bytes = 64, .seed = 3, .chaos_every = 30});
  CHECK(o.trouble.empty());
  REQUIRE(o.what != nullptr);
  CHECK(o.what->units.size() > 50);
  const lexicon expected = sequentially({f.path()});
  CHECK(expected.at("straße") == entry{100, 0});
  CHECK(expected.at("word") == entry{100, 0});
  CHECK(expected.at("no") == entry{2, 1});
  CHECK_FALSE(expected.contains("href"));
  CHECK(difference(o.words, expected).empty());
}

TEST_CASE("a difference is found and told") {
  const lexicon expected{{"a", {2, 0}}, {"b", {1, 1}}};
  CHECK(difference({{"a", 2, 0}, {"b", 1, 1}}, expected).empty());
  CHECK(difference({{"a", 3, 0}, {"b", 1, 1}}, expected) == "'a' was counted 3 times instead of 2");
  CHECK(difference({{"a", 2, 0}, {"b", 1, 1}, {"c", 1, 0}}, expected) ==
        "'c' was counted 1 times instead of 0");
  CHECK(difference({{"a", 2, several_files}, {"b", 1, 1}}, expected) ==
        "'a' was found in other files");
  CHECK(difference({{"a", 2, 0}}, expected) == "1 different words instead of 2");
}

}  // namespace job_test
