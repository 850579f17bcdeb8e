// Words in plain text: letters of any language, apostrophes, and bytes that are no letters.
#include "text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace text_test {

using namespace word_count;

namespace {
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t at = 0; next_word(text, at, word);) words.push_back(word);
  return words;
}
using list = std::vector<std::string>;
}  // namespace

TEST_CASE("words are runs of letters in lower case") {
  CHECK(words_of("The quick, BROWN fox-trot 42x!") ==
        list{"the", "quick", "brown", "fox", "trot", "x"});
  CHECK(words_of("") == list{});
  CHECK(words_of(" .,;\n\t ") == list{});
}

TEST_CASE("an apostrophe belongs to a word only inside it") {
  CHECK(words_of("don't 'quoted' rock'n'roll ''") == list{"don't", "quoted", "rock'n'roll"});
  CHECK(words_of("don’t ‘quoted’ it’s") == list{"don't", "quoted", "it's"});
}

TEST_CASE("letters beyond ASCII belong to words, punctuation beyond ASCII does not") {
  CHECK(words_of("Straße »Uhr« naïve—word … Ελλάδα") ==
        list{"straße", "uhr", "naïve", "word", "Ελλάδα"});
}

TEST_CASE("bytes that are no UTF-8 separate words") {
  CHECK(words_of("one\xfftwo\xc3") == list{"one", "two"});
}

TEST_CASE("a run that is too long is no word and does not hide the next one") {
  CHECK(words_of(std::string(longest_word + 1, 'a') + " b " + std::string(longest_word, 'c')) ==
        list{"b", std::string(longest_word, 'c')});
}

TEST_CASE("addresses and paths are blanked, and the words beside them are not") {
  const auto blanked = [](std::string text) {
    blank_addresses(text);
    return words_of(text);
  };
  CHECK(blanked("[one](https://no.no/no) <no@no.no> two,/no/no;three libs/no/no.") ==
        list{"one", "two", "three"});
  CHECK(blanked("/no/no \"no/no.txt\" ftp://no four") == list{"four"});
  CHECK(blanked("and/or. //one @two three@ .../four five... e.g.") ==
        list{"and", "or", "one", "two", "three", "four", "five", "e", "g"});
  CHECK(blanked("") == list{});
}

TEST_CASE("control characters tell binaries from texts") {
  CHECK(looks_like_text("a text\twith\r\nlines\x1b[0m and ümlaut"));
  CHECK(looks_like_text(""));
  CHECK_FALSE(looks_like_text(std::string_view("\x1f\x8b\x08 zipped", 10)));
  CHECK_FALSE(looks_like_text(std::string_view("nul\0", 4)));
}

TEST_CASE("every word has a part") {
  std::vector<int> seen(4);
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t part = part_of("word" + std::to_string(i), 4);
    REQUIRE(part < 4);
    ++seen[part];
  }
  for (const int n : seen) CHECK(n > 100);
}

}  // namespace text_test
