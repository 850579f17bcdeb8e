// Pattern matching of dynamic behaviors: types, values, wildcards, guards, projections, catch-all;
// the first match wins.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <optional>
#include <string>

namespace pattern_matching_test {

namespace {

using namespace garrick;

std::optional<int> parse(const std::string& s) {
  if (s.empty() || s.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoi(s);
}

any_ref matcher(actor_system& system) {
  return system.spawn([](dynamic_actor&) -> behavior {
    return {
        on(42) >> [] { return std::string("the answer"); },
        on(any<int>).when([](int x) { return x < 0; }) >>
            [](int x) { return "negative " + std::to_string(-x); },
        [](int x) { return "int " + std::to_string(x); },
        on(any<int>) >> [](int) { return std::string("never reached"); },
        on("hello") >> [] { return std::string("greeting"); },
        on(parse) >> [](int port) { return "port " + std::to_string(port); },
        on([](const std::string& s) {
          return s.size() == 1 ? std::optional<char>(s[0]) : std::nullopt;
        }) >>
            [](char c) { return std::string("letter ") + c; },
        on(any<std::string>) >> [](const std::string& s) { return "text " + s; },
        on(1, any<std::string>) >> [](const std::string& s) { return "first " + s; },
        on(any<int>, "second") >> [](int x) { return "second " + std::to_string(x); },
        on(any<int>, any<std::string>).when([](int x, const std::string& s) {
          return s.size() == static_cast<std::size_t>(x);
        }) >>
            [](int, const std::string& s) { return "measured " + s; },
        on(any<int>, parse) >> [](int a, int b) { return "sum " + std::to_string(a + b); },
        otherwise >> [](const message& m) { return "otherwise " + m.to_string(); },
    };
  });
}

std::string ask(actor_system& system, const any_ref& a, auto... args) {
  return system.request_as<std::string>(a, std::move(args)...).get().value();
}

TEST_CASE("patterns match on values") {
  actor_system system;
  const any_ref a = matcher(system);
  CHECK(ask(system, a, 42) == "the answer");
  CHECK(ask(system, a, std::string("hello")) == "greeting");
  CHECK(ask(system, a, 1, std::string("x")) == "first x");
}

TEST_CASE("patterns match on types, the first match wins") {
  actor_system system;
  const any_ref a = matcher(system);
  CHECK(ask(system, a, 43) == "int 43");
  CHECK(ask(system, a, std::string("something")) == "text something");
  CHECK(ask(system, a, 1, std::string("second")) == "first second");
  CHECK(ask(system, a, 2, std::string("second")) == "second 2");
}

TEST_CASE("patterns match with guards") {
  actor_system system;
  const any_ref a = matcher(system);
  CHECK(ask(system, a, -7) == "negative 7");
  CHECK(ask(system, a, 3, std::string("abc")) == "measured abc");
}

TEST_CASE("patterns match through projections") {
  actor_system system;
  const any_ref a = matcher(system);
  CHECK(ask(system, a, std::string("8080")) == "port 8080");
  CHECK(ask(system, a, std::string("z")) == "letter z");
  CHECK(ask(system, a, 20, std::string("22")) == "sum 42");
}

TEST_CASE("otherwise takes a message that no case took, and sees it whole") {
  actor_system system;
  const any_ref a = matcher(system);
  CHECK(ask(system, a, 2.5) == "otherwise 2.5");
  CHECK(ask(system, a, 9, std::string("abc")).starts_with("otherwise "));
}

TEST_CASE("patterns match shared messages, too") {
  actor_system system;
  const any_ref a = matcher(system);
  const message m = make_message(std::string("a text that lives outside the string object"));
  CHECK(system.request_as<std::string>(a, m).get().value() ==
        "text a text that lives outside the string object");
  const message n = make_message(1, std::string("x"));
  CHECK(system.request_as<std::string>(a, n).get().value() == "first x");
}

TEST_CASE("catch-all forwards a message without knowing its type") {
  actor_system system;
  const any_ref behind = matcher(system);
  const any_ref proxy = system.spawn(lent([behind](dynamic_actor& self) -> behavior {
    return {otherwise >> [&self, behind](const message& m) { self.delegate(behind, m); }};
  }));
  CHECK(ask(system, proxy, 42) == "the answer");
  CHECK(ask(system, proxy, std::string("a text that lives outside the string object")) ==
        "text a text that lives outside the string object");
}

TEST_CASE("pattern cases may answer with results and promises") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    return {on(1) >> []() -> result<int> { return errc::user; },
            on(2) >> [&self]() -> result<int> {
              auto p = self.make_promise<int>();
              result<int> r(p);
              p.deliver(22);
              return r;
            }};
  });
  CHECK(system.request_as<int>(a, 1).get().error() == errc::user);
  CHECK(system.request_as<int>(a, 2).get().value() == 22);
  CHECK(system.request_as<int>(a, 3).get().error() == errc::unexpected_message);
}

}  // namespace

}  // namespace pattern_matching_test
