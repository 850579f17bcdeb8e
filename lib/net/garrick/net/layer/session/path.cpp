#include "garrick/net/layer/session/path.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace garrick::net {
namespace {

// Payloads of UDP: the promise of IPv6, tunnels, Ethernet by IPv6 and by IPv4, large frames, and
// the limits of loopback.
constexpr std::array<std::size_t, 9> usual{1232, 1400, 1452, 1472, 4052, 8952, 16384, 32768, 65507};

}  // namespace

std::size_t path::first_size(std::size_t limit) const noexcept {
  return settings_.enabled ? std::min(settings_.base, limit) : limit;
}

void path::begin(std::size_t limit, base::instant now) noexcept {
  limit_ = std::max<std::size_t>(limit, 1);
  size_ = first_size(limit_);
  confirm_ = now + settings_.confirm;
  search();
  due_ = now;
}

bool path::limit_changed(std::size_t limit, base::instant now) noexcept {
  if (limit_ == 0) return false;
  const std::size_t before = size_;
  const bool more = limit > limit_;
  limit_ = std::max<std::size_t>(limit, 1);
  size_ = settings_.enabled ? std::min(size_, limit_) : limit_;
  if (probed_ > limit_) probed_ = 0;
  if (more || mode_ == mode::searching) {
    search();
    due_ = now;
  }
  return size_ != before;
}

std::size_t path::candidate() const noexcept {
  for (const std::size_t s : usual)
    if (s > size_ && s <= limit_) return s;
  return limit_ > size_ ? limit_ : 0;
}

void path::search() noexcept {
  mode_ = mode::searching;
  probed_ = 0;
  tries_ = 0;
}

void path::rest(base::instant now) noexcept {
  mode_ = mode::idle;
  probed_ = 0;
  tries_ = 0;
  due_ = base::instant::never();
  again_ = candidate() == 0 ? base::instant::never() : now + settings_.again;
}

bool path::answered(std::uint32_t number, base::instant now) noexcept {
  if (probed_ == 0 || number != number_) return false;
  const std::size_t size = std::exchange(probed_, 0);
  tries_ = 0;
  large_ = false;
  confirm_ = now + settings_.confirm;
  if (mode_ == mode::confirming) {
    mode_ = mode::idle;
    return false;
  }
  due_ = now;
  if (size <= size_ || size > limit_) return false;
  size_ = size;
  return true;
}

void path::probe_lost(step& s) noexcept {
  probed_ = 0;
  ++lost_;
  // If the peer is silent anyway, a lost probe says nothing about sizes.
  if (mode_ == mode::confirming && !heard_) return;
  ++tries_;
  if (mode_ == mode::confirming && tries_ >= settings_.confirm_tries) {
    ++black_holes_;
    size_ = first_size(limit_);
    s.lowered = true;
    large_ = false;
    search();
  }
}

base::instant path::deadline() const noexcept {
  if (limit_ == 0 || !settings_.enabled) return base::instant::never();
  if (mode_ != mode::idle) return due_;
  return large_ ? std::min(again_, confirm_) : again_;
}

path::step path::advance(base::instant now, std::uint32_t number) noexcept {
  step s;
  if (deadline() > now) return s;
  if (probed_ != 0) probe_lost(s);
  if (mode_ == mode::idle) {
    const bool confirms = large_ && confirm_ <= now;
    search();
    if (confirms) mode_ = mode::confirming;
  }
  const std::size_t wanted = mode_ == mode::confirming ? size_ : candidate();
  if (wanted == 0 || (mode_ == mode::searching && tries_ >= settings_.tries)) {
    rest(now);
    return s;
  }
  s.probe = probed_ = wanted;
  number_ = number;
  heard_ = false;
  due_ = now + settings_.timeout;
  return s;
}

}  // namespace garrick::net
