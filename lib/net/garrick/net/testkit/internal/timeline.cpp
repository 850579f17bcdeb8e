#include "garrick/net/testkit/internal/timeline.hpp"

#include <algorithm>

#include "garrick/base/values/random.hpp"

namespace garrick::net::testkit::internal {
namespace {

/// Steps within one instant after which the instant counts as endless.
constexpr std::uint64_t most_steps = 200'000;
/// The most lent buffers that are kept, spoilt.
constexpr std::size_t most_lent = 64;
constexpr std::byte spoilt{0xa5};

std::uint64_t hash_of(std::string_view text, std::uint64_t h) noexcept {
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

}  // namespace

timeline::timeline(std::uint64_t seed, const network_settings& s,
                   std::optional<garrick::testkit::test_world> world)
    : seed_(seed), settings_(s), world_(std::move(world)), start_(now()), past_(s.history) {}

void timeline::stop() noexcept {
  if (world_ && armed_) world_->time().cancel(armed_);
  running_ = true;  // no timer is armed any more
  events_.clear();
}

std::uint64_t timeline::seed_for(std::string_view name) const noexcept {
  std::uint64_t state = hash_of(name, seed_ ^ 0xcbf29ce484222325u);
  return base::splitmix64(state);
}

void timeline::at(base::instant when, std::function<void()> what) {
  events_.emplace(std::pair(std::max(when, now()), ++last_event_), std::move(what));
  changed();
}

base::instant timeline::next() const {
  const base::instant event =
      events_.empty() ? base::instant::never() : events_.begin()->first.first;
  // Deadlines cannot come before the present: if an event is due now, they need no look.
  return event <= now() ? event : std::min(event, first_due());
}

void timeline::step_begins(base::instant when) {
  if (when > now()) steps_in_instant_ = 0;
  if (!world_) now_ = std::max(now_, when);
  if (++steps_in_instant_ > most_steps)
    fail("this instant does not end: a deadline that stays in the past, or messages without delay",
         std::source_location::current());
}

bool timeline::step(base::instant limit) {
  const base::instant event =
      events_.empty() ? base::instant::never() : events_.begin()->first.first;
  const base::instant deadline = event > now() ? first_due() : base::instant::never();
  if (event <= deadline) {
    if (event.is_never() || event > limit) return false;
    step_begins(event);
    const std::function<void()> what = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    what();
    return true;
  }
  if (deadline > limit) return false;
  step_begins(deadline);
  call_due();
  return true;
}

void timeline::pass(base::instant to) {
  if (to <= now_) return;
  now_ = to;
  steps_in_instant_ = 0;
}

void timeline::changed() {
  if (world_ && !running_) arm();
}

void timeline::arm() {
  const base::instant first = next();
  if (armed_ && first == armed_for_) return;
  if (armed_) world_->time().cancel(armed_);
  armed_for_ = first;
  const auto fire = [](void* self, std::uint64_t) {
    auto& e = *static_cast<timeline*>(self);
    e.armed_ = {};
    e.running_ = true;
    e.steps_in_instant_ = 0;
    struct over {
      timeline& whole;
      ~over() { whole.running_ = false; }
    } const at_end{e};
    while (e.step(e.now())) {}
    e.arm();
  };
  armed_ = world_->time().arm(first, {.fire = fire, .context = this});
}

void timeline::lend(std::span<const std::byte> b,
                    const std::function<void(std::span<const std::byte>)>& call) {
  // A deque, whose buffers keep their addresses while others come and go at its ends.
  bytes& buffer = lent_.emplace_back(b.begin(), b.end());
  calling([&] { call(buffer); });
  std::fill(buffer.begin(), buffer.end(), spoilt);
  if (lent_.size() > most_lent && calling_ == 0) lent_.pop_front();
}

void timeline::fail(const std::string& text, const std::source_location& where) {
  std::string_view file = where.file_name();
  file.remove_prefix(file.rfind('/') + 1);
  const std::string seed = std::to_string(seed_);
  throw network_failure(text + "\n  at " + std::string(file) + ":" + std::to_string(where.line()) +
                            ", seed " + seed + " (GARRICK_SEED=" + seed + " replays it)" +
                            past_.to_string(),
                        seed_);
}

}  // namespace garrick::net::testkit::internal
