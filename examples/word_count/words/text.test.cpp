#include "text.hpp"

#include <doctest/doctest.h>

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
  CHECK(words_of("The quick, BROWN fox-trot 42x!") == list{"the", "quick", "brown", "fox", "trot", "x"});
  CHECK(words_of("") == list{});
  CHECK(words_of(" .,;\n\t ") == list{});
}

TEST_CASE("an apostrophe belongs to a word only inside it") {
  CHECK(words_of("don't 'quoted' rock'n'roll ''") == list{"don't", "quoted", "rock'n'roll"});
}

TEST_CASE("letters beyond ASCII belong to words, punctuation beyond ASCII does not") {
  CHECK(words_of("Straße »Uhr« naïve—word … Ελλάδα") == list{"straße", "uhr", "naïve", "word", "Ελλάδα"});
}

TEST_CASE("bytes that are no UTF-8 separate words") { CHECK(words_of("one\xfftwo\xc3") == list{"one", "two"}); }

TEST_CASE("a run that is too long is no word and does not hide the next one") {
  CHECK(words_of(std::string(longest_word + 1, 'a') + " b " + std::string(longest_word, 'c')) ==
        list{"b", std::string(longest_word, 'c')});
}

TEST_CASE("control characters tell binaries from texts") {
  CHECK(looks_like_text("a text\twith\r\nlines\x1b[0m and ümlaut"));
  CHECK(looks_like_text(""));
  CHECK_FALSE(looks_like_text(std::string_view("\x1f\x8b\x08 zipped", 10)));
  CHECK_FALSE(looks_like_text(std::string_view("nul\0", 4)));
}

TEST_CASE("the ranking puts frequent words first and equal ones in order") {
  const auto list = ranked(count_words("b a c a b a d"));
  REQUIRE(list.size() == 4);
  CHECK(list[0].word == "a");
  CHECK(list[0].count == 3);
  CHECK(list[1].word == "b");
  CHECK(list[2].word == "c");
  CHECK(list[3].word == "d");
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
