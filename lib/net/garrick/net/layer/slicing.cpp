#include "garrick/net/layer/slicing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/internal/lane_queues.hpp"
#include "garrick/net/layer/internal/partial_messages.hpp"
#include "garrick/net/layer/internal/reserved_lanes.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

using internal::is_reserved;

constexpr std::byte whole_message{0};
constexpr std::byte piece_of_message{1};
constexpr std::uint32_t smallest_piece = 64;

/// Returns the size of a whole message's header; that of a piece is `numbers_size` longer.
constexpr std::size_t short_header(bool lanes_below) noexcept { return lanes_below ? 1 : 2; }
constexpr std::size_t numbers_size = 12;
static_assert(short_header(false) + numbers_size == slicing::header_size);

/// Writes the first bytes of a header to `to`, and returns the place behind them.
std::byte* begin_header(std::byte* to, std::byte kind, lane_number lane, bool lanes_below) {
  *to++ = kind;
  if (!lanes_below) *to++ = static_cast<std::byte>(lane);
  return to;
}

void write_short_header(outgoing& m, bool lanes_below) {
  begin_header(m.bytes.prepend(short_header(lanes_below)), whole_message, m.lane, lanes_below);
}

/// Sets a flag while it lives.
class entered {
 public:
  explicit entered(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  ~entered() { flag_ = false; }
  entered(const entered&) = delete;
  entered& operator=(const entered&) = delete;

 private:
  bool& flag_;
};

}  // namespace

base::error slicing::check(const slicing_settings& s) {
  using internal::check_range;
  if (base::error e = check_range("slicing.largest", s.largest, 1)) return e;
  if (base::error e = check_range("slicing.piece", s.piece, smallest_piece)) return e;
  if (base::error e = check_range("slicing.queue_messages", s.queue_messages, 1)) return e;
  if (base::error e = check_range("slicing.queue_bytes", s.queue_bytes, 1)) return e;
  if (base::error e = check_range("slicing.partial_messages", s.partial_messages, 1)) return e;
  return internal::check_positive("slicing.expiry", s.expiry);
}

slicing::slicing(slicing_settings s) : settings_(s) {}
slicing::slicing(slicing&&) noexcept = default;
slicing& slicing::operator=(slicing&&) noexcept = default;
slicing::~slicing() = default;

std::size_t slicing::room_below(const layer_context& c) const {
  return std::min<std::size_t>(c.largest_below(), std::max(settings_.piece, smallest_piece));
}

bool slicing::goes_at_once(const outgoing& m, const layer_context& c) const {
  if (m.bytes.size() + short_header(c.below().lanes) > room_below(c)) return false;
  if (is_reserved(m.lane))
    return (open_ || !c.below().sessions) && (!queues_ || queues_->lane_empty(m.lane));
  return (!queues_ || queues_->empty()) && c.below_is_writable();
}

void slicing::send(outgoing&& m, layer_context& c) {
  if (ended_) return;
  if (goes_at_once(m, c)) {
    write_short_header(m, c.below().lanes);
    c.down(std::move(m));
    return;
  }
  if (!queues_) {
    const std::uint64_t bytes = std::max(settings_.partial_bytes, settings_.largest);
    queues_ = std::make_unique<internal::lane_queues>(
        internal::under_way_limits{settings_.partial_messages, bytes});
  }
  queues_->push(std::move(m));
  drain(c);
  if (ended_ || !queues_) return;
  if (queues_->messages(true) > std::max(settings_.queue_messages, 1u) ||
      queues_->bytes(true) > std::uint64_t{settings_.queue_bytes} + settings_.largest) {
    end(base::make_error(net_errc::overload, "slicing",
                         "more messages of the system wait than there is room for"),
        c);
    return;
  }
  full_ = full_ || !has_room(settings_.queue_messages, settings_.queue_bytes, large_room());
  tell_room(c);
}

/// Returns the bytes of large messages that may wait. The other end takes as many.
std::uint64_t slicing::large_room() const noexcept {
  return 2 * std::uint64_t{std::max(settings_.partial_bytes, settings_.largest)};
}

/// Returns true if there is room; a waiting large message leaves the others their room.
bool slicing::has_room(std::uint64_t messages, std::uint64_t bytes,
                       std::uint64_t large) const noexcept {
  return queues_->messages(false) < messages &&
         queues_->bytes(false) - queues_->large_bytes() < bytes && queues_->large_bytes() < large;
}

/// Takes the next packet, with its header. Returns false if there is none, or none may go.
bool slicing::take_next(outgoing& m, const layer_context& c) {
  const bool lanes = c.below().lanes;
  const std::size_t room = room_below(c);
  const std::size_t header = short_header(lanes) + numbers_size;
  if (room <= header) return false;
  internal::turn t;
  if (!queues_->take(t, room - short_header(lanes), room - header)) return false;
  m = std::move(t.m);
  if (t.is_whole) {
    write_short_header(m, lanes);
    return true;
  }
  std::byte* at = begin_header(m.bytes.prepend(header), piece_of_message, m.lane, lanes);
  store_le(at, t.id);
  store_le(at + 4, t.total);
  store_le(at + 8, t.offset);
  counters_.cut += t.is_first ? 1 : 0;
  ++counters_.pieces;
  return true;
}

/// Sends waiting packets while that is possible.
void slicing::drain(layer_context& c) {
  if (!queues_ || draining_) return;
  {
    const entered once(draining_);
    outgoing m;
    while (!ended_ && queues_ && !queues_->empty() && c.below_is_writable() && take_next(m, c))
      c.down(std::move(m));
  }
  if (!queues_) return;
  counters_.queued = queues_->messages(false) + queues_->messages(true);
  counters_.queued_bytes = queues_->bytes(false) + queues_->bytes(true);
}

/// Tells the layers above when the queue is half empty, not after each message.
void slicing::tell_room(layer_context& c) {
  if (!full_ || (queues_ && !has_room(settings_.queue_messages / 2 + 1,
                                      settings_.queue_bytes / 2 + 1, large_room() / 2 + 1)))
    return;
  full_ = false;
  c.notify({link_event::kind::writable});
}

void slicing::receive(const incoming& m, layer_context& c) {
  if (ended_) return;
  const properties& below = c.below();
  const std::size_t header = short_header(below.lanes);
  if (m.bytes.size() < header) {
    refuse("a message is shorter than its header", c);
    return;
  }
  const std::byte kind = m.bytes[0];
  const lane_number lane = below.lanes ? m.lane : static_cast<lane_number>(m.bytes[1]);
  const std::span<const std::byte> bytes = m.bytes.subspan(header);
  if (kind == whole_message) {
    if (bytes.size() > settings_.largest) {
      refuse_large(bytes.size(), c);
      return;
    }
    if (partial_ && below.ordered) {
      partial_->abandon(lane, counters_);
      count_partial();
    }
    static_cast<void>(c.up(m.with(bytes, lane)));
  } else if (kind == piece_of_message && bytes.size() > numbers_size) {
    const std::byte* at = bytes.data();
    receive_piece({.lane = lane,
                   .id = load_le<std::uint32_t>(at),
                   .total = load_le<std::uint32_t>(at + 4),
                   .offset = load_le<std::uint32_t>(at + 8),
                   .bytes = bytes.subspan(numbers_size)},
                  c);
  } else {
    refuse("neither a message nor a piece of one", c);
  }
}

void slicing::receive_piece(const internal::piece& p, layer_context& c) {
  using internal::verdict;
  if (!partial_) partial_ = std::make_unique<internal::partial_messages>(settings_);
  internal::growing_bytes whole;
  const verdict v = partial_->add(p, c.below(), c.now(), whole, counters_);
  count_partial();
  switch (v) {
    case verdict::kept: break;
    case verdict::whole:
      ++counters_.joined;
      static_cast<void>(c.up({.bytes = whole.bytes(), .lane = p.lane, .block = &whole}));
      break;
    case verdict::repeated: ++counters_.repeated; break;
    case verdict::stale: ++counters_.stale; break;
    case verdict::lost:
      ++counters_.abandoned;
      if (c.below().reliable)
        end(base::make_error(net_errc::decode_failed, "slicing", "a piece is missing"), c);
      break;
    case verdict::contradiction:
      if (p.total > settings_.largest) return refuse_large(p.total, c);
      refuse("a piece that no message can have", c);
      break;
    case verdict::no_room:
      ++counters_.evicted;
      if (c.below().reliable)
        end(base::make_error(net_errc::overload, "slicing",
                             "more messages come in pieces than are allowed at a time"),
            c);
      break;
  }
}

/// Counts bytes that no correct peer sends, unless they were damaged on their way.
void slicing::refuse(const char* why, layer_context& c) {
  ++counters_.malformed;
  if (c.below().reliable) end(base::make_error(net_errc::decode_failed, "slicing", why), c);
}

/// Counts a message above the limit. A peer with another limit sends such a message in good faith,
/// so over a reliable layer the error that ends the link names the limit.
void slicing::refuse_large(std::size_t size, layer_context& c) {
  ++counters_.malformed;
  if (!c.below().reliable) return;
  end(base::make_error(net_errc::too_large, "slicing",
                       "a message of " + std::to_string(size) +
                           " bytes, where net.slicing_largest allows " +
                           std::to_string(settings_.largest)),
      c);
}

void slicing::notice(const link_event& e, layer_context& c) {
  switch (e.what) {
    case link_event::kind::down:
      ended_ = true;
      forget();
      c.notify(e);
      return;
    case link_event::kind::opened:
    case link_event::kind::resumed:
      open_ = true;
      c.notify(e);
      break;
    case link_event::kind::disconnected:
      open_ = false;
      if (c.below().connected) forget();
      c.notify(e);
      break;
    case link_event::kind::writable: break;  // the layers above are told of room in the queue
    default: c.notify(e);
  }
  drain(c);
  if (!ended_) tell_room(c);
}

void slicing::leave(layer_context& c) {
  if (ended_ || !queues_ || draining_ || !c.below().connected || (c.below().sessions && !open_))
    return;
  const entered once(draining_);
  outgoing m;
  while (!ended_ && queues_ && !queues_->empty() && take_next(m, c)) c.down(std::move(m));
}

void slicing::advance(layer_context& c) {
  if (!partial_) return;
  partial_->expire(c.now(), counters_);
  count_partial();
}

void slicing::count_partial() noexcept {
  counters_.partial = partial_->messages();
  counters_.partial_bytes = partial_->bytes();
}

base::instant slicing::deadline() const noexcept {
  return partial_ ? partial_->deadline() : base::instant::never();
}

void slicing::forget() noexcept {
  queues_.reset();
  partial_.reset();
  counters_.queued = counters_.queued_bytes = 0;
  counters_.partial = counters_.partial_bytes = 0;
}

void slicing::end(const base::error& why, layer_context& c) {
  ended_ = true;
  forget();
  c.end(why);
}

}  // namespace garrick::net
