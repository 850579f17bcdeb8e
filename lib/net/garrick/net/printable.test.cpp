#include "garrick/net/printable.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace printable_test {

using garrick::net::most_printed;
using garrick::net::printable;
using namespace std::string_view_literals;

TEST_CASE("text that anybody may see stays as it is") {
  for (const std::string_view text :
       {""sv, "a"sv, "std::vector<shop::price>: 7 \\ \"here\" ~"sv, "gr\xc3\xbc\xc3\x9f"sv,
        "\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf\xc2\xa0"sv})
    CHECK(printable(text) == text);
}

TEST_CASE("a byte that controls something, or is no text, is escaped") {
  CHECK(printable("two\nlines\tand \x1b[2J\x7f\r\0."sv) ==
        "two\\nlines\\tand \\x1b[2J\\x7f\\x0d\\x00.");
  CHECK(printable("\xc2\x9b"sv) == "\\xc2\\x9b");             // C1
  CHECK(printable("\xff\x80 \xc3"sv) == "\\xff\\x80 \\xc3");  // begins nothing; has no end
  CHECK(printable("\xc0\xaf\xe0\x80\xaf"sv) == "\\xc0\\xaf\\xe0\\x80\\xaf");
  CHECK(printable("\xed\xa0\x80"sv) == "\\xed\\xa0\\x80");
  CHECK(printable("\xf4\x90\x80\x80\xf5"sv) == "\\xf4\\x90\\x80\\x80\\xf5");
  CHECK(printable("\xf0\x8f\xbf\xbf"sv) == "\\xf0\\x8f\\xbf\\xbf");
  CHECK(printable("\xe2\x82 "sv) == "\\xe2\\x82 ");
}

TEST_CASE("a text that is too long is cut between characters, and says so") {
  CHECK(printable("12345678", 8) == "12345678");
  CHECK(printable("123456789", 8) == "12345...");
  CHECK(printable("1234\xc3\xbc"
                  "789",
                  8) == "1234...");
  CHECK(printable("12\n45678", 8) == "12\\n4...");
  CHECK(printable("123\x1b"
                  "5678",
                  8) == "123...");
  CHECK(printable("1234\x1b", 8) == "1234\\x1b");
  const std::string much(std::size_t{1} << 24, '\x1b');
  CHECK(printable(much).size() <= most_printed);
  CHECK(printable(much).size() > most_printed - 8);
  CHECK(printable(much).ends_with("\\x1b..."));
}

TEST_CASE("once is enough") {
  for (std::size_t most = 8; most != 20; ++most) {
    const std::string once = printable("a\n\xc3\xbc\x1b\xff\xe2\x82\xac and so on", most);
    CHECK(once.size() <= most);
    CHECK(printable(once, most) == once);
  }
}

}  // namespace printable_test
