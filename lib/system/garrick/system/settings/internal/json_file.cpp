// The file layer: flattens a JSON file into dotted keys and remembers the line of each.
//
// The parser reports keys and values in order, but not its line; so it reads through an iterator
// that counts lines.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "garrick/system/settings/internal/layers.hpp"

#if !defined(GARRICK_MINIMAL)
#include <nlohmann/json.hpp>

#include "garrick/base/types/print.hpp"
#endif

namespace garrick::system::internal {

#if defined(GARRICK_MINIMAL)

base::result<assignments> read_json(const std::string& path) {
  return refuse(path, "this build reads no files (GARRICK_MINIMAL): use the environment");
}

#else

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;  // of a file
constexpr std::size_t most_levels = 16;                   // of nested objects
constexpr std::size_t longest_word_shown = 100;

/// Returns the last word of a text, or its last character if that is a punctuation mark.
std::string_view last_word(std::string_view text) {
  const std::size_t last = text.size() - 1;
  if (text.back() == '"' && last != 0)
    return text.substr(std::min(text.rfind('"', last - 1), last));
  return text.substr(std::min(text.find_last_of(" \t\r\n{}[]:,") + 1, last));  // npos + 1 is 0
}

/// Reads characters and counts the line ends among them, in a counter that all copies share.
class counting_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, std::size_t* line) noexcept : at_(at), line_(line) {}
  reference operator*() const noexcept { return *at_; }
  counting_iterator& operator++() noexcept {
    if (*at_++ == '\n') ++*line_;
    return *this;
  }
  counting_iterator operator++(int) noexcept {
    counting_iterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const counting_iterator& a, const counting_iterator& b) noexcept {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  std::size_t* line_;
};

/// Receives the parser's events. A function that returns false stops the parser, and has set
/// `error`.
class collector final : public nlohmann::json_sax<nlohmann::json> {
 public:
  collector(const std::string& path, std::string_view text, const std::size_t& line)
      : path_(path), text_(text), line_(line) {}

  bool null() override { return value(raw_value::kind::other, "null"); }
  bool boolean(bool x) override { return value(raw_value::kind::boolean, x ? "true" : "false"); }
  bool number_integer(number_integer_t x) override {
    return value(raw_value::kind::integer, std::to_string(x));
  }
  bool number_unsigned(number_unsigned_t x) override {
    return value(raw_value::kind::integer, std::to_string(x));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return value(raw_value::kind::real, text);
  }
  bool string(string_t& x) override { return value(raw_value::kind::text, x); }
  bool binary(binary_t&) override { return value(raw_value::kind::other, "binary"); }
  bool start_array(std::size_t) override { return value(raw_value::kind::other, "a list"); }
  bool end_array() override { return true; }

  bool start_object(std::size_t) override {
    if (keys_.size() == most_levels)
      return fail(line_, "more than " + std::to_string(most_levels) + " objects in each other");
    if (!keys_.empty() && !value(raw_value::kind::section, "")) return false;
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool key(string_t& name) override {
    keys_.back() = name;
    key_line_ = line_;
    if (name.empty()) return fail(key_line_, "a key is empty");
    if (!seen_.insert(full_key()).second)
      return fail(key_line_, "the key '" + full_key() + "' is there twice");
    return true;
  }
  /// `read` is the number of characters, including the wrong one. The end of the file counts as a
  /// character.
  bool parse_error(std::size_t read, const std::string&,
                   const nlohmann::detail::exception&) override {
    if (read > text_.size()) return fail(line_, "this is not JSON: the file ends too early");
    const std::string_view word = last_word(text_.substr(0, read)).substr(0, longest_word_shown);
    return fail(line_, "this is not JSON: unexpected " + base::to_string(word));
  }

  assignments found;
  base::error error;

 private:
  [[nodiscard]] std::string full_key() const {
    std::string all;
    for (const std::string& part : keys_) all += (all.empty() ? "" : ".") + part;
    return all;
  }
  bool fail(std::size_t line, std::string_view why) {
    error = refuse(path_ + ":" + std::to_string(line), why);
    return false;
  }
  bool value(raw_value::kind type, std::string text) {
    if (keys_.empty())
      return fail(line_, "a file of settings is an object: { \"section\": { \"key\": value } }");
    if (type == raw_value::kind::other)
      return fail(key_line_, "the key '" + full_key() + "' cannot be " + text);
    found.push_back({full_key(), {type, std::move(text)}, path_ + ":" + std::to_string(key_line_)});
    return true;
  }

  const std::string& path_;
  const std::string_view text_;
  const std::size_t& line_;
  std::size_t key_line_ = 0;
  std::vector<std::string> keys_;
  std::set<std::string> seen_;
};

}  // namespace

base::result<assignments> read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(path, std::string("the file cannot be opened: ") + std::strerror(errno));
  std::string text;
  for (std::array<char, 4096> part{}; file.good();) {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes)
      return refuse(path,
                    "a file of settings has at most " + std::to_string(most_bytes) + " bytes");
  }
  if (file.bad())
    return refuse(path, std::string("the file cannot be read: ") + std::strerror(errno));
  std::size_t line = 1;
  collector found(path, text, line);
  const counting_iterator begin(text.data(), &line);
  const counting_iterator end(text.data() + text.size(), &line);
  constexpr bool strict = true;
  constexpr bool ignore_comments = true;
  if (!nlohmann::json::sax_parse(begin, end, &found, nlohmann::json::input_format_t::json, strict,
                                 ignore_comments))
    return found.error;
  return std::move(found.found);
}

#endif

}  // namespace garrick::system::internal
