// The text of an affinity: its meaning, the place named by an error, and the binding of threads.
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/places/affinity.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

namespace affinity_test {

using namespace garrick;
using sched::affinity;

namespace {

const std::vector<std::int32_t> eight{0, 1, 2, 3, 4, 5, 6, 7};

std::string error_of(std::string_view text, const std::vector<std::int32_t>& usable = eight) {
  const auto a = affinity::parse(text, usable);
  return a ? "" : a.error().to_string();
}
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("affinity: each thread takes the next group, and after the last the first") {
  const auto a = affinity::parse("<0> <2-4> <1,5>", eight);
  REQUIRE(a);
  CHECK(a->size() == 3);
  CHECK(a->of(0) == affinity::processors{0});
  CHECK(a->of(1) == affinity::processors{2, 3, 4});
  CHECK(a->of(2) == affinity::processors{1, 5});
  CHECK(a->of(3) == affinity::processors{0});
}

TEST_CASE("affinity: blanks, several ranges and repetitions in a group") {
  const auto a = affinity::parse("  < 6 - 7 , 0-1,1 ><3>", eight);
  REQUIRE(a);
  CHECK(a->size() == 2);
  CHECK(a->of(0) == affinity::processors{0, 1, 6, 7});
  CHECK(affinity::parse("", eight)->empty());
  CHECK(affinity::parse(" \t", eight)->empty());
}

TEST_CASE("affinity: an error points at the character") {
  CHECK(has(error_of("<0> <2-x>"),
            "at character 8: expected the number of a processor\n  <0> <2-x>\n         ^"));
  CHECK(has(error_of("0"), "at character 1: a group begins with <"));
  CHECK(has(error_of("<0> 1"), "at character 5: a group begins with <"));
  CHECK(has(error_of("<0"), "at its end: expected , or - or >"));
  CHECK(has(error_of("<>"), "at character 2: expected the number of a processor"));
  CHECK(has(error_of("<1,>"), "at character 4: expected the number of a processor"));
  CHECK(has(error_of("<4-2>"), "at character 4: a range begins with its lower number"));
  CHECK(has(error_of("<1-2-3>"), "at character 5: expected , or - or >"));
  CHECK(has(error_of("<99999999999999999999>"),
            "at character 2: no machine has a processor of this number"));
}

TEST_CASE("affinity: a processor that the process may not use is an error") {
  CHECK(has(error_of("<0,8>"),
            "at character 4: processor 8 is not among those that this process may use"));
  CHECK(has(error_of("<0-3>", {0, 1, 3}), "at character 4: processor 2 is not among"));
  CHECK(error_of("<0,8>", {}).empty());  // the system does not say which may be used
  CHECK(has(error_of("<0,", {}), "at its end: expected the number of a processor"));
}

TEST_CASE("affinity: too many groups are an error and not a large table") {
  std::string text;
  for (int i = 0; i < 1024; ++i) text += "<0>";
  CHECK(error_of(text).empty());
  CHECK(has(error_of(text + "<1>"), "more than 1024 groups"));
}

TEST_CASE("affinity: bound threads run where their group says, in turn") {
  const std::vector<std::int32_t> mine = base::platform::usable_processors();
  REQUIRE(!mine.empty());
  std::string text;
  for (const std::int32_t p : mine) text += "<" + std::to_string(p) + ">";
  auto a = affinity::parse(text, mine);
  REQUIRE(a);
  for (std::size_t i = 0; i < 2 * mine.size(); ++i) {
    std::vector<std::int32_t> allowed;
    std::string error;
    std::thread([&] {
      error = a->bind_this_thread().to_string();
      allowed = base::platform::usable_processors();
    }).join();
    CHECK(allowed == std::vector<std::int32_t>{mine[i % mine.size()]});
  }
}

}  // namespace affinity_test
