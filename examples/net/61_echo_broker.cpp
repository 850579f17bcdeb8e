// A broker: an actor that handles raw bytes, and here sends them back. With an address it serves
// until a line is typed: 61_echo_broker tcp://127.0.0.1:4040, and then `nc 127.0.0.1 4040`.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>

#include <cstdio>
#include <string>
#include <utility>

#include "../support/usage.hpp"

using namespace garrick;
namespace net = garrick::net;

struct where_is_it {};

// [broker]
class echo : public net::broker<std::string(where_is_it)> {
 public:
  echo(net::broker_place where, const std::string& at) : broker(where) {
    door_ = io().listen(at, {.read = net::receive_policy::at_most(65536)}).value();
  }
  using broker::on;  // events without a handler here are ignored
  void on(const net::new_data& d) {
    if (!io().write(d.connection, d.bytes.bytes())) static_cast<void>(io().close(d.connection));
  }
  std::string on(where_is_it) { return io().local(door_).to_string(); }

 private:
  net::acceptor_handle door_;
};
// [/broker]

/// The other side: sends a text, and answers with the echo.
class caller : public net::broker<result<std::string>(std::string)> {
 public:
  explicit caller(net::broker_place where) : broker(where) {}
  using broker::on;
  result<std::string> on(const std::string& where) {
    const auto there = io().connect(where, {.read = net::receive_policy::exactly(11)});
    if (!there) return there.error();
    answer_ = make_promise<std::string>();
    return answer_;
  }
  void on(const net::new_connection& n) { io().write(n.connection, "hello, echo").value(); }
  void on(const net::new_data& d) { answer_.deliver(std::string(d.bytes.text())); }
  void on(const net::connection_closed& c) { answer_.fail(c.why); }

 private:
  response_promise<std::string> answer_;
};

constexpr const char* usage =
    "61_echo_broker           the server and a client of its own\n"
    "61_echo_broker ADDRESS   serve until a line comes on standard input\n"
    "An address: tcp://127.0.0.1:4040; then nc 127.0.0.1 4040";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  // [main]
  net::broker_threads threads;  // before the system, so that they end after it
  actor_system system;
  const auto server =
      threads.spawn<echo>(system, std::string(argc > 1 ? argv[1] : "tcp://127.0.0.1:0"));
  const auto at = system.request(server, where_is_it{}).get();
  // [/main]
  if (!at) return std::printf("%s\n", at.error().to_string().c_str()), 1;
  if (argc > 1) {
    std::printf("serving at %s until a line comes\n", at->c_str());
    std::fflush(stdout);
    return std::getchar() == EOF;
  }
  const auto client = threads.spawn<caller>(system);
  std::printf("%s\n", system.request(client, *at).get().value().c_str());
}
