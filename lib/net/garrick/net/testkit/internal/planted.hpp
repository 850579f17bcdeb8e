// Layers with planted bugs, and a small reliable layer to plant some in. The programs of the
// testkit have to find these bugs.
//
// `window` is go-back-n: numbers, cumulative acknowledgements that count messages in mailboxes, one
// timer. It exists to be broken, so it is small: no measured round trip, no congestion, no
// sessions. It requires that no datagram is delayed by 2^31 others, and that peers do not crash.
//
// The other layers may lie anywhere in a stack, and contain a bug and nothing else.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/testkit/guarantee_checker.hpp"

namespace garrick::net::testkit::internal {

/// The bug of a `window`.
enum class flaw : std::uint8_t {
  none,
  takes_any_number,      ///< a later message is passed up although one before it is missing
  repeats,               ///< a message that arrived before is passed up again
  acknowledges_arrival,  ///< acknowledges messages that are not in the mailbox
  forgets_timer,         ///< stops its timer after the first retransmission
  reports_one_too_many,  ///< an acknowledgement of n reports n + 1
  small_numbers,         ///< numbers are compared in five bits, and the window is sixteen
  stale_header,          ///< a retransmission has the number of the first message of the window
  trusts_any_answer,     ///< an acknowledgement of messages that were not sent is believed
};

template <flaw F>
class basic_window : public layer_defaults {
 public:
  static constexpr std::size_t header_size = 6;
  [[nodiscard]] static constexpr properties provides(properties below) noexcept {
    below.ordered = below.reliable = below.lanes = true;
    return below;
  }

  void send(outgoing m, layer_context& c) {
    flying_.push_back({std::move(m), c.now()});
    if (flying_.size() <= width) transmit(flying_.size() - 1, c);
    arm(c);
  }
  void receive(const incoming& m, layer_context& c) {
    if (m.bytes.size() < header_size) return;
    const auto kind = static_cast<std::uint8_t>(m.bytes[0]);
    const auto number = load_le<std::uint32_t>(m.bytes.data() + 2);
    if (kind == answer) return acknowledged(number, c);
    const bool is_next = same(number, expected_);
    const bool is_old = !is_next && static_cast<std::int32_t>(number - expected_) < 0;
    const bool take =
        is_next || (F == flaw::repeats && is_old) || (F == flaw::takes_any_number && !is_old);
    if (take) {
      if (!is_old) expected_ = F == flaw::small_numbers ? expected_ + 1 : number + 1;
      const auto lane = static_cast<lane_number>(m.bytes[1]);
      const bool there = c.up({m.bytes.subspan(header_size), lane});
      come_.push_back({lane, there});
      count();
    }
    tell(c);
  }
  void delivered(lane_number lane, layer_context& c) {
    const auto first = std::find_if(come_.begin(), come_.end(),
                                    [lane](const come& m) { return m.lane == lane && !m.there; });
    if (first != come_.end()) first->there = true;
    count();
    tell(c);
  }
  void advance(layer_context& c) {
    for (std::size_t i = 0; i != std::min(flying_.size(), width); ++i) transmit(i, c);
    deadline_ = base::instant::never();
    if (F != flaw::forgets_timer) arm(c);
  }
  [[nodiscard]] base::instant deadline() const noexcept { return deadline_; }
  [[nodiscard]] bool writable(const layer_context& c) const {
    return flying_.size() < 2 * width && c.below_is_writable();
  }

 private:
  static constexpr std::size_t width = 16;
  static constexpr std::uint8_t data = 1, answer = 2;
  static constexpr base::duration timeout = base::duration::milliseconds(30);
  struct come {
    lane_number lane;
    bool there;
  };
  /// Counts the messages before the first that is in no mailbox: the mailboxes of different lanes
  /// are not filled in the order of numbers.
  void count() {
    for (; !come_.empty() && come_.front().there; ++in_mailboxes_) come_.pop_front();
  }
  struct sent {
    outgoing message;
    base::instant at;
  };
  [[nodiscard]] static bool same(std::uint32_t a, std::uint32_t b) noexcept {
    return F == flaw::small_numbers ? (a & 31) == (b & 31) : a == b;
  }
  void transmit(std::size_t i, layer_context& c) {
    const outgoing& m = flying_[i].message;
    packet p = m.bytes.share();
    std::byte* to = p.prepend(header_size);
    const bool again = F == flaw::stale_header && flying_[i].at != c.now();
    to[0] = std::byte{data};
    to[1] = static_cast<std::byte>(m.lane);
    store_le(to + 2, first_ + (again ? 0 : static_cast<std::uint32_t>(i)));
    c.down({std::move(p), m.lane});
  }
  void tell(layer_context& c) {
    packet p = packet::with_room(32, header_size);
    std::byte* to = p.append(header_size);
    to[0] = std::byte{answer};
    to[1] = std::byte{0};
    store_le(to + 2, F == flaw::acknowledges_arrival ? expected_ : in_mailboxes_);
    c.down({std::move(p), system_lane});
  }
  void acknowledged(std::uint32_t number, layer_context& c) {
    std::uint32_t count = number - first_;
    if (F == flaw::reports_one_too_many && count == 1 && flying_.size() > 2) ++count;
    if (F == flaw::trusts_any_answer && count > flying_.size())
      count = static_cast<std::uint32_t>(flying_.size());
    if (count == 0 || count > flying_.size()) return;
    const bool was_writable = writable(c);
    for (; count != 0; --count) {
      const std::uint64_t report = flying_.front().message.report;
      flying_.pop_front();
      ++first_;
      if (report != 0) c.notify({link_event::kind::delivered, report});
      if (flying_.size() >= width) transmit(width - 1, c);
    }
    deadline_ = base::instant::never();
    arm(c);
    if (!was_writable && writable(c)) c.notify({link_event::kind::writable});
  }
  void arm(layer_context& c) {
    if (!flying_.empty() && deadline_.is_never()) deadline_ = c.now() + timeout;
  }

  std::deque<sent> flying_;     ///< beyond the window: waiting messages
  std::uint32_t first_ = 0;     ///< the number of the first message in it
  std::uint32_t expected_ = 0;  ///< the next number to pass up
  std::uint32_t in_mailboxes_ = 0;
  std::deque<come> come_;  ///< begins with the first message that is in no mailbox
  base::instant deadline_ = base::instant::never();
};

/// The bug of a layer, which affects a message now and then.
enum class mischief : std::uint8_t {
  none,
  drops,         ///< a message is not sent
  doubles,       ///< a message is passed up twice
  swaps,         ///< a message is sent after the next one
  alters,        ///< a byte of a message is altered
  changes_lane,  ///< a message is sent in the next lane
  reports,       ///< a message is reported as delivered when it is sent
  keeps_lent,    ///< a message is passed up later, from the memory that was lent
  lags,          ///< each message is sent when the next one is
  doubts,        ///< a message is sent, and reported as unknown although the link lives
  denies,        ///< a message is sent, and reported as never sent
  denies_late,   ///< a message that was delivered is reported as never sent
};

template <mischief M>
class planted : public layer_defaults {
 public:
  void send(outgoing m, layer_context& c) {
    const bool now = ++sent_ % every == 0;
    if (M == mischief::drops && now) return;
    if (M == mischief::changes_lane && now) ++m.lane;
    if (M == mischief::alters && now) *last_byte_of(m.bytes) ^= std::byte{1};
    if (M == mischief::reports && now && m.report != 0) {
      c.notify({link_event::kind::delivered, std::exchange(m.report, 0)});
    }
    if (M == mischief::doubts && now && m.report != 0) {
      c.notify({link_event::kind::unknown, std::exchange(m.report, 0)});
    }
    if (M == mischief::denies && now && m.report != 0) {
      c.notify({link_event::kind::unknown, std::exchange(m.report, 0), net_errc::peer_down});
    }
    if (M == mischief::lags) {
      if (kept_) c.down(*std::exchange(kept_, std::nullopt));
      kept_ = std::move(m);
      return;
    }
    if (M == mischief::swaps && now) {
      kept_ = std::move(m);
      return;
    }
    c.down(std::move(m));
    if (kept_) c.down(*std::exchange(kept_, std::nullopt));
  }
  void receive(const incoming& m, layer_context& c) {
    const bool now = ++received_ % every == 0;
    if (M == mischief::keeps_lent && now) {
      lent_ = m;
      return;
    }
    if (lent_) std::ignore = c.up(*std::exchange(lent_, std::nullopt));
    std::ignore = c.up(m);
    if (M == mischief::doubles && now) std::ignore = c.up(m);
  }

  void notice(const link_event& e, layer_context& c) {
    const bool now = e.what == link_event::kind::delivered && ++delivered_ % every == 0;
    if (M == mischief::denies_late && now)
      return c.notify({link_event::kind::unknown, e.number, net_errc::peer_down});
    c.notify(e);
  }

 private:
  static constexpr std::uint32_t every = 17;
  /// Returns the last byte, to be altered: only the sender holds the packet.
  [[nodiscard]] static std::byte* last_byte_of(packet& p) {
    return const_cast<std::byte*>(p.bytes().data()) + p.size() - 1;
  }
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t delivered_ = 0;
  std::optional<outgoing> kept_;
  std::optional<incoming> lent_;
};

/// A layer that keeps the state of a lost connection: of `framing`, half a frame.
template <class L>
class forgetful : public L {
 public:
  using L::L;
  void notice(const link_event& e, layer_context& c) { c.notify(e); }
};

}  // namespace garrick::net::testkit::internal
