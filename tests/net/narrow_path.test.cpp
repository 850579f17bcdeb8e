// A path that takes smaller datagrams from some moment on without a report: a black hole between
// two real sockets.
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/wire/codec.hpp>

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <support/transports.hpp>

namespace narrow_path_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::tests;

namespace {

constexpr auto ms = base::duration::milliseconds;

/// Carries datagrams between the first sender and a server, as long as they are small enough.
class narrow_relay {
 public:
  explicit narrow_relay(std::uint16_t server)
      : outer_(bare_socket::listening(0, SOCK_DGRAM)),
        inner_(bare_socket::connected(server, SOCK_DGRAM)),
        thread_([this] { run(); }) {}
  ~narrow_relay() {
    stopping_ = true;
    thread_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return outer_.port(); }
  /// Sets the most bytes of a datagram that passes from now on.
  void takes(std::size_t most) { most_ = most; }
  /// Returns the number of datagrams that did not pass.
  [[nodiscard]] std::size_t lost() const { return lost_; }

 private:
  void run() {
    std::vector<char> bytes(65536);
    while (!stopping_) {
      pollfd waits[2]{{outer_.fd(), POLLIN, 0}, {inner_.fd(), POLLIN, 0}};
      if (::poll(waits, 2, 10) <= 0) continue;
      for (int i : {0, 1}) {
        if ((waits[i].revents & POLLIN) == 0) continue;
        sockaddr_in from{};
        socklen_t size = sizeof(from);
        const ssize_t n = ::recvfrom(waits[i].fd, bytes.data(), bytes.size(), MSG_DONTWAIT,
                                     reinterpret_cast<sockaddr*>(&from), &size);
        if (n < 0) continue;
        const auto got = static_cast<std::size_t>(n);
        if (i == 0) client_ = from;
        if (got > most_)
          ++lost_;
        else if (i == 0)
          ::send(inner_.fd(), bytes.data(), got, 0);
        else
          ::sendto(outer_.fd(), bytes.data(), got, 0, reinterpret_cast<const sockaddr*>(&client_),
                   sizeof(client_));
      }
    }
  }

  bare_socket outer_, inner_;
  sockaddr_in client_{};
  std::atomic<std::size_t> most_{65536};
  std::atomic<std::size_t> lost_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

struct counts {
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> downs{0};
  std::atomic<std::uint64_t> cut{0};      ///< packets in parts
  std::atomic<std::uint64_t> path{1200};  ///< the largest datagram, as far as is known
};

/// An owner that sends large numbered messages up to a number, and checks incoming ones.
class large_numbers final : public hosted, public link_owner {
 public:
  large_numbers(carrier& below, bool connects, std::atomic<std::uint64_t>& may_send, counts& c)
      : counts_(c), may_send_(may_send) {
    session_settings s;
    s.self = {.node = {0, connects ? 1u : 2u}, .incarnation = connects ? 11u : 22u};
    s.connects = connects;
    s.hello_first = ms(20);
    s.interval = ms(100);
    s.probing.timeout = ms(200);
    s.probing.confirm = ms(200);
    link_ = std::make_unique<datagram_stack>(*this, below, actor_protocol(), redelivery(),
                                             slicing(), ordering(), reliability(), net::session(s));
  }
  carried& stack() override { return *link_; }
  void fill() {
    while (sent_ < may_send_ && link_->writable()) {
      // As large as a datagram may be, or larger.
      std::vector<std::uint64_t> all(sent_ % 2 == 0 ? 4000 : 9000, sent_ + 1);
      base::result<packet> p = encode(all, {.front = frame_room + 64});
      if (link_->send(to_outgoing({.kind = frame_kind::message, .receiver = {1, 1}}, std::move(*p)),
                      base::real_clock().now()))
        return;
      ++sent_;
    }
    counts_.cut = link_->get<reliability>().counters().cut;
  }

 private:
  bool on_message(const incoming& m) override {
    const auto numbers = decode<std::vector<std::uint64_t>>(m.decoded->payload);
    if (!numbers || numbers->front() != counts_.received + 1 ||
        numbers->back() != counts_.received + 1)
      ++counts_.wrong;
    ++counts_.received;
    return true;
  }
  void on_event(const link_event& e) override {
    if (e.what == link_event::kind::down) ++counts_.downs;
    if (e.what == link_event::kind::path) counts_.path = e.number;
    fill();
  }

  counts& counts_;
  std::atomic<std::uint64_t>& may_send_;
  std::uint64_t sent_ = 0;
  std::unique_ptr<datagram_stack> link_;
};

}  // namespace

TEST_CASE("a path that becomes a black hole for large datagrams costs time, and no message") {
  counts here, there;
  std::atomic<std::uint64_t> may_send{20}, nothing{0};
  io_threads io({.threads = 2});
  auto door = listen(io, at("udp://127.0.0.1:0"),
                     accept_each([&](const arrival&, carrier& below,
                                     const connection&) -> std::unique_ptr<hosted> {
                       return std::make_unique<large_numbers>(below, false, nothing, there);
                     }),
                     {.thread = 0});
  REQUIRE(door);
  narrow_relay relay(door->local().port());
  const auto link = connect(io, at("udp://127.0.0.1:" + std::to_string(relay.port())),
                            [&](carrier& below, const connection&) -> std::unique_ptr<hosted> {
                              return std::make_unique<large_numbers>(below, true, may_send, here);
                            },
                            {.thread = 1});
  REQUIRE(link);
  const auto go_on = [&] {
    link->run([](hosted& h) { static_cast<large_numbers&>(h).fill(); });
    return here.downs + there.downs != 0;
  };
  wait_until([&] { return (there.received >= 20 && here.path > 30'000) || go_on(); });
  relay.takes(1300);
  may_send = 60;
  wait_until([&] { return go_on() || (there.received >= 60 && here.path < 1300); });
  CHECK(here.downs + there.downs == 0);
  CHECK(there.received == 60);
  CHECK(there.wrong == 0);
  CHECK(relay.lost() > 0);
  wait_until([&] { return go_on() || here.cut > 0; });  // the last visit may be yet to come
  MESSAGE("datagrams that were too large " << relay.lost() << ", packets in parts "
                                           << here.cut.load());
  io.stop();
}

}  // namespace narrow_path_test
