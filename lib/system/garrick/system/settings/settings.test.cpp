// The table of the system's settings: the allowed values of each row, from every source, and the
// source that is told for a value.
#include "garrick/system/settings/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "garrick/base/settings/setting_table.hpp"
#include "garrick/system/settings/internal/temporary_file.hpp"
#include "garrick/system/settings/load.hpp"

namespace settings_test {

using namespace garrick;
using namespace garrick::system;
using base::setting;
using base::setting_kind;

namespace {

/// The texts at the ends of a row's range, and those just beyond.
struct samples {
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

std::string time_text(std::int64_t ns) { return base::duration::nanoseconds(ns).to_string(); }

samples samples_of(const setting& row) {
  const base::setting_range& r = row.range;
  switch (row.target.kind()) {
    case setting_kind::boolean: return {{"true", "false"}, {"yes", "1", ""}};
    case setting_kind::count:
      return {{std::to_string(r.low), std::to_string(r.high)},
              {std::to_string(r.low - 1), std::to_string(r.high + 1), "many", "1.5", ""}};
    case setting_kind::time: {
      samples s{{time_text(r.low), time_text(r.high)}, {time_text(r.low - 1), "5", "5 miles", ""}};
      if (r.high != std::numeric_limits<std::int64_t>::max()) {
        s.bad.push_back(time_text(r.high + 1));
        s.bad.push_back("infinite");
      }
      return s;
    }
    case setting_kind::choice:
    case setting_kind::text: break;
    case setting_kind::integer:
    case setting_kind::real: FAIL("no setting of the system has this type yet: add its samples");
  }
  samples s;
  for (const std::string_view name : r.names) s.good.emplace_back(name);
  if (!r.names.empty()) {
    s.bad = {"nobody", ""};
  } else if (r.why_not != nullptr) {
    s.good = {""};
    s.bad = {"<", "castle:1"};
  } else {
    s.good = {"", std::string(static_cast<std::size_t>(r.high), 'x')};
    s.bad = {std::string(static_cast<std::size_t>(r.high) + 1, 'x')};
  }
  return s;
}

std::string variable_of(std::string_view key) {
  std::string name = "GARRICK_";
  for (const char c : key) name += c == '.' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

/// Returns the variables that keep other settings from interfering with this one.
std::vector<std::string> company_of(std::string_view key) {
  return key == "mailbox.hard_limit" ? std::vector<std::string>{"GARRICK_MAILBOX_SOFT_LIMIT=1"}
                                     : std::vector<std::string>();
}

#if !defined(GARRICK_MINIMAL)
/// Returns the text as JSON writes a value of the row's type.
std::string json_of(const setting& row, const std::string& text) {
  const setting_kind kind = row.target.kind();
  const bool is_word = text == "true" || text == "false";
  const bool is_number = !text.empty() && text.find_first_not_of("-.0123456789") == text.npos;
  const bool bare =
      (kind == setting_kind::boolean && is_word) || (kind == setting_kind::count && is_number);
  return bare ? text : '"' + text + '"';
}
#endif

/// The answer of each source to the text: empty, or the error.
struct verdicts {
  std::vector<std::string> from;
  std::vector<std::string> sources;
};

verdicts try_everywhere(const setting& row, const std::string& text) {
  verdicts v;
  const std::string key(row.key);
  const auto attempt = [&](setting_layers layers, const std::string& source) {
    for (const std::string& entry : company_of(key)) layers.environment.push_back(entry);
    const auto loaded = load_settings(layers);
    v.from.push_back(loaded ? "" : std::string(loaded.error().detail()));
    v.sources.push_back(source);
    if (!loaded) return;
    const auto told = std::ranges::find(loaded->list, key, &setting_report::key);
    REQUIRE(told != loaded->list.end());
    CHECK(told->source == source);
    const auto read = list_settings(loaded->system);
    const auto read_back = std::ranges::find(read, key, &setting_report::key);
    CHECK(read_back->source == source);
    CHECK(read_back->value == told->value);
  };
  attempt({.environment = {variable_of(key) + "=" + text}},
          "environment variable " + variable_of(key));
#if !defined(GARRICK_MINIMAL)
  // load.test.cpp tests empty values on the command line
  if (!text.empty()) attempt({.arguments = {"--" + key + "=" + text}}, "argument --" + key);
  const std::size_t dot = key.find('.');
  const internal::temporary_file file("{\"" + key.substr(0, dot) + "\": {\n\"" +
                                      key.substr(dot + 1) + "\": " + json_of(row, text) + "}}");
  attempt({.file = file.path()}, file.path() + ":2");
#endif
  return v;
}

}  // namespace

TEST_CASE("every setting takes the ends of its range and nothing beyond, from every source") {
  settings s;
  base::setting_table table;
  add_settings(table, s);
  REQUIRE(table.rows().size() >= 25);
  for (const setting& row : table.rows()) {
    const std::string key(row.key);
    CAPTURE(key);
    const samples all = samples_of(row);
    for (const std::string& text : all.good) {
      CAPTURE(text);
      for (const std::string& verdict : try_everywhere(row, text).from) CHECK(verdict == "");
    }
    for (const std::string& text : all.bad) {
      CAPTURE(text);
      const verdicts v = try_everywhere(row, text);
      for (std::size_t i = 0; i < v.from.size(); ++i) {
        CHECK(v.from[i].starts_with(v.sources[i]));
        CHECK(v.from[i].find("the key '" + key + "' wants " + expectation(row)) !=
              std::string::npos);
      }
    }
  }
}

TEST_CASE("a value that code has set is held to the same ranges") {
  settings probe;
  base::setting_table shape;
  add_settings(shape, probe);
  for (std::size_t i = 0; i < shape.rows().size(); ++i) {
    const std::string key(shape.rows()[i].key);
    CAPTURE(key);
    const auto refusal_of = [&](const base::setting_value& value) {
      settings s;
      base::setting_table table;
      add_settings(table, s);
      if (key == "mailbox.hard_limit") s.mailbox.soft_limit = 1;
      store(table.rows()[i], value);
      return why_refused(s);
    };
    const samples all = samples_of(shape.rows()[i]);
    for (const std::string& text : all.good)
      CHECK(refusal_of(parse(shape.rows()[i], text).value()) == "");
    for (const std::string& text : all.bad) {
      CAPTURE(text);
      const auto value = parse(shape.rows()[i], text);
      const bool fits_the_variable =
          value && (shape.rows()[i].target.kind() != setting_kind::count ||
                    (value->number >= 0 && value->number <= 0xffff'ffff));
      if (fits_the_variable)
        CHECK(refusal_of(*value).starts_with("code: the key '" + key + "' wants "));
    }
  }
}

TEST_CASE("the table's defaults are those of a default-made structure, and fit") {
  const settings fresh;
  CHECK(why_refused(fresh) == "");
  for (const setting_report& r : list_settings(fresh)) {
    CAPTURE(r.key);
    CHECK(r.source == "default");
  }
  const auto loaded = load_settings({});
  REQUIRE(loaded);
  CHECK(to_text(loaded->list) == to_text(list_settings(fresh)));
}

TEST_CASE("every setting has help, a place where it is used, and a unit if it is a number") {
  settings s;
  base::setting_table table;
  add_settings(table, s);
  std::set<std::string_view> keys;
  for (const setting& row : table.rows()) {
    CAPTURE(row.key);
    CHECK(keys.insert(row.key).second);
    CHECK_FALSE(row.help.empty());
    CHECK(row.help.back() != '.');
    CHECK_FALSE(row.used.empty());
    CHECK(row.unit.empty() == (row.target.kind() != setting_kind::count));
  }
}

TEST_CASE("limits that contradict each other name the source of the one that was set") {
  settings s;
  s.mailbox.hard_limit = 511;
  CHECK(why_refused(s) ==
        "code: the key 'mailbox.hard_limit' must not be below 'mailbox.soft_limit'");
  CHECK(load_settings({.environment = {"GARRICK_MAILBOX_HARD_LIMIT=10"}}).error().detail() ==
        "environment variable GARRICK_MAILBOX_HARD_LIMIT: the key 'mailbox.hard_limit' must not be "
        "below 'mailbox.soft_limit'");
  auto loaded = load_settings({.environment = {"GARRICK_MAILBOX_SOFT_LIMIT=600"}});
  REQUIRE(loaded);
  loaded->system.mailbox.hard_limit = 600;
  CHECK(why_refused(loaded->system) == "");
}

TEST_CASE("a setting is read back with its source, also if code writes over it") {
  auto loaded =
      load_settings({.environment = {"GARRICK_SCHEDULER_WORKERS=2",
                                     "GARRICK_SCHEDULER_QUANTUM=1024", "GARRICK_LOG_LEVEL=off"}});
  REQUIRE(loaded);
  loaded->system.log.level = log_level::error;
  loaded->system.shutdown.deadline = base::duration::seconds(3);
  const auto list = list_settings(loaded->system);
  const auto told = [&](std::string_view key) {
    const auto found = std::ranges::find(list, key, &setting_report::key);
    return found->value + " by " + found->source;
  };
  CHECK(told("scheduler.workers") == "2 by environment variable GARRICK_SCHEDULER_WORKERS");
  // the source is shown though the value is the default
  CHECK(told("scheduler.quantum") == "1024 by environment variable GARRICK_SCHEDULER_QUANTUM");
  CHECK(told("log.level") == "error by code");
  CHECK(told("shutdown.deadline") == "3s by code");
  CHECK(told("mailbox.soft_limit") == "512 by default");
}

TEST_CASE("a listing is in columns") {
  CHECK(to_text({{"a.b", "12345", "default"}, {"a.long_one", "1", "code"}}) ==
        "a.b         12345  default\n"
        "a.long_one  1      code\n");
}

}  // namespace settings_test
