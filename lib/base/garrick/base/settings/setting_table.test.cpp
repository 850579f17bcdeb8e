#include "garrick/base/settings/setting_table.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

using namespace garrick::base;

namespace {

enum class shade : std::uint8_t { dark, light };
constexpr std::array<std::string_view, 2> shades{"dark", "light"};

std::string no_vowels(const std::string& text) {
  return text.find_first_of("aeiou") == std::string::npos ? "" : "it has a vowel";
}

/// Why the row refuses this text; empty: it takes it.
std::string refusal(const setting& row, std::string_view text) {
  const auto value = parse(row, text);
  if (!value) return wrong_type(row, text).why;
  const auto refused = check(row, *value);
  return refused ? refused->why : "";
}

}  // namespace

TEST_CASE("a time is a number with a unit") {
  CHECK(parse_duration("50us") == duration::microseconds(50));
  CHECK(parse_duration("10 ms") == duration::milliseconds(10));
  CHECK(parse_duration("1.5s") == duration::milliseconds(1500));
  CHECK(parse_duration("2min") == duration::seconds(120));
  CHECK(parse_duration("1h") == duration::seconds(3600));
  CHECK(parse_duration("1d") == duration::seconds(86'400));
  CHECK(parse_duration("0s") == duration());
  CHECK(parse_duration("infinite") == duration::infinite());
  CHECK(!parse_duration("0.9ns"));  // not a silent zero
  CHECK(parse_duration("0.0s") == duration());
  CHECK(parse_duration("400000d").value_or(duration()).is_infinite());  // beyond 292 years
  CHECK(parse_duration("9999999.5d").value_or(duration()).is_infinite());
  for (const char* wrong : {"", "5", "ms", "-1ms", "5 parsecs", "1..5s", "5ms ", " 5ms", "1e3s"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong).has_value());
  }
}

TEST_CASE("a value goes into the variable and comes back as the text that it was") {
  bool flag = false;
  std::uint32_t count = 0;
  std::int64_t number = 0;
  double real = 0;
  std::string text;
  shade colour = shade::dark;
  duration time;
  const auto round = [](const setting& row, std::string_view in) {
    const auto value = parse(row, in);
    REQUIRE(value);
    store(row, *value);
    CHECK(value_of(row) == *value);
    return to_text(row, value_of(row));
  };
  CHECK(round({"a.b", &flag}, "true") == "true");
  CHECK(flag);
  CHECK(round({"a.b", &count}, "unlimited") == "unlimited");
  CHECK(count == 0xffff'ffff);
  CHECK(round({"a.b", &number}, "-7") == "-7");
  CHECK(number == -7);
  CHECK(round({"a.b", &real}, "0.1") == "0.1");
  CHECK(real == 0.1);
  CHECK(round({"a.b", &text}, "a \"b\"") == "a \"b\"");
  CHECK(text == "a \"b\"");
  CHECK(round({"a.b", &colour, shades}, "light") == "light");
  CHECK(colour == shade::light);
  CHECK(round({"a.b", &time}, "1.5ms") == "1500us");
  CHECK(time == duration::microseconds(1500));
}

TEST_CASE("a range holds its ends and nothing beyond") {
  std::uint32_t count = 0;
  std::int64_t number = 0;
  double real = 0;
  std::string text;
  shade colour = shade::dark;
  duration time;
  const setting messages{"a.count", &count, {1, 10}, "messages"};
  CHECK(refusal(messages, "1").empty());
  CHECK(refusal(messages, "10").empty());
  CHECK(refusal(messages, "0") ==
        "the key 'a.count' wants a whole number from 1 to 10 (messages), not '0'");
  CHECK(refusal(messages, "11") != "");
  CHECK(refusal(messages, "unlimited") ==
        "the key 'a.count' wants a whole number from 1 to 10 (messages), not 'unlimited'");
  CHECK(refusal({"a.b", &count}, "4294967295").empty());
  CHECK(refusal({"a.b", &count}, "4294967296") != "");
  CHECK(refusal({"a.b", &count}, "-1") != "");
  CHECK(refusal({"a.b", &number, {-2, 2}}, "-2").empty());
  CHECK(refusal({"a.b", &number, {-2, 2}}, "-3") ==
        "the key 'a.b' wants a whole number from -2 to 2, not '-3'");
  CHECK(refusal({"a.b", &number}, "one") == "the key 'a.b' wants a whole number, not 'one'");
  CHECK(refusal({"a.b", &real, {0.5, 1.0}}, "1").empty());
  CHECK(refusal({"a.b", &real, {0.5, 1.0}}, "0.5").empty());
  CHECK(refusal({"a.b", &real, {0.5, 1.0}}, "0.4") ==
        "the key 'a.b' wants a number from 0.5 to 1, not '0.4'");
  CHECK(refusal({"a.b", &real}, "nan") != "");
  CHECK(refusal({"a.b", &text, setting_range::at_most_bytes(3)}, "abc").empty());
  CHECK(refusal({"a.b", &text, setting_range::at_most_bytes(3)}, "abcd") ==
        "the key 'a.b' wants text of at most 3 bytes, not 'abcd'");
  CHECK(refusal({"a.b", &text, setting_range::must_be("consonants", &no_vowels)}, "bcd").empty());
  CHECK(refusal({"a.b", &text, setting_range::must_be("consonants", &no_vowels)}, "bad") ==
        "the key 'a.b' wants consonants, not 'bad': it has a vowel");
  CHECK(refusal({"a.b", &colour, shades}, "grey") ==
        "the key 'a.b' wants one of dark, light, not 'grey'");
  CHECK(check({"a.b", &colour, shades}, {.number = 2}).has_value());
  const setting pause{"a.b", &time, {duration::milliseconds(1), duration::seconds(1)}};
  CHECK(refusal(pause, "1ms").empty());
  CHECK(refusal(pause, "1s").empty());
  CHECK(refusal(pause, "999us") ==
        "the key 'a.b' wants a time with a unit from 1ms to 1s, not '999us'");
  CHECK(refusal(pause, "infinite") != "");
  CHECK(check({"a.b", &time}, {.number = -1}).has_value());
}

TEST_CASE("a table finds rows, keeps defaults, and names what its variables must not hold") {
  std::uint32_t least = 5;
  std::uint32_t most = 7;
  setting_table table;
  table.add({"queue.least", &least, {1, 10}});
  table.add({"queue.most", &most, {1, 10}});
  table.must_not_be_below("queue.most", "queue.least");
  REQUIRE(table.find("queue.most") != nullptr);
  CHECK(table.find("queue") == nullptr);
  CHECK(table.has_section("queue"));
  CHECK_FALSE(table.has_section("queu"));
  CHECK_FALSE(table.first_refused());
  most = 11;
  CHECK(table.default_of(*table.find("queue.most")).number == 7);
  REQUIRE(table.first_refused());
  CHECK(table.first_refused()->key == "queue.most");
  most = 4;
  REQUIRE(table.first_refused());
  CHECK(table.first_refused()->why == "the key 'queue.most' must not be below 'queue.least'");
  CHECK(table.first_refused()->other == "queue.least");

  setting_table all;
  bool own = false;
  all.add({"own.flag", &own});
  all.add_all(table);
  CHECK(all.rows().size() == 3);
  CHECK(all.default_of(*all.find("queue.most")).number == 7);
  CHECK(all.first_refused()->key == "queue.most");
}
