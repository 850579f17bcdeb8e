// Two ends in the middle of a conversation, over a link that the input drives: it sends, delivers,
// drops, repeats, reorders, lets time pass and adds datagrams of its own. Nothing crashes and
// memory is bounded. If the added datagrams are such as no honest peer sends, each message of the
// conversation still arrives exactly once.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/layer/reliability.hpp>
#include <garrick/net/little_endian.hpp>
#include <garrick/net/stack/stack.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace {

using namespace garrick;
using namespace garrick::net;

constexpr reliability_settings settings{.most_packets = 64, .most_urgent_packets = 4096};
constexpr std::size_t most_messages = 2000;

struct end final : carrier, link_owner {
  end() { stack.connected(now); }

  void transmit(packet p) override { out.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming& m) override {
    if (!strict) return true;
    GARRICK_ASSERT(m.bytes.size() == 4, "a message that was not sent");
    const auto n = load_le<std::uint32_t>(m.bytes.data());
    if (n >= come.size()) come.resize(n + 1);
    GARRICK_ASSERT(!come[n], "a message came twice");
    come[n] = true;
    return true;
  }
  void on_event(const link_event&) override {}

  void send(lane_number lane) {
    if (sent == most_messages || !stack.writable()) return;
    packet p = packet::with_room(stack.header_size(), 4);
    store_le(p.append(4), sent);
    const auto error = stack.send({std::move(p), lane}, now);
    if (!error) ++sent;
  }
  void advance_to(base::instant t) {
    now = t;
    if (stack.deadline() <= now) stack.advance(now);
  }
  void check() const {
    const auto& l = stack.get<reliability>();
    GARRICK_ASSERT(l.in_flight() <= l.buffered(), "more is in flight than there is");
    GARRICK_ASSERT(l.buffered() <= most_messages, "the buffer grows");
  }

  bool strict = false;
  base::instant now = base::instant::at(base::duration::seconds(1));
  std::deque<packet> out;
  std::uint32_t sent = 0;
  std::vector<bool> come;
  net::stack<datagrams, reliability> stack{*this, *this, reliability(settings)};
};

struct conversation {
  std::span<const std::uint8_t> input;
  end ends[2];

  std::uint8_t next() {
    if (input.empty()) return 0;
    const std::uint8_t b = input[0];
    input = input.subspan(1);
    return b;
  }
  void deliver(end& from, end& to, std::uint8_t which) {
    if (from.out.empty()) return;
    const auto at = from.out.begin() + which % std::min<std::ptrdiff_t>(8, std::ssize(from.out));
    const packet p = std::move(*at);
    from.out.erase(at);
    to.stack.receive(p.bytes(), to.now);
  }
  void inject(end& to, bool strict) {
    const std::size_t n = std::min<std::size_t>(next() % 64, input.size());
    std::vector<std::byte> bytes(n);
    std::transform(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(n), bytes.begin(),
                   [](std::uint8_t b) { return std::byte{b}; });
    input = input.subspan(n);
    if (!bytes.empty() && strict) {
      // Either no header at all, or an acknowledgement of packets that were never sent.
      if (bytes[0] != std::byte{2} || n < 13)
        bytes[0] |= std::byte{0x80};
      else
        store_le(bytes.data() + 5, first_sequence + to.sent + load_le<std::uint8_t>(&bytes[5]));
    }
    to.stack.receive(bytes, to.now);
  }
  void step(bool strict) {
    const std::uint8_t what = next();
    end& from = ends[what & 1];
    end& to = ends[(what & 1) ^ 1];
    switch (what >> 1 & 7) {
      case 0:
      case 1:
        for (int i = what >> 4; i >= 0; --i) from.send(lane_number{1});
        break;
      case 2: from.send(system_lane); break;
      case 3: deliver(from, to, static_cast<std::uint8_t>(what >> 4)); break;
      case 4: inject(to, strict); break;
      case 5:
        if (!from.out.empty()) from.out.push_back(from.out.front().share());
        break;
      case 6:
        if (!from.out.empty()) from.out.pop_front();
        break;
      case 7: {
        const auto t =
            from.now + base::duration::microseconds(50) * (std::int64_t{1} << (what >> 4));
        for (end& e : ends) e.advance_to(t);
        break;
      }
    }
    for (const end& e : ends) e.check();
    for (end& e : ends)
      if (e.out.size() > 256) e.out.pop_front();
  }
  /// Runs until all packets are acknowledged, over a link without faults.
  void finish() {
    for (int i = 0; i < 5000; ++i) {
      for (int which = 0; which < 2; ++which)
        while (!ends[which].out.empty()) deliver(ends[which], ends[which ^ 1], 0);
      const bool quiet = ends[0].stack.get<reliability>().buffered() == 0 &&
                         ends[1].stack.get<reliability>().buffered() == 0;
      if (quiet) break;
      const auto t = std::min(ends[0].stack.deadline(), ends[1].stack.deadline());
      GARRICK_ASSERT(!t.is_never(), "no end does anything any more");
      for (end& e : ends) e.advance_to(std::max(t, e.now));
    }
    for (int which = 0; which < 2; ++which) {
      const end& e = ends[which];
      GARRICK_ASSERT(e.come.size() == ends[which ^ 1].sent, "not all messages came");
      GARRICK_ASSERT(std::find(e.come.begin(), e.come.end(), false) == e.come.end(),
                     "a message is missing");
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  conversation c;
  c.input = {data, size};
  const bool strict = (c.next() & 1) != 0;
  for (end& e : c.ends) e.strict = strict;
  while (!c.input.empty()) c.step(strict);
  if (strict) c.finish();
  return 0;
}
