// The meaning of a row of the table of settings: texts into values, values into texts, and the
// check of values.
#include "garrick/base/settings/setting_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "garrick/base/platform/assert.hpp"

namespace garrick::base {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::uint32_t>::max();

template <class N>
std::optional<N> parse_number(std::string_view text) {
  N value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

struct limits {
  std::int64_t low;
  std::int64_t high;
};

/// Returns the row's limits, never wider than its type.
limits limits_of(const setting& row) {
  const setting_range& r = row.range;
  switch (row.target.kind()) {
    case setting_kind::count:
      return {std::max<std::int64_t>(r.low, 0), std::min(r.high, unlimited)};
    case setting_kind::time: return {std::max<std::int64_t>(r.low, 0), r.high};
    default: return {r.low, r.high};
  }
}

std::string number_text(const setting& row, std::int64_t number) {
  if (row.target.kind() == setting_kind::time) return duration::nanoseconds(number).to_string();
  if (row.target.kind() == setting_kind::count && number == unlimited) return "unlimited";
  return std::to_string(number);
}

std::string span_text(const setting& row) {
  const limits allowed = limits_of(row);
  return "from " + number_text(row, allowed.low) + " to " + number_text(row, allowed.high);
}

/// Returns a remark that the variable was set to a negative number, if that is likely; else empty.
std::string remark_on_negative(const setting& row, std::int64_t number) {
  constexpr std::int64_t first_beyond = unlimited + 1;
  if (row.target.kind() != setting_kind::count || number < first_beyond / 2) return {};
  return ": a count cannot be negative; " + std::to_string(number - first_beyond) +
         " turns into that";
}

std::string real_text(const setting& row, double value) {
  std::string text;
  row.target.print_real(text, value);
  return text;
}

/// Returns the refusal of a text. With a `type`, the error names it before the text, which is then
/// shown as its source has written it.
refused_setting refuse(const setting& row, std::string_view text, std::string_view type,
                       std::string_view because) {
  std::string why = "the key '" + std::string(row.key) + "' wants " + expectation(row) + ", not ";
  std::string_view quote = "'";
  if (!type.empty()) {
    why.append("the ").append(type).append(" ");
    quote = type == "text" ? "\"" : "";
  }
  if (type.empty() && text.empty()) {
    why.append("an empty text");
  } else {
    constexpr std::size_t longest_shown = 100;
    why.append(quote).append(text.substr(0, longest_shown));
    why.append(text.size() > longest_shown ? "…" : "").append(quote);
  }
  if (!because.empty()) why.append(": ").append(because);
  return {row.key, std::move(why), {}};
}

/// Returns true if `text` is UTF-8 as Unicode defines it: no form longer than needed, no
/// surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char first = byte(at++);
    if (first < 0x80) continue;
    if (first < 0xc2 || first > 0xf4) return false;
    const std::size_t more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if (text.size() - at < more) return false;
    // the first byte narrows the range of the second
    const unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(at) < least || byte(at) > most) return false;
    for (std::size_t i = 1; i < more; ++i)
      if ((byte(at + i) & 0xc0) != 0x80) return false;
    at += more;
  }
  return true;
}

bool is_key(std::string_view key) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  return std::ranges::all_of(key, fits) && std::ranges::count(key, '.') == 1 &&
         key.front() != '.' && key.back() != '.';
}

/// Returns true if the keys differ in dots and underscores alone. Such keys have the same variable
/// of the environment.
bool share_a_variable(std::string_view a, std::string_view b) {
  const auto as_in_a_variable = [](char c) { return c == '.' ? '_' : c; };
  return std::ranges::equal(a, b, {}, as_in_a_variable, as_in_a_variable);
}

/// Returns the sentence on a setting whose addition ends the program.
[[gnu::noinline]] std::string about(std::string_view key, std::string_view what) {
  return std::string("the setting '").append(key).append("' ").append(what);
}

/// Returns true if the row's range is for the type of its value. A range for another type would
/// silently allow everything.
bool range_fits(const setting& row) {
  const setting_range& r = row.range;
  const setting_kind kind = row.target.kind();
  const setting_range any;
  const bool has_limits = r.low != any.low || r.high != any.high;
  if (has_limits && r.of_time != (kind == setting_kind::time)) return false;
  const bool has_real_limits = r.low_real != any.low_real || r.high_real != any.high_real;
  if (has_real_limits && kind != setting_kind::real) return false;
  if (!r.names.empty() && kind != setting_kind::text && kind != setting_kind::choice) return false;
  if (r.why_not != nullptr && kind != setting_kind::text) return false;
  if (kind == setting_kind::choice) return !r.names.empty();
  return !has_limits || (kind != setting_kind::real && kind != setting_kind::boolean);
}

}  // namespace

namespace {

struct read_time {
  std::optional<duration> value{};
  bool too_long = false;  // a time, but no duration holds it
};

read_time read_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> units{
      {{"ns", 1},
       {"us", 1000},
       {"ms", 1'000'000},
       {"s", 1'000'000'000},
       {"min", 60'000'000'000},
       {"h", 3'600'000'000'000},
       {"d", 86'400'000'000'000}}};
  if (text == "infinite") return {duration::infinite()};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string_view unit = text.substr(digits);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto known =
      std::ranges::find(units, unit, &std::pair<std::string_view, std::int64_t>::first);
  if (known == units.end()) return {};
  const read_time too_long{{}, true};
  if (const auto whole = parse_number<std::int64_t>(text.substr(0, digits))) {
    const duration product = duration::nanoseconds(known->second) * *whole;
    return product.is_infinite() ? too_long : read_time{product};
  }
  const auto number = parse_number<double>(text.substr(0, digits));
  if (!number) return {};
  const double ns = *number * static_cast<double>(known->second);
  if (ns > 0 && ns < 1) return {};  // zero would mean something else: "never", or "at once"
  constexpr double beyond = 9223372036854775808.0;  // the first that an std::int64_t cannot hold
  return ns < beyond ? read_time{duration::nanoseconds(static_cast<std::int64_t>(ns))} : too_long;
}

}  // namespace

std::optional<duration> parse_duration(std::string_view text) { return read_duration(text).value; }

setting_value value_of(const setting& row) {
  const setting_target& at = row.target;
  switch (at.kind()) {
    case setting_kind::boolean: return {.number = at.as<bool>() ? 1 : 0};
    case setting_kind::count: return {.number = at.as<std::uint32_t>()};
    case setting_kind::integer: return {.number = at.as<std::int64_t>()};
    case setting_kind::real: return {.real = at.as<double>()};
    case setting_kind::text: return {.text = at.as<std::string>()};
    case setting_kind::choice: return {.number = at.as<unsigned char>()};
    case setting_kind::time: return {.number = at.as<duration>().count()};
  }
  return {};
}

void store(const setting& row, const setting_value& value) {
  const setting_target& at = row.target;
  switch (at.kind()) {
    case setting_kind::boolean: at.as<bool>() = value.number != 0; return;
    case setting_kind::count:
      at.as<std::uint32_t>() = static_cast<std::uint32_t>(value.number);
      return;
    case setting_kind::integer: at.as<std::int64_t>() = value.number; return;
    case setting_kind::real: at.as<double>() = value.real; return;
    case setting_kind::text: at.as<std::string>() = value.text; return;
    case setting_kind::choice:
      at.as<unsigned char>() = static_cast<unsigned char>(value.number);
      return;
    case setting_kind::time: at.as<duration>() = duration::nanoseconds(value.number); return;
  }
}

std::string to_text(const setting& row, const setting_value& value) {
  switch (row.target.kind()) {
    case setting_kind::boolean: return value.number != 0 ? "true" : "false";
    case setting_kind::count:
    case setting_kind::integer:
    case setting_kind::time: return number_text(row, value.number);
    case setting_kind::real: return real_text(row, value.real);
    case setting_kind::text: return value.text;
    case setting_kind::choice: {
      const auto index = static_cast<std::size_t>(value.number);
      return index < row.range.names.size() ? std::string(row.range.names[index])
                                            : std::to_string(value.number);
    }
  }
  return {};
}

std::optional<setting_value> parse(const setting& row, std::string_view text) {
  switch (row.target.kind()) {
    case setting_kind::boolean:
      if (text != "true" && text != "false") return {};
      return setting_value{.number = text == "true" ? 1 : 0};
    case setting_kind::count:
      if (text == "unlimited") return setting_value{.number = unlimited};
      [[fallthrough]];
    case setting_kind::integer: {
      const auto number = parse_number<std::int64_t>(text);
      return number ? std::optional(setting_value{.number = *number}) : std::nullopt;
    }
    case setting_kind::real: {
      const auto number = parse_number<double>(text);
      return number ? std::optional(setting_value{.real = *number}) : std::nullopt;
    }
    case setting_kind::text: return setting_value{.text = std::string(text)};
    case setting_kind::choice: {
      const auto known = std::ranges::find(row.range.names, text);
      if (known == row.range.names.end()) return {};
      return setting_value{.number = known - row.range.names.begin()};
    }
    case setting_kind::time: {
      const auto time = parse_duration(text);
      return time ? std::optional(setting_value{.number = time->count()}) : std::nullopt;
    }
  }
  return {};
}

std::optional<refused_setting> check(const setting& row, const setting_value& value) {
  const setting_range& r = row.range;
  const auto outside = [&](std::int64_t number) {
    const limits allowed = limits_of(row);
    return number < allowed.low || number > allowed.high;
  };
  std::string because;
  bool wrong = false;
  switch (row.target.kind()) {
    case setting_kind::boolean: break;
    case setting_kind::count:
    case setting_kind::integer:
    case setting_kind::time: wrong = outside(value.number); break;
    // written so that NaN, too, is outside
    case setting_kind::real:
      wrong = !(value.real >= r.low_real && value.real <= r.high_real);
      break;
    case setting_kind::choice:
      wrong = value.number < 0 || static_cast<std::size_t>(value.number) >= r.names.size();
      break;
    case setting_kind::text:
      if (!is_utf8(value.text))
        return refused_setting{row.key,
                               "the key '" + std::string(row.key) + "' wants text in UTF-8"};
      if (r.why_not != nullptr) because = r.why_not(value.text);
      wrong = !because.empty() || outside(static_cast<std::int64_t>(value.text.size())) ||
              (!r.names.empty() && std::ranges::count(r.names, value.text) == 0);
  }
  if (!wrong) return {};
  return refuse(row, to_text(row, value), {}, because);
}

refused_setting wrong_type(const setting& row, std::string_view text, std::string_view type) {
  const bool too_long = row.target.kind() == setting_kind::time && type.empty() &&
                        row.range.high == duration::infinite().count() &&
                        read_duration(text).too_long;
  if (!too_long) return refuse(row, text, type, {});
  const duration longest = duration::seconds(duration::infinite().count() / 1'000'000'000);
  return refuse(row, text, type, "beyond " + longest.to_string() + " there is only 'infinite'");
}

std::string expectation(const setting& row) {
  const auto with_unit = [&](std::string text) {
    return row.unit.empty() ? text : text + " (" + std::string(row.unit) + ")";
  };
  const setting_range any;
  switch (row.target.kind()) {
    case setting_kind::boolean: return "true or false";
    case setting_kind::count: return with_unit("a whole number " + span_text(row));
    case setting_kind::integer:
      return with_unit(row.range.low == any.low && row.range.high == any.high
                           ? "a whole number"
                           : "a whole number " + span_text(row));
    case setting_kind::real:
      return with_unit(row.range.low_real == any.low_real && row.range.high_real == any.high_real
                           ? "a number"
                           : "a number from " + real_text(row, row.range.low_real) + " to " +
                                 real_text(row, row.range.high_real));
    case setting_kind::time: return "a time with a unit " + span_text(row);
    case setting_kind::text:
    case setting_kind::choice: break;
  }
  if (!row.range.names.empty()) {
    std::string all;
    for (const std::string_view name : row.range.names)
      all.append(all.empty() ? "one of " : ", ").append(name);
    return all;
  }
  if (!row.range.form.empty()) return std::string(row.range.form);
  const bool bounded = row.range.high != any.high;
  if (row.range.low > 0)
    return "text of " + (bounded ? "" : std::string("at least ")) + std::to_string(row.range.low) +
           (bounded ? " to " + std::to_string(row.range.high) : std::string()) + " bytes";
  return bounded ? "text of at most " + std::to_string(row.range.high) + " bytes" : "text";
}

// --- the table ---

void setting_table::add(const setting& row) {
  const auto known = std::ranges::find_if(
      rows_, [&](const setting& other) { return share_a_variable(other.key, row.key); });
  std::string wrong;
  if (row.key.empty() || !is_key(row.key))
    wrong = "needs a key of the form section.name, in lower case letters, digits and underscores";
  else if (!row.target.has_variable())
    wrong = "has no variable: its pointer is null";
  else if (!range_fits(row))
    wrong = "has a range of another type than its variable";
  else if (known != rows_.end() && known->key == row.key)
    wrong = "exists already";
  else if (known != rows_.end())
    wrong.append("would have the environment variable of '").append(known->key).append("'");
  GARRICK_ASSERT(wrong.empty(), about(row.key, wrong).c_str());
  rows_.push_back(row);
  defaults_.push_back(value_of(row));
}

void setting_table::must_not_be_below(std::string_view key, std::string_view least) {
  GARRICK_ASSERT(find(key) != nullptr, about(key, "has not been added").c_str());
  GARRICK_ASSERT(find(least) != nullptr, about(least, "has not been added").c_str());
  pairs_.push_back({key, least});
}

void setting_table::add_all(const setting_table& other) {
  for (const setting& row : other.rows_) {
    add(row);
    defaults_.back() = other.default_of(row);
  }
  pairs_.insert(pairs_.end(), other.pairs_.begin(), other.pairs_.end());
}

const setting* setting_table::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find(rows_, key, &setting::key);
  return found == rows_.end() ? nullptr : &*found;
}

const setting_value& setting_table::default_of(const setting& row) const noexcept {
  return defaults_[static_cast<std::size_t>(&row - rows_.data())];
}

bool setting_table::has_section(std::string_view name) const noexcept {
  return std::ranges::any_of(rows_, [name](const setting& row) {
    return row.key.starts_with(name) && row.key.substr(name.size()).starts_with('.');
  });
}

std::optional<refused_setting> setting_table::first_refused() const {
  for (const setting& row : rows_)
    if (auto refused = check(row, value_of(row))) {
      refused->why += remark_on_negative(row, value_of(row).number);
      return refused;
    }
  for (const pair& p : pairs_)
    if (value_of(*find(p.key)).number < value_of(*find(p.least)).number)
      return refused_setting{
          p.key,
          "the key '" + std::string(p.key) + "' must not be below '" + std::string(p.least) + "'",
          p.least};
  return {};
}

}  // namespace garrick::base
