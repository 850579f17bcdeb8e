#include "markup.hpp"

#include "entity.hpp"

#include <algorithm>
#include <array>

namespace word_count {

namespace {

constexpr std::size_t longest_name = 16;  // longer than every name that matters here

/// Tags that change the look of a word but do not end it.
constexpr std::array<std::string_view, 31> inside_a_line{
    "a",      "abbr",   "acronym", "b",   "bdi",   "bdo",  "big", "cite", "code", "del",   "dfn",
    "em",     "font",   "i",       "ins", "kbd",   "mark", "q",   "s",    "samp", "small", "span",
    "strike", "strong", "sub",     "sup", "tspan", "tt",   "u",   "var",  "wbr"};
static_assert(std::is_sorted(inside_a_line.begin(), inside_a_line.end()));

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr bool is_ascii_letter(char c) noexcept { return lower(c) >= 'a' && lower(c) <= 'z'; }
constexpr bool is_name(char c) noexcept {
  return is_ascii_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == ':';
}

bool same_ignoring_case(std::string_view text, std::string_view small) noexcept {
  return std::equal(text.begin(), text.end(), small.begin(), small.end(),
                    [](char a, char b) { return lower(a) == b; });
}
bool begins_with(std::string_view text, std::string_view small) noexcept {
  return same_ignoring_case(text.substr(0, small.size()), small);
}

}  // namespace

form form_of(std::string_view path, std::string_view head) {
  const std::string_view ending = path.substr(std::min(path.size(), path.rfind('.')));
  for (const std::string_view known : {".html", ".htm", ".xhtml", ".xml", ".svg"})
    if (same_ignoring_case(ending, known)) return form::markup;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  while (!head.empty() && is_space(head.front())) head.remove_prefix(1);
  for (const std::string_view known : {"<!doctype html", "<html", "<?xml", "<svg"})
    if (begins_with(head, known)) return form::markup;
  return form::plain;
}

void markup_reader::read(char c, std::string& text) {
  switch (at_) {
    case place::text: return in_text(c, text);
    case place::opening: return in_opening(c, text);
    case place::name:
      if (!is_name(c)) {
        at_ = place::attributes;
        return in_attributes(c, text);
      }
      if (name_.size() < longest_name) name_.push_back(lower(c));
      return;
    case place::attributes: return in_attributes(c, text);
    case place::value:
      if (is_space(c)) return;
      at_ = place::attributes;
      if (c != '"' && c != '\'') return in_attributes(c, text);
      at_ = place::quoted;
      quote_ = c;
      return;
    case place::quoted:
      if (c == quote_) at_ = place::attributes;
      return;
    case place::declaration: return in_declaration(c);
    case place::comment:
      if (c == '>' && seen_ >= 2) at_ = place::text;
      seen_ = c == '-' ? seen_ + 1 : 0;
      return;
    case place::cdata: return in_cdata(c, text);
    case place::hidden: return in_hidden(c);
    case place::entity: return in_entity(c, text);
  }
}

void markup_reader::end(std::string& text) {
  if (at_ == place::opening) emit('<', text);
  if (at_ == place::entity) text += held_;
  *this = {};
}

void markup_reader::emit(char c, std::string& text) {
  text.push_back(c);
  gap_ = is_space(c);
}

void markup_reader::in_text(char c, std::string& text) {
  if (c == '<') {
    at_ = place::opening;
  } else if (c == '&') {
    at_ = place::entity;
    held_ = c;
  } else {
    emit(c, text);
  }
}

void markup_reader::in_opening(char c, std::string& text) {
  closing_ = c == '/';
  slash_ = false;
  name_.clear();
  held_.clear();
  seen_ = 0;
  if (is_ascii_letter(c)) {
    at_ = place::name;
    name_.push_back(lower(c));
  } else if (c == '/') {
    at_ = place::name;
  } else if (c == '!' || c == '?') {
    at_ = place::declaration;
    if (c == '?') held_ = c;  // this cannot become a comment or a section
  } else {
    at_ = place::text;  // "a < b"
    emit('<', text);
    in_text(c, text);
  }
}

void markup_reader::in_attributes(char c, std::string& text) {
  if (c == '>') return end_tag(text);
  slash_ = c == '/';
  if (c == '=') at_ = place::value;
}

void markup_reader::end_tag(std::string& text) {
  at_ = place::text;
  seen_ = 0;
  if (!closing_ && !slash_ && (name_ == "script" || name_ == "style")) at_ = place::hidden;
  if (!std::binary_search(inside_a_line.begin(), inside_a_line.end(), std::string_view(name_)))
    emit(' ', text);
}

void markup_reader::in_declaration(char c) {
  constexpr std::string_view section = "[CDATA[";
  if (held_.size() < section.size()) held_.push_back(c);
  if (held_ == "--") {
    at_ = place::comment;
    seen_ = 2;  // "<!-->" is a whole comment
  } else if (held_ == section) {
    at_ = place::cdata;
    seen_ = 0;
  } else if (c == '[') {
    ++seen_;  // declarations inside a declaration
  } else if (c == ']' && seen_ != 0) {
    --seen_;
  } else if (c == '>' && seen_ == 0) {
    at_ = place::text;
  }
}

void markup_reader::in_cdata(char c, std::string& text) {
  if (c == '>' && seen_ >= 2)
    at_ = place::text;
  else
    emit(c, text);
  seen_ = c == ']' ? seen_ + 1 : 0;
}

void markup_reader::in_hidden(char c) {
  const std::string_view end = name_ == "script" ? "</script" : "</style";
  seen_ = lower(c) == end[seen_] ? seen_ + 1 : c == '<' ? 1 : 0;
  if (seen_ < end.size()) return;
  at_ = place::attributes;
  closing_ = true;
  slash_ = false;
}

void markup_reader::in_entity(char c, std::string& text) {
  if ((is_name(c) || c == '#') && held_.size() < longest_name) {
    held_.push_back(c);
    return;
  }
  at_ = place::text;
  const std::string found = std::move(held_);
  held_.clear();
  if (c == ';') {
    for (const char byte : decoded_entity(std::string_view(found).substr(1))) emit(byte, text);
  } else {  // "AT&T"
    for (const char byte : found) emit(byte, text);
    in_text(c, text);
  }
}

std::string readable(std::string text, form how) {
  if (how == form::plain) {
    blank_addresses(text);
    return text;
  }
  std::string result;
  result.reserve(text.size() / 2);
  markup_reader reader;
  for (const char c : text) reader.read(c, result);
  reader.end(result);
  blank_addresses(result);
  return result;
}

}  // namespace word_count
