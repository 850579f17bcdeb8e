#include "report.hpp"

#include "display.hpp"

#include <doctest/doctest.h>

using namespace word_count;

TEST_CASE("the chart is scaled to the first word and aligned by characters") {
  const std::string expected =
      "   1  straße  ######################################## 1 000\n"
      "   2  the     ####################                     500\n"
      "   3  rare    #                                        1\n";
  CHECK(chart({{"straße", 1000}, {"the", 500}, {"rare", 1}, {"cut", 1}}, 3, false) == expected);
  CHECK(chart({}, 3, false).empty());
}

TEST_CASE("problems are grouped by reason") {
  CHECK(problem_report({}).empty());
  CHECK(problem_report({{"/a", "binary"}, {"/b", "gone"}, {"/c", "binary"}, {"/d", "binary"}, {"/e", "binary"}}) ==
        "Not counted: 5 paths\n  binary: 4 (/a, /c, /d, …)\n  gone: 1 (/b)\n");
}

TEST_CASE("numbers are grouped and bytes have units") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1234567) == "1 234 567");
  CHECK(as_bytes(17) == "17 B");
  CHECK(as_bytes(17'324) == "17.3 kB");
  CHECK(as_bytes(2'000'000'000) == "2.0 GB");
}

TEST_CASE("the progress line tells the phase") {
  CHECK(progress_line({}, 4) == "looking for files");
  CHECK(progress_line({phase::auditing, 3, 8, 2}, 4) == "checking which counts are there");
  CHECK(progress_line({phase::counting, 3, 8, 2}, 4) == "[#...] 25 % of 3 files");
  CHECK(progress_line({phase::ranking, 3, 8, 8}, 0) == "100 % of 3 files, ranking");
}
