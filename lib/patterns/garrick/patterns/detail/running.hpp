// Optional functions of the running part of a stage, beside its work: its table (stage_type.hpp)
// asks for each at compile time, so a stage pays only for those that it has.
//
//   void start();  void stop(To& out);            if there: at the beginning; after the last tuple
//   void consume(In&& in, To& out);               of a stage that reads
//   bool produce(To& out);                        of a source; false: it has nothing more
//   void restart();                               after a failure, instead of being made anew
//   void belongs_to(graph& g);                    when its node is made
//
// and the functions of the concepts below. All are called by the holder of the node's run right.
//
// Private: installed because templates need it.
//
// Thread safety: compile time only.
#pragma once

#include <garrick/garrick.hpp>

#include <concepts>
#include <cstddef>

namespace garrick::patterns::detail {

/// A stage that acts when a time has come, even if no tuple comes. Its node never runs in place,
/// since the timer belongs to the carrier. It has
///
///   instant deadline() const           when; instant::never(): never, until a tuple comes
///   void on_time(instant now, To& out) that time has come. Not for a source, which produces then
///
/// and optionally `void time_is(instant now)`, called at the beginning of each step.
template <class Stage>
concept timed = requires(const Stage& s) {
  { s.deadline() } -> std::convertible_to<instant>;
};

/// Takes so many tuples now. At zero it takes none until its deadline.
template <class Stage>
concept paced = requires(const Stage& s) {
  { s.room() } -> std::convertible_to<std::size_t>;
};

/// So many tuples that it has taken are still to be dealt with: a loop waits for them, and they are
/// counted as dropped if the stream is cancelled. If it holds them until others come, it has
///
///   void flush(To& out)                gives up all of them, at once or piece by piece: no others
///                                      come. A loop calls it when all its tuples are held
template <class Stage>
concept holding = requires(const Stage& s) {
  { s.held() } -> std::convertible_to<std::size_t>;
};

/// A tuple's results may be put out piece by piece: `consume` comes back as soon as there is no
/// room, and then
///
///   bool under_way() const       true if there are more: then no further tuple is consumed
///   void go_on(To& out)          there is room again
///   void give_up()               the rest is unwanted
template <class Stage>
concept resumable = requires(const Stage& s) {
  { s.under_way() } -> std::convertible_to<bool>;
};

/// So many tuples that it has taken are in no result yet: they are counted as dropped if the stream
/// is cancelled. They become results at the end of the input, so a loop does not wait for them.
/// Optionally it has
///
///   std::size_t take_lost()             tuples that will be in no result, since the last call
///   std::size_t take_late()             tuples that came too late to be in one, since then
template <class Stage>
concept keeping = requires(const Stage& s) {
  { s.kept() } -> std::convertible_to<std::size_t>;
};

/// A stage with results after the end of its input, which are put out piece by piece: it is
/// resumable, and has
///
///   void input_has_ended()              is called before `stop`; it may be under way then
template <class Stage>
concept flushing = requires(Stage& s) { s.input_has_ended(); };

/// Goes by the inputs of its node. It has
///
///   void inputs_are(inputs& in)         at the beginning of each step, after `time_is`
///   void reads_input(std::size_t i)     the next tuples are of input number i
///   void was_not_read()                 if it is timed: before that, if the node had no room for
///                                       results, and so did not read
template <class Stage>
concept knows_inputs = requires(Stage& s) { s.reads_input(std::size_t{}); };

/// A stage that may have enough before its input ends: then the stages before it hear that their
/// results are unwanted.
template <class Stage>
concept ends_early = requires(const Stage& s) {
  { s.has_enough() } -> std::convertible_to<bool>;
};

/// True if the stage is always a node of its own, never part of a neighbour's.
template <class Stage>
inline constexpr bool needs_a_node =
    timed<Stage> || paced<Stage> || resumable<Stage> || ends_early<Stage> || knows_inputs<Stage>;

/// Counts the tuples that it has lost, or taken too late; the node reads the counts after a step.
template <class Stage>
concept loses_tuples = requires(Stage& s) { s.take_lost(); };
template <class Stage>
concept meets_late_tuples = requires(Stage& s) { s.take_late(); };

/// True if the node has counts to read after a step.
template <class Stage>
inline constexpr bool tells_after_a_step =
    holding<Stage> || loses_tuples<Stage> || meets_late_tuples<Stage>;

}  // namespace garrick::patterns::detail
