// The visible text of markup, also of broken markup.
#include "markup.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace markup_test {

using namespace word_count;

namespace {

using found = std::map<std::string, std::uint64_t>;

found words_of(std::string_view html) {
  const counts c = count_words(readable(std::string(html), form::markup));
  return {c.begin(), c.end()};
}

}  // namespace

TEST_CASE("tags, comments, declarations, scripts and styles are no words") {
  CHECK(words_of("<!DOCTYPE html><p class=\"x\">one<br/>two <!-- no > <b>no</b> -->three</p>") ==
        found{{"one", 1}, {"two", 1}, {"three", 1}});
  CHECK(
      words_of("<script>if (a<b) no('</p>');</script>one<STYLE type=a>no { no: no }</Style >two") ==
      found{{"one", 1}, {"two", 1}});
  CHECK(words_of("<?xml version='1.0'?><!DOCTYPE a [ <!ENTITY no \"no>no\"> ]><a>one</a>") ==
        found{{"one", 1}});
  CHECK(words_of("<a title=\"no > no\" href='no > \"no'>one</a>") == found{{"one", 1}});
  CHECK(words_of("<svg><style/><text x='1'>one</text><path d=\"M no\"/><text>two</text></svg>") ==
        found{{"one", 1}, {"two", 1}});
  CHECK(words_of("<!-->one<!---->two<!-- no -- > - -> no -->three") == found{{"onetwothree", 1}});
}

TEST_CASE("sections of plain characters are text") {
  CHECK(words_of("<a><![CDATA[one <two> &amp; ]] ]>]]>three</a>") ==
        found{{"one", 1}, {"two", 1}, {"amp", 1}, {"three", 1}});
}

TEST_CASE("tags inside a line leave a word whole, others end it") {
  CHECK(words_of("<b>W</b>ord<span class=a>s</span> <td>one</td><td>two</td>") ==
        found{{"words", 1}, {"one", 1}, {"two", 1}});
}

TEST_CASE("entities are read as their characters") {
  CHECK(words_of("Stra&szlig;e caf&eacute; &#220;ber na&#xEF;ve") ==
        found{{"straße", 1}, {"café", 1}, {"Über", 1}, {"naïve", 1}});
  CHECK(words_of("one&nbsp;two&mdash;three&unknown;four don&rsquo;t won&#39;t syl&shy;lable") ==
        found{{"one", 1},
              {"two", 1},
              {"three", 1},
              {"four", 1},
              {"don't", 1},
              {"won't", 1},
              {"syllable", 1}});
  CHECK(words_of("a&#0;b&#xD800;c&#1114112;d&#;e&;f") ==
        found{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}});
  CHECK(words_of("&lt;one&gt; AT&T two&") == found{{"one", 1}, {"at", 1}, {"t", 1}, {"two", 1}});
}

TEST_CASE("signs that begin no tag are text") {
  CHECK(words_of("if one < two && three <4 five<") ==
        found{{"if", 1}, {"one", 1}, {"two", 1}, {"three", 1}, {"five", 1}});
}

TEST_CASE("broken markup reaches to the end and is no error") {
  CHECK(words_of("one <a href=\"no> no") == found{{"one", 1}});
  CHECK(words_of("one <!-- no") == found{{"one", 1}});
  CHECK(words_of("one <script> no </scrip") == found{{"one", 1}});
}

TEST_CASE("letters of other languages pass through") {
  CHECK(words_of("<p>Ελλάδα</p><p>мир 世界</p>") == found{{"Ελλάδα", 1}, {"мир", 1}, {"世界", 1}});
}

TEST_CASE("markup is known by the name or by the first bytes") {
  CHECK(form_of("a/b.HTML", "") == form::markup);
  CHECK(form_of("picture.svg", "anything") == form::markup);
  CHECK(form_of("readme", "\xef\xbb\xbf\n <!DOCTYPE HTML>") == form::markup);
  CHECK(form_of("readme", "<?xml version") == form::markup);
  CHECK(form_of("readme", "<3 html") == form::plain);
  CHECK(form_of("html", "") == form::plain);
  CHECK(form_of("a.html/notes.txt", "text") == form::plain);
  CHECK(form_of("", "") == form::plain);
}

TEST_CASE(
    "plain text keeps characters that would be markup elsewhere, and no text keeps addresses") {
  CHECK(readable("a <b> &amp; http://no.no", form::plain) == "a <b> &amp;             ");
  CHECK(words_of("one <code>/no/no</code> <a>http://no/</a>") == found{{"one", 1}});
}

TEST_CASE("two readers find the same as one reader on both sides of a cut between words") {
  const std::vector<std::string> bits{"one",
                                      "two",
                                      " ",
                                      "\n",
                                      "<b>",
                                      "</b>",
                                      "<p class='a b'>",
                                      "<!-- c -->",
                                      "<script>",
                                      "</script>",
                                      "&eacute;",
                                      "&",
                                      "<",
                                      ">",
                                      "<![CDATA[",
                                      "]]>",
                                      "\"",
                                      "'",
                                      "ß",
                                      "<!DOCTYPE a [",
                                      "]",
                                      "=",
                                      "/",
                                      "://",
                                      "@",
                                      "<style>",
                                      "</style>"};
  std::size_t cuts = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string whole;
    for (int i = 0; i < 60; ++i) whole += bits[random() % bits.size()];
    const counts expected = count_words(readable(whole, form::markup));
    markup_reader reader;
    std::string text;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      if (reader.between_words()) {
        ++cuts;
        counts halves = count_words(readable(whole.substr(0, at), form::markup));
        for (const auto& [word, count] : count_words(readable(whole.substr(at), form::markup)))
          halves[word] += count;
        REQUIRE(halves == expected);
      }
      reader.read(whole[at], text);
    }
  }
  CHECK(cuts > 1000);
}

}  // namespace markup_test
