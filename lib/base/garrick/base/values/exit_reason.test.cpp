// Reasons of an actor's end: the failures among them, and their texts.
#include "garrick/base/values/exit_reason.hpp"

#include <doctest/doctest.h>

namespace exit_reason_test {

using garrick::base::errc;
using garrick::base::exit_code;
using garrick::base::exit_reason;
using garrick::base::make_error;

TEST_CASE("normal is the default and is no failure") {
  const exit_reason reason;
  CHECK(reason.is_normal());
  CHECK_FALSE(reason.is_failure());
  CHECK(reason == exit_code::normal);
  CHECK(reason == exit_reason(exit_code::normal));
  CHECK(reason.to_string() == "normal");
}

TEST_CASE("an exception's text travels with the reason") {
  const exit_reason reason = exit_reason::exception("bad lock");
  CHECK(reason == exit_code::unhandled_exception);
  CHECK(reason.is_failure());
  CHECK(reason.to_string() == "an exception left a handler: bad lock");
}

TEST_CASE("asked to end is not a failure") {
  for (const exit_code code : {exit_code::kill, exit_code::user_shutdown, exit_code::unreachable}) {
    const exit_reason reason = code;
    CHECK(reason == code);
    CHECK_FALSE(reason.is_normal());
    CHECK_FALSE(reason.is_failure());
    CHECK(reason.to_string().find("unknown") == std::string::npos);
  }
}

TEST_CASE("any error can be a reason") {
  const exit_reason reason = make_error(errc::spawn_failed, "no memory");
  CHECK(reason == exit_code::failure);
  CHECK(reason.is_failure());
  CHECK(reason.as_error() == errc::spawn_failed);
  CHECK(exit_reason(errc::timeout).to_string() == "no response came in time");
  CHECK_FALSE(reason == exit_reason(errc::timeout));
}

}  // namespace exit_reason_test
