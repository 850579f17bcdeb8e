// HTTP by a broker: keep-alive, pipelined requests, heads of a limited length. With an address it
// serves until a line is typed: 64_http_hello tcp://127.0.0.1:4040, and then `curl
// http://127.0.0.1:4040/`.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "../support/usage.hpp"
#include "http_heads.hpp"
#include "visitor.hpp"

using namespace garrick;
namespace net = garrick::net;

namespace {

constexpr std::size_t longest_head = 8192;

struct where_is_it {};

/// The answer to one request, or its refusal.
std::string answer(const http_request& r) {
  const bool is_known = r.method == "GET" || r.method == "HEAD";
  std::string status = "200 OK", body = "Hello, world\n", more;
  if (r.refused == 400) status = "400 Bad Request", body = "That is no request.\n";
  if (r.refused == 413) status = "413 Content Too Large", body = "No request has a body here.\n";
  if (r.refused == 431)
    status = "431 Request Header Fields Too Large", body = "A head has at most 8192 bytes.\n";
  if (r.refused == 0 && !is_known) {
    status = "405 Method Not Allowed", body = "There are GET and HEAD.\n";
    more = "Allow: GET, HEAD\r\n";
  } else if (r.refused == 0 && r.target != "/") {
    status = "404 Not Found", body = "There is only /.\n";
  }
  std::string text = "HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n" + more;
  if (!r.keep_alive) text += "Connection: close\r\n";
  text += "\r\n";
  return r.method == "HEAD" ? text : text + body;
}

// [server]
class hello : public net::broker<std::string(where_is_it)> {
 public:
  hello(net::broker_place where, const std::string& at) : broker(where) {
    // A client that stops in the middle of a head does not keep its place for ever.
    door_ = io().listen(at, {.read = some, .idle_limit = duration::seconds(10)}).value();
  }
  using broker::on;
  std::string on(where_is_it) { return io().local(door_).to_string(); }

  void on(const net::new_data& d) {
    http_heads& heads = clients_.try_emplace(d.connection, longest_head).first->second;
    std::string answers;  // all complete requests are answered with one write
    heads.feed(d.bytes.text(), [&](const http_request& r) { answers += answer(r); });
    static_cast<void>(io().write(d.connection, answers));  // `connection_closed` reports an end
    if (heads.is_over())
      leave(d.connection);
    else if (io().writable(d.connection))
      go_on(d.connection);
  }
  void on(const net::writable_again& w) { go_on(w.connection); }
  void on(const net::connection_closed& c) { clients_.erase(c.connection); }

 private:
  // For one message: the server does not read from a client that does not read its answers.
  inline static const net::receive_policy some = net::receive_policy::at_most(16384).once();

  void go_on(const net::connection_handle& c) { static_cast<void>(io().read(c, some)); }
  void leave(const net::connection_handle& c) {
    clients_.erase(c);
    static_cast<void>(io().close(c));
  }

  net::acceptor_handle door_;
  std::map<net::connection_handle, http_heads> clients_;
};
// [/server]

}  // namespace

constexpr const char* usage =
    "64_http_hello           the server and a client of its own\n"
    "64_http_hello ADDRESS   serve until a line comes on standard input\n"
    "An address: tcp://127.0.0.1:4040; then curl http://127.0.0.1:4040/";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  net::broker_threads threads;
  actor_system system;
  const auto server =
      threads.spawn<hello>(system, std::string(argc > 1 ? argv[1] : "tcp://127.0.0.1:0"));
  const auto at = system.request(server, where_is_it{}).get();
  if (!at) return std::puts(at.error().to_string().c_str()), 1;
  if (argc > 1) return serve_until_a_line_comes(*at);

  const auto client = threads.spawn<visitor>(system, *at);
  const auto heard =
      system
          .request(client, talk{"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
                                "GET /other HTTP/1.1\r\nHost: here\r\n\r\n"
                                "HEAD / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n",
                                ""})
          .get();
  std::string text = heard.value();
  std::erase(text, '\r');
  std::printf("%s", text.c_str());
}
