#include "garrick/net/layer/internal/partial_messages.hpp"

#include <algorithm>
#include <utility>

#include "garrick/net/layer/internal/reserved_lanes.hpp"

namespace garrick::net::internal {
namespace {

constexpr std::uint32_t remembered = 64;  // bits of partial_messages::over_

constexpr std::size_t kind_of(lane_number lane) noexcept { return is_reserved(lane) ? 1 : 0; }

}  // namespace

partial_messages::iterator partial_messages::find(std::uint32_t id) noexcept {
  return std::find_if(all_.begin(), all_.end(), [&](const message& m) { return m.id == id; });
}

/// Returns true if the message was passed up or given up. While `over_` is zero, none was.
bool partial_messages::is_over(std::uint32_t id) const noexcept {
  const std::uint32_t behind = newest_ - id;
  if (over_ == 0 || behind >= 1u << 31) return false;
  return behind >= remembered || (over_ >> behind & 1) != 0;
}

void partial_messages::remember(std::uint32_t id) noexcept {
  const std::uint32_t ahead = id - newest_;
  if (over_ == 0 || ahead < 1u << 31) {
    over_ = over_ == 0 || ahead >= remembered ? 0 : over_ << ahead;
    newest_ = id;
  }
  const std::uint32_t behind = newest_ - id;
  if (behind < remembered) over_ |= std::uint64_t{1} << behind;
}

void partial_messages::use(message& m, std::uint64_t bytes) noexcept {
  m.used += bytes;
  used_[kind_of(m.lane)] += bytes;
}

void partial_messages::give_back(message& m, std::uint64_t bytes) noexcept {
  m.used -= bytes;
  used_[kind_of(m.lane)] -= bytes;
}

void partial_messages::erase(iterator m) noexcept {
  give_back(*m, m->used);
  --count_[kind_of(m->lane)];
  remember(m->id);
  all_.erase(m);
}

void partial_messages::abandon(lane_number lane, slicing_counters& k) noexcept {
  for (iterator m = all_.begin(); m != all_.end();) {
    const iterator next = std::next(m);
    if (m->lane == lane) {
      ++k.abandoned;
      erase(m);
    }
    m = next;
  }
}

void partial_messages::expire(base::instant now, slicing_counters& k) noexcept {
  while (!all_.empty() && all_.front().expires <= now) {
    ++k.expired;
    erase(all_.begin());
  }
}

/// Gives up the oldest message of these lanes, except `but`.
bool partial_messages::evict(bool reserved, iterator but, slicing_counters& k) noexcept {
  for (iterator m = all_.begin(); m != all_.end(); ++m) {
    if (is_reserved(m->lane) != reserved || m == but) continue;
    ++k.evicted;
    erase(m);
    return true;
  }
  return false;
}

bool partial_messages::make_room(std::uint64_t bytes, iterator m, properties below,
                                 slicing_counters& k) noexcept {
  const std::uint64_t limit =
      2 * std::uint64_t{std::max(settings_.partial_bytes, settings_.largest)};
  while (used_[kind_of(m->lane)] + bytes > limit)
    if (below.reliable || !evict(is_reserved(m->lane), m, k)) return false;
  return true;
}

/// Begins a message with its first piece. Returns `kept` if it may begin; it is then the last in
/// the list.
verdict partial_messages::begin(const piece& p, properties below, slicing_counters& k) {
  if (!below.reliable && is_over(p.id)) return verdict::stale;
  if (below.ordered) abandon(p.lane, k);
  // Over a layer that keeps the order, a lane has one message under way, a limit by itself.
  const std::size_t most = std::max<std::size_t>(settings_.partial_messages, 1);
  if (!below.ordered && count_[kind_of(p.lane)] >= most &&
      (below.reliable || !evict(is_reserved(p.lane), all_.end(), k)))
    return verdict::no_room;
  message& m = all_.emplace_back();
  m.id = p.id;
  m.total = p.total;
  m.lane = p.lane;
  ++count_[kind_of(p.lane)];
  return verdict::kept;
}

/// Adds the next piece, and all early ones that then follow.
verdict partial_messages::join(const piece& p, iterator m, properties below, slicing_counters& k) {
  std::size_t end = p.offset + p.bytes.size();
  for (const auto& [from, bytes] : m->early) {
    if (from != end) break;
    end += bytes.size();
  }
  const std::size_t before = m->joined.capacity();
  if (end > before) {
    const std::size_t wanted = std::min<std::size_t>(m->total, 2 * end);
    if (!make_room(wanted - before, m, below, k)) return verdict::no_room;
    m->joined.reserve(wanted);
    use(*m, m->joined.capacity() - before);
  }
  m->joined.append(p.bytes);
  while (m->joined.size() != end) {
    const auto next = m->early.begin();
    m->joined.append(next->second);
    give_back(*m, next->second.size() + piece_overhead);
    m->early.erase(next);
  }
  return end == m->total ? verdict::whole : verdict::kept;
}

/// Puts the piece into its message.
verdict partial_messages::place(const piece& p, iterator m, properties below, slicing_counters& k) {
  const std::size_t from = p.offset;
  const std::size_t to = from + p.bytes.size();
  if (to <= m->joined.size()) return verdict::repeated;
  if (from < m->joined.size()) return verdict::contradiction;
  const auto next = m->early.lower_bound(p.offset);
  if (next != m->early.end() && next->first == from && next->second.size() == p.bytes.size())
    return verdict::repeated;
  if (next != m->early.end() && next->first < to) return verdict::contradiction;
  if (next != m->early.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.size() > from) return verdict::contradiction;
  }
  if (from == m->joined.size()) return join(p, m, below, k);
  if (below.ordered) return verdict::lost;
  if (!make_room(p.bytes.size() + piece_overhead, m, below, k)) return verdict::no_room;
  m->early.emplace_hint(next, p.offset, std::vector(p.bytes.begin(), p.bytes.end()));
  use(*m, p.bytes.size() + piece_overhead);
  return verdict::kept;
}

verdict partial_messages::add(const piece& p, properties below, base::instant now,
                              growing_bytes& whole, slicing_counters& k) {
  iterator m = find(p.id);
  const bool possible = p.total <= settings_.largest && !p.bytes.empty() &&
                        std::uint64_t{p.offset} + p.bytes.size() <= p.total;
  if (!possible || (m != all_.end() && (m->lane != p.lane || m->total != p.total))) {
    if (m != all_.end()) erase(m);
    return verdict::contradiction;
  }
  if (m == all_.end()) {
    if (const verdict begun = begin(p, below, k); begun != verdict::kept) return begun;
    m = std::prev(all_.end());
  }
  const verdict v = place(p, m, below, k);
  switch (v) {
    case verdict::kept:
      m->expires = below.reliable ? base::instant::never() : now + settings_.expiry;
      all_.splice(all_.end(), all_, m);
      break;
    case verdict::whole:
      whole = std::move(m->joined);
      erase(m);
      break;
    case verdict::lost:
    case verdict::no_room:
    case verdict::contradiction: erase(m); break;
    case verdict::repeated:
    case verdict::stale: break;
  }
  return v;
}

}  // namespace garrick::net::internal
