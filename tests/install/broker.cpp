// A broker that sends back its input, and another one that talks to it.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>

#include <cstdio>
#include <string>

namespace net = garrick::net;

struct where_is_it {};

class echo : public net::broker<std::string(where_is_it)> {
 public:
  explicit echo(net::broker_place where) : broker(where) {
    door_ = io().listen("tcp://127.0.0.1:0", {.read = net::receive_policy::at_most(100)}).value();
  }
  using broker::on;
  void on(const net::new_data& d) { io().write(d.connection, d.bytes.bytes()).value(); }
  std::string on(where_is_it) { return io().local(door_).to_string(); }

 private:
  net::acceptor_handle door_;
};

class caller : public net::broker<garrick::result<std::string>(std::string)> {
 public:
  explicit caller(net::broker_place where) : broker(where) {}
  using broker::on;
  garrick::result<std::string> on(const std::string& where) {
    const auto there = io().connect(where, {.read = net::receive_policy::exactly(5)});
    if (!there) return there.error();
    answer_ = make_promise<std::string>();
    return answer_;
  }
  void on(const net::new_connection& n) { io().write(n.connection, "hello").value(); }
  void on(const net::new_data& d) { answer_.deliver(std::string(d.bytes.text())); }
  void on(const net::connection_closed& c) { answer_.fail(c.why); }

 private:
  garrick::response_promise<std::string> answer_;
};

int main() {
  net::broker_threads threads;  // before the system: it ends later
  garrick::actor_system system;
  const auto at = system.request(threads.spawn<echo>(system), where_is_it{}).get();
  if (!at) return std::puts(at.error().to_string().c_str()), 1;
  const auto client = threads.spawn<caller>(system);
  const auto answer = system.request(client, *at).get();
  std::puts(answer ? answer->c_str() : answer.error().to_string().c_str());
  return answer && *answer == "hello" ? 0 : 1;
}
