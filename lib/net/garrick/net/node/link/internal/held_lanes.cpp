#include <garrick/net/node/link/internal/held_lanes.hpp>

#include <garrick/core/spawn.hpp>
#include <garrick/core/spawn_options.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/internal/link_port.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <utility>

namespace garrick::net::internal {

namespace {

/// The most bytes of a message that the link decodes itself: an actor would cost more.
constexpr std::size_t most_decoded_inside = std::size_t{256} << 10;
/// The time between two looks of the link at the workers, while none has begun with a message.
constexpr base::duration look_at_workers = base::duration::milliseconds(10);
/// After so many looks the link decodes the message, since the workers are busy for long. Looks are
/// counted instead of time: while the link's thread gets no processor, workers get none, either.
constexpr std::uint32_t enough_looks = 10;

/// Returns true for frames whose decoding may be dear. An error has a short text, and all else are
/// numbers.
constexpr bool is_decoded(frame_kind k) noexcept {
  switch (k) {
    case frame_kind::message:
    case frame_kind::request:
    case frame_kind::response:
    case frame_kind::resolve:
    case frame_kind::spawn:
    case frame_kind::spawned: return true;
    default: return false;
  }
}

/// The worker's part: decodes the message. Visits the link afterwards, even if it was never run.
class decode_job {
 public:
  decode_job(connection link, std::shared_ptr<decoding> what)
      : link_(std::move(link)), what_(std::move(what)) {}
  decode_job(const decode_job&) = delete;
  decode_job& operator=(const decode_job&) = delete;
  ~decode_job() {
    if (what_ == nullptr) return;
    what_->give_back();
    visit();
  }

  void run() noexcept {
    std::exchange(what_, nullptr)->run();
    visit();
  }

 private:
  void visit() noexcept {
    try {
      static_cast<void>(link_.insist([](hosted& h) { static_cast<link_port&>(h).decoded(); }));
    } catch (const std::exception&) {
      // There is no memory for a visit in line. The link sees the result at its next call from
      // below.
    }
  }

  const connection link_;
  std::shared_ptr<decoding> what_;
};

}  // namespace

bool held_lanes::all_workers_wait() const noexcept {
  const base::executor* const workers = env_.workers;
  return workers != nullptr && workers->all_wait();
}

/// Returns the codec with which a worker is to decode the frame's message. Returns null if the
/// message is small or late, if its handles need the link's tables, or if no worker would begin
/// with it soon.
const content_codec* held_lanes::decoded_by_worker(const frame& f, bool is_late) {
  if (f.payload.size() <= most_decoded_inside || f.handles != 0 || is_late) return nullptr;
  if (!taken_back_.expired() || all_workers_wait()) return nullptr;
  const content_codec* const how = owner_.codec_of(f);
  return how != nullptr && how->content != for_the_link_ ? how : nullptr;
}

held_lanes::kept_frame held_lanes::kept(const incoming& m) const {
  kept_frame k{.what = *m.decoded, .is_late = m.is_late};
  if (m.block != nullptr && m.block->holds(m.bytes) && m.block->holds(k.what.payload)) {
    k.bytes = std::move(*m.block);
  } else {
    k.bytes.append(m.bytes);
    k.what = decode_frame(k.bytes.bytes()).value_or(frame{.kind = frame_kind::marker});
  }
  if (k.what.time_left) k.until = actors_now() + *k.what.time_left;
  return k;
}

bool held_lanes::keep(const incoming& m) {
  if (const auto at = lanes_.find(m.lane); at != lanes_.end()) {
    if (m.decoded->kind == frame_kind::cancel) withdraw(at->second, m.decoded->number);
    at->second.behind.push_back(kept(m));
    return true;
  }
  if (has_to_wait(*m.decoded)) {
    lanes_[m.lane].behind.push_back(kept(m));
    return true;
  }
  if (m.block == nullptr) return false;
  const content_codec* const how = decoded_by_worker(*m.decoded, m.is_late);
  if (how == nullptr) return false;
  begin(lanes_[m.lane], kept(m), *how);
  return true;
}

/// Returns true if the frame has to be decoded, and the budget is overdrawn.
bool held_lanes::has_to_wait(const frame& f) {
  if (!budget_.is_overdrawn() || !is_decoded(f.kind) || !budget_.fill(now())) return false;
  not_overdrawn_ = budget_.deadline();
  return true;
}

/// Ends the time of a request that is cancelled while it is held.
void held_lanes::withdraw(lane& l, std::uint64_t request) {
  const auto look_at = [&](kept_frame& k) {
    if (k.what.kind == frame_kind::request && k.what.number == request) k.until = actors_now();
  };
  look_at(l.first);
  for (kept_frame& k : l.behind) look_at(k);
}

void held_lanes::begin(lane& l, kept_frame first, const content_codec& how) {
  l.by = std::make_shared<decoding>(std::move(first.bytes), first.what.payload, how, names_);
  l.first = std::move(first);
  l.looks = 0;
  next_taking_ = std::min(next_taking_, now() + look_at_workers);
  const core::spawn_options as{.name = "decodes", .hidden = true};
  core::detail::spawn_function(
      env_, nullptr, &as,
      [](core::dynamic_actor&, const std::unique_ptr<decode_job>& to_do) { to_do->run(); },
      std::make_unique<decode_job>(self_, l.by));
}

/// The link takes a message back if no worker has begun with it. Workers that wait in sends may be
/// waiting for credit that only this link gives back, so if all workers wait, the link takes the
/// message at its next look. Workers that compute may go on for minutes, so the link takes the
/// message after `enough_looks` looks in any case.
void held_lanes::go_on() {
  const bool looks = next_taking_ <= now();
  const look l{looks, looks && all_workers_wait(), looks ? now() + look_at_workers : next_taking_};
  next_taking_ = not_overdrawn_ = base::instant::never();
  // The lanes before `first_` come last.
  const lane_number first = first_;
  go_on_between(first, std::numeric_limits<lane_number>::max(), l);
  if (first != 0) go_on_between(0, static_cast<lane_number>(first - 1), l);
}

void held_lanes::go_on_between(lane_number from, lane_number last, const look& now) {
  for (auto at = lanes_.lower_bound(from); at != lanes_.end() && at->first <= last;) {
    const lane_number n = at->first;
    lane& l = at->second;
    if (now.is_due) ++l.looks;
    const bool is_over =
        l.by == nullptr || (now.takes || l.looks >= enough_looks ? l.by->take() : l.by->is_over());
    if (is_over)
      go_on_in(n);
    else if (l.by->waits())
      next_taking_ = std::min(next_taking_, now.next);
    at = lanes_.upper_bound(n);
  }
}

/// Reads the held frames of this lane, up to the next message for a worker, or until the budget is
/// overdrawn. Each step may end the link, and then no frames are held any more.
void held_lanes::go_on_in(lane_number n) {
  for (;;) {
    const auto at = lanes_.find(n);
    if (at == lanes_.end()) return;
    lane& l = at->second;
    kept_frame k;
    const std::shared_ptr<decoding> by = std::move(l.by);
    if (by != nullptr) {
      k = std::move(l.first);
      if (by->needs_link()) for_the_link_ = by->how().content;
      if (!by->has_result()) {
        k.bytes = by->take_bytes();  // its actor may stay in a queue for long
        if (!by->needs_link()) taken_back_ = by;
        if (has_to_wait(k.what)) return l.behind.push_front(std::move(k));
      }
    } else if (l.behind.empty()) {
      lanes_.erase(at);
      return;
    } else {
      if (has_to_wait(l.behind.front().what)) return;
      k = std::move(l.behind.front());
      l.behind.pop_front();
      if (const content_codec* const how = decoded_by_worker(k.what, k.is_late))
        return begin(l, std::move(k), *how);
    }
    if (!k.until.is_never()) k.what.time_left = std::max(k.until - actors_now(), base::duration());
    owner_.read_held(k.what, k.is_late, by != nullptr && by->has_result() ? by.get() : nullptr);
    if (budget_.is_overdrawn()) first_ = static_cast<lane_number>(n + 1);
    owner_.delivered(n);
  }
}

void held_lanes::end() noexcept {
  lanes_.clear();
  next_taking_ = not_overdrawn_ = base::instant::never();
}

}  // namespace garrick::net::internal
