#include <garrick/patterns/detail/stage_node.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace garrick::patterns::detail {

// ---- a stage, and a tuple, behind their tables

stage_object::stage_object(const stage_type& t, const void* of) : type_(t) { become(of); }

stage_object::~stage_object() {
  destroy();
  ::operator delete(memory_, std::align_val_t{type_.alignment});
}

void stage_object::destroy() noexcept {
  void* const object = std::exchange(object_, nullptr);
  if (object != nullptr && type_.destroy != nullptr) type_.destroy(object);
}

void stage_object::become(const void* of) {
  destroy();
  if (!fits() && memory_ == nullptr)
    memory_ = ::operator new(type_.size, std::align_val_t{type_.alignment});
  void* const room = fits() ? here_ : memory_;
  try {
    type_.copy(room, of);
  } catch (...) {
    ::operator delete(std::exchange(memory_, nullptr), std::align_val_t{type_.alignment});
    throw;
  }
  object_ = room;
}

spare_tuple::spare_tuple(const tuple_type& type, const void* of) : type_(type) {
  if (type.copy == nullptr) return;
  const bool fits = type.size <= sizeof(here_) && type.alignment <= alignof(std::max_align_t);
  void* const memory = fits ? here_ : ::operator new(type.size, std::align_val_t{type.alignment});
  try {
    type.copy(memory, of);
  } catch (...) {
    if (!fits) ::operator delete(memory, std::align_val_t{type.alignment});
    throw;
  }
  copy_ = memory;
}

spare_tuple::~spare_tuple() {
  if (copy_ == nullptr) return;
  type_.destroy_some(copy_, 1);
  if (copy_ != here_) ::operator delete(copy_, std::align_val_t{type_.alignment});
}

// ---- a node with an output

bool putting_node::finds_room(turn& t) {
  if (!publish(t)) return false;
  t.nested_until = instant::never();
  return true;
}

bool putting_node::hands_on_kept(turn& t) {
  if (out_->pending() == 0) return true;
  static_cast<void>(publish(t));
  return out_->sleep();
}

step_outcome putting_node::blocked() noexcept {
  return out_->sleep() ? step_outcome::blocked : step_outcome::worked;
}

// ---- the common part of nodes with and without inputs

namespace {

/// Calls a function that belongs to no tuple. Its exception is counted, and ends the stream.
template <class F, class Count>
void counted(const F& f, const Count& count_failure) {
  try {
    f();
  } catch (...) {
    count_failure();
    throw;
  }
}

}  // namespace

stage_node_base::stage_node_base(graph& of, const node_options& o, on_failure policy,
                                 const stage_type& type, const void* prototype)
    : putting_node(of, o), stage_(type, prototype), policy_(policy) {
  type.belongs_to(stage(), of);
  if (policy_ == on_failure::skip) type.goes_on_after_failures(stage());
  if (type.flush != nullptr) holds_in_loops();
  if (policy_ == on_failure::restart && type.restart == nullptr)
    first_ = std::make_unique<stage_object>(type, stage());
}

stage_node_base::~stage_node_base() = default;

void stage_node_base::start() {
  if (std::exchange(started_, true)) return;
  counted(
      [this] {
        type().start(stage());
        out_->start();
      },
      [this] { count_failure(); });
}

void stage_node_base::stop() {
  if (std::exchange(stopped_, true)) return;
  out_->begin_input();
  const std::size_t before = put_so_far();
  counted(
      [this] {
        type().stop(stage(), *out_);
        out_->stop();
      },
      [this] { count_failure(); });
  into_loops(put_so_far() - before);
  settle(0);
}

bool stage_node_base::publish_all(turn& t) {
  static_cast<void>(publish(t));
  return out_->pending() == 0;
}

step_outcome stage_node_base::ended(turn& t) noexcept {
  drop(out_->close(t));
  return step_outcome::ended;
}

void stage_node_base::abandon(turn& t) noexcept {
  const stage_counts left = look_at_counts();
  drop(left.held + left.kept);
  drop(out_->close(t));
}

stage_counts stage_node_base::look_at_counts() noexcept {
  if (type().counts == nullptr || stage() == nullptr) return {};
  const stage_counts are = type().counts(stage());
  drop(are.lost);
  count_late(are.late);
  return are;
}

void stage_node_base::settle(std::size_t n) noexcept {
  std::size_t more_held = 0;
  if (type().counts != nullptr && stage() != nullptr) {
    const std::size_t held_before = std::exchange(held_, look_at_counts().held);
    if (type().flush != nullptr)
      more_held = held_ - held_before;
    else
      n += held_before - held_;  // they count as tuples on their way
  }
  out_of_loops(n, more_held);
}

bool stage_node_base::look_at_clock(turn& t) {
  now_ = t.on.now();
  type().time_is(stage(), now_);
  return type().deadline(stage()) <= now_;
}

step_outcome stage_node_base::starved(turn& t) {
  if (type().deadline != nullptr) wake_at(type().deadline(stage()), t);
  return step_outcome::starved;
}

void stage_node_base::count_lost() {
  out_->take_back();
  count_failure();
}

void stage_node_base::failed() {
  count_lost();
  if (policy_ == on_failure::fail) throw;
  if (policy_ == on_failure::skip) return;
  if (type().restart != nullptr) {
    type().restart(stage());
  } else {
    drop(look_at_counts().held);
    stage_.become(first_->get());  // gone for good if that throws, which ends the stream
    type().start(stage());
    if (type().deadline != nullptr) type().time_is(stage(), now_);
  }
}

void stage_node_base::failed_again() {
  if (policy_ == on_failure::fail || ++in_a_row_ < most_failures_in_a_row) return failed();
  count_lost();
  try {
    throw;
  } catch (const std::exception& e) {
    throw std::runtime_error("it has thrown " + std::to_string(in_a_row_) +
                             " times in a row, the last time: " + e.what());
  }
}

// ---- a node that reads

step_outcome stage_node::step(turn& t) {
  const stage_type& is = type();
  const bool was_blocked = out_->is_blocked();
  if (!catches_up(t)) return blocked();
  start();
  std::size_t most = batch();
  if (is.needs_a_node) {
    if (is.reads_input != nullptr) {
      if (is.deadline != nullptr) {
        is.time_is(stage(), t.on.now());
        if (was_blocked) is.was_not_read(stage());
      }
      is.inputs_are(stage(), in_);
    }
    if (const auto done = before_input(t, most)) return *done;
  } else if (out_->is_unwanted()) {
    in_.leave();
  }
  const some_tuples batch = in_.next(most);
  if (batch.empty()) return nothing(t);
  if (is.reads_input != nullptr) is.reads_input(stage(), in_.number());
  const std::size_t before = put_so_far();
  stage_batch b{.first = batch.first, .size = batch.count, .stream = stream()};
  try {
    if (policy() != on_failure::fail) {
      consume_or_lose(b);
    } else {
      out_->begin_input();
      is.consume(stage(), b, *out_);
    }
  } catch (...) {
    if (policy() == on_failure::fail) count_lost();
    dealt_with(batch, b.done + 1, before, t);
    throw;
  }
  dealt_with(batch, b.done, before, t);
  return out_->is_blocked() ? blocked() : step_outcome::worked;
}

/// Consumes tuples in a stage that goes on after failures. Throws an exception that ends the
/// stream.
void stage_node::consume_or_lose(stage_batch& b) {
  const tuple_type& takes = in_.type();
  for (; b.done < b.size && !out_->is_blocked() && !is_cancelled() &&
         (type().under_way == nullptr || !type().under_way(stage()));
       ++b.done) {
    void* const tuple = static_cast<std::byte*>(b.first) + b.done * takes.size;
    out_->begin_input();
    std::optional<spare_tuple> spare;
    try {
      spare.emplace(takes, tuple);
      stage_batch one{.first = tuple, .size = 1, .stream = b.stream};
      type().consume(stage(), one, *out_);
    } catch (...) {
      if (takes.tuples_among(tuple, 1) == 0) {  // a mark: without it the order would be lost
        count_lost();
        throw;
      }
      takes.dead(*this, spare ? spare->best(tuple) : tuple, std::current_exception());
      failed();
    }
  }
}

inline void stage_node::dealt_with(some_tuples batch, std::size_t n, std::size_t before, turn& t) {
  count_in(in_.type().tuples_among(batch.first, n), n);
  into_loops(put_so_far() - before);
  static_cast<void>(publish(t));
  in_.done(n);
  settle(n);
}

/// Begins a step of a stage that needs a node: puts out results that come piece by piece, or whose
/// time has come. Lowers `most` to the number of tuples that the stage takes. Returns nothing if
/// the stage may take input now.
std::optional<step_outcome> stage_node::before_input(turn& t, std::size_t& most) {
  const stage_type& is = type();
  if (out_->is_unwanted()) {
    in_.leave();
    if (is.under_way != nullptr) give_up();
  }
  if (is.under_way != nullptr && is.under_way(stage()))
    return more(t, [&] { is.go_on(stage(), *out_); });
  if (is.deadline != nullptr && look_at_clock(t) && is.on_time != nullptr)
    return more(t, [&] { is.on_time(stage(), now_, *out_); });
  if (is_flushed()) return more(t, [&] { is.flush(stage(), *out_); });
  if (is.has_enough != nullptr && is.has_enough(stage())) return wind_down(t);
  if (is.room != nullptr) {
    most = std::min(most, is.room(stage()));
    if (most == 0) return starved(t);
  }
  return std::nullopt;
}

/// Puts out results that belong to no new tuple.
template <class F>
step_outcome stage_node::more(turn& t, const F& put) {
  const std::size_t before = put_so_far();
  out_->begin_input();
  try {
    put();
    went_well();
  } catch (...) {
    if (type().under_way != nullptr) {  // it goes on with the next tuple, or the next result
      if (type().input_has_ended == nullptr) count_partial();
      failed();
    } else {
      failed_again();
    }
  }
  into_loops(put_so_far() - before);
  const bool all = publish(t);
  settle(0);
  return all ? step_outcome::worked : blocked();
}

void stage_node::give_up() noexcept {
  if (!type().under_way(stage())) return;
  if (type().input_has_ended == nullptr) drop(look_at_counts().held);
  type().give_up(stage());
  settle(0);
}

/// Ends the output of a stage that has enough, tells the nodes before it, and drops further tuples.
/// Results that go back in a loop get their room first, since the loop counts them.
step_outcome stage_node::wind_down(turn& t) {
  stop();
  if (!publish(t)) return blocked();
  if (out_->pending() == 0) drop(out_->close(t));
  in_.leave();
  const std::size_t n = in_.next(batch()).count;
  if (n == 0) {
    if (in_.ended()) return step_outcome::ended;
    return hands_on_kept(t) && in_.sleep() ? step_outcome::starved : step_outcome::worked;
  }
  in_.done(n);
  count_in(n);
  drop(n);
  out_of_loops(n);
  return step_outcome::worked;
}

step_outcome stage_node::nothing(turn& t) {
  if (!in_.ended()) {
    if (!hands_on_kept(t)) return step_outcome::worked;
    return in_.sleep() ? starved(t) : step_outcome::worked;
  }
  if (type().input_has_ended != nullptr) {
    type().input_has_ended(stage());
    if (type().under_way(stage())) return step_outcome::worked;
  }
  stop();
  return publish_all(t) ? ended(t) : blocked();
}

// ---- a node that only puts out

step_outcome source_node::step(turn& t) {
  if (!catches_up(t)) return blocked();
  start();
  if (out_->is_unwanted()) stop();
  std::size_t most = batch();
  if (type().deadline != nullptr) {
    if (!stopped_ && !look_at_clock(t)) return starved(t);
    most = 1;
  }
  if (!stopped_ && !goes_on(most)) stop();
  if (!publish(t)) return blocked();
  return stopped_ ? ended(t) : step_outcome::worked;
}

/// Lets the stage put out something, at most `most` times and as long as there is room. Returns
/// false if it has nothing more.
bool source_node::goes_on(std::size_t most) {
  stage_batch b{.first = nullptr, .size = most, .stream = stream()};
  try {
    out_->begin_input();
    type().produce(stage(), b, *out_);
    went_well();
  } catch (...) {
    if (b.done != 0) went_well();
    failed_again();
  }
  count_made(b.done);
  return b.more;
}

// ---- a stage that is fused

fused_output::fused_output(graph& of, const stage_type& type, const void* prototype,
                           std::unique_ptr<output> to)
    : stage_(type, prototype), to_(std::move(to)) {
  type.belongs_to(stage_.get(), of);
}

void fused_output::take_back() noexcept {
  if (!fresh_) to_->take_back();
  blocked_ = to_->is_blocked();
}

void fused_output::start() {
  stage_.type().start(stage_.get());
  to_->start();
}

void fused_output::stop() {
  to_->begin_input();
  stage_.type().stop(stage_.get(), *to_);
  to_->stop();
  blocked_ = to_->is_blocked();
}

std::size_t fused_output::publish(turn& t) {
  const std::size_t n = to_->publish(t);
  blocked_ = to_->is_blocked();
  return n;
}

void fused_output::put_elsewhere(void* value) {
  if (std::exchange(fresh_, false)) to_->begin_input();
  stage_.type().consume_one(stage_.get(), value, *to_);
  blocked_ = to_->is_blocked();
}

}  // namespace garrick::patterns::detail
