// The nodes of stages that are no actors: one for a stage that reads, and one for a source.
//
// A step takes a batch from one input and runs it through the stage. Then it hands on the results,
// and last it gives the tuples' slots back: a tuple stays counted until its results are counted (L1
// of loop.hpp).
//
// Private: installed because templates need it.
//
// Thread safety: as in node.hpp.
#pragma once

#include <garrick/patterns/channel/input.hpp>
#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/detail/stage_type.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace garrick::patterns::detail {

/// A stage behind its table, with the memory for it. A small stage lies in this object, so that a
/// step reads fewer lines of the cache.
class stage_object {
 public:
  explicit stage_object(const stage_type& t) noexcept : type_(t) {}
  /// Holds a copy of the stage `of`.
  stage_object(const stage_type& t, const void* of);
  ~stage_object();
  stage_object(const stage_object&) = delete;
  stage_object& operator=(const stage_object&) = delete;

  [[nodiscard]] const stage_type& type() const noexcept { return type_; }
  /// Returns the stage; null while there is none.
  [[nodiscard]] void* get() const noexcept { return object_; }
  /// Replaces the stage by a copy of the stage `of`. If that throws, there is no stage any more.
  void become(const void* of);

 private:
  void destroy() noexcept;
  [[nodiscard]] bool fits() const noexcept {
    return type_.size <= sizeof(here_) && type_.alignment <= alignof(std::max_align_t);
  }

  const stage_type& type_;
  void* object_ = nullptr;
  alignas(std::max_align_t) std::byte here_[32];
  void* memory_ = nullptr;  ///< for a stage that does not fit
};

/// A copy of a tuple, for the dead letter if `consume` throws after it has moved from the tuple.
/// There is no copy of a tuple that a move leaves as it is, or that cannot be copied.
class spare_tuple {
 public:
  spare_tuple(const tuple_type& type, const void* of);
  ~spare_tuple();
  spare_tuple(const spare_tuple&) = delete;
  spare_tuple& operator=(const spare_tuple&) = delete;
  /// Returns the copy. If there is none, returns `left`, the tuple as `consume` has left it.
  [[nodiscard]] void* best(void* left) noexcept { return copy_ != nullptr ? copy_ : left; }

 private:
  const tuple_type& type_;
  void* copy_ = nullptr;  ///< in `here_` if it fits
  alignas(std::max_align_t) std::byte here_[128];
};

/// A node with an output.
class putting_node : public node {
 public:
  using node::node;
  void to(std::unique_ptr<output> o) { out_ = std::move(o); }

 protected:
  /// Hands on the results that were put out. Returns false if some of them have found no room.
  [[nodiscard]] bool publish(turn& t) {
    count_out(out_->publish(t));
    if (!out_->is_blocked()) return true;
    count_out(out_->publish(t));  // a consumer that ran in place may have made room
    return !out_->is_blocked();
  }
  /// At the beginning of a step, hands on the results that found no room before. Returns false if
  /// there is still no room. Otherwise the step goes on: it does not end when a node that has run
  /// in place for these results is done.
  [[nodiscard]] bool catches_up(turn& t) { return !out_->is_blocked() || finds_room(t); }
  /// Called before the node sleeps for lack of input. Hands on the results that are kept for the
  /// way back in a loop, since these do not block the node. Returns false if there is room now.
  [[nodiscard]] bool hands_on_kept(turn& t);
  [[nodiscard]] step_outcome blocked() noexcept;

  std::unique_ptr<output> out_;

 private:
  [[nodiscard]] bool finds_room(turn& t);
};

/// The common part of nodes with and without inputs: the stage, its start and its end.
class stage_node_base : public putting_node {
 protected:
  /// `prototype`: the stage, of which the node has a copy.
  stage_node_base(graph& of, const node_options& o, on_failure policy, const stage_type& type,
                  const void* prototype);
  ~stage_node_base() override;

  void start();
  /// Lets the stage put out its last results, after the last input. They are in the node's loops
  /// from now on.
  void stop();
  /// Like `publish`, and returns false also if results are kept for the way back in a loop, which
  /// do not block the node. Called before the outputs are closed.
  [[nodiscard]] bool publish_all(turn& t);
  /// Returns how many results wait to be published, for the loops that the node is in; 0 outside of
  /// loops.
  [[nodiscard]] std::size_t put_so_far() const noexcept { return in_loops() ? out_->pending() : 0; }
  [[nodiscard]] step_outcome ended(turn& t) noexcept;
  void abandon(turn& t) noexcept override;
  /// Asks the stage for its counts, and adds the tuples that were lost or late to the figures of
  /// the node. Returns the counts; zeros for a stage that has none.
  stage_counts look_at_counts() noexcept;
  /// Takes `n` tuples out of the node's loops after their results were published, except tuples
  /// that the stage holds.
  void settle(std::size_t n) noexcept;
  /// Notes the time of this step. Returns true if the stage's time has come.
  [[nodiscard]] bool look_at_clock(turn& t);
  /// Ends a step of a node that has no work until an input wakes it, or until the stage's time
  /// comes.
  [[nodiscard]] step_outcome starved(turn& t);

  /// Returns true, once for each flush, if the stage must give up its tuples now.
  [[nodiscard]] bool is_flushed() noexcept {
    if (type().flush == nullptr || !in_loops()) return false;
    const std::uint64_t now = flushes();
    return std::exchange(flushes_, now) != now;
  }

  /// Counts a failure of `consume`, and drops the results of that call.
  void count_lost();
  /// Does the same, and lets the stage go on as its policy says. Rethrows an exception that ends
  /// the stream.
  void failed();
  /// Does the same for a stage that is called again at once even if it has thrown, as a source is.
  void failed_again();
  /// Called after a `consume` that has not thrown.
  void went_well() noexcept { in_a_row_ = 0; }
  [[nodiscard]] on_failure policy() const noexcept { return policy_; }
  /// Returns the stage. Requires that there is one.
  [[nodiscard]] void* stage() const noexcept { return stage_.get(); }
  [[nodiscard]] const stage_type& type() const noexcept { return stage_.type(); }

  bool stopped_ = false;
  instant now_{};  ///< the time of this step, if the stage depends on the clock

 private:
  stage_object stage_;
  std::unique_ptr<stage_object> first_;  ///< the state in which a stage restarts
  const on_failure policy_;
  bool started_ = false;
  std::uint32_t in_a_row_ = 0;  ///< failures of a stage that is called again at once
  std::size_t held_ = 0;        ///< tuples that the stage held when it was last looked at
  std::uint64_t flushes_ = 0;   ///< flushes of its loops that the node has seen
};

/// A node that reads one stream.
class reading_node : public stage_node_base {
 public:
  [[nodiscard]] inputs& in() noexcept { return in_; }
  std::size_t drop_inputs() noexcept override { return in_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override { return in_.waiting(); }

 protected:
  reading_node(graph& of, const node_options& o, on_failure policy, const stage_type& type,
               const void* prototype, const tuple_type& takes)
      : stage_node_base(of, o, policy, type, prototype), in_(takes) {}

  inputs in_;
};

/// A node that reads tuples and lets its stage consume them.
class stage_node final : public reading_node {
 public:
  stage_node(graph& of, const node_options& o, on_failure policy, const stage_type& type,
             const void* prototype, const tuple_type& takes)
      : reading_node(of, o, policy, type, prototype, takes) {}

 private:
  step_outcome step(turn& t) override;
  void consume_or_lose(stage_batch& b);
  void dealt_with(some_tuples batch, std::size_t n, std::size_t before, turn& t);
  std::optional<step_outcome> before_input(turn& t, std::size_t& most);
  template <class F>
  step_outcome more(turn& t, const F& put);
  void give_up() noexcept;
  step_outcome wind_down(turn& t);
  step_outcome nothing(turn& t);
};

/// A node that only puts results out.
class source_node final : public stage_node_base {
 public:
  source_node(graph& of, const node_options& o, on_failure policy, const stage_type& type,
              const void* prototype)
      : stage_node_base(of, o, policy, type, prototype) {}

 private:
  step_outcome step(turn& t) override;
  bool goes_on(std::size_t most);
};

/// The output to a stage that is fused with the stage before it, and consumes each result at once.
class fused_output final : public output {
 public:
  fused_output(graph& of, const stage_type& type, const void* prototype,
               std::unique_ptr<output> to);

  void take_back() noexcept override;
  void start() override;
  void stop() override;
  [[nodiscard]] std::size_t pending() const noexcept override { return to_->pending(); }
  std::size_t publish(turn& t) override;
  [[nodiscard]] bool sleep() noexcept override { return to_->sleep(); }
  std::size_t close(turn& t) noexcept override { return to_->close(t); }
  [[nodiscard]] std::size_t waiting() noexcept override { return to_->waiting(); }
  [[nodiscard]] bool is_unwanted() noexcept override { return to_->is_unwanted(); }

 private:
  void put_elsewhere(void* value) override;

  stage_object stage_;
  std::unique_ptr<output> to_;
};

}  // namespace garrick::patterns::detail
