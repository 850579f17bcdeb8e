// A full disk behind the output that the settings' command line asks for.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <garrick/system/settings/load.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "support/in_child.hpp"

namespace unwritable_output_test {

using garrick::system::load_settings_or_exit;
using garrick::tests::in_child;

namespace {

constexpr std::array questions{"--help", "--print-settings", "--dump-config"};

/// Returns the output of a program that asks for this, and its exit status.
std::pair<std::string, int> answer_to(const char* question, const char* output) {
  return in_child([&] {
    if (std::freopen(output, "w", stdout) == nullptr) std::_Exit(7);
    const std::array<const char*, 2> arguments{"program", question};
    static_cast<void>(load_settings_or_exit(2, arguments.data(), nullptr));
  });
}

}  // namespace

TEST_CASE("output that cannot be written ends the program with status 1 and the reason" *
          doctest::skip(HAS_SANITIZER)) {
  for (const char* question : questions) {
    CAPTURE(question);
    const auto [text, status] = answer_to(question, "/dev/full");
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
    CHECK(text.find("the output is incomplete: No space left on device") != std::string::npos);
  }
}

TEST_CASE("output that can be written ends it with status 0, and no complaint" *
          doctest::skip(HAS_SANITIZER)) {
  for (const char* question : questions) {
    CAPTURE(question);
    const auto [text, status] = answer_to(question, "/dev/null");
    CHECK(status == 0);
    CHECK(text.empty());
  }
}

TEST_CASE("settings are loaded where nothing is asked for") {
  const std::array<const char*, 1> arguments{"program"};
  CHECK(load_settings_or_exit(1, arguments.data(), nullptr).print.empty());
}

}  // namespace unwritable_output_test
