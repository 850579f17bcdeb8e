// Finds HTTP/1.1 requests in a stream, without I/O of its own. Boost.Beast parses the head of each
// request. A request with a body is refused.
//
// The stream may arrive in any pieces: the requests found are the same. An unfinished head is kept,
// but no more bytes of it than a head may have.
//
// Thread safety: none.
#pragma once

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// A request, or the reason of its refusal.
struct http_request {
  unsigned refused = 0;     ///< the status of a refusal, 400, 413 or 431; 0: a request
  std::string_view method;  ///< valid during the call, like `target`
  std::string_view target;
  bool keep_alive = false;  ///< more requests may follow
};

/// The parser of one stream.
class http_heads {
 public:
  /// `longest`: the most bytes of a head, with the empty line at its end.
  explicit http_heads(std::size_t longest) : longest_(longest) {}

  /// Calls `f(http_request)` for each head that ends in these bytes. A refusal, or a request after
  /// which no other may follow, is the last one: later bytes are dropped.
  template <class F>
  void feed(std::string_view bytes, F f) {
    if (is_over_) return;
    std::string_view all = bytes;
    if (!kept_.empty()) all = kept_.append(bytes);
    while (!is_over_) {
      while (all.starts_with("\r\n")) all.remove_prefix(2);  // RFC 9112, 2.2
      constexpr std::string_view end = "\r\n\r\n";
      const std::size_t found = all.substr(0, longest_).find(end);
      if (found == all.npos) break;
      const std::string_view head = all.substr(0, found + end.size());
      all.remove_prefix(head.size());
      parse(head, f);
    }
    if (!is_over_ && all.size() >= longest_) refuse(431, f);
    kept_ = is_over_ ? std::string() : std::string(all);
  }
  /// Returns true if later bytes are dropped.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Returns the number of kept bytes.
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }

 private:
  template <class F>
  void parse(std::string_view head, F& f) {
    namespace http = boost::beast::http;
    http::request_parser<http::empty_body> parser;
    parser.header_limit(static_cast<std::uint32_t>(head.size() + 1));
    boost::beast::error_code failed;
    parser.put(boost::asio::buffer(head.data(), head.size()), failed);
    if (failed || !parser.is_header_done()) return refuse(400, f);
    if (parser.chunked() || parser.content_length().value_or(0) != 0) return refuse(413, f);
    const auto text = [](auto t) { return std::string_view(t.data(), t.size()); };
    is_over_ = !parser.keep_alive() || parser.get().version() < 11;
    f(http_request{0, text(parser.get().method_string()), text(parser.get().target()), !is_over_});
  }
  template <class F>
  void refuse(unsigned status, F& f) {
    is_over_ = true;
    f(http_request{status, {}, {}, false});
  }

  std::size_t longest_;
  std::string kept_;  ///< the beginning of a head, less than longest_ bytes between two calls
  bool is_over_ = false;
};
