// One table of settings: values become text and come back, ranges hold, rows are found.
#include "garrick/base/settings/setting_table.hpp"

#include <doctest/doctest.h>
#include <support/in_child.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace setting_table_test {

using namespace garrick::base;

namespace {

enum class shade : std::uint8_t { dark, light };
constexpr std::array<std::string_view, 2> shades{"dark", "light"};

std::string no_vowels(const std::string& text) {
  return text.find_first_of("aeiou") == std::string::npos ? "" : "it has a vowel";
}

/// Returns the row's refusal of this text; empty if the row accepts the text.
std::string refusal(const setting& row, std::string_view text) {
  const auto value = parse(row, text);
  if (!value) return wrong_type(row, text).why;
  const auto refused = check(row, *value);
  return refused ? refused->why : "";
}

/// Returns the text that a child process writes to its error stream while f ends it; "lives" if f
/// returns.
template <class F>
std::string last_words(F f) {
  const auto [text, status] = garrick::tests::in_child(f);
  return garrick::tests::has_aborted(status) ? text : "lives";
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
  CHECK(parse_duration("9223372036854775806ns") == duration::nanoseconds(9223372036854775806));
  CHECK(parse_duration("106751d") == duration::seconds(106'751LL * 86'400));
  // beyond 292 years: not silently infinite
  for (const char* wrong : {"9223372036854775807ns", "106752d", "9999999.5d", "99999999999d",
                            "99999999999999999999ns", "9223372036.9s"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong).has_value());
  }
  for (const char* wrong : {"", "5", "ms", "-1ms", "5 parsecs", "1..5s", "5ms ", " 5ms", "1e3s"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong).has_value());
  }
}

TEST_CASE("a time that is too long is refused, and the longest is named") {
  duration time;
  CHECK(refusal({"a.b", &time}, "99999999999d") ==
        "the key 'a.b' wants a time with a unit from 0s to infinite, not '99999999999d': beyond "
        "9223372036s there is only 'infinite'");
  CHECK(refusal({"a.b", &time, {duration(), duration::seconds(1)}}, "99999999999d") ==
        "the key 'a.b' wants a time with a unit from 0s to 1s, not '99999999999d'");
  CHECK(refusal({"a.b", &time}, "9223372036s").empty());
  CHECK(refusal({"a.b", &time}, "infinite").empty());
}

TEST_CASE("a text that has a type in its source is refused with it") {
  bool flag = false;
  std::string text;
  CHECK(wrong_type({"a.b", &flag}, "true", "text").why ==
        "the key 'a.b' wants true or false, not the text \"true\"");
  CHECK(wrong_type({"a.b", &flag}, "", "text").why ==
        "the key 'a.b' wants true or false, not the text \"\"");
  CHECK(wrong_type({"a.b", &text}, "5", "number").why ==
        "the key 'a.b' wants text, not the number 5");
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
  CHECK(refusal({"a.b", &text, {1, 3}}, "abcd") ==
        "the key 'a.b' wants text of 1 to 3 bytes, not 'abcd'");
  CHECK(refusal({"a.b", &text, {1, 3}}, "") ==
        "the key 'a.b' wants text of 1 to 3 bytes, not an empty text");
  CHECK(expectation({"a.b", &text, {2, std::numeric_limits<std::int64_t>::max()}}) ==
        "text of at least 2 bytes");
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

TEST_CASE("a text is UTF-8") {
  std::string text;
  const setting row{"a.b", &text, {1, 100}};
  for (const char* good : {"a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "aß€😀b"}) {
    CAPTURE(good);
    CHECK(refusal(row, good).empty());
  }
  for (const char* bad :
       {"\xff", "\x80", "\xc1\xbf", "\xc2", "\xc2 ", "\xe0\x9f\xbf", "\xe2\x82", "\xe2\x82 ",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"})
    CHECK(refusal(row, bad) == "the key 'a.b' wants text in UTF-8");
}

TEST_CASE("a table finds rows, keeps defaults, and names a variable with a forbidden value") {
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

  most = static_cast<std::uint32_t>(-1);
  REQUIRE(table.first_refused());
  CHECK(table.first_refused()->why ==
        "the key 'queue.most' wants a whole number from 1 to 10, not 'unlimited': a count cannot "
        "be negative; -1 turns into that");
  most = static_cast<std::uint32_t>(-2);
  CHECK(table.first_refused()->why.ends_with(
      "not '4294967294': a count cannot be negative; -2 turns into that"));
  most = 11;

  setting_table all;
  bool own = false;
  all.add({"own.flag", &own});
  all.add_all(table);
  CHECK(all.rows().size() == 3);
  CHECK(all.default_of(*all.find("queue.most")).number == 7);
  CHECK(all.first_refused()->key == "queue.most");
}

TEST_CASE("a row that cannot be added ends the program with its key") {
  static bool flag = false;
  const auto ending = [](std::string_view key, setting_range range = {}) {
    return last_words([=] {
      setting_table table;
      table.add({"mail.box_size", &flag});
      table.add({key, &flag, range});
    });
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(ending("mail.box") == "lives");
  CHECK(has(ending("Mail.box"), "the setting 'Mail.box' needs a key of the form section.name"));
  CHECK(has(ending("mail"), "the setting 'mail' needs a key of the form section.name"));
  CHECK(has(ending(""), "the setting '' needs a key of the form section.name"));
  CHECK(has(ending("mail.box_size"), "the setting 'mail.box_size' exists already"));
  CHECK(has(ending("mail_box.size"),
            "the setting 'mail_box.size' would have the environment variable of 'mail.box_size'"));
  CHECK(has(ending("mail.box", {1, 2}),
            "the setting 'mail.box' has a range of another type than its variable"));
  static duration pause;
  static std::uint32_t count = 1;
  CHECK(has(last_words([] { setting_table().add({"mail.pause", &pause, {0, 1}}); }),
            "the setting 'mail.pause' has a range of another type than its variable"));
  CHECK(has(last_words([] {
              setting_table().add({"mail.count", &count, {duration(), duration::seconds(1)}});
            }),
            "the setting 'mail.count' has a range of another type than its variable"));
  CHECK(has(
      last_words([] { setting_table().add({"mail.count", static_cast<std::uint32_t*>(nullptr)}); }),
      "the setting 'mail.count' has no variable"));
  CHECK(has(last_words([] { setting_table().must_not_be_below("a.b", "a.c"); }),
            "the setting 'a.b' has not been added"));
}

}  // namespace setting_table_test
