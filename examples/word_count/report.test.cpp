// The report's lines: aligned, no wider than the screen, with readable numbers.
#include "report.hpp"

#include "display.hpp"

#include <doctest/doctest.h>

namespace report_test {

using namespace word_count;

namespace {

/// Returns the width of the widest line.
std::size_t width(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    widest = std::max(widest, characters(std::string_view(text).substr(begin, end - begin)));
  return widest;
}

outcome an_outcome() {
  outcome o;
  o.words = {{"the", 1'234'567'890, several_files},
             {"straße", 99'999, 1},
             {std::string(48, 'x'), 7, 1},
             {"rare", 1, 0}};
  plan p;
  p.files = {{"/a/short/path", 10, 0, form::plain},
             {"/" + std::string(200, 'p') + "/page.html", 20, 0, form::markup}};
  for (int i = 0; i < 5; ++i) p.problems.push_back({"/" + std::string(200, 'q'), "binary"});
  p.bytes = 123'456'789;
  o.what = std::make_shared<const plan>(p);
  for (int i = 0; i < 12; ++i)
    o.changed.push_back({"/" + std::string(200, 'r') + "/notes", "was written to"});
  o.stream.stages = {{"commit", {.in = 12'345'678, .busy_ns = 12'000'000'000}, 16}};
  o.messages = 1'234'567;
  o.seconds = 0.5;
  o.strikes.fill(1'234'567);
  return o;
}

}  // namespace

TEST_CASE("the chart is scaled to the first word of each half and aligned by characters") {
  const std::string expected =
      "     the most frequent words                  without the commonest English ones\n"
      "  1  straße ##################### 1 000    1  straße ##################### 1 000\n"
      "  2  the    ##########              500    2  rare   #                         1\n"
      "  3  rare   #                         1\n";
  CHECK(chart({{"straße", 1000}, {"the", 500}, {"rare", 1}}, 3, false) == expected);
  CHECK(
      chart({{"straße", 1000}, {"the", 500}}, 1, true).find("straße █████████████████████ 1 000") !=
      std::string::npos);
  CHECK(chart({}, 3, false).empty());
}

TEST_CASE("a word that is too long for the chart is cut between characters") {
  const std::string word = "übergroßßßßßßßßßßßß";
  CHECK(chart({{word, 2}}, 1, false).find("übergroßßßßßßß~ ") != std::string::npos);
  CHECK(chart({{"exactlyfifteenl", 2}}, 1, false).find("exactlyfifteenl ") != std::string::npos);
}

TEST_CASE("no line is wider than the screen, however long the words, paths and numbers are") {
  const outcome o = an_outcome();
  for (const bool utf8 : {false, true}) {
    CHECK(width(chart(o.words, 20, utf8)) <= 80);
    CHECK(width(length_chart(o.words, utf8)) <= 80);
  }
  CHECK(width(summary(o)) <= 80);
  CHECK(width(strike_report(o)) <= 80);
}

TEST_CASE("the summary tells the files read and how, those left out, and those that changed") {
  const std::string text = summary(an_outcome());
  CHECK(text.find("files          1 plain text, 1 in HTML, XML or SVG without their markup\n") !=
        std::string::npos);
  CHECK(text.find("not counted    binary: 5 (...qqq") != std::string::npos);
  CHECK(text.find("rrr/notes: was written to\n") != std::string::npos);
  CHECK(text.find("               and 2 more\n") != std::string::npos);
  CHECK(text.find(
            "words          1 234 667 897 without addresses and paths, 2 469 335 794 a second\n") !=
        std::string::npos);
  CHECK(text.find("different      4 words, 25 % of them occur once\n") != std::string::npos);
  CHECK(text.find("longest word   the\n") != std::string::npos);
  CHECK(text.find("ppp/page.html (2 words of its own)\n") != std::string::npos);
  CHECK(text.find("run            0.50 s for 123.5 MB; ") != std::string::npos);
  CHECK(
      text.find(" of memory\n               1 234 567 messages and tuples, 2 469 134 a second\n") !=
      std::string::npos);
}

TEST_CASE("files without a word have a summary") {
  outcome o;
  o.what = std::make_shared<const plan>();
  CHECK(summary(o).starts_with("files          0 plain texts\nwords          none\nrun "));
  CHECK(length_chart(o.words, true).empty());
}

TEST_CASE("lengths are shares of all words") {
  const std::vector<ranked_word> words{{"a", 3}, {"bb", 1}, {"exactlytwelve", 4}};
  CHECK(length_chart(words, false) ==
        "letters            1    2    3    4    5    6    7    8    9   10   11   12+\n"
        "% of the words    38   13    0    0    0    0    0    0    0    0    0   50\n");
  CHECK(
      length_chart(words, true).find("                  ▆▆   ▂▂" + std::string(48, ' ') + "██\n") !=
      std::string::npos);
}

TEST_CASE("problems are grouped by reason") {
  CHECK(by_reason({}, 80).empty());
  CHECK(by_reason({{"/a", "binary"}, {"/b", "gone"}, {"/c", "binary"}}, 80) ==
        std::vector<std::string>{"binary: 2 (/a, ...)", "gone: 1 (/b)"});
}

TEST_CASE("a path cannot command the terminal") {
  CHECK(printable("/texts/müller/a b.txt") == "/texts/müller/a b.txt");
  CHECK(printable("/a\nb\x1b[31m") == "/a\\nb\\x1b[31m");
  CHECK(by_reason({{"/a\nb", "binary"}}, 80) == std::vector<std::string>{"binary: 1 (/a\\nb)"});
}

TEST_CASE("numbers are grouped and bytes have units") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1234567) == "1 234 567");
  CHECK(as_bytes(17) == "17 B");
  CHECK(as_bytes(17'324) == "17.3 kB");
  CHECK(as_bytes(2'000'000'000) == "2.0 GB");
}

TEST_CASE("the end of a long text is shown") {
  CHECK(shortened("/a/b", 4) == "/a/b");
  CHECK(shortened("/some/long/path", 8) == ".../path");
  CHECK(shortened("ßßßßß", 4) == "...ß");
}

TEST_CASE("the progress line tells the phase and keeps its width") {
  const progress some{phase::counting, 3, 8, 2};
  CHECK(progress_line({}, {}, 40, false) == "looking for files");
  CHECK(progress_line({phase::auditing, 3, 8, 2}, {}, 40, false) ==
        "checking which counts are there");
  CHECK(progress_line({phase::counting, 3, 8, 0}, {}, 34, false) ==
        "counting  [....]   0 % of 3 files");
  CHECK(progress_line(some, {}, 34, false) == "counting  [#...]  25 % of 3 files");
  CHECK(progress_line({phase::counting, 3, 8, 3}, {}, 34, true) ==
        "counting  [█▌  ]  37 % of 3 files");
  CHECK(progress_line({phase::ranking, 3000, 8, 8}, {}, 0, false) ==
        "ranking   100 % of 3 000 files");
  CHECK(progress_line(some, {}, 200, false).size() == 10 + 43 + 16);
}

TEST_CASE("rates stand beside the bar where there is room, and never reach the edge") {
  const progress some{phase::counting, 3, 8, 2};
  const std::vector<std::string> speeds{"read 3.2k", "split 810"};
  CHECK(progress_line(some, speeds, 33, false) == "counting   25 % of 3 files");
  CHECK(progress_line(some, speeds, 48, false) ==
        "counting  [#...]  25 % of 3 files  read 3.2k /s");
  CHECK(progress_line(some, speeds, 62, false) ==
        "counting  [#......]  25 % of 3 files  read 3.2k, split 810 /s");
  for (std::size_t columns = 27; columns < 100; ++columns)
    CHECK(progress_line(some, speeds, columns, false).size() < columns);
}

TEST_CASE("the stages of the stream have a line each, with the bottleneck marked") {
  CHECK(stage_lines({}).empty());
  CHECK(stage_lines({.stages = {{"units", {.out = 7, .busy_ns = 5'000'000}, 1},
                                {"split", {.in = 1'234'567, .busy_ns = 2'000'000'000}, 2}}}) ==
        "stages         units           7 tuples in  0.01 s\n"
        "               split   1 234 567 tuples in  2.00 s of 2 replicas <- bottleneck\n");
}

TEST_CASE("rates are of the time since the last look, or of a new stream's beginning") {
  const auto done = [](std::uint64_t split, std::uint64_t count) {
    return garrick::patterns::stream_report{
        .stages = {{"units", {.out = 900}}, {"split", {.in = split}}, {"count", {.in = count}}}};
  };
  const std::vector<std::string> anew{"split 5 000", "count 900"};
  CHECK(rate_texts(done(400, 90), done(500, 90), garrick::duration::milliseconds(100)) ==
        std::vector<std::string>{"split 1 000", "count 0"});
  CHECK(rate_texts(done(400, 91), done(500, 90), garrick::duration::milliseconds(100)) == anew);
  CHECK(rate_texts({}, done(500, 90), garrick::duration::milliseconds(100)) == anew);
  CHECK(rate_texts(done(500, 90), {}, garrick::duration::milliseconds(100)).empty());
}

}  // namespace report_test
