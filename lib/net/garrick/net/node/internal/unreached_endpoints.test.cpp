#include <garrick/net/node/internal/unreached_endpoints.hpp>

#include <doctest/doctest.h>
#include <garrick/net/error.hpp>

#include <string>

namespace unreached_endpoints_test {

using namespace garrick;
using net::internal::unreached_endpoints;

TEST_CASE("unreached endpoints: the text about each, until it is dialled anew or was reached") {
  unreached_endpoints all;
  CHECK(all.last_attempt("a").empty());
  all.is_to_speak("a");
  CHECK(all.last_attempt("a") == "nothing has come from there");
  const base::error why = net::net_errc::unreachable;
  all.failed("a", why);
  CHECK(all.last_attempt("a") == "the last attempt: " + why.to_string());
  all.is_to_speak("a");
  CHECK(all.last_attempt("a") == "nothing has come from there; before: " + why.to_string());
  CHECK(all.last_attempt("b").empty());
  all.failed("b", why);
  all.forget("a");
  CHECK(all.last_attempt("a").empty());
  CHECK(!all.last_attempt("b").empty());
}

TEST_CASE(
    "unreached endpoints: why an attempt has failed is told until the next one has a reason") {
  unreached_endpoints all;
  const base::error earlier = net::net_errc::unreachable, later = net::net_errc::refused;
  CHECK(all.last_attempt("a", earlier) == "the last attempt: " + earlier.to_string());
  all.is_to_speak("a");
  CHECK(all.last_attempt("a", earlier) ==
        "nothing has come from there; before: " + earlier.to_string());
  all.failed("a", later);
  CHECK(all.last_attempt("a", earlier) == "the last attempt: " + later.to_string());
}

TEST_CASE("unreached endpoints: the latest are kept, and no more") {
  unreached_endpoints all;
  for (std::size_t i = 0; i != unreached_endpoints::most + 1; ++i)
    all.is_to_speak(std::to_string(i));
  CHECK(all.last_attempt("0").empty());
  CHECK(!all.last_attempt("1").empty());
  all.is_to_speak("1");  // a known endpoint displaces no other one
  CHECK(!all.last_attempt("2").empty());
}

}  // namespace unreached_endpoints_test
