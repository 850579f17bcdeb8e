// Whole stacks beside a transport and a peer without rules: each of the five named stacks, with its
// handshake done and messages under way.
//
// Two ends that keep the protocol are joined by a transport in which the input decides, step by
// step, which packets are carried, lost, doubled, delayed, changed in a byte, or replaced. The
// fuzzer's own bytes thus reach an open session, which the fuzzer would hardly find by itself.
//
// In all cases no assertion fails, no call follows `down`, each report is made once, and memory
// stays within the limits.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/wire/codec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::net;

namespace {

constexpr std::size_t path = 1400;
constexpr std::size_t most_waiting = 64;  // packets on a way; the transport is full then

class world;

class end final : public carrier, public link_owner {
 public:
  end(world& w, const named_stack& kind, bool connects) : world_(w) {
    link_settings s;
    s.session.self = {.node = {1, connects ? 1u : 2u}, .incarnation = connects ? 11u : 22u};
    s.session.secret = connects ? 3 : 4;  // the same in each run
    s.session.seed = 1;
    s.session.connects = connects;
    s.session.program = "fuzzed";
    s.mailbox.messages = 20;
    s.mailbox.bytes = 10'000;
    s.questions.most_questions = 20;
    s.slicing.largest = 100'000;
    stack_ = kind.make(*this, *this, s);
  }

  any_link& stack() { return *stack_; }
  std::deque<std::vector<std::byte>>& sent() { return sent_; }
  [[nodiscard]] bool is_over() const { return down_; }
  void send(std::size_t size, unsigned what, base::instant now);
  void take_mail(unsigned lane, base::instant now) {
    if (waiting_[lane] == 0) return;
    --waiting_[lane];
    stack_->delivered(static_cast<lane_number>(lane), now);
  }
  void fill_or_empty() { full_ = !full_; }

 private:
  void transmit(packet p) override {
    const std::span<const std::byte> bytes = std::as_const(p).bytes();
    GARRICK_ASSERT(bytes.size() <= 200'000, "more than a message and its headers");
    // Heartbeats are sent even if the carrier is full, so this bounds their number.
    if (sent_.size() < 4 * most_waiting) sent_.emplace_back(bytes.begin(), bytes.end());
  }
  [[nodiscard]] bool writable() const override { return sent_.size() < most_waiting; }
  [[nodiscard]] std::size_t largest() const override { return path; }
  void reopen() override;
  void close() override {}
  bool on_message(const incoming& m) override {
    GARRICK_ASSERT(!down_, "a message after the end");
    GARRICK_ASSERT(m.bytes.size() <= 100'000, "a message above the limit");
    const base::result<frame> f = decode_frame(m.bytes);
    GARRICK_ASSERT(f.has_value(), "the stack lets no bytes pass that are no frame");
    static_cast<void>(decode<std::string>(f->payload));
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

  world& world_;
  std::unique_ptr<any_link> stack_;
  std::deque<std::vector<std::byte>> sent_;
  bool down_ = false;
  bool full_ = false;
  std::uint64_t reports_ = 0;
  std::set<std::uint64_t> reported_;
  std::array<unsigned, 256> waiting_{};
};

class world {
 public:
  world(const named_stack& kind, std::span<const std::byte> input)
      : input_(input),
        stream_(kind.transport == carrier_kind::stream),
        ends_{end(*this, kind, true), end(*this, kind, false)} {}

  void run() {
    for (end& e : ends_) e.stack().connected(now_);
    settle();
    while (!input_.empty()) step();
    for (end& e : ends_) e.stack().leave(now_);
    settle();
    GARRICK_ASSERT(ends_[0].is_over() && ends_[1].is_over(), "an end that has left is down");
  }
  void reopen() { reopens_ = true; }

 private:
  unsigned take() {
    if (input_.empty()) return 0;
    const auto value = std::to_integer<unsigned>(input_[0]);
    input_ = input_.subspan(1);
    return value;
  }
  void deliver(std::size_t to, std::span<const std::byte> bytes) {
    if (!stream_ && bytes.size() > path) return;
    ends_[to].stack().receive(bytes, now_);
    look_at_the_clock();
  }
  void carry(std::size_t from, bool doubled) {
    std::deque<std::vector<std::byte>>& way = ends_[from].sent();
    if (way.empty()) return;
    const std::vector<std::byte> bytes = std::move(way.front());
    way.pop_front();
    const bool was_full = way.size() + 1 == most_waiting;
    deliver(1 - from, bytes);
    if (doubled) deliver(1 - from, bytes);
    if (was_full) ends_[from].stack().carrier_writable(now_);
  }
  /// Carries the waiting packets, but not for ever.
  void settle() {
    for (int i = 0; i < 200 && !(ends_[0].sent().empty() && ends_[1].sent().empty()); ++i)
      carry(ends_[0].sent().empty() ? 1 : 0, false);
  }
  void look_at_the_clock() {
    for (end& e : ends_)
      if (e.stack().deadline() <= now_) e.stack().advance(now_);
  }
  void lose_the_stream() {
    if (!stream_) return;
    for (end& e : ends_) {
      e.sent().clear();
      if (!e.is_over()) e.stack().disconnected(net_errc::connection_lost, now_);
    }
    for (end& e : ends_)
      if (!e.is_over()) e.stack().connected(now_);
  }
  void step() {
    const unsigned what = take();
    const std::size_t side = what >> 7;
    std::deque<std::vector<std::byte>>& way = ends_[side].sent();
    switch (what % 16) {
      case 0:
      case 1: return carry(side, false);
      case 2: return carry(side, true);
      case 3:  // lost
        if (!way.empty()) way.pop_front();
        return;
      case 4:  // late
        if (way.size() > 1) way.push_back(std::exchange(way.front(), {}));
        if (way.size() > 1) way.pop_front();
        return;
      case 5: {  // changed
        const std::size_t at = take() + 256 * (take() % 4);
        const auto to = static_cast<std::byte>(take());
        if (!way.empty() && at < way.front().size()) way.front()[at] = to;
        return carry(side, false);
      }
      case 6: {  // cut off
        const std::size_t n = take();
        if (!way.empty() && n < way.front().size()) way.front().resize(n);
        return carry(side, false);
      }
      case 7: {  // replaced by the fuzzer's bytes
        const std::size_t n = std::min<std::size_t>(take(), input_.size());
        const std::span<const std::byte> bytes = input_.first(n);
        input_ = input_.subspan(n);
        return deliver(side, bytes);
      }
      case 8: return settle();
      case 9: return ends_[side].send(take(), take(), now_);
      case 10: return ends_[side].send(take() * 100, take(), now_);
      case 11: return ends_[side].take_mail(take(), now_);
      case 12: return ends_[side].fill_or_empty();
      case 13: return lose_the_stream();
      default:
        now_ = now_ + base::duration::milliseconds((what >> 4) * (what >> 4) * 4);
        look_at_the_clock();
    }
    if (std::exchange(reopens_, false)) lose_the_stream();
  }

  std::span<const std::byte> input_;
  bool stream_;
  std::array<end, 2> ends_;
  base::instant now_ = base::instant::at(base::duration::seconds(1));
  bool reopens_ = false;
};

void end::reopen() { world_.reopen(); }

void end::send(std::size_t size, unsigned what, base::instant now) {
  base::result<packet> p =
      encode(std::string(size, 'x'), {.front = frame_room + stack_->header_size()});
  if (!p) return;
  frame f{.kind = frame_kind::message, .receiver = {1, 2}, .sender = {3, 4}};
  const std::uint64_t report = (what & 1) != 0 ? ++reports_ : 0;
  outgoing m = to_outgoing(f, std::move(*p));
  if ((what & 2) != 0) m.lane = static_cast<lane_number>(what >> 3);
  m.report = report;
  if (m.lane == layer_lane || (m.lane != system_lane && !stack_->writable())) return;
  if (stack_->send(std::move(m), now) && report != 0) --reports_;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const stack_catalogue stacks = standard_stacks();
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  if (input.empty()) return 0;
  const std::size_t which = std::to_integer<std::size_t>(input[0]) % stacks.all().size();
  world(stacks.all()[which], input.subspan(1)).run();
  return 0;
}
