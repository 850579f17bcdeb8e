// The table of settings: one row for each, with its key, the variable that it fills, its range, its
// unit, its purpose and the file that uses it.
//
// The same row serves the readers of a file, an environment or a command line, the check of values
// that a program has written into the variable, and the writers of the help and the guide. A
// setting's default is written once: it is the value of the variable when its row is added.
//
// Every part adds the rows of its own settings; see `add_settings` in
// core/settings/settings.hpp, sched/scheduler_settings.hpp and system/settings/settings.hpp. A
// program adds its own:
//
//   std::uint32_t clients = 10;
//   garrick::base::setting_table mine;
//   mine.add({"chat.clients", &clients, {1, 1000}, "clients", "How many are started"});
//
// Thread safety: none; a table belongs to one thread.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "garrick/base/time/clock.hpp"

namespace garrick::base {

namespace detail {
void print_floating(std::string& out, double x);  // of types/print.hpp
}  // namespace detail

/// The type of a setting. It follows from the variable.
enum class setting_kind : std::uint8_t {
  boolean,  ///< bool: true, false
  count,    ///< std::uint32_t; "unlimited" is its largest value, where that is allowed
  integer,  ///< std::int64_t
  real,     ///< double
  text,     ///< std::string
  choice,   ///< an enumeration of one byte; its names are the range's, in order from 0
  time,     ///< duration: a number and a unit, such as "50us", "1.5 s", or "infinite"
};

/// The variable that a setting fills.
class setting_target {
 public:
  /// The variable's type decides the kind. The variable must outlive this object.
  constexpr setting_target(bool* v) noexcept : kind_(setting_kind::boolean), at_(v) {}
  /// A count.
  constexpr setting_target(std::uint32_t* v) noexcept : kind_(setting_kind::count), at_(v) {}
  /// An integer.
  constexpr setting_target(std::int64_t* v) noexcept : kind_(setting_kind::integer), at_(v) {}
  /// A real number.
  constexpr setting_target(double* v) noexcept
      : kind_(setting_kind::real), at_(v), print_real_(&detail::print_floating) {}
  /// A text.
  constexpr setting_target(std::string* v) noexcept : kind_(setting_kind::text), at_(v) {}
  /// A time.
  constexpr setting_target(duration* v) noexcept : kind_(setting_kind::time), at_(v) {}
  /// A choice.
  template <class E>
    requires(std::is_enum_v<E> && sizeof(E) == 1)
  constexpr setting_target(E* v) noexcept : kind_(setting_kind::choice), at_(v) {}

  /// Returns the kind that follows from the variable's type.
  [[nodiscard]] constexpr setting_kind kind() const noexcept { return kind_; }
  /// Returns false if the pointer was null.
  [[nodiscard]] constexpr bool has_variable() const noexcept { return at_ != nullptr; }
  /// Returns the variable. T must be the type of `kind`; for a choice it is unsigned char.
  template <class T>
  [[nodiscard]] T& as() const noexcept {
    return *static_cast<T*>(at_);
  }
  /// Appends a real number to a text. Requires the kind `real`.
  void print_real(std::string& out, double value) const { print_real_(out, value); }

 private:
  setting_kind kind_;
  void* at_;
  /// Set only for real numbers: the printing tables take 128 kB, and a program without such a row
  /// does not link them.
  void (*print_real_)(std::string& out, double value) = nullptr;
};

/// The allowed values of a setting, both ends included. A range without arguments allows any value
/// of the setting's type, but no negative time.
struct setting_range {
  /// Returns the reason why a text is not a value; empty if it is one.
  using grammar = std::string (*)(const std::string& text);

  constexpr setting_range() noexcept = default;
  /// For a count or an integer.
  template <std::integral N, std::integral M>
  constexpr setting_range(N least, M most) noexcept
      : low(static_cast<std::int64_t>(least)), high(static_cast<std::int64_t>(most)) {}
  /// For a time.
  constexpr setting_range(duration least, duration most) noexcept
      : low(least.count()), high(most.count()), of_time(true) {}
  /// For a real number.
  constexpr setting_range(double least, double most) noexcept : low_real(least), high_real(most) {}
  /// For a text or a choice: the allowed names, which must outlive the table.
  template <std::size_t N>
  constexpr setting_range(const std::array<std::string_view, N>& these) noexcept : names(these) {}
  /// Returns the range of a text that is at most `bytes` long.
  [[nodiscard]] static constexpr setting_range at_most_bytes(std::int64_t bytes) noexcept {
    return {0, bytes};
  }
  /// Returns the range of a text that must have a form. `form` describes it in errors and help;
  /// `why_not` checks a text.
  [[nodiscard]] static constexpr setting_range must_be(std::string_view form,
                                                       grammar why_not) noexcept {
    setting_range r;
    r.form = form;
    r.why_not = why_not;
    return r;
  }

  std::int64_t low = std::numeric_limits<std::int64_t>::min();   ///< nanoseconds of a time
  std::int64_t high = std::numeric_limits<std::int64_t>::max();  ///< bytes of a text
  double low_real = std::numeric_limits<double>::lowest();       ///< of a real number
  double high_real = std::numeric_limits<double>::max();         ///< of a real number
  std::span<const std::string_view> names{};                     ///< empty: any
  std::string_view form{};                                       ///< the form that `why_not` checks
  grammar why_not = nullptr;                                     ///< null: any text
  bool of_time = false;                                          ///< the ends are times
};

/// For the rows of parts: returns a text that only `--help` and the guide show. A minimal build
/// (GARRICK_MINIMAL) has neither, so the text stays out of the program and is empty there.
[[nodiscard]] consteval std::string_view note([[maybe_unused]] std::string_view text) noexcept {
#if defined(GARRICK_MINIMAL)
  return {};
#else
  return text;
#endif
}

/// A row of a table. Its texts are not copied, so they must outlive the table, as literals do.
struct setting {
  std::string_view key;     ///< "section.name", in lower case letters, digits and underscores
  setting_target target;    ///< the variable that it fills
  setting_range range{};    ///< the allowed values
  std::string_view unit{};  ///< the unit of a number: "messages"; a time and a text have none
  std::string_view help{};  ///< one line, without a full stop
  std::string_view used{};  ///< the file that uses it; empty: the program's own
};

/// The value of a setting apart from its variable. The setting's kind decides which member is used.
struct setting_value {
  std::int64_t number = 0;  ///< of a count, an integer, a boolean, a choice; nanoseconds of a time
  double real = 0;          ///< of a real number
  std::string text{};       ///< of a text

  friend bool operator==(const setting_value&, const setting_value&) = default;
};

/// The reason why a value was refused, in one sentence that names the key.
struct refused_setting {
  std::string_view key;      ///< of the row
  std::string why;           ///< without the source, which the table does not know
  std::string_view other{};  ///< the key of the other value, if two contradict each other
};

/// Reads a time such as "50us", "1.5 s" or "infinite". Units: ns, us, ms, s, min, h, d. Returns
/// nullopt if the text is not a time, or a time that a duration cannot hold: longer than 292 years
/// or shorter than a nanosecond.
[[nodiscard]] std::optional<duration> parse_duration(std::string_view text);

/// Returns the variable's present value.
[[nodiscard]] setting_value value_of(const setting& row);
/// Writes a value that was checked before.
void store(const setting& row, const setting_value& value);
/// Returns the value as text, without quotes: "true", "512", "1500us", "work_stealing".
[[nodiscard]] std::string to_text(const setting& row, const setting_value& value);
/// Returns the value that `text` stands for, also outside the range; nullopt if the text is of
/// another type.
[[nodiscard]] std::optional<setting_value> parse(const setting& row, std::string_view text);
/// Checks a value of the right type. Returns nullopt if it may be stored. A text must be UTF-8.
[[nodiscard]] std::optional<refused_setting> check(const setting& row, const setting_value& value);
/// Returns the refusal of a text that is not of the setting's type. `type` is the text's type in a
/// source that has types ("text", "number", "boolean"), and the refusal names it; empty for other
/// sources.
[[nodiscard]] refused_setting wrong_type(const setting& row, std::string_view text,
                                         std::string_view type = {});

/// Returns the row's requirement, for errors, help and guide: "a whole number from 1 to 32768
/// (messages)".
[[nodiscard]] std::string expectation(const setting& row);

/// Rows, in the order in which they were added, with their defaults. A table is meant for the start
/// of a program: each look-up searches all rows.
class setting_table {
 public:
  /// Adds a row; the present value of its variable is the default. The variable must live as long
  /// as the table is used. A bad row ends the program, with a message that names the key. A row is
  /// bad if its key is badly formed or already in the table, if its key differs from another only
  /// in dots and underscores (both would have the same environment variable), if it has no
  /// variable, or if its range is of another type than its variable.
  void add(const setting& row);
  /// Adds the rule that the value of `key` is not below that of `least`. Requires that both are
  /// counts and have been added.
  void must_not_be_below(std::string_view key, std::string_view least);
  /// Adds the rows of another table behind the rows of this one.
  void add_all(const setting_table& other);

  /// Returns all rows.
  [[nodiscard]] const std::vector<setting>& rows() const noexcept { return rows_; }
  /// Returns the row with this key, or null. Valid until a row is added.
  [[nodiscard]] const setting* find(std::string_view key) const noexcept;
  /// Returns the default of one of `rows()`.
  [[nodiscard]] const setting_value& default_of(const setting& row) const noexcept;
  /// Returns true if the keys of some rows begin with `name` and a dot.
  [[nodiscard]] bool has_section(std::string_view name) const noexcept;

  /// Returns the refusal of the first variable with a value that is not allowed, alone or together
  /// with another value. If a count was set to a negative number, the reason says so.
  [[nodiscard]] std::optional<refused_setting> first_refused() const;

 private:
  struct pair {
    std::string_view key;
    std::string_view least;
  };
  std::vector<setting> rows_;
  std::vector<setting_value> defaults_;  // of the row with the same index
  std::vector<pair> pairs_;
};

}  // namespace garrick::base
