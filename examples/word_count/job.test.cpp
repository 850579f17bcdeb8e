#include "job.hpp"

#include <doctest/doctest.h>

using namespace word_count;

namespace {
const std::vector<std::string> texts{WORD_COUNT_TEXTS};
constexpr std::uint32_t small_units = 512;  // bytes: many units from small texts
}  // namespace

TEST_CASE("the actors count what one loop counts") {
  const outcome o = run({.paths = texts, .workers = 2, .unit_bytes = small_units});
  CHECK(o.trouble.empty());
  CHECK(o.files == 4);
  CHECK(o.problems.empty());
  CHECK(difference(o.words, count_sequentially(texts)).empty());
}

TEST_CASE("with chaos in every role the counts are the same") {
  const counts expected = count_sequentially(texts);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const outcome o = run({.paths = texts, .workers = 2, .unit_bytes = small_units, .seed = seed, .chaos_every = 30});
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
  CHECK(o.problems.size() == 1);
}

TEST_CASE("a difference is found and told") {
  const counts expected = count_words("a a b");
  CHECK(difference({{"a", 2}, {"b", 1}}, expected).empty());
  CHECK(difference({{"a", 3}, {"b", 1}}, expected) == "'a' was counted 3 times instead of 2");
  CHECK(difference({{"a", 2}, {"b", 1}, {"c", 1}}, expected) == "'c' was counted 1 times instead of 0");
  CHECK(difference({{"a", 2}}, expected) == "1 different words instead of 2");
}
