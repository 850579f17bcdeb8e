#include <garrick/patterns/detail/feeder_node.hpp>
#include <garrick/patterns/node/past_bounds.hpp>

#include <exception>

namespace garrick::patterns::detail {

feeder_node::feeder_node(graph& of, const node_options& o, const tuple_type& type,
                         std::size_t most_kept, weak_ref<protocol<void(go)>> fed_by)
    : node(of, o), owner_(of), type_(type), most_kept_(most_kept), fed_by_(std::move(fed_by)) {}

void feeder_node::put(void* tuple, actor_base& on) {
  turn t{.on = on};
  count_in(1);
  out_->begin_input();
  try {
    out_->put(type_, tuple);
  } catch (...) {  // a key function, say
    out_->take_back();
    count_failure();
    owner_.cancel(why_it_failed(std::current_exception()));
    return;
  }
  count_out(out_->publish(t));
  if (!out_->is_blocked()) return;
  wait_for_room(t);
  if (out_->is_blocked() && !out_->sleep()) count_out(out_->publish(t));
}

void feeder_node::finish() noexcept {
  finished_.store(true, std::memory_order_release);  // order: pairs with step
  wake(nullptr, 0);
}

void feeder_node::feeder_ended() noexcept {
  finished_.store(true, std::memory_order_release);  // order: pairs with step
  if (actors_turns_.end()) return node::schedule();
  wake(nullptr, 0);
}

void feeder_node::wait_for_room(turn& t) {
  const instant begin = t.on.now();
  for (int tries = 0; out_->is_blocked() && tries < most_tries; ++tries) {
    const bool helped = owner_.help();
    if (!helped) graph::yield();
    count_out(out_->publish(t));
    // By a virtual clock nothing changes while the actor waits. On a busy machine a yield is long.
    if (!helped && t.on.now() == begin) return;
  }
  if (base::executor* const w = base::this_thread.worker_of) w->expose();
  while (out_->is_blocked() && t.on.now() - begin < longest_wait) {
    if (!owner_.help()) graph::nap();
    count_out(out_->publish(t));
  }
}

void feeder_node::schedule() noexcept {
  const bool lent = actors_turns_.lend([&] {
    if (const ref<protocol<void(go)>> by = fed_by_.lock()) send_past_bounds(by, go{});
  });
  if (!lent) node::schedule();
}

step_outcome feeder_node::step(turn& t) {
  count_out(out_->publish(t));
  if (out_->is_blocked()) return out_->sleep() ? step_outcome::blocked : step_outcome::worked;
  // order: acquire, pairs with finish
  if (!finished_.load(std::memory_order_acquire)) return step_outcome::starved;
  drop(out_->close(t));
  return step_outcome::ended;
}

void feeder_node::abandon(turn& t) noexcept { drop(out_->close(t)); }

}  // namespace garrick::patterns::detail
