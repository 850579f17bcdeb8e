#include <garrick/patterns/node/node.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace garrick::patterns::detail {

node::node(ending& of, const node_options& o)
    : owner_(of),
      own_thread_(o.own_thread),
      in_place_(o.in_place),
      loops_(o.loops),
      name_(o.name) {}

void node::wake(turn* by, std::size_t tuples) noexcept {
  if (!right_.ask()) return;
  // order: relaxed; an estimate
  const std::int64_t each = std::max<std::int64_t>(tuple_ns_.load(std::memory_order_relaxed), 1);
  if (by != nullptr && in_place_ && !own_thread_ && !by->own_thread && by->depth < most_depth &&
      tuples <= static_cast<std::uint64_t>(in_place_ns / each)) {
    run(by->on, by);
  } else {
    schedule();
  }
}

// A lack of memory for the message ends the program, as an exception of a noexcept function does:
// otherwise the run right would be lost, and the stream would hang.
void node::schedule() noexcept { send(carrier_, go{}); }

void node::wake_at(instant when, turn& t) {
  if (when.is_never() || (alarm_at_ <= when && alarm_.active())) return;
  alarm_.cancel();
  alarm_at_ = when;
  alarm_ = t.on.send_after(when - t.on.now(), carrier_, alarm{});
}

void node::run(actor_base& on, turn* outer) noexcept {
  turn t{.on = on,
         .depth = outer == nullptr ? 0 : outer->depth + 1,
         .own_thread = outer == nullptr && own_thread_};
  const instant first = on.now();
  instant begin = first;
  const auto tell_outer = [&](instant end) {
    if (outer == nullptr) return;
    outer->nested_ns += (end - first).count();
    outer->nested_until = end;
  };
  if (blocked_since_ != instant::never())
    add(blocked_ns_, (first - std::exchange(blocked_since_, instant::never())).count());
  // True if this node's step has thrown. If it is another node's failure that counts,
  // `is_cancelled` may not show it yet.
  bool failed = false;
  for (std::uint32_t steps = 1;; ++steps) {
    right_.look();
    t.nested_ns = 0;
    t.nested_until = instant::never();
    taken_ = 0;
    step_outcome what = step_outcome::ended;
    if (failed || owner_.is_cancelled()) {
      abandon(t);
    } else {
      try {
        what = step(t);
      } catch (...) {
        owner_.cancel(why_it_failed(std::current_exception()));
        failed = true;
        continue;
      }
    }
    // the clock is read once for each step that did something
    const bool idle = what == step_outcome::starved && taken_ == 0;
    const instant end = idle                                 ? begin
                        : t.nested_until != instant::never() ? t.nested_until
                                                             : on.now();
    if (!idle) account((end - begin).count() - t.nested_ns);
    begin = end;
    switch (what) {
      case step_outcome::worked:
        if (steps < most_steps && (end - first).count() < run_ns) continue;
        tell_outer(end);
        schedule();
        return;
      case step_outcome::blocked:
        blocked_since_ = end;
        if (right_.release()) return tell_outer(end);
        blocked_since_ = instant::never();
        continue;
      case step_outcome::starved:
        if (right_.release()) return tell_outer(end);
        continue;
      case step_outcome::ended:
        tell_outer(end);
        alarm_.cancel();
        send(carrier_, leave{});
        owner_.node_ended();
        return;
    }
  }
}

void node::account(std::int64_t took_ns) noexcept {
  add(steps_, std::uint64_t{1});
  add(busy_ns_, took_ns);
  if (taken_ == 0) return;
  const std::int64_t each = took_ns / static_cast<std::int64_t>(taken_);
  // order: relaxed; the holder of the run right alone writes it
  const std::int64_t was = tuple_ns_.load(std::memory_order_relaxed);
  const std::int64_t is = was + (each - was) / 4;
  tuple_ns_.store(is, std::memory_order_relaxed);  // order: as above
  batch_ = static_cast<std::size_t>(
      std::clamp<std::int64_t>(step_ns / std::max<std::int64_t>(is, 1), 1, most_tuples));
}

error node::why_it_failed(const std::exception_ptr& why) const {
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    return make_error(errc::receiver_failed, name_, e.what());
  } catch (const error& e) {
    try {
      return make_error(errc::receiver_failed, name_, e.to_string());
    } catch (const std::bad_alloc&) { return make_error(errc::receiver_failed, name_, {}); }
  } catch (...) {
    return make_error(errc::receiver_failed, name_, "an exception of an unknown type");
  }
}

}  // namespace garrick::patterns::detail
