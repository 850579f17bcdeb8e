// The other end says anything in the middle of a session, with a mailbox that is full or not. No
// assertion fails, each report comes exactly once, nothing comes after `down`, and nothing grows
// beyond the limits.
//
// The first byte chooses stream or datagrams. Then come steps: a byte for the action, and for a
// message from the other end its lane, its length and its bytes.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/redelivery.hpp>
#include <garrick/net/stack/stack.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

using namespace garrick;
using namespace garrick::net;

namespace {

/// A session that is open whenever there is a connection, and carries lanes.
class session : public layer_defaults {
 public:
  static constexpr std::size_t header_size = 1;
  [[nodiscard]] static constexpr properties provides(properties below) noexcept {
    below.lanes = true;
    below.sessions = true;
    return below;
  }
  void send(outgoing m, layer_context& c) {
    *m.bytes.prepend(1) = static_cast<std::byte>(m.lane);
    c.down(std::move(m));
  }
  void receive(const incoming& m, layer_context& c) {
    if (!m.bytes.empty())
      static_cast<void>(c.up({m.bytes.subspan(1), static_cast<lane_number>(m.bytes[0])}));
  }
  void notice(const link_event& e, layer_context& c) {
    if (e.what == link_event::kind::connected)
      c.notify(
          {std::exchange(opened_, true) ? link_event::kind::resumed : link_event::kind::opened});
    else
      c.notify(e);
  }

 private:
  bool opened_ = false;
};

template <bool IsStream>
struct transport {
  static constexpr properties offers{
      .messages = true, .ordered = true, .reliable = true, .connected = IsStream};
};

constexpr redelivery_settings limits{.messages = 20,
                                     .bytes = 1000,
                                     .system_messages = 30,
                                     .accepted_messages = 300,
                                     .accepted_bytes = 1u << 20,
                                     .ack_every = 3};

template <bool IsStream>
class world final : carrier, link_owner {
 public:
  explicit world(std::span<const std::byte> input) : input_(input) {}

  void run() {
    stack_.connected(now_);
    while (!input_.empty()) {
      step();
      if (stack_.deadline() <= now_) stack_.advance(now_);
      GARRICK_ASSERT(stack_.template get<redelivery>().kept() <= 20 + 31,
                     "a buffer above its limit");
    }
    stack_.leave(now_);
    GARRICK_ASSERT(down_ && reported_.size() == reports_, "a message was not reported");
  }

 private:
  void transmit(packet p) override { GARRICK_ASSERT(p.size() < 10'000, "too large"); }
  [[nodiscard]] bool writable() const override { return room_; }
  [[nodiscard]] std::size_t largest() const override { return 1000; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming& m) override {
    GARRICK_ASSERT(!down_, "a message after the end");
    GARRICK_ASSERT(m.lane != layer_lane, "a message of the layer itself");
    if (!full_) return true;
    ++waiting_[m.lane];
    return false;
  }
  void on_event(const link_event& e) override {
    GARRICK_ASSERT(!down_, "an event after the last");
    if (e.what == link_event::kind::down) down_ = true;
    if (e.what == link_event::kind::delivered || e.what == link_event::kind::unknown)
      GARRICK_ASSERT(e.number <= reports_ && reported_.insert(e.number).second, "reported twice");
  }

  unsigned take() {
    if (input_.empty()) return 0;
    const auto value = std::to_integer<unsigned>(input_[0]);
    input_ = input_.subspan(1);
    return value;
  }
  void send(lane_number lane) {
    packet p = packet::with_room(stack_.header_size(), 64);
    p.append(std::span(filling_).first(take() % 64));
    if (lane == layer_lane || (lane != system_lane && !stack_.writable())) return;
    // The message may be reported before `send` returns.
    const std::uint64_t report = ++reports_;
    if (stack_.send({std::move(p), lane, report}, now_)) --reports_;
  }
  void step() {
    const unsigned what = take();
    switch (what % 8) {
      case 0:
      case 1: {
        const std::size_t n = std::min<std::size_t>(take(), input_.size());
        const std::span<const std::byte> bytes = input_.first(n);
        input_ = input_.subspan(n);
        return stack_.receive(bytes, now_);
      }
      case 2: return send(static_cast<lane_number>(take()));
      case 3: return send(static_cast<lane_number>(take() % 3));
      case 4: full_ = !full_; return;
      case 5: {
        const auto lane = static_cast<lane_number>(take());
        if (waiting_[lane] == 0) return;
        --waiting_[lane];
        return stack_.delivered(lane, now_);
      }
      case 6:
        if (!IsStream) return;
        stack_.disconnected(net_errc::connection_lost, now_);
        return stack_.connected(now_);
      default:
        now_ = now_ + base::duration::milliseconds(what / 8);
        if (what < 128) return;
        room_ = !room_;
        if (room_) stack_.carrier_writable(now_);
    }
  }

  std::span<const std::byte> input_;
  stack<transport<IsStream>, redelivery, session> stack_{*this, *this, redelivery(limits),
                                                         session()};
  base::instant now_{};
  bool room_ = true;
  bool full_ = false;
  bool down_ = false;
  std::uint64_t reports_ = 0;
  std::set<std::uint64_t> reported_;
  std::array<unsigned, 256> waiting_{};
  std::array<std::byte, 64> filling_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  if (input.empty()) return 0;
  if ((input[0] & std::byte{1}) != std::byte{0})
    world<true>(input.subspan(1)).run();
  else
    world<false>(input.subspan(1)).run();
  return 0;
}
