#include <garrick/patterns/detail/actor_node.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace garrick::patterns::detail {

/// Exists while the user's code runs inside a step.
class actor_node::in_a_step {
 public:
  explicit in_a_step(actor_node& n) noexcept : n_(n) { n.in_step_ = true; }
  ~in_a_step() { n_.in_step_ = false; }
  in_a_step(const in_a_step&) = delete;
  in_a_step& operator=(const in_a_step&) = delete;

 private:
  actor_node& n_;
};

actor_node::actor_node(graph& of, const node_options& o, on_failure policy,
                       std::shared_ptr<const actor_maker> maker)
    : held_open(of, o), owner_(of), maker_(std::move(maker)), in_(maker_->takes), policy_(policy) {
  not_yet();
}
actor_node::~actor_node() = default;

// ---- the stage's actor on turns of its own

/// Counts the held tuples as dropped, because the stream or the actor ends early.
void actor_node::drop_held() noexcept {
  if (!std::exchange(held_was_dropped_, true)) drop(holds());
}

/// Counts the failure of a tuple. Returns true if the tuple becomes a dead letter.
bool actor_node::has_to_be_told(const std::exception_ptr& why) {
  if (is_dropped()) return false;
  count_failure();
  if (policy_ != on_failure::fail) return true;
  owner_.cancel(why_it_failed(why));
  return false;
}

std::exception_ptr actor_node::as_exception(const error& why) {
  return std::make_exception_ptr(std::runtime_error(why.to_string()));
}

/// Calls `f` outside of a step, and hands on its results at once. Returns the exception that `f`
/// throws, or null.
template <class F>
std::exception_ptr actor_node::by_itself(const F& f, actor_base& on) {
  turn t{.on = on, .own_thread = own_thread()};
  const std::size_t before = out_->pending();
  out_->begin_input();
  try {
    f();
  } catch (...) {  // of a key function, say
    out_->take_back();
    return std::current_exception();
  }
  into_loops(out_->pending() - before);
  count_out(out_->publish(t));
  // A result that is kept for the way back in a loop does not block the node, but it still needs
  // room there.
  if (out_->pending() != 0 && !out_->sleep()) count_out(out_->publish(t));
  return {};
}

std::exception_ptr actor_node::put_by_itself(void* value, const tuple_type& type, actor_base& on) {
  if (is_over()) return drop(is_dropped() ? 0 : 1), nullptr;
  return by_itself([&] { out_->put(type, value); }, on);
}

std::exception_ptr actor_node::try_put_by_itself(std::size_t limit, void* value, actor_base& on,
                                                 bool& done) {
  if (is_over()) return drop(is_dropped() ? 0 : 1), nullptr;
  return by_itself([&] { done = out_->try_put(limit, value); }, on);
}

// ---- the actor's life

void actor_node::begin(actor_base& from, const std::shared_ptr<graph>& owner) {
  spawn_options o;
  o.name = name();
  o.detached = own_thread();
  error why;
  try {
    auto made = maker_->make(from, o, stage_seat{owner, this});
    if (made) {
      actor_ = *std::move(made);
      return schedule();
    }
    why = make_error(errc::receiver_failed, name(), made.error().to_string());
  } catch (...) { why = why_it_failed(std::current_exception()); }  // of a copy, say
  // An actor whose on_start has thrown is gone, and `actor_ends` has counted the failure.
  if (!std::exchange(gone_, true)) count_failure();
  owner_.cancel(std::move(why));
  static_cast<void>(turns_.end());
  node::schedule();
}

bool actor_node::help() noexcept {
  return !own_thread() && ((actor_ && run_in_place(actor_)) || node::help());
}

void actor_node::actor_ends(const exit_reason& why) noexcept {
  if (closed_) return;
  if (why == exit_code::unhandled_exception) count_failure();
  drop_held();
}

void actor_node::actor_ended(const exit_reason& why) noexcept {
  gone_ = true;
  if (!closed_)
    owner_.cancel(make_error(
        errc::receiver_failed, name(),
        why.is_normal() ? "the stage's actor has ended before its input" : why.to_string()));
  if (turns_.end()) return node::schedule();
  wake(nullptr, 0);
}

void actor_node::schedule() noexcept {
  try {
    const bool lent = turns_.lend([&] { send(actor_, go{}); });
    if (!lent) node::schedule();
  } catch (...) { std::terminate(); }
}

// ---- a step

step_outcome actor_node::step(turn& t) {
  if (quitting_) return step_outcome::starved;  // until `actor_ended`
  if (!catches_up(t)) return blocked();
  if (out_->is_unwanted()) in_.leave();
  if (holds() >= most_holds_)
    return hands_on_kept(t) ? step_outcome::starved : step_outcome::worked;
  const some_tuples batch = in_.next(std::min(this->batch(), most_holds_ - holds()));
  if (batch.empty()) return nothing(t);
  const std::size_t before = out_->pending();
  stage_batch b{.first = batch.first, .size = batch.count, .stream = stream()};
  const in_a_step here(*this);
  if (policy_ != on_failure::fail) {
    consume_or_lose(b);
  } else {
    try {
      maker_->consume(object_, *this, b);
    } catch (...) {
      out_->take_back();
      count_failure();
      dealt_with(batch, b.done + 1, before, t);
      throw;
    }
  }
  dealt_with(batch, b.done, before, t);
  return out_->is_blocked() ? blocked() : step_outcome::worked;
}

/// Consumes tuples in a stage that goes on after failures. Throws an exception of `on_restart`.
void actor_node::consume_or_lose(stage_batch& b) {
  const tuple_type& takes = in_.type();
  while (goes_on(b)) {
    void* const tuple = static_cast<std::byte*>(b.first) + b.done * takes.size;
    stage_batch one{.first = tuple, .size = 1, .stream = b.stream};
    std::optional<spare_tuple> spare;
    try {
      if (!maker_->can.say_what_failed) spare.emplace(takes, tuple);
      maker_->consume(object_, *this, one);
      b.done += one.done;
    } catch (...) {
      ++b.done;
      out_->take_back();
      count_failure();
      if (takes.tuples_among(tuple, 1) == 0) throw;  // a mark: without it the order would be lost
      takes.dead(*this, spare ? spare->best(tuple) : tuple, std::current_exception());
      if (policy_ == on_failure::restart) maker_->restart(object_);
    }
  }
}

void actor_node::dealt_with(some_tuples batch, std::size_t n, std::size_t before, turn& t) {
  count_in(in_.type().tuples_among(batch.first, n), n);
  into_loops(out_->pending() - before);
  static_cast<void>(publish(t));
  in_.done(n);
  out_of_loops(n);
}

/// Called when no input has a tuple.
step_outcome actor_node::nothing(turn& t) {
  if (!hands_on_kept(t)) return step_outcome::worked;
  if (!in_.ended()) return in_.sleep() ? step_outcome::starved : step_outcome::worked;
  if (holds() != 0) return step_outcome::starved;
  if (!std::exchange(stopped_, true)) stop();
  if (!publish(t)) return blocked();
  if (holds() != 0)  // on_stop has taken them
    return hands_on_kept(t) ? step_outcome::starved : step_outcome::worked;
  if (out_->pending() != 0) return blocked();
  close(t);
  return step_outcome::ended;
}

void actor_node::stop() {
  const in_a_step here(*this);
  const std::size_t before = out_->pending();
  out_->begin_input();
  try {
    maker_->stop(object_);
  } catch (...) {
    count_failure();
    throw;
  }
  into_loops(out_->pending() - before);
}

void actor_node::abandon(turn& t) noexcept {
  drop_held();
  close(t);
}

void actor_node::close(turn& t) noexcept {
  drop(out_->close(t));
  closed_ = true;
  if (!gone_ && actor_) send(actor_, leave{});
}

// ---- the stage

void any_actor_stage::follow(on_failure p) {
  if (p == on_failure::restart && !maker->can.restart)
    throw std::invalid_argument("garrick: the stage \"" + name +
                                "\" is an actor without on_restart(), so it cannot restart");
  policy = p;
}

plan any_actor_stage::describe() const {
  return {.what = "stage",
          .name = name,
          .own_thread = own_thread,
          .may_be_fused = false,
          .emitter = false};
}

any_inlet_ptr any_actor_stage::build(const builder& b, const any_inlet_ptr& next) const {
  node_options o = b.node(name, own_thread);
  o.in_place = false;
  auto& n = b.to.add_node<actor_node>(o, policy, maker);
  n.to(connect(next, n));
  return inlet_of(n, n.in(), b.options.capacity);
}

}  // namespace garrick::patterns::detail
