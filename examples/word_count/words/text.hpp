// The rules for words and texts, which the actors and the sequential reference share.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace word_count {

/// A hash that lets a map of strings be searched with a view.
struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const noexcept {
    return std::hash<std::string_view>{}(s);
  }
};
using counts = std::unordered_map<std::string, std::uint64_t, text_hash, std::equal_to<>>;

/// The most bytes of a word. Longer runs of letters are tables of data or encoded keys.
inline constexpr std::size_t longest_word = 48;

/// Returns true for white space, where a text may be cut, since no word contains it.
[[nodiscard]] constexpr bool is_space(char c) noexcept {
  return static_cast<unsigned char>(c) <= ' ';
}

/// Returns true unless these first bytes of a file contain control characters that are in no text.
[[nodiscard]] bool looks_like_text(std::string_view head) noexcept;

/// Overwrites addresses and paths with blanks, since readers skip the words in them. An address is
/// a run without white space, quotes, brackets, commas and similar marks that has a '@', a "://",
/// two slashes, or a slash and a dot inside.
void blank_addresses(std::string& text);

/// Finds the next word at or after `at`, in lower case, and moves `at` past it. Returns false at
/// the end. A word is a run of letters (every letter beyond ASCII counts, punctuation does not)
/// with apostrophes inside; a typographic apostrophe becomes a plain one.
bool next_word(std::string_view text, std::size_t& at, std::string& word);

/// The words of one text.
[[nodiscard]] counts count_words(std::string_view text);

/// Returns the number of characters, not bytes.
[[nodiscard]] std::size_t characters(std::string_view text) noexcept;

/// Returns the part, of `parts`, that a word belongs to. It is the same in every process.
[[nodiscard]] std::uint32_t part_of(std::string_view word, std::uint32_t parts) noexcept;

}  // namespace word_count
