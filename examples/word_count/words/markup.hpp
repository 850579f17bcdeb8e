// Removes the markup from HTML, XML and SVG, so that the visible text is counted, and not "span",
// "class" and "href".
//
// Left out: tags with their attributes, comments, declarations, scripts and styles. Entities become
// the characters that they stand for. Tags inside a line leave no gap ("<b>W</b>ord" is one word,
// as in a browser); every other tag separates words. Bytes beyond ASCII pass through untouched.
// Broken markup is no error: a tag without an end extends to the end of the file.
//
// Thread safety: values; one owner.
#pragma once

#include "text.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace word_count {

/// The form of a file: plain text, or text between markup.
enum class form : std::uint8_t { plain, markup };

/// Returns the form, by the ending of the name and the first bytes.
[[nodiscard]] form form_of(std::string_view path, std::string_view head);

/// Reads markup byte by byte, so that a search for places to cut need not hold the file.
class markup_reader {
 public:
  /// Appends the visible text to `text`. May hold characters back until later bytes decide.
  void read(char c, std::string& text);
  /// Appends the text that was held back, at the end of the file.
  void end(std::string& text);

  /// Returns true if no word, tag, entity, comment or script is open here. If a file is cut here,
  /// two readers of the halves find the same text as one reader of the whole.
  [[nodiscard]] bool between_words() const noexcept { return at_ == place::text && gap_; }

 private:
  enum class place : std::uint8_t {
    text,
    opening,
    name,
    attributes,
    value,
    quoted,
    declaration,
    comment,
    cdata,
    hidden,
    entity
  };

  void emit(char c, std::string& text);
  void in_text(char c, std::string& text);
  void in_opening(char c, std::string& text);
  void in_attributes(char c, std::string& text);
  void in_declaration(char c);
  void in_cdata(char c, std::string& text);
  void in_hidden(char c);
  void in_entity(char c, std::string& text);
  void end_tag(std::string& text);

  place at_ = place::text;
  bool gap_ = true;       ///< the last byte of the text was white space, or there is none
  bool closing_ = false;  ///< the tag began with "</"
  bool slash_ = false;    ///< the last byte of the tag was '/'
  char quote_ = 0;
  /// the number of characters just read that belong to the end of a comment, section or script; in
  /// a declaration, the number of open brackets
  std::uint32_t seen_ = 0;
  std::string name_;  ///< the tag's name, in lower case
  std::string held_;  ///< the beginning of an entity or a declaration
};

/// Returns the visible part of a text, or of a part that was cut between words, without markup and
/// addresses.
[[nodiscard]] std::string readable(std::string text, form how);

}  // namespace word_count
