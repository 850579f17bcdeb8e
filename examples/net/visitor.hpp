// Shared parts of the examples with a server: a client for the example without arguments, and a
// main program that serves at an address.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

/// Sends a text, and answers with the text that arrives, up to and including the first `until`; if
/// `until` is empty, with all text up to the end of the connection.
struct talk {
  std::string text;
  std::string until;
};

/// A client of a server with a text protocol.
class visitor : public garrick::net::broker<garrick::result<std::string>(talk)> {
 public:
  visitor(garrick::net::broker_place where, const std::string& server) : broker(where) {
    there_ = io().connect(server, {.read = garrick::net::receive_policy::at_most(65536)}).value();
  }
  using broker::on;
  garrick::result<std::string> on(const talk& t) {
    if (const auto said = io().write(there_, t.text); !said) return said.error();
    until_ = t.until;
    answer_ = make_promise<std::string>();
    look();
    return answer_;
  }
  void on(const garrick::net::new_data& d) {
    heard_ += d.bytes.text();
    look();
  }
  void on(const garrick::net::connection_closed& c) {
    if (!answer_.pending()) return;
    if (until_.empty())
      answer_.deliver(std::move(heard_));
    else
      answer_.fail(c.why);
  }

 private:
  void look() {
    const std::size_t found = heard_.find(until_);
    if (until_.empty() || found == heard_.npos || !answer_.pending()) return;
    const std::size_t end = found + until_.size();
    answer_.deliver(heard_.substr(0, end));
    heard_.erase(0, end);
  }
  garrick::net::connection_handle there_;
  std::string heard_, until_;
  garrick::response_promise<std::string> answer_;
};

/// The main program of a server that listens at an address until a line is typed.
inline int serve_until_a_line_comes(const std::string& at) {
  std::printf("serving at %s until a line comes\n", at.c_str());
  std::fflush(stdout);
  return std::getchar() == EOF ? 1 : 0;
}
