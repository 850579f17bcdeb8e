// The node that brings messages of actors into a stream. The actor behind the stream's handle puts
// the tuples out on its own turns, and the node's `go` is sent to that actor, too. Once the actor
// has ended, because no handle is left, the node's carrier hands on the rest and closes the
// channel.
//
// Private: installed because templates need it.
//
// Thread safety: as in node.hpp; `put`, `take_go` and `feeder_ended` belong to that actor's turns.
//
// While there is no room, `put` lets the stream's nodes run here, and then waits, at most
// `longest_wait` for a tuple. So the actor's mailbox fills up, and its senders are slowed as by any
// full mailbox. `put` does not wait longer, since a node may wait for an actor that has its turn on
// this thread. Tuples that still find no room are kept, up to `most_kept_`.
//
// Invariants
// I1 Until `feeder_ended`, only that actor touches the output: `put` needs no run right.
// I2 A `go` for the actor may be lost when the actor ends. The run right is not lost
//    (borrowed_turns.hpp).
#pragma once

#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/node/borrowed_turns.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace garrick::patterns::detail {

class feeder_node final : public node {
 public:
  feeder_node(graph& of, const node_options& o, const tuple_type& type, std::size_t most_kept,
              weak_ref<protocol<void(go)>> fed_by);

  void to(std::unique_ptr<output> o) { out_ = std::move(o); }

  /// Returns true if no further tuple may be kept.
  [[nodiscard]] bool is_full() const noexcept { return out_->pending() >= most_kept_; }
  /// Puts a tuple out by moving it. If there is no room, lets other nodes of the stream run here,
  /// and waits a while. An exception of a policy ends the stream.
  void put(void* tuple, actor_base& on);
  /// Takes a `go` that has come. Returns true if the run right comes with it.
  [[nodiscard]] bool take_go() noexcept { return actors_turns_.take(); }
  /// Ends the input: no further tuple will be fed.
  void finish() noexcept;
  /// Called when the actor touches the node no more.
  void feeder_ended() noexcept;

 private:
  static constexpr int most_tries = 64;
  static constexpr duration longest_wait = duration::milliseconds(1);

  void wait_for_room(turn& t);
  void schedule() noexcept override;
  step_outcome step(turn& t) override;
  void abandon(turn& t) noexcept override;

  graph& owner_;
  const tuple_type& type_;
  const std::size_t most_kept_;
  std::unique_ptr<output> out_;
  weak_ref<protocol<void(go)>> fed_by_;
  std::atomic<bool> finished_{false};
  borrowed_turns actors_turns_;
};

}  // namespace garrick::patterns::detail
