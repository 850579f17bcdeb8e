// Results: a value or an error, how both pass through `map` and `and_then`, and values' lifetimes.
#include "garrick/base/values/result.hpp"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace result_test {

using garrick::base::bad_result_access;
using garrick::base::errc;
using garrick::base::make_error;
using garrick::base::result;

namespace {

result<int> half(int x) {
  if (x % 2 != 0) return make_error(errc::user, "odd");
  return x / 2;
}

struct counted {
  static inline int alive = 0;
  int id;
  explicit counted(int i) : id(i) { ++alive; }
  counted(const counted& o) : id(o.id) { ++alive; }
  counted& operator=(const counted&) = default;
  ~counted() { --alive; }
};

}  // namespace

TEST_CASE("a result holds a value or an error") {
  const auto good = half(8);
  CHECK(good.has_value());
  CHECK(*good == 4);
  CHECK(good.value_or(9) == 4);
  CHECK_FALSE(good.error());
  const auto bad = half(7);
  CHECK_FALSE(bad);
  CHECK(bad.error() == errc::user);
  CHECK(bad.value_or(9) == 9);
  CHECK(half(8) == half(8));
  CHECK_FALSE(half(8) == half(7));
}

TEST_CASE("value() of an error throws the error's text") {
  try {
    static_cast<void>(half(7).value());
    FAIL("value() returned");
  } catch (const bad_result_access& e) {
    CHECK(std::string(e.what()) == "no value in the result: the program reported an error: odd");
    CHECK(e.reason() == errc::user);
  }
  CHECK_THROWS_AS(result<>(errc::timeout).value(), bad_result_access);
  CHECK_NOTHROW(result<>().value());
}

TEST_CASE("map, and_then and or_else pass the error through") {
  CHECK(half(8).map([](int x) { return x + 1; }).value() == 5);
  CHECK(half(7).map([](int x) { return x + 1; }).error() == errc::user);
  CHECK(half(8).and_then(half).value() == 2);
  CHECK(half(6).and_then(half).error() == errc::user);
  CHECK(half(7).or_else([](const auto&) { return result<int>(1); }).value() == 1);
  CHECK(half(8).or_else([](const auto&) { return result<int>(1); }).value() == 4);
  int seen = 0;
  const result<void> none = half(8).map([&](int x) { seen = x; });
  CHECK(none.has_value());
  CHECK(seen == 4);
}

TEST_CASE("result<> and result<void> mean success or an error") {
  CHECK(result<>().has_value());
  CHECK(result<void>().has_value());
  const result<void> bad = errc::overload;
  CHECK(bad.error() == errc::overload);
  CHECK(result<>().map([] { return 3; }).value() == 3);
  CHECK(result<void>(errc::timeout).and_then([] { return result<int>(3); }).error() ==
        errc::timeout);
  CHECK(result<void>(errc::timeout).or_else([](const auto&) { return result<>(); }).has_value());
}

TEST_CASE("several values are a tuple, and arguments to map") {
  result<int, std::string> two(7, "seven");
  CHECK(std::get<1>(*two) == "seven");
  CHECK(two.map([](int n, const std::string& s) { return s + std::to_string(n); }).value() ==
        "seven7");
  const result<int, std::string> bad = errc::timeout;
  CHECK(bad.error() == errc::timeout);
}

TEST_CASE("values are destroyed exactly once") {
  {
    result<counted> a(std::in_place, 1);
    result<counted> b = a;
    CHECK(counted::alive == 2);
    a = errc::timeout;
    CHECK(counted::alive == 1);
    a = b;
    CHECK(a->id == 1);
    b = std::move(a);
    a = result<counted>(errc::overload);
    CHECK(counted::alive == 1);
  }
  CHECK(counted::alive == 0);
}

TEST_CASE("a call for its effect may end with value(), whether or not it has a value") {
  half(8).value();  // no warning; it throws the error
  CHECK_THROWS_AS(half(7).value(), bad_result_access);
  result<>().value();
}

TEST_CASE("move-only values move") {
  result<std::unique_ptr<int>> p = std::make_unique<int>(3);
  std::unique_ptr<int> out = std::move(p).value();
  CHECK(*out == 3);
  CHECK(result<std::unique_ptr<int>>(std::move(out))
            .map([](std::unique_ptr<int> q) { return *q; })
            .value() == 3);
}

static_assert(!std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
static_assert(std::is_convertible_v<const char*, result<std::string>>);
static_assert(!std::is_convertible_v<std::string, result<int>>);

TEST_CASE("the value of a temporary result outlives it") {
  const auto make = [] { return result<std::vector<int>>(std::vector<int>{1, 2, 3}); };
  static_assert(std::is_same_v<decltype(make().value()), std::vector<int>>);
  int sum = 0;
  for (const int n : make().value()) sum += n;
  CHECK(sum == 6);
}

}  // namespace result_test
