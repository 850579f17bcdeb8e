// Brings what actors send into a stream. The actor behind the stream's handle puts it out, on its
// own turns, and the node's `go` comes to that actor, too. Once the actor has ended, since nobody
// holds a handle, the node's carrier hands on what is left and closes the channel.
//
// Private: installed because templates need it.
//
// Thread safety: as node.hpp; `put`, `take_go` and `feeder_ended` belong to that actor's turns.
//
// While there is no room, `put` lets the stream's nodes run here, and then waits, at most
// `longest_wait` for a tuple. So the actor's mailbox fills up, and its senders are slowed as by any
// full mailbox. It does not wait until there is room, since a node may wait for an actor that has
// its turn on this thread. What finds no room until then is kept, up to `most_kept_`.
//
// Invariants
// I1 Until `feeder_ended`, only that actor touches the output: `put` does so without the run right.
// I2 A `go` for the actor may be lost when it ends. The run right is not (borrowed_turns.hpp).
#pragma once

#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/node/borrowed_turns.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

namespace garrick::patterns::detail {

template <class T>
class feeder_node final : public node {
 public:
  feeder_node(graph& of, const node_options& o, std::size_t most_kept,
              weak_ref<protocol<void(go)>> fed_by)
      : node(of, o), owner_(of), most_kept_(most_kept), fed_by_(std::move(fed_by)) {}

  void to(std::unique_ptr<output<T>> o) { out_ = std::move(o); }

  /// Is so much kept that another tuple would be too many?
  [[nodiscard]] bool is_full() const noexcept { return out_->pending() >= most_kept_; }
  /// Puts a tuple out; what that throws ends the stream. Waits a while if there is no room, and
  /// lets others of the stream run here.
  void put(T&& tuple, actor_base& on) {
    turn t{.on = on};
    count_in(1);
    out_->begin_input();
    try {
      out_->put(std::move(tuple));
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
  /// A `go` has come: does the run right come with it?
  [[nodiscard]] bool take_go() noexcept { return actors_turns_.take(); }
  /// Nothing comes any more.
  void finish() noexcept {
    finished_.store(true, std::memory_order_release);  // order: pairs with step
    wake(nullptr, 0);
  }
  /// The actor touches it no more.
  void feeder_ended() noexcept {
    finished_.store(true, std::memory_order_release);  // order: pairs with step
    if (actors_turns_.end()) return node::schedule();
    wake(nullptr, 0);
  }

 private:
  static constexpr int most_tries = 64;
  static constexpr duration longest_wait = duration::milliseconds(1);

  void wait_for_room(turn& t) {
    const instant begin = t.on.now();
    for (int tries = 0; out_->is_blocked() && tries < most_tries; ++tries) {
      if (!owner_.help()) graph::yield();
      count_out(out_->publish(t));
    }
    if (t.on.now() == begin) return;  // by a virtual clock nothing changes while this waits
    if (base::executor* const w = base::this_thread.worker_of) w->expose();
    while (out_->is_blocked() && t.on.now() - begin < longest_wait) {
      if (!owner_.help()) graph::nap();
      count_out(out_->publish(t));
    }
  }
  void schedule() noexcept override {
    const bool lent = actors_turns_.lend([&] {
      if (const ref<protocol<void(go)>> by = fed_by_.lock()) send(by, go{});
    });
    if (!lent) node::schedule();
  }
  step_outcome step(turn& t) override {
    count_out(out_->publish(t));
    if (out_->is_blocked()) return out_->sleep() ? step_outcome::blocked : step_outcome::worked;
    // order: acquire, pairs with finish
    if (!finished_.load(std::memory_order_acquire)) return step_outcome::starved;
    drop(out_->close(t));
    return step_outcome::ended;
  }
  void abandon(turn& t) noexcept override { drop(out_->close(t)); }

  graph& owner_;
  const std::size_t most_kept_;
  std::unique_ptr<output<T>> out_;
  weak_ref<protocol<void(go)>> fed_by_;
  std::atomic<bool> finished_{false};
  borrowed_turns actors_turns_;
};

}  // namespace garrick::patterns::detail
