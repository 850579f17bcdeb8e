// A server with a line protocol: texts under keys, for `nc` and any other client that writes lines.
// With an address it serves until a line is typed: 62_key_value_server tcp://127.0.0.1:4040, and
// then `nc 127.0.0.1 4040`.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "../support/usage.hpp"
#include "key_value.hpp"
#include "lines.hpp"
#include "visitor.hpp"

using namespace garrick;
namespace net = garrick::net;

namespace {

constexpr std::size_t longest_line = 512, most_keys = 10'000;

struct where_is_it {};

// [server]
class store : public net::broker<std::string(where_is_it)> {
 public:
  store(net::broker_place where, const std::string& at) : broker(where) {
    door_ = io().listen(at, {.read = some}).value();
  }
  using broker::on;
  std::string on(where_is_it) { return io().local(door_).to_string(); }

  void on(const net::new_data& d) {
    client& c = clients_[d.connection];
    std::string answers;
    c.lines.feed(d.bytes.text(), [&](const line& l) {
      if (!c.leaves) answers += l.too_long ? too_long() : answer(l.text, c);
    });
    static_cast<void>(io().write(d.connection, answers));  // `connection_closed` reports an end
    if (c.leaves)
      leave(d.connection);
    else if (io().writable(d.connection))
      go_on(d.connection);
  }
  // The server reads no further lines from a client that does not read its answers, so such a
  // client costs no more memory.
  void on(const net::writable_again& w) { go_on(w.connection); }
  void on(const net::connection_closed& c) {
    const auto known = clients_.find(c.connection);
    if (known != clients_.end() && known->second.lines.is_within_line())
      static_cast<void>(io().write(c.connection, "error: the last line has no end\n"));
    clients_.erase(c.connection);
  }

 private:
  struct client {
    line_splitter lines{longest_line};
    bool leaves = false;
  };
  // For one message: each handler decides whether to receive another.
  inline static const net::receive_policy some = net::receive_policy::at_most(4096).once();

  void go_on(const net::connection_handle& c) { static_cast<void>(io().read(c, some)); }
  void leave(const net::connection_handle& c) {
    clients_.erase(c);
    static_cast<void>(io().close(c));
  }
  // [/server]
  static std::string too_long() {
    return "error: a line has at most " + std::to_string(longest_line) + " bytes\n";
  }
  std::string answer(std::string_view line, client& c) {
    const command said = parse_command(line);
    const auto found = texts_.find(said.key);
    switch (said.what) {
      case command::kind::set:
        if (found == texts_.end() && texts_.size() >= most_keys) return "error: no more keys\n";
        texts_.insert_or_assign(std::string(said.key), std::string(said.text));
        return "ok\n";
      case command::kind::get:
        return found == texts_.end() ? "error: no such key\n" : "= " + found->second + '\n';
      case command::kind::del:
        if (found == texts_.end()) return "error: no such key\n";
        texts_.erase(found);
        return "ok\n";
      case command::kind::count: return "= " + std::to_string(texts_.size()) + '\n';
      case command::kind::quit: c.leaves = true; return "bye\n";
      case command::kind::wrong: break;
    }
    return "error: " + std::string(said.text) + '\n';
  }

  net::acceptor_handle door_;
  std::map<net::connection_handle, client> clients_;
  std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace

constexpr const char* usage =
    "62_key_value_server           the server and a client of its own\n"
    "62_key_value_server ADDRESS   serve until a line comes on standard input\n"
    "An address: tcp://127.0.0.1:4040; then nc 127.0.0.1 4040";

int main(int argc, char** argv) {
  if (asks_for_help(argc, argv, usage)) return 0;
  net::broker_threads threads;
  actor_system system;
  const auto server =
      threads.spawn<store>(system, std::string(argc > 1 ? argv[1] : "tcp://127.0.0.1:0"));
  const auto at = system.request(server, where_is_it{}).get();
  if (!at) return std::puts(at.error().to_string().c_str()), 1;
  if (argc > 1) return serve_until_a_line_comes(*at);

  const auto client = threads.spawn<visitor>(system, *at);
  const auto heard = system
                         .request(client, talk{"set greeting hello, world\n"
                                               "get greeting\r\n"
                                               "sit greeting\n" +
                                                   std::string(600, 'x') +
                                                   "\n"
                                                   "get farewell\n"
                                                   "count\n"
                                                   "quit\n",
                                               ""})
                         .get();
  std::printf("%s", heard.value().c_str());
}
