#include <garrick/patterns/detail/join_node.hpp>

#include <stdexcept>
#include <string>

namespace garrick::patterns::detail {

// ---- the kept tuples of a side

void kept_side_base::free_behind(std::int64_t others) noexcept {
  while (!buckets_.empty() && !is_needed(buckets_.first()->at + bucket_ - 1, others)) {
    size_ -= static_cast<any_bucket*>(buckets_.first())->tuples;
    buckets_.erase_first();
  }
}

void kept_side_base::clear() noexcept {
  buckets_.clear();
  size_ = 0;
}

// ---- how far the sides are

namespace {

[[nodiscard]] std::int64_t reached(const side_progress& s) noexcept {
  return s.ended ? no_time : s.mark.value();
}

}  // namespace

join_base::join_base(const join_times& t)
    : times_(t),
      left_is_{.mark = watermark(t.disorder, t.idle_after)},
      right_is_{.mark = watermark(t.disorder, t.idle_after)},
      idles_(t.idle_after != duration::infinite()) {}

void join_base::restart() noexcept {
  if (has_only_asked()) return;
  lost_ += kept();
  left_kept_->clear();
  right_kept_->clear();
}

bool join_base::left_is_behind() const noexcept { return reached(left_is_) <= reached(right_is_); }

bool join_base::is_ahead(bool left) noexcept {
  look();
  const side_progress& other = left ? right_is_ : left_is_;
  return is_half_full() && left != left_is_behind() && !other.ended && !other.idle;
}

void join_base::look() noexcept {
  if (left_is_.idle) left_is_.mark.is_at_least(right_is_.mark.value());
  if (right_is_.idle) right_is_.mark.is_at_least(left_is_.mark.value());
  left_kept_->free_behind(reached(right_is_));
  right_kept_->free_behind(reached(left_is_));
}

instant join_base::deadline_of_sides() const noexcept {
  instant first = instant::never();
  for (const side_progress* const s : {&left_is_, &right_is_}) {
    if (s->ended) continue;
    first = std::min(first, s->mark.deadline());
    if (!s->idle) first = std::min(first, s->heard + times_.idle_after);
  }
  return first;
}

void join_base::on_time_of_sides(instant now) noexcept {
  for (side_progress* const s : {&left_is_, &right_is_}) {
    if (s->mark.deadline() <= now) s->mark.on_time(now);
    if (s->heard + times_.idle_after <= now) s->idle = true;
  }
  look();
}

void join_base::make_room() {
  look();  // this tuple itself may have moved time on
  if (kept() >= times_.at_most)
    throw std::length_error("garrick: join: " + std::to_string(times_.at_most) +
                            " tuples wait for others, as many as at_most() allows");
}

// ---- the node

join_node::join_node(graph& of, const node_options& o, on_failure policy, const stage_type& type,
                     const void* prototype, const tuple_type& l, const tuple_type& r,
                     join_base& (*stage_of)(void* s) noexcept)
    : stage_node_base(of, o, policy, type, prototype), left_(l), right_(r), stage_of_(stage_of) {}

step_outcome join_node::step(turn& t) {
  const bool was_blocked = out_->is_blocked();
  if (!catches_up(t)) return blocked();
  start();
  if (out_->is_unwanted()) {
    left_.leave();
    right_.leave();
  }
  join_base& j = joins();
  const instant now = j.idles() ? t.on.now() : instant();
  bool look = look_at(left_, j.left(), now, was_blocked);
  look |= look_at(right_, j.right(), now, was_blocked);
  if (j.idles() && j.deadline_of_sides() <= now) j.on_time_of_sides(now);
  if (look) j.look();

  const bool first_left = j.left_is_behind();
  if (const auto did = read(first_left, t)) return *did;
  bool& waits = (first_left ? j.right() : j.left()).waits;
  waits = j.must_wait(!first_left);
  if (!waits)
    if (const auto did = read(!first_left, t)) return *did;
  return nothing(t, waits, first_left);
}

/// Brings a side's progress up to date. Returns true if the side has ended now.
bool join_node::look_at(inputs& in, side_progress& side, instant now, bool was_blocked) {
  side.mark.time_is(now);
  const bool unread = std::exchange(side.waits, false) || was_blocked;
  if (unread) side.mark.was_not_read();
  side.mark.inputs_are(in);
  if (side.heard == instant() || unread) side.heard = now;
  if (in.waiting() != 0) {
    side.heard = now;
    side.idle = false;
  }
  return !side.ended && in.ended() && (side.ended = true);
}

/// Reads a batch of that side. Returns nothing if there is none.
std::optional<step_outcome> join_node::read(bool left, turn& t) {
  inputs& from = left ? left_ : right_;
  join_base& j = joins();
  const some_tuples batch = from.next(this->batch());
  if (batch.empty()) return std::nullopt;
  (left ? j.left() : j.right()).mark.reads(from.number());
  const tuple_type& type = from.type();
  const std::size_t before = put_so_far();
  const bool spares = policy() != on_failure::fail;
  stage_batch b{.first = batch.first, .size = batch.count, .stream = stream()};
  std::exception_ptr bad;
  try {
    if (spares)
      take_or_lose(left, type, b);
    else
      j.take(left, b, *out_, *this);
  } catch (...) {
    if (!spares) count_lost();
    bad = std::current_exception();
  }
  const std::size_t n = b.done;
  count_in(n);
  into_loops(put_so_far() - before);
  j.look();
  const bool all = publish(t);
  from.done(n);
  settle(left ? n : 0);  // the other side's source is in no loop
  if (bad) std::rethrow_exception(bad);
  return all ? step_outcome::worked : blocked();
}

/// Takes tuples into a stage that goes on after failures. Throws an exception that ends the stream.
void join_node::take_or_lose(bool left, const tuple_type& type, stage_batch& b) {
  do {
    void* const tuple = static_cast<std::byte*>(b.first) + b.done++ * type.size;
    std::optional<spare_tuple> spare;
    try {
      spare.emplace(type, tuple);
      stage_batch one{.first = tuple, .size = 1, .stream = b.stream};
      joins().take(left, one, *out_, *this);
    } catch (...) {
      type.dead(*this, spare ? spare->best(tuple) : tuple, std::current_exception());
      failed();
    }
  } while (b.done != b.size && !joins().must_wait(left) && !out_->is_blocked() && !is_cancelled());
}

namespace {

[[nodiscard]] bool rests(inputs& in) noexcept { return in.sleep() || in.ended(); }

}  // namespace

/// Called when neither side can be read. With `wait`, the node waits only for the side that is
/// behind. If that side has ended meanwhile, nothing would wake the node, so it makes another step.
step_outcome join_node::nothing(turn& t, bool wait, bool left_is_behind) {
  if (!hands_on_kept(t)) return step_outcome::worked;
  if (wait) {
    if (!(left_is_behind ? left_.sleep() : right_.sleep())) return step_outcome::worked;
  } else {
    const bool left_rests = rests(left_);
    if (!rests(right_) || !left_rests) return step_outcome::worked;
    if (left_.ended() && right_.ended()) {
      stop();
      return publish_all(t) ? ended(t) : blocked();
    }
  }
  if (joins().idles()) wake_at(joins().deadline_of_sides(), t);
  return step_outcome::starved;
}

// ---- how it is built

join_options::join_options() = default;
join_options::join_options(const join_options& o) = default;
join_options& join_options::operator=(const join_options& o) = default;
join_options::~join_options() = default;

join_node& add_join(const builder& b, const any_seq& join, bool idles, const tuple_type& l,
                    const tuple_type& r, join_base& (*stage_of)(void* s) noexcept,
                    const any_inlet_ptr& next) {
  node_options o = b.node(join.name);
  o.in_place = o.in_place && !idles;
  auto& n = b.to.add_node<join_node>(o, join.policy, join.type(), join.prototype(), l, r, stage_of);
  n.to(next->connect(n));
  return n;
}

builder beside_of_join(const builder& b, const any_seq& join) {
  builder beside = b.inside(join.name + ".");
  beside.loops.clear();  // the source's results come from no loop
  return beside;
}

}  // namespace garrick::patterns::detail
