// The running part of a stage: its work, and the functions beside it.
//
//   void consume(In&& in, To& out);               of a stage that reads
//   bool produce(To& out);                        of a source; false: it has nothing more
//
// A running part derives from `stage_defaults`, which has the functions that any stage may leave
// out. A stage that has the functions of a concept below, too, is of a special kind, which its node
// treats differently; these functions have no default. The holder of the node's run right calls all
// functions.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/garrick.hpp>

#include <concepts>
#include <cstddef>

namespace garrick::patterns::detail {

class graph;
class inputs;

/// The tuples that a stage has taken and that are in no result yet, and the fate of others.
struct stage_counts {
  std::size_t held;  ///< tuples that are still to be dealt with
  std::size_t kept;  ///< tuples that become results at the end of the input at the latest
  std::size_t lost;  ///< tuples that will be in no result; since the last call
  std::size_t late;  ///< tuples that came too late to be in a result; since the last call
};

/// The base of each running part: a stage inherits the functions that it does not need.
struct stage_defaults {
  /// True if a step may work on a copy of the stage (stage_in_hand).
  static constexpr bool may_be_copied_for_a_step = false;
  /// True if the stage has any of the counts below: its node asks for them after each step.
  static constexpr bool has_counts = false;

  /// Called when the stage's node is made.
  void belongs_to(graph& /*g*/) noexcept {}
  /// Called at the same time if the stage's policy is to skip tuples that throw.
  void goes_on_after_failures() noexcept {}
  /// Called at the beginning, before the first tuple.
  void start() noexcept {}
  /// Puts out the last results, after the last tuple.
  template <class To>
  void stop(To& /*out*/) noexcept {}

  /// Returns how many of the tuples that the stage has taken are still to be dealt with: a loop
  /// waits for them, and they are counted as dropped if the stream is cancelled.
  [[nodiscard]] std::size_t held() const noexcept { return 0; }
  /// Returns how many of the tuples that the stage has taken are in no result yet: they are counted
  /// as dropped if the stream is cancelled. They become results at the end of the input, so a loop
  /// does not wait for them.
  [[nodiscard]] std::size_t kept() const noexcept { return 0; }
  /// Returns how many tuples will be in no result, since the last call.
  [[nodiscard]] std::size_t take_lost() noexcept { return 0; }
  /// Returns how many tuples came too late to be in a result, since the last call.
  [[nodiscard]] std::size_t take_late() noexcept { return 0; }

  /// Called at the beginning of each step of a timed stage.
  void time_is(instant /*now*/) noexcept {}
  /// Called at the beginning of each step of a stage that knows inputs, after `time_is`.
  void inputs_are(inputs& /*in*/) noexcept {}
  /// Called before `inputs_are`, for a timed stage that knows inputs, if the node had no room for
  /// results and so did not read.
  void was_not_read() noexcept {}
};

/// A stage with its own way to go on after a failure, instead of being rebuilt: `void restart()`.
template <class Stage>
concept restartable = requires(Stage& s) { s.restart(); };

/// A stage that acts when a time has come, even if no tuple comes. Its node never runs in place,
/// since the timer belongs to the carrier. It has
///
///   instant deadline() const             that time; instant::never(): none until a tuple comes
///   void on_time(instant now, To& out)   called at that time. Not needed by a source, which
///                                        produces then, nor by a stage that only reads on then
template <class Stage>
concept timed = requires(const Stage& s) {
  { s.deadline() } -> std::convertible_to<instant>;
};
template <class Stage, class To>
concept acts_on_time = requires(Stage& s, instant now, To& to) { s.on_time(now, to); };

/// A stage that takes `room()` tuples now. At zero it takes none until its deadline.
template <class Stage>
concept paced = requires(const Stage& s) {
  { s.room() } -> std::convertible_to<std::size_t>;
};

/// A stage that holds tuples until others come. `flush(out)` gives up all of them, at once or piece
/// by piece, since no others come: a loop calls it when all its tuples are held.
template <class Stage, class To>
concept flushable = requires(Stage& s, To& to) { s.flush(to); };

/// A stage that may put out the results of a tuple piece by piece: `consume` returns as soon as
/// there is no room, and then
///
///   bool under_way() const       true if there are more: then no further tuple is consumed
///   void go_on(To& out)          there is room again
///   void give_up()               the rest is unwanted
template <class Stage>
concept resumable = requires(const Stage& s) {
  { s.under_way() } -> std::convertible_to<bool>;
};

/// A stage with results after the end of its input, which are put out piece by piece: it is
/// resumable, and has
///
///   void input_has_ended()              called before `stop`; then the stage may be under way
template <class Stage>
concept flushing = requires(Stage& s) { s.input_has_ended(); };

/// A stage that depends on the inputs of its node. `reads_input(i)` says that the next tuples are
/// of input number i.
template <class Stage>
concept knows_inputs = requires(Stage& s) { s.reads_input(std::size_t{}); };

/// A stage that may have enough before its input ends: then the stages before it are told that
/// their results are unwanted.
template <class Stage>
concept ends_early = requires(const Stage& s) {
  { s.has_enough() } -> std::convertible_to<bool>;
};

/// True if the stage is always a node of its own, never part of a neighbour's.
template <class Stage>
inline constexpr bool needs_a_node =
    timed<Stage> || paced<Stage> || resumable<Stage> || ends_early<Stage> || knows_inputs<Stage>;

}  // namespace garrick::patterns::detail
