// The printing of values: numbers, text, enumerations, aggregates and standard types.
#include "garrick/base/types/print.hpp"

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "garrick/base/values/error.hpp"
#include "garrick/base/values/exit_reason.hpp"
#include "garrick/base/values/result.hpp"

#include <doctest/doctest.h>

using garrick::base::to_string;

namespace shop {

enum class colour { red, green };
enum class size { small, large };
std::string to_string(size s) { return s == size::small ? "small" : "large"; }

struct item {
  std::string name;
  int count;
};
struct order {
  long id;
  std::vector<item> items;
  std::optional<double> discount;
};
struct nothing {};
struct key {
  char bytes[4];
  short numbers[2];
};
class closed {
 public:
  explicit closed(int x) : x_(x) {}
  [[nodiscard]] int x() const { return x_; }

 private:
  int x_;
};
class speaking {
 public:
  [[nodiscard]] std::string to_string() const { return "hello"; }
};
struct outside {
  int x;
};
std::string to_string(const outside& o) { return "outside#" + std::to_string(o.x); }

}  // namespace shop

TEST_CASE("scalars print as one would write them") {
  CHECK(to_string(-12) == "-12");
  CHECK(to_string(12345678901234567890ull) == "12345678901234567890");
  CHECK(to_string(std::uint8_t{7}) == "7");
  CHECK(to_string(true) == "true");
  CHECK(to_string(0.5) == "0.5");
  CHECK(to_string(2.5f) == "2.5");
  CHECK(to_string('x') == "'x'");
  CHECK(to_string('\n') == "'\\n'");
  CHECK(to_string(U'\u20ac') == "'\\u20ac'");
}

TEST_CASE("text is quoted and stays on one line") {
  CHECK(to_string(std::string("a\"b\n\x01")) == "\"a\\\"b\\n\\x01\"");
  CHECK(to_string("literal") == "\"literal\"");
  const char* text = "pointed at";
  CHECK(to_string(text) == "\"pointed at\"");
  CHECK(to_string(std::string_view("view")) == "\"view\"");
  CHECK(to_string(std::filesystem::path("/tmp")) == "\"/tmp\"");
}

TEST_CASE("enumerations print their number unless they say more") {
  CHECK(to_string(shop::colour::green) == "(shop::colour)1");
  CHECK(to_string(shop::size::large) == "large");
}

TEST_CASE("aggregates print field by field") {
  CHECK(to_string(shop::item{"tea", 2}) == "shop::item{\"tea\", 2}");
  CHECK(to_string(shop::order{7, {{"tea", 2}, {"cup", 1}}, {}}) ==
        "shop::order{7, [shop::item{\"tea\", 2}, shop::item{\"cup\", 1}], none}");
  CHECK(to_string(shop::nothing{}) == "shop::nothing");
  CHECK(to_string(shop::key{{'a', 'b', 0, 0}, {1, 2}}) == "shop::key{\"ab\", [1, 2]}");
  CHECK(to_string(shop::key{{'a', 'b', 'c', 'd'}, {1, 2}}) == "shop::key{\"abcd\", [1, 2]}");
}

TEST_CASE("standard types print by shape") {
  CHECK(to_string(std::vector<int>{1, 2, 3}) == "[1, 2, 3]");
  CHECK(to_string(std::vector<bool>{true, false}) == "[true, false]");
  CHECK(to_string(std::array<int, 2>{4, 5}) == "[4, 5]");
  CHECK(to_string(std::set<std::string>{"a"}) == "[\"a\"]");
  CHECK(to_string(std::map<int, std::string>{{1, "a"}, {2, "b"}}) == "{1: \"a\", 2: \"b\"}");
  CHECK(to_string(std::pair(1, 'c')) == "(1, 'c')");
  CHECK(to_string(std::tuple(1, 2.5, std::string("x"))) == "(1, 2.5, \"x\")");
  CHECK(to_string(std::optional<int>(3)) == "3");
  CHECK(to_string(std::variant<int, std::string>("x")) == "\"x\"");
  CHECK(to_string(std::make_unique<int>(3)) == "3");
  CHECK(to_string(std::unique_ptr<int>()) == "null");
  CHECK(to_string(std::make_shared<const int>(4)) == "4");
  CHECK(to_string(std::monostate()) == "std::monostate");
}

TEST_CASE("durations carry their unit") {
  using namespace std::chrono_literals;
  CHECK(to_string(1500ms) == "1500ms");
  CHECK(to_string(2us) == "2us");
  CHECK(to_string(3min) == "3min");
  CHECK(to_string(std::chrono::duration<int, std::ratio<1, 4>>(2)) == "0.5s");
  CHECK(to_string(std::chrono::sys_seconds(5s)) == "5s");
}

TEST_CASE("classes print themselves, or their type") {
  CHECK(to_string(shop::speaking()) == "hello");
  CHECK(to_string(shop::outside{4}) == "outside#4");
  CHECK(to_string(shop::closed(3)) == "<shop::closed>");
  CHECK(to_string(garrick::base::error(garrick::base::errc::timeout)) ==
        "no response came in time");
  CHECK(to_string(garrick::base::exit_reason()) == "normal");
}

TEST_CASE("results print their value or their error") {
  using garrick::base::errc;
  using garrick::base::result;
  CHECK(to_string(result<int>(3)) == "3");
  CHECK(to_string(result<int>(errc::timeout)) == "no response came in time");
  CHECK(to_string(result<int, int>(3, 4)) == "(3, 4)");
  CHECK(to_string(result<void>()) == "ok");
  CHECK(to_string(result<>(errc::timeout)) == "no response came in time");
}

namespace {

template <class T>
std::string within(std::size_t limit, const T& x) {
  std::string out = "> ";
  garrick::base::print_to(out, x, limit);
  return out;
}

/// Counts the elements that were looked at.
struct counted_range {
  struct iterator {
    int at;
    int* seen;
    int operator*() const { return ++*seen, at; }
    iterator& operator++() { return ++at, *this; }
    bool operator!=(const iterator& other) const { return at != other.at; }
  };
  [[nodiscard]] iterator begin() const { return {0, seen}; }
  [[nodiscard]] iterator end() const { return {1'000'000, seen}; }
  [[nodiscard]] static std::size_t size() { return 1'000'000; }
  int* seen;
};

}  // namespace

TEST_CASE("printing within a limit changes nothing that fits") {
  CHECK(within(9, std::vector<int>{1, 2, 3}) == "> [1, 2, 3]");
  CHECK(within(100, shop::item{"tea", 2}) == "> shop::item{\"tea\", 2}");
}

TEST_CASE("beyond its limit, printing says how much was left out") {
  CHECK(within(8, std::vector<int>{1, 2, 3}) == "> [1, 2, 3… (1 byte left out)");
  CHECK(within(5, std::vector<int>{1, 2, 3, 4, 5}) == "> [1, 2… (4 bytes and 2 elements left out)");
  CHECK(within(4, std::string(1000, 'x')) == "> \"xxx… (998 bytes left out)");
  CHECK(within(0, 7) == "> … (1 byte left out)");
}

TEST_CASE("a limit cuts between characters") {
  CHECK(within(4, std::string("aböc")) == "> \"ab… (4 bytes left out)");
  CHECK(within(5, std::string("aböc")) == "> \"abö… (2 bytes left out)");
}

TEST_CASE("beyond the limit no element is looked at") {
  int seen = 0;
  const std::string text = within(64, counted_range{&seen});
  CHECK(seen < 64);
  CHECK(text.find("elements left out)") != std::string::npos);
  CHECK(text.size() < 150);
}

TEST_CASE("a limit is for its own string and ends with the call") {
  CHECK(within(3, shop::speaking()) == "> hel… (2 bytes left out)");
  CHECK(to_string(std::vector<int>{1, 2, 3}) == "[1, 2, 3]");
}
