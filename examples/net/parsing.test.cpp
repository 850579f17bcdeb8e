// The parsers of the example servers: the results do not depend on the pieces of a stream, limits
// are exact to the byte, and memory is bounded.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chat.hpp"
#include "http_heads.hpp"
#include "key_value.hpp"
#include "lines.hpp"

namespace parsing_test {

namespace {

/// Returns the results of `reader` for a text in pieces: the first of `first` bytes, the others of
/// `others`.
template <class Reader, class Show>
std::vector<std::string> in_pieces(Reader reader, std::string_view text, std::size_t first,
                                   std::size_t others, std::size_t most_kept, Show show) {
  std::vector<std::string> all;
  for (std::size_t n = first; !text.empty(); n = others) {
    reader.feed(text.substr(0, n), [&](const auto& one) { all.push_back(show(one)); });
    text.remove_prefix(std::min(n, text.size()));
    CHECK(reader.kept() <= most_kept);
  }
  return all;
}

std::vector<std::string> lines_of(std::string_view text, std::size_t first, std::size_t others) {
  return in_pieces(line_splitter(5), text, first, others, 6,
                   [](const line& l) { return l.too_long ? "too long" : std::string(l.text); });
}

std::vector<std::string> requests_of(std::string_view text, std::size_t first, std::size_t others) {
  return in_pieces(http_heads(64), text, first, others, 63, [](const http_request& r) {
    if (r.refused != 0) return std::to_string(r.refused);
    return std::string(r.method) + ' ' + std::string(r.target) + (r.keep_alive ? " on" : " end");
  });
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("example lines: however they are cut, one that is too long is told, and no other lost") {
  const std::string text =
      "12345\n123456\n\n12345\r\nab\r\r\n123456\r\n" + std::string(50, 'x') + "\nend\n1234567";
  const texts expected{"12345",    "too long", "",    "12345",   "ab\r",
                       "too long", "too long", "end", "too long"};
  for (std::size_t first = 1; first <= text.size(); ++first)
    for (const std::size_t others : {1u, 2u, 3u, 7u, 100u}) {
      CAPTURE(first);
      CAPTURE(others);
      CHECK(lines_of(text, first, others) == expected);
    }
}

TEST_CASE("example lines: a line that has not ended is known") {
  line_splitter s(5);
  const auto none = [](const line& l) { CHECK(l.too_long); };
  CHECK_FALSE(s.is_within_line());
  s.feed("abc", none);
  CHECK(s.is_within_line());
  s.feed("defghi", none);
  CHECK(s.is_within_line());
  s.feed("\n", none);
  CHECK_FALSE(s.is_within_line());
}

TEST_CASE(
    "example HTTP: however they are cut, pipelined requests come one by one, up to the last") {
  const std::string one = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string last = "HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n";
  const std::string text = one + one + "\r\n" + last + one;
  for (std::size_t first = 1; first <= text.size(); ++first)
    for (const std::size_t others : {1u, 2u, 3u, 7u, 1000u}) {
      CAPTURE(first);
      CAPTURE(others);
      CHECK(requests_of(text, first, others) == texts{"GET /a on", "GET /a on", "HEAD / end"});
    }
  CHECK(requests_of("GET / HTTP/1.0\r\n\r\n", 1, 1) == texts{"GET / end"});
}

TEST_CASE(
    "example HTTP: a head has a limit to the byte, and a false one, or one with a body, is "
    "refused") {
  const auto head = [](std::size_t size) {
    const std::string front = "GET / HTTP/1.1\r\nA: ", end = "\r\n\r\n";
    return front + std::string(size - front.size() - end.size(), 'a') + end;
  };
  for (const std::size_t others : {1u, 5u, 1000u}) {
    CAPTURE(others);
    CHECK(requests_of(head(64), others, others) == texts{"GET / on"});
    CHECK(requests_of(head(65), others, others) == texts{"431"});
    CHECK(requests_of(std::string(64, 'x'), others, others) == texts{"431"});
    CHECK(requests_of(std::string(63, 'x'), others, others).empty());
    CHECK(requests_of("nonsense\r\n\r\n" + head(40), others, others) == texts{"400"});
    CHECK(requests_of("PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", others, others) ==
          texts{"413"});
    CHECK(requests_of("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", others, others) ==
          texts{"413"});
  }
}

TEST_CASE("example commands: each line has a meaning, or says its fault") {
  using kind = command::kind;
  const command set = parse_command("set a:1 two words ");
  CHECK((set.what == kind::set && set.key == "a:1" && set.text == "two words "));
  CHECK(parse_command("get a").what == kind::get);
  CHECK(parse_command("del a").what == kind::del);
  CHECK(parse_command("count").what == kind::count);
  CHECK(parse_command("quit").what == kind::quit);
  CHECK(parse_command("get " + std::string(longest_key, 'k')).what == kind::get);
  for (const std::string& wrong :
       {std::string(), std::string("get"), std::string("get a b"), std::string("set a"),
        std::string("set a "), std::string("count 1"), std::string("GET a"), std::string(" get a"),
        std::string("get \x01"), "get " + std::string(longest_key + 1, 'k')}) {
    CAPTURE(wrong);
    const command c = parse_command(wrong);
    CHECK((c.what == kind::wrong && !c.text.empty()));
  }
}

TEST_CASE("example chat: control characters reach no terminal, and names are plain") {
  using kind = chat_line::kind;
  const chat_line said = parse_chat_line("hello, /who");
  CHECK((said.what == kind::say && said.text == "hello, /who"));
  CHECK(parse_chat_line("/who").what == kind::who);
  CHECK(parse_chat_line("/quit").what == kind::quit);
  for (const char* wrong : {"", "/dance", "\x1b[2J", "a\x7f", "a\tb"})
    CHECK(parse_chat_line(wrong).what == kind::wrong);
  CHECK(is_name("ann7"));
  CHECK_FALSE(is_name(""));
  CHECK_FALSE(is_name("ann bob"));
  CHECK(is_name(std::string(longest_name, 'a')));
  CHECK_FALSE(is_name(std::string(longest_name + 1, 'a')));
}

}  // namespace parsing_test
