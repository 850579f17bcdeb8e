// A peer that connects twice at once has one session.
#include <garrick/net/stack/accept_sessions.hpp>
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/wire/codec.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <support/transports.hpp>

namespace one_session_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::tests;

namespace {

constexpr auto ms = base::duration::milliseconds;

/// The counts of all links of one kind.
struct counts {
  std::atomic<int> made{0}, opened{0}, down{0}, ended{0}, messages{0};

  void went_down(const base::error& why) {
    const std::lock_guard lock(mutex_);
    why_down_ = why.to_string();
    ++down;
  }
  std::string why_down() {
    const std::lock_guard lock(mutex_);
    return why_down_;
  }

 private:
  std::mutex mutex_;
  std::string why_down_;
};

/// Returns the settings of the client, with the incarnation 11, or of the server.
class counted final : public hosted, public link_owner {
 public:
  counted(carrier& below, std::string_view stack, bool connects, counts& c,
          std::uint64_t secret = 0)
      : counts_(c) {
    link_settings s;
    s.session.secret = secret;
    s.session.self = {.node = {0, connects ? 1u : 2u}, .incarnation = connects ? 11u : 22u};
    s.session.connects = connects;
    s.session.handshake_limit = base::duration::seconds(60);
    s.session.hello_first = s.session.hello_most = ms(20);
    s.session.reopen_most = ms(20);
    link_ = standard_stacks().find(stack)->make(*this, below, s);
    ++counts_.made;
  }
  carried& stack() override { return *link_; }
  void ended(const base::error&) noexcept override { ++counts_.ended; }

 private:
  bool on_message(const incoming&) override {
    ++counts_.messages;
    return true;
  }
  void on_event(const link_event& e) override {
    if (e.what == link_event::kind::down) counts_.went_down(e.why);
    if (e.what != link_event::kind::opened) return;
    ++counts_.opened;
    base::result<packet> p = encode(1u, {.front = frame_room + 64});
    CHECK(!link_->send(to_outgoing({.kind = frame_kind::message}, std::move(*p)),
                       base::real_clock().now()));
  }

  counts& counts_;
  std::unique_ptr<any_link> link_;
};

/// Admits every peer except those given up, and node 77.
struct policy final : accept_sessions {
  policy(std::string_view stack, counts& c) : stack_(stack), counts_(c) {}
  std::unique_ptr<hosted> make_session(const arrival&, const hello&, std::uint64_t secret,
                                       carrier& below, const connection&) override {
    return std::make_unique<counted>(below, stack_, false, counts_, secret);
  }
  std::optional<denial> objection(const arrival&, const hello& who) override {
    if (who.self.node.low == 77) return refusal::not_allowed;
    return {};
  }
  std::string_view stack_;
  counts& counts_;
};

std::string bytes_of(const hello& h) {
  packet p = packet::with_room(8, 100);
  encode_hello(session_packet::hello, h, p);
  return text_of(p.bytes());
}

/// Returns the cookie in the answer to a datagram.
std::uint64_t cookie_for(const bare_socket& from, const hello& h) {
  from.write(bytes_of(h));
  std::vector<std::byte> answer(largest_hello);
  const ssize_t n = ::recv(from.fd(), answer.data(), answer.size(), 0);
  REQUIRE(n > 0);
  const auto said = decode_hello(std::span(answer).first(static_cast<std::size_t>(n)));
  REQUIRE(said.has_value());
  REQUIRE(static_cast<session_packet>(answer[0]) == session_packet::challenge);
  return said->number;
}

}  // namespace

TEST_CASE("accept_sessions: of a peer's connections that come at once, one gets a session") {
  const struct {
    const char* where;
    const char* stack;
  } kinds[]{{"tcp://127.0.0.1:0", "stream"}, {"udp://127.0.0.1:0", "datagrams"}};
  for (const auto& k : kinds)
    for (int round = 0; round != 10; ++round) {
      CAPTURE(k.where);
      CAPTURE(round);
      counts here, there;
      io_threads io({.threads = 3});
      auto door = listen(io, at(k.where), std::make_shared<policy>(k.stack, there));
      REQUIRE(door);
      for (int i = 0; i != 3; ++i)
        REQUIRE(connect(io, door->local(),
                        [&](carrier& below, const connection&) -> std::unique_ptr<hosted> {
                          return std::make_unique<counted>(below, k.stack, true, here);
                        }));
      // The other clients try again and again, without success.
      wait_until(
          [&] { return here.messages + there.messages >= 2 && door->counters().refused >= 6; });
      CHECK(here.opened == 1);
      CHECK(here.down == 0);
      CHECK(there.made == 1);
      CHECK(there.opened == 1);
      CHECK(there.down == 0);
      CHECK(door->counters().started == 1);
      io.stop();
    }
}

TEST_CASE("accept_sessions: a peer that comes before the first link is made gets no second one") {
  for (const bool is_udp : {false, true}) {
    CAPTURE(is_udp);
    counts there;
    io_threads io({.threads = 1});
    auto door = listen(io, at(is_udp ? "udp://127.0.0.1:0" : "tcp://127.0.0.1:0"),
                       std::make_shared<policy>(is_udp ? "datagrams" : "stream", there));
    REQUIRE(door);
    hello h;
    h.self = {{0, 1}, 11};
    h.layers = is_udp ? datagram_stack::fingerprint : stream_stack::fingerprint;
    std::vector<std::pair<bare_socket, hello>> all;
    for (int i = 0; i != 5; ++i) {
      all.emplace_back(
          bare_socket::connected(door->local().port(), is_udp ? SOCK_DGRAM : SOCK_STREAM), h);
      if (is_udp) all.back().second.proof = cookie_for(all.back().first, h);
    }
    std::promise<void> held, go;
    io.post(0, [&] {
      held.set_value();
      go.get_future().wait();
    });
    held.get_future().wait();
    for (const auto& [socket, says] : all)
      socket.write(is_udp ? bytes_of(says) : framed(bytes_of(says)));
    go.set_value();
    wait_until([&] {
      const listener_counters c = door->counters();
      return c.started + c.joined + c.refused >= 5;
    });
    CHECK(door->counters().started == 1);
    CHECK(door->counters().refused == 4);
    io.stop();
    CHECK(there.made == 1);
  }
}

TEST_CASE("accept_sessions: a refused peer hears why: an incarnation in quarantine, a stranger") {
  for (const auto& [where, stack] :
       {std::pair{"tcp://127.0.0.1:0", "stream"}, std::pair{"udp://127.0.0.1:0", "datagrams"}}) {
    CAPTURE(where);
    counts here, there;
    io_threads io({.threads = 2});
    const auto guard = std::make_shared<policy>(stack, there);
    auto door = listen(io, at(where), guard);
    REQUIRE(door);
    const auto knock = [&] {
      REQUIRE(connect(io, door->local(),
                      [&](carrier& below, const connection&) -> std::unique_ptr<hosted> {
                        return std::make_unique<counted>(below, stack, true, here);
                      }));
    };
    const peer_identity client{{0, 1}, 11};
    guard->quarantine({client.node, 12});  // another life
    guard->quarantine(client);
    CHECK(guard->is_quarantined(client));
    knock();
    wait_until([&] { return here.down == 1 && here.ended == 1; });
    CHECK(here.why_down().find("has given this incarnation up") != std::string::npos);
    CHECK(there.made == 0);
    CHECK(door->counters().refused >= 1);
    CHECK(door->counters().started == 0);
    io.stop();
  }
}

TEST_CASE("accept_sessions: a policy's own objection is told, and no other peer is concerned") {
  counts there;
  io_threads io({.threads = 1});
  auto door = listen(io, at("tcp://127.0.0.1:0"), std::make_shared<policy>("stream", there));
  REQUIRE(door);
  const auto answer_to = [&](std::uint64_t node) {
    hello h;
    h.self = {{0, node}, 11};
    h.layers = stream_stack::fingerprint;
    bare_socket s = bare_socket::connected(door->local().port(), SOCK_STREAM);
    s.write(framed(bytes_of(h)));
    return std::pair(s.read(4 + 1), std::move(s));
  };
  auto [refused, first] = answer_to(77);
  REQUIRE(refused.size() == 5);
  CHECK(static_cast<session_packet>(refused[4]) == session_packet::refuse);
  auto [taken, second] = answer_to(78);
  REQUIRE(taken.size() == 5);
  CHECK(static_cast<session_packet>(taken[4]) == session_packet::hello_ack);
  io.stop();
}

TEST_CASE("accept_sessions: of a node's lives in quarantine the first are forgotten first") {
  counts c;
  policy p("stream", c);
  p.quarantine({{0, 2}, 1});
  for (std::uint64_t i = 1; i <= quarantine_list::most_of_a_node + 2; ++i)
    p.quarantine({{0, 1}, i});
  p.quarantine({{0, 1}, 5});  // it is there already, and takes no place of another
  CHECK(!p.is_quarantined({{0, 1}, 1}));
  CHECK(!p.is_quarantined({{0, 1}, 2}));
  CHECK(p.is_quarantined({{0, 1}, 3}));
  CHECK(p.is_quarantined({{0, 2}, 1}));
}

TEST_CASE("accept_sessions: the node whose quarantine is oldest is forgotten first") {
  quarantine_list all;
  for (std::uint64_t i = 1; i <= quarantine_list::most_nodes; ++i) all.add({{0, i}, 1});
  all.add({{0, 1}, 2});
  CHECK(all.contains({{0, 2}, 1}));
  all.add({{0, 0}, 1});
  CHECK(!all.contains({{0, 2}, 1}));
  CHECK(all.contains({{0, 1}, 1}));
  CHECK(all.contains({{0, 0}, 1}));
}

}  // namespace one_session_test
