// A node of a stream: a stage, or one replica of a stage, with the channels that it reads and
// writes.
//
// A node is run for a step at a time: a batch of tuples from one of its inputs. The run right
// belongs to the runner of the node. The runner is the node's carrier, an ordinary actor, on its
// turn for a `go`; or the node that has just handed over a batch and runs this node in place, while
// the batch is in the cache and without a wake-up. Only batches that take no longer than a wake-up
// are run in place; others go to the carrier, so that another worker can take them.
//
// Private: installed because templates need it.
//
// Thread safety: `wake`, `figures` and `help` are for any thread; the rest belongs to the holder of
// the run right.
//
// Invariants, beside those of run_right.hpp and channel.hpp
// N4 A thread that has got the run right by `wake` runs the node or sends `go` to its carrier. A
//    `go` stands for the run right, so at most one is on its way.
// N5 A node that has ended keeps its run right for ever, so it never runs again.
// N6 A node gives its run right up only after a step that found it starved or blocked (H1 of
//    channel.hpp).
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/node/ending.hpp>
#include <garrick/patterns/node/loop.hpp>
#include <garrick/patterns/node/run_right.hpp>
#include <garrick/patterns/node/wakeable.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

class graph;

/// To a carrier: run the node.
struct go {
  using garrick_unreported = void;
};
/// To a carrier: the time that its node waits for has come.
struct alarm {
  using garrick_unreported = void;
};
/// To a carrier: its node has ended.
struct leave {
  using garrick_unreported = void;
};
/// The protocol of a carrier.
using carrier_protocol = protocol<void(go), void(alarm), void(leave)>;

/// The outcome of a step.
enum class step_outcome : std::uint8_t {
  worked,   ///< there may be more to do
  starved,  ///< no input has anything, and each will wake the node; or the node waits for a time
  blocked,  ///< an output has no room, and will wake the node
  ended,    ///< nothing comes any more: the outputs are closed
};

/// A run of a node: the turn in which it runs, and its depth inside the runs of others.
struct turn {
  actor_base& on;                           ///< the actor that has the turn
  std::uint32_t depth = 0;                  ///< runs around this one
  bool own_thread = false;                  ///< the actor's thread is for its node alone
  std::int64_t nested_ns = 0;               ///< time of nodes that ran in place during this step
  instant nested_until = instant::never();  ///< when the last of them was done, if one has run
};

/// The options of a node.
struct node_options {
  std::string name;
  bool own_thread = false;
  bool in_place = true;        ///< others may run it in place
  std::vector<loop*> loops{};  ///< the loops that it is in
};

/// A stage, or one replica of a stage, that runs in a stream.
class node : public wakeable {
 public:
  /// The longest batch, in nanoseconds, that is not left to another worker.
  static constexpr std::int64_t in_place_ns = 20'000;
  /// The largest depth of runs inside each other.
  static constexpr std::uint32_t most_depth = 8;
  /// A run longer than this, in nanoseconds, or than this many steps, gives others their turn.
  static constexpr std::int64_t run_ns = 100'000;
  static constexpr std::uint32_t most_steps = 64;
  /// The most tuples of a step; fewer where they take long, so that a step takes about `step_ns`.
  static constexpr std::size_t most_tuples = 512;
  static constexpr std::int64_t step_ns = 50'000;

  node(ending& of, const node_options& o);
  virtual ~node() = default;

  /// Returns the name for errors and figures.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Returns true if the node has a thread of its own.
  [[nodiscard]] bool own_thread() const noexcept { return own_thread_; }

  /// Sets the runner for times when no other node runs this one. Called once, before the first
  /// wake.
  void carried_by(ref<carrier_protocol> who) noexcept { carrier_ = std::move(who); }

  /// If another thread holds the run right, makes that thread look again. Otherwise runs the node
  /// here, on the turn `by`, if there is such a turn, both sides allow a run in place, and the node
  /// will be done with the `tuples` soon. If not, sends `go`.
  void wake(turn* by, std::size_t tuples) noexcept override;

  /// Runs the node. Requires the run right.
  void run(actor_base& on, turn* outer) noexcept;

  /// Runs the carrier's turn now, inside the caller, if the carrier waits for a turn on this
  /// worker.
  virtual bool help() noexcept { return !own_thread_ && run_in_place(carrier_); }

  /// Returns the node's work so far: a node_figures (report.hpp). Any thread.
  template <class Figures>
  [[nodiscard]] Figures figures() const noexcept;

  /// Makes a dead letter of a tuple on which the stage has thrown; the stage goes on. Requires the
  /// run right.
  template <class T>
  void dead_letter(T&& tuple, const std::exception_ptr& why) noexcept {
    // no memory for the letter: the tuple is still counted
    if (!told_of(why, std::forward<T>(tuple))) drop(1);
  }

  /// Makes further runners of the node, when all carriers exist.
  virtual void begin(actor_base& /*from*/, const std::shared_ptr<graph>& /*owner*/) {}

  /// Drops the tuples that wait at its inputs, after the stream has ended. Returns how many.
  virtual std::size_t drop_inputs() noexcept { return 0; }
  /// Returns how many tuples wait at its inputs. Any thread.
  [[nodiscard]] virtual std::size_t waiting() const noexcept { return 0; }

 protected:
  /// Takes the run right before the first wake, until `schedule` lends it to the runner.
  void not_yet() noexcept { static_cast<void>(right_.ask()); }
  /// Sends `go`.
  virtual void schedule() noexcept;
  [[nodiscard]] const ref<carrier_protocol>& carrier() const noexcept { return carrier_; }
  /// Wakes the node at `when`; never, if that is `instant::never()`. A node has one such time: the
  /// earliest. Requires a turn of the carrier, so the node must not be one that runs in place.
  void wake_at(instant when, turn& t);
  /// Works on a batch. An exception ends the stream.
  virtual step_outcome step(turn& t) = 0;
  /// Closes the outputs, without another tuple, because the stream was cancelled.
  virtual void abandon(turn& t) noexcept = 0;

  /// Returns true if the stream has been told to end.
  [[nodiscard]] bool is_cancelled() const noexcept { return owner_.is_cancelled(); }

  /// Returns how many tuples the next step takes.
  [[nodiscard]] std::size_t batch() const noexcept { return batch_; }
  /// Returns the node's stream.
  [[nodiscard]] const ending& stream() const noexcept { return owner_; }
  /// Returns the error for an exception of this node's stage.
  [[nodiscard]] error why_it_failed(const std::exception_ptr& why) const;
  /// Counts `n` tuples as taken in this step.
  void count_in(std::uint64_t n) noexcept { count_in(n, n); }
  /// Counts `n` tuples, of `all` that took time.
  void count_in(std::uint64_t n, std::uint64_t all) noexcept {
    add(in_, n);
    taken_ += all;
  }
  /// Counts `n` results of a source, which takes no tuples.
  void count_made(std::uint64_t n) noexcept { taken_ += n; }
  void count_out(std::uint64_t n) noexcept { add(out_, n); }
  void count_failure() noexcept { add(failures_, std::uint64_t{1}); }
  void count_late(std::uint64_t n) noexcept { add(late_, n); }
  void count_partial() noexcept { add(partial_, std::uint64_t{1}); }
  /// Returns true if the node is in a loop, which counts all its results.
  [[nodiscard]] bool in_loops() const noexcept { return !loops_.empty(); }
  /// Counts results into the loops that the node is in, before they are published.
  void into_loops(std::size_t n) noexcept {
    if (n != 0)
      for (loop* const l : loops_) l->add(n);
  }
  /// Counts `n` tuples, which were dealt with, out of the loops. Called after their results were
  /// published.
  void out_of_loops(std::size_t n) noexcept {
    if (n != 0)
      for (loop* const l : loops_) l->remove(n);
  }
  /// The same for a stage that now holds `more` tuples than before, and gives them up in a flush.
  void out_of_loops(std::size_t n, std::size_t more) noexcept {
    if (n != 0 || more != 0)
      for (loop* const l : loops_) l->settle(n, more);
  }
  /// Notes that the stage gives up the tuples that it holds if a loop is flushed. Called while the
  /// graph is built.
  void holds_in_loops() {
    for (loop* const l : loops_) l->has_holder(*this);
  }
  /// Returns how often the node's loops were flushed.
  [[nodiscard]] std::uint64_t flushes() const noexcept {
    std::uint64_t n = 0;
    for (const loop* const l : loops_) n += l->flushes();
    return n;
  }
  /// Counts `n` tuples as dropped.
  void drop(std::uint64_t n) noexcept { add(dropped_, n); }
  /// Makes a dead letter of `parts`. Returns false if there is no memory for it.
  template <class... Parts>
  bool told_of(const std::exception_ptr& why, Parts&&... parts) noexcept {
    try {
      report_dead_letter(any_ref(carrier_), why_it_failed(why), std::forward<Parts>(parts)...);
      return true;
    } catch (...) { return false; }
  }

 private:
  template <class T>
  static void add(std::atomic<T>& to, T n) noexcept {
    // order: relaxed; written by the holder of the run right alone, and read as a figure
    to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void account(std::int64_t took_ns) noexcept;

  // The members that a step touches come first, so that they lie on few lines of the cache.

  ending& owner_;
  const bool own_thread_;
  const bool in_place_;
  run_right right_;
  std::atomic<std::int64_t> tuple_ns_{1000};  // an estimate; read by threads that wake the node
  // for the holder of the run right alone
  std::size_t batch_ = 16;
  std::uint64_t taken_ = 0;  // in this step
  instant blocked_since_ = instant::never();
  const std::vector<loop*> loops_;

  std::atomic<std::uint64_t> in_{0};
  std::atomic<std::uint64_t> out_{0};
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::int64_t> busy_ns_{0};
  std::atomic<std::int64_t> blocked_ns_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> partial_{0};
  std::atomic<std::uint64_t> late_{0};

  const std::string name_;
  ref<carrier_protocol> carrier_;
  timer alarm_;
  instant alarm_at_ = instant::never();
};

template <class Figures>
Figures node::figures() const noexcept {
  // order: relaxed; figures
  const auto get = [](const auto& x) { return x.load(std::memory_order_relaxed); };
  return {.in = get(in_),
          .out = get(out_),
          .steps = get(steps_),
          .busy_ns = get(busy_ns_),
          .blocked_ns = get(blocked_ns_),
          .failures = get(failures_),
          .dropped = get(dropped_),
          .partial = get(partial_),
          .waiting = waiting(),
          .late = get(late_)};
}

}  // namespace garrick::patterns::detail
