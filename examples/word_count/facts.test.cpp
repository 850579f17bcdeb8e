// The facts in the report: the longest word, the richest file, and the function words.
#include "facts.hpp"

#include "words/function_words.hpp"

#include <doctest/doctest.h>

namespace facts_test {

using namespace word_count;

TEST_CASE("nothing is known of no words") {
  const facts f = describe({});
  CHECK(f.words == 0);
  CHECK(f.longest.empty());
  CHECK(f.richest == several_files);
}

TEST_CASE("words are counted by their letters, not by their bytes") {
  const facts f =
      describe({{"a", 5, 0}, {"straße", 2, 0}, {"exactlytwelv", 1, 0}, {"morethantwelve", 3, 0}});
  CHECK(f.words == 11);
  CHECK(f.different == 4);
  CHECK(f.once == 1);
  CHECK(f.by_length[0] == 5);
  CHECK(f.by_length[5] == 2);
  CHECK(f.by_length[11] == 4);
}

TEST_CASE("the longest word is one that several files have, if there is any") {
  CHECK(describe({{"ab", 2, several_files}, {"abcd", 1, 0}, {"xyz", 1, several_files}}).longest ==
        "xyz");
  CHECK(describe({{"abcd", 1, 0}, {"ab", 1, several_files}}).longest == "ab");
  CHECK(describe({{"abcd", 2, 0}, {"abc", 1, 1}, {"wxyz", 1, 1}}).longest == "abcd");
}

TEST_CASE("the richest file has the most words of its own") {
  const facts f = describe({{"a", 9, 0},
                            {"b", 1, 2},
                            {"c", 1, 2},
                            {"d", 9, several_files},
                            {"e", 9, several_files},
                            {"f", 9, several_files}});
  CHECK(f.richest == 2);
  CHECK(f.own == 2);
}

TEST_CASE("function words are those that tell nothing of the subject") {
  for (const char* word : {"the", "and", "of", "don't", "about", "yourself", "x"})
    CHECK(is_function_word(word));
  for (const char* word : {"harbour", "actor", "lady", "straße", ""})
    CHECK_FALSE(is_function_word(word));
}

}  // namespace facts_test
