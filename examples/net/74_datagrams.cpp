// A broker with a socket for datagrams, which answers the sender of each.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

using namespace garrick;

struct where_is_it {};

// [echo]
class echo : public net::broker<std::string(where_is_it)> {
 public:
  explicit echo(net::broker_place where) : broker(where) {
    socket_ = io().bind("udp://127.0.0.1:0", {.transport = {.datagram_buffer = 4u << 20}}).value();
  }
  using broker::on;
  void on(const net::new_datagram& d) {
    static_cast<void>(io().send_to(d.socket, d.from, d.bytes.bytes()));  // it may get lost anyway
  }
  std::string on(where_is_it) { return io().local(socket_).to_string(); }

 private:
  net::datagram_handle socket_;
};
// [/echo]

/// Sends a text to an address until an answer arrives, since a datagram may get lost.
class caller : public net::broker<result<std::string>(std::string), void(atom<"again">)> {
 public:
  explicit caller(net::broker_place where) : broker(where) {
    socket_ = io().bind("udp://127.0.0.1:0").value();
  }
  using broker::on;
  result<std::string> on(const std::string& where) {
    const auto to = net::endpoint::parse(where);
    if (!to) return to.error();
    to_ = *to;
    if (const auto said = say(); !said) return said.error();
    answer_ = make_promise<std::string>();
    return answer_;
  }
  void on(atom<"again">) {
    if (!is_answered_) static_cast<void>(say());
  }
  void on(const net::new_datagram& d) {
    if (!std::exchange(is_answered_, true)) answer_.deliver(std::string(d.bytes.text()));
  }

 private:
  static constexpr std::string_view words = "hello, echo";

  result<void> say() {
    send_after(duration::milliseconds(200), self(), atom<"again">{});
    return io().send_to(socket_, to_, std::as_bytes(std::span(words)));
  }

  net::datagram_handle socket_;
  net::endpoint to_;
  bool is_answered_ = false;
  response_promise<std::string> answer_;
};

int main() {
  net::broker_threads threads;
  actor_system system;
  const auto server = threads.spawn<echo>(system);
  const std::string at = system.request(server, where_is_it{}).get().value();
  const auto client = threads.spawn<caller>(system);
  std::printf("%s\n", system.request(client, at).get().value().c_str());
  const auto no =
      system.request(threads.spawn<caller>(system), std::string("udp://localhost:9")).get();
  std::printf("%s\n", no.error().to_string().c_str());
}
