// The environment alone as the source of a system's settings: the name of a file is refused.
#include "garrick/system/settings/internal/environment.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

namespace environment_test {

using garrick::system::internal::settings_of;

TEST_CASE("a variable that names a file is refused in a program that reads none") {
  std::string refusal;
  try {
    static_cast<void>(settings_of({"GARRICK_CONFIG=app.json"}, {}));
  } catch (const std::invalid_argument& e) { refusal = e.what(); }
  CHECK(refusal ==
        "environment variable GARRICK_CONFIG: this program reads no file: it makes its system "
        "without load_settings");
}

TEST_CASE("a variable that names a file is left to the program that reads it") {
  const auto values =
      settings_of({"GARRICK_CONFIG=app.json", "GARRICK_MAILBOX_SOFT_LIMIT=9"}, {"GARRICK_CONFIG"});
  CHECK(values.mailbox.soft_limit == 9);
  CHECK(values.loaded.size() == 1);
}

}  // namespace environment_test
