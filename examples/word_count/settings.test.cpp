// The command line: its arguments, its answer to a mistake, and its help.
#include "settings.hpp"

#include <doctest/doctest.h>

namespace settings_test {

using namespace word_count;

TEST_CASE("options and paths may be mixed") {
  const parsed p = parse({"one", "--top", "7", "--chaos", "two", "--seed=9", "--", "--top"});
  CHECK(p.trouble.empty());
  CHECK(p.values.paths == std::vector<std::string>{"one", "two", "--top"});
  CHECK(p.values.top == 7);
  CHECK(p.values.seed == 9);
  CHECK(p.values.chaos);
  CHECK_FALSE(p.values.verify);
}

TEST_CASE("bad arguments name the fault") {
  CHECK(parse({"--topp", "3"}).trouble == "there is no option --topp");
  CHECK(parse({"--top"}).trouble == "--top needs a number from 1 to 4294967295");
  CHECK(parse({"--top", "0"}).trouble == "--top needs a number from 1 to 4294967295, not '0'");
  CHECK(parse({"--every=9"}).trouble == "--every needs a number from 10 to 4294967295, not '9'");
  CHECK(parse({"--workers", "two"}).trouble ==
        "--workers needs a number from 1 to 1024, not 'two'");
  CHECK(parse({"--workers", "1025"}).trouble ==
        "--workers needs a number from 1 to 1024, not '1025'");
  CHECK(parse({"--workers", "1024"}).values.workers == 1024);
  CHECK(parse({"--nodes", "0"}).trouble == "--nodes needs a number from 1 to 64, not '0'");
  CHECK(parse({"--nodes", "x"}).trouble == "--nodes needs a number from 1 to 64, not 'x'");
  CHECK(parse({"--nodes=65"}).trouble == "--nodes needs a number from 1 to 64, not '65'");
  CHECK(parse({"--nodes"}).trouble == "--nodes needs a number from 1 to 64");
  CHECK(parse({"--nodes", "3"}).values.nodes == 3);
  CHECK(parse({"--chaos=yes"}).trouble == "--chaos takes no value");
}

TEST_CASE("an empty path is a wrong argument wherever it stands") {
  CHECK(parse({""}).trouble == "a path is empty");
  CHECK(parse({"one", "", "two"}).trouble == "a path is empty");
  CHECK(parse({"--", ""}).trouble == "a path is empty");
}

TEST_CASE("the help names the range of an option that takes a limited number") {
  const std::string_view help = help_text();
  for (const char* line :
       {"--top N       rows of the chart (1 to 4294967295,",
        "--workers N   threads that run actors (1 to 1024,", "N processes (1 to 64)"})
    CHECK(help.find(line) != std::string_view::npos);
}

TEST_CASE("the help names every option and fits a screen's width") {
  const std::string_view help = help_text();
  for (const char* option :
       {"--chaos", "--every", "--seed", "--verify", "--top", "--workers", "--nodes", "--help"})
    CHECK(help.find(option) != std::string_view::npos);
  for (std::size_t begin = 0, end = 0; (end = help.find('\n', begin)) != std::string_view::npos;
       begin = end + 1)
    CHECK(end - begin <= 80);
}

}  // namespace settings_test
