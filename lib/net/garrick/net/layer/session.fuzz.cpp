// For any calls and bytes before, during and after a session: no assertion fails, no message passes
// outside a session, nothing comes after `down`; and a second connection takes the place of the
// present one only after an answer of the session's peer.
//
// The first byte chooses stream or datagrams, the end that connects, and whether there is a session
// already. Then come steps: a byte for the action, and for bytes from the network their number and
// the bytes.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/framing.hpp>
#include <garrick/net/layer/session.hpp>
#include <garrick/net/layer/session/secrets.hpp>
#include <garrick/net/little_endian.hpp>
#include <garrick/net/stack/stack.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr peer_identity own{{1, 1}, 0x1111};
constexpr peer_identity other{{2, 2}, 0x2222};
// The secret of this end is the same in each run.
constexpr std::uint64_t own_secret = 0x3333, other_secret = 0x4444;
constexpr siphash_key both = session_key(own_secret, other_secret);

struct world final : carrier, link_owner {
  std::unique_ptr<net::any_link> stack;
  std::size_t limit = 2000;
  bool open = false;
  bool down = false;

  void transmit(packet p) override { GARRICK_ASSERT(p.size() < 70'000, "too large"); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return limit; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming&) override {
    GARRICK_ASSERT(open && !down, "a message outside of a session");
    return true;
  }
  void on_event(const link_event& e) override {
    GARRICK_ASSERT(!down, "an event after the last");
    if (e.what == link_event::kind::opened || e.what == link_event::kind::resumed) open = true;
    if (e.what == link_event::kind::disconnected) open = false;
    if (e.what == link_event::kind::down) down = true;
  }
};

using over_a_stream = stack<byte_stream, session, framing>;
using over_datagrams = stack<datagrams, session>;

class steps {
 public:
  steps(world& w, std::span<const std::byte> input) : world_(w), input_(input) {}

  void run() {
    const unsigned choice = take();
    stream_ = (choice & 1) != 0;
    session_settings s;
    s.self = own;
    s.secret = own_secret;
    s.seed = 1;
    s.connects = (choice & 2) != 0;
    session layer(s);
    if (stream_)
      world_.stack =
          std::make_unique<over_a_stream>(world_, world_, layer, framing({.largest = 2000}));
    else
      world_.stack = std::make_unique<over_datagrams>(world_, world_, layer);
    knows_peer_ = (choice & 4) != 0;
    if (knows_peer_) shake_hands();
    while (!input_.empty()) {
      step();
      if (world_.stack->deadline() <= now_) world_.stack->advance(now_);
    }
  }

 private:
  unsigned take() {
    if (input_.empty()) return 0;
    const auto value = std::to_integer<unsigned>(input_[0]);
    input_ = input_.subspan(1);
    return value;
  }
  void receive(packet p) {
    const std::size_t size = p.size();
    if (stream_) store_le(p.prepend(4), static_cast<std::uint32_t>(size));
    world_.stack->receive(p.bytes(), now_);
  }
  void shake_hands() {
    world_.stack->connected(now_);
    hello h;
    h.self = other;
    h.to = own.incarnation;
    h.layers = stream_ ? over_a_stream::fingerprint : over_datagrams::fingerprint;
    h.number = other_secret;
    h.proof = own_secret;
    packet p = packet::with_room(4, 100);
    encode_hello(session_packet::hello_ack, h, p);
    receive(std::move(p));
    GARRICK_ASSERT(world_.open, "this was a handshake");
  }
  /// Receives bytes from the network, as they are or as a packet of the session.
  void feed(bool as_packet) {
    const std::size_t n = std::min<std::size_t>(take(), input_.size());
    const std::span<const std::byte> bytes = input_.first(n);
    input_ = input_.subspan(n);
    if (!as_packet) return world_.stack->receive(bytes, now_);
    packet p = packet::copy_of(bytes, 16);
    if (!stream_ && n != 0) {
      const std::byte kind = p.bytes()[0];
      p.drop_front(1);
      store_le(p.prepend(4), session_tag(both, other.incarnation));
      *p.prepend(1) = kind;
    }
    receive(std::move(p));
  }
  void step() {
    const unsigned what = take();
    switch (what % 10) {
      case 0:
      case 1: return feed(true);
      case 2: return feed(false);
      case 3: now_ = now_ + base::duration::milliseconds(take()); return;
      case 4: now_ = now_ + base::duration::milliseconds(take() * 100); return;
      case 5: world_.stack->connected(now_); return;
      case 6: world_.stack->disconnected(net_errc::connection_lost, now_); return;
      case 7: {
        packet p = packet::with_room(world_.stack->header_size(), 8);
        const base::error e = world_.stack->send({std::move(p), system_lane}, now_);
        GARRICK_ASSERT(!e || world_.down, "an empty message was refused");
        return;
      }
      case 8:
        world_.limit = take() * 10;
        world_.stack->path_changed(world_.limit, now_);
        return;
      default:
        if (what > 200) return world_.stack->leave(now_);
        if (stream_ && what > 100) open_beside(what / 10 % 10);
    }
  }
  /// Greets by a second connection, and answers in one of several ways.
  void open_beside(unsigned how) {
    std::uint64_t number = 1;
    const packet first = world_.stack->greeting(now_);
    if (!first.empty()) {
      const std::optional<hello> said = decode_hello(first.bytes().subspan(4));
      GARRICK_ASSERT(said && said->resumes, "a greeting that asks for the session");
      GARRICK_ASSERT(!knows_peer_ || said->to == other.incarnation, "it is for another peer");
      number = said->number;
    }
    hello h;
    h.self = how == 1 ? peer_identity{{2, 2}, 0x2223} : other;
    h.to = how == 2 ? 0x1112 : own.incarnation;
    h.resumes = how != 3;
    h.layers = over_a_stream::fingerprint + (how == 4 ? 1 : 0);
    h.number = number;
    h.proof = resume_proof(both, session_packet::hello_ack, h) + (how == 8 ? 1 : 0);
    packet p = packet::with_room(4, 100);
    encode_hello(how == 5 ? session_packet::hello : session_packet::hello_ack, h, p);
    const auto size = static_cast<std::uint32_t>(p.size());
    store_le(p.prepend(4), size);
    std::span<const std::byte> answer = std::as_const(p).bytes();
    if (how == 6) answer = answer.first(take() % answer.size());
    if (how == 7) answer = input_;
    const beside verdict = world_.stack->answered(answer, now_);
    if (how == 6) GARRICK_ASSERT(verdict != beside::takes, "half of an answer");
    if (how == 7) return;
    const bool is_right = how == 0 || how > 8 || !knows_peer_;
    GARRICK_ASSERT(is_right || verdict != beside::takes, "an answer of another peer");
    if (verdict != beside::takes) return;
    world_.stack->disconnected(net_errc::connection_lost, now_);
    world_.stack->connected(now_);
    world_.stack->receive(answer, now_);
    GARRICK_ASSERT(world_.open || world_.down, "the session goes on by that connection");
  }

  world& world_;
  std::span<const std::byte> input_;
  bool stream_ = false;
  bool knows_peer_ = false;  // otherwise the first hello of the input names it
  base::instant now_ = base::instant::at(base::duration::seconds(1));
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  world w;
  steps(w, {reinterpret_cast<const std::byte*>(data), size}).run();
  return 0;
}
