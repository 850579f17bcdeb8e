#include "garrick/net/layer/reliability/congestion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace garrick::net {
namespace {

constexpr double initial_packets = 10;
constexpr double full_queue_factor = 0.7;
constexpr double no_queue_factor = 0.85;
constexpr double slow_start_factor = 0.7;
constexpr double curve = 0.4;  // packets a second cubed
// Reno's growth in a round trip, for the factor 0.7: it causes as many losses as the growth by one
// packet does with the factor 0.5.
constexpr double reno_packets = 3 * (1 - 0.7) / (1 + 0.7);
constexpr std::uint32_t samples_of_a_round = 8;

constexpr base::duration ms(std::int64_t n) { return base::duration::milliseconds(n); }
double seconds(base::duration d) { return static_cast<double>(d.count()) * 1e-9; }

}  // namespace

congestion::congestion(std::size_t packet) noexcept : packet_(static_cast<double>(packet)) {
  now_.size = initial_packets * packet_;
  now_.threshold = std::numeric_limits<double>::infinity();
  before_ = now_;
}

void congestion::packet_size(std::size_t packet) noexcept {
  packet_ = static_cast<double>(packet);
  now_.size = std::max(now_.size, smallest());
}

std::int64_t congestion::pace(const round_trip& times) const noexcept {
  const double gain = slow_start() ? 2 : 1.25;
  return static_cast<std::int64_t>(static_cast<double>(times.smoothed().count()) * 1024 /
                                   (gain * now_.size));
}

void congestion::sampled(base::duration time, std::uint64_t order, std::uint64_t next) noexcept {
  if (order >= round_end_) {
    last_round_ = round_shortest_;
    round_shortest_ = base::duration::infinite();
    samples_ = 0;
    round_end_ = next;
  }
  round_shortest_ = std::min(round_shortest_, time);
  ++samples_;
  if (!slow_start() || samples_ < samples_of_a_round || last_round_.is_infinite()) return;
  if (round_shortest_ < last_round_ + std::clamp(last_round_ / 8, ms(4), ms(16))) return;
  now_.threshold = now_.most = now_.reno = now_.size;
  now_.delay = 0;
  now_.begin = last_;
}

void congestion::acknowledged(std::size_t bytes, std::uint64_t order, bool limited,
                              const round_trip& times, base::instant now) noexcept {
  // While the window is not used, the curve's time does not advance.
  if (!limited) now_.begin = now_.begin + (now - std::max(last_, now_.begin));
  last_ = now;
  if (!limited || order < recovered_at_) return;
  if (slow_start())
    now_.size = std::min(now_.size + static_cast<double>(bytes), now_.threshold);
  else
    grow(bytes, times, now);
}

void congestion::grow(std::size_t bytes, const round_trip& times, base::instant now) noexcept {
  const double share = static_cast<double>(bytes) / now_.size;
  now_.reno += (now_.reno < now_.most ? reno_packets : 1) * packet_ * share;
  const double at = seconds(now - now_.begin + times.smoothed()) - now_.delay;
  const double target = now_.most + curve * at * at * at * packet_;
  if (target > now_.size) now_.size += (std::min(target, 1.5 * now_.size) - now_.size) * share;
  now_.size = std::max(now_.size, now_.reno);
}

bool congestion::queue_stands(const round_trip& times) const noexcept {
  const base::duration shortest = times.shortest();
  const base::duration seen = std::min(last_round_, round_shortest_);
  const base::duration allowed = std::max(shortest / 4, base::duration::microseconds(500));
  return seen.is_infinite() || seen - shortest > allowed;
}

bool congestion::lost(std::uint64_t order, std::uint64_t next, const round_trip& times,
                      base::instant now) noexcept {
  ++losses_;
  if (order < recovered_at_) return false;
  losses_ = 1;
  ++event_;
  before_ = now_;
  const double factor = slow_start()          ? slow_start_factor
                        : queue_stands(times) ? full_queue_factor
                                              : no_queue_factor;
  // A flow that loses below its last size leaves room for others (fast convergence).
  const double size = now_.size;
  now_.most = size < now_.most ? size * (1 + factor) / 2 : size;
  now_.size = std::max(size * factor, smallest());
  now_.threshold = now_.reno = now_.size;
  now_.delay = std::cbrt(std::max(now_.most - now_.size, 0.0) / packet_ / curve);
  now_.begin = last_ = now;
  recovered_at_ = next;
  return true;
}

void congestion::was_not_lost(std::uint32_t event) noexcept {
  if (event != event_ || losses_ == 0 || --losses_ != 0) return;
  if (now_.size < before_.size) now_ = before_;
  now_.begin = last_;
}

void congestion::collapse(std::uint64_t next, base::instant now) noexcept {
  before_ = now_;
  now_.threshold = std::max(now_.size * full_queue_factor, smallest());
  now_.size = smallest();
  now_.most = now_.reno = now_.threshold;
  now_.delay = 0;
  now_.begin = last_ = now;
  recovered_at_ = next;
  losses_ = 0;
  ++event_;
}

}  // namespace garrick::net
