// However a stream is cut into pieces, the parser gives the same requests and refusals, one for
// each head, and the kept bytes stay below the limit.
//
// The first byte is an eighth of the longest head, the second the size of the pieces; with 0, the
// bytes themselves are the sizes, in turn.
#include "http_heads.hpp"

#include <garrick/base/platform/assert.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string shown(const http_request& r) {
  if (r.refused != 0) {
    GARRICK_ASSERT(r.refused == 400 || r.refused == 413 || r.refused == 431, "a known refusal");
    GARRICK_ASSERT(r.method.empty() && r.target.empty() && !r.keep_alive, "and no more");
    return std::to_string(r.refused);
  }
  GARRICK_ASSERT(!r.method.empty() && !r.target.empty(), "a request has a method and a target");
  for (const std::string_view text : {r.method, r.target})
    GARRICK_ASSERT(text.find_first_of(" \r\n") == text.npos, "words without blanks");
  return std::string(r.method) + ' ' + std::string(r.target) + (r.keep_alive ? " on" : " end");
}

template <class Next>
std::vector<std::string> requests_of(std::string_view stream, std::size_t longest, Next next) {
  http_heads heads(longest);
  std::vector<std::string> all;
  while (!stream.empty()) {
    const std::size_t piece = next(stream);
    heads.feed(stream.substr(0, piece), [&](const http_request& r) {
      all.push_back(shown(r));
      GARRICK_ASSERT(heads.is_over() != r.keep_alive, "the last one is over");
    });
    stream.remove_prefix(std::min(piece, stream.size()));
    GARRICK_ASSERT(heads.kept() < longest, "more is kept than a head may have");
    GARRICK_ASSERT(!heads.is_over() || heads.kept() == 0, "at the end nothing is kept");
  }
  return all;
}

/// Returns the number of heads in a stream, and sets `too_long` if a head after them is too long.
std::size_t heads_in(std::string_view stream, std::size_t longest, bool& too_long) {
  constexpr std::string_view line = "\r\n", end = "\r\n\r\n";
  for (std::size_t n = 0;; ++n) {
    while (stream.starts_with(line)) stream.remove_prefix(line.size());
    const std::size_t at = stream.find(end);
    const std::size_t size = at == stream.npos ? stream.size() + 1 : at + end.size();
    too_long = size > longest;
    if (too_long || at == stream.npos) return n;
    stream.remove_prefix(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t longest = 8 * (data[0] + std::size_t{1});
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto in_pieces = requests_of(stream, longest, [&](std::string_view left) {
    return data[1] == 0 ? static_cast<std::uint8_t>(left[0]) + std::size_t{1} : data[1];
  });
  const auto at_once =
      requests_of(stream, longest, [](std::string_view left) { return left.size(); });
  GARRICK_ASSERT(in_pieces == at_once, "the requests depend on how the stream is cut");
  bool too_long = false;
  const std::size_t most = heads_in(stream, longest, too_long);
  GARRICK_ASSERT(at_once.size() <= most + (too_long ? 1 : 0), "a request without a head");
  const bool is_over = !at_once.empty() && !at_once.back().ends_with(" on");
  if (!is_over) GARRICK_ASSERT(!too_long && at_once.size() == most, "a head without a request");
  return 0;
}
