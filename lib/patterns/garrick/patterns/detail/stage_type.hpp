// A node's knowledge of its stage: a table of the stage's functions, but not its class.
//
// Problem: the work of a node around its stage is the same for all stages. Compiled for each stage,
// it would take most of a stream's time to compile. So it is compiled once, and a stage is a few
// functions behind this table; a null pointer there says that the stage is not of the kind that has
// this function (running.hpp). One call takes a whole batch: the loop over the batch's tuples is
// compiled for each stage, so that the user's function is inlined there.
//
// Private: installed because templates need it.
//
// Thread safety: a constant.
#pragma once

#include <garrick/patterns/channel/input.hpp>
#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/node/ending.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// The work of a stage in one call: to consume `size` tuples, or to produce `size` times. The stage
/// does one of them at least, and then goes on as long as there is room.
struct stage_batch {
  /// The tuples, of which `done` have been dealt with; null for a source.
  void* first;
  std::size_t size;
  const ending& stream;  ///< its stream may be told to end meanwhile
  std::size_t done = 0;  ///< right also if the stage throws
  bool more = true;      ///< false: a source has nothing more
};

/// After this many tuples a loop looks whether the stream was told to end, since the batch may be
/// long, and the stage may have become slow.
inline constexpr std::size_t between_looks = 128;

/// The functions of a stage: running.hpp says when each is called. Functions with an `output` put
/// results into it.
struct stage_type {
  std::size_t size = 0;
  std::size_t alignment = 1;
  void (*copy)(void* to, const void* from) = nullptr;
  void (*destroy)(void* s) noexcept = nullptr;

  void (*consume)(void* s, stage_batch& b, output& to) = nullptr;
  void (*consume_one)(void* s, void* tuple, output& to) = nullptr;  ///< in a neighbour's node
  void (*produce)(void* s, stage_batch& b, output& to) = nullptr;
  stage_counts (*counts)(void* s) = nullptr;  ///< has counts
  /// True if the stage is always a node of its own, never part of a neighbour's. A node asks this
  /// in each step, instead of several entries below.
  bool needs_a_node = false;

  // These are never null.
  void (*belongs_to)(void* s, graph& g) = nullptr;
  void (*goes_on_after_failures)(void* s) = nullptr;
  void (*start)(void* s) = nullptr;
  void (*stop)(void* s, output& to) = nullptr;

  void (*restart)(void* s) = nullptr;            ///< restartable
  void (*flush)(void* s, output& to) = nullptr;  ///< flushable
  instant (*deadline)(const void* s) = nullptr;  ///< timed
  void (*time_is)(void* s, instant now) = nullptr;
  void (*on_time)(void* s, instant now, output& to) = nullptr;
  std::size_t (*room)(const void* s) = nullptr;  ///< paced
  bool (*has_enough)(const void* s) = nullptr;   ///< ends early
  bool (*under_way)(const void* s) = nullptr;    ///< resumable
  void (*go_on)(void* s, output& to) = nullptr;
  void (*give_up)(void* s) = nullptr;
  void (*input_has_ended)(void* s) = nullptr;             ///< flushing
  void (*reads_input)(void* s, std::size_t i) = nullptr;  ///< knows inputs
  void (*inputs_are)(void* s, inputs& in) = nullptr;
  void (*was_not_read)(void* s) = nullptr;
};

/// The stage as a step works on it: a copy if the stage is small and allows it, so that its state
/// can stay in registers while results are written to memory; otherwise the stage itself.
template <class Stage>
class stage_in_hand {
  static constexpr bool copied =
      Stage::may_be_copied_for_a_step && std::is_trivially_copyable_v<Stage> && sizeof(Stage) <= 64;

 public:
  explicit stage_in_hand(Stage& of) noexcept : of_(of), here_(of) {}
  ~stage_in_hand() {
    if constexpr (copied) std::construct_at(&of_, here_);
  }
  stage_in_hand(const stage_in_hand&) = delete;
  stage_in_hand& operator=(const stage_in_hand&) = delete;
  [[nodiscard]] Stage& operator*() noexcept { return here_; }

 private:
  Stage& of_;
  std::conditional_t<copied, Stage, Stage&> here_;
};

/// Returns true if the stage is in the middle of results that are put out piece by piece.
template <class Stage>
[[nodiscard]] bool is_under_way([[maybe_unused]] const Stage& s) noexcept {
  if constexpr (resumable<Stage>)
    return s.under_way();
  else
    return false;
}

/// The functions in the table of a stage that puts out Out.
template <class Stage, class Out>
struct stage_functions {
  using to_out = slots<Out>;
  static Stage& of(void* s) noexcept { return *static_cast<Stage*>(s); }
  static const Stage& of(const void* s) noexcept { return *static_cast<const Stage*>(s); }

  static void copy(void* to, const void* from) {
    std::construct_at(static_cast<Stage*>(to), of(from));
  }
  static void destroy(void* s) noexcept { of(s).~Stage(); }
  static void start(void* s) { of(s).start(); }
  static void restart(void* s) { of(s).restart(); }
  static void belongs_to(void* s, graph& g) { of(s).belongs_to(g); }
  static void goes_on_after_failures(void* s) { of(s).goes_on_after_failures(); }
  static stage_counts counts(void* s) {
    Stage& stage = of(s);
    return {stage.held(), stage.kept(), stage.take_lost(), stage.take_late()};
  }
  static instant deadline(const void* s) { return of(s).deadline(); }
  static void time_is(void* s, instant now) { of(s).time_is(now); }
  static std::size_t room(const void* s) { return of(s).room(); }
  static bool has_enough(const void* s) { return of(s).has_enough(); }
  static bool under_way(const void* s) { return of(s).under_way(); }
  static void give_up(void* s) { of(s).give_up(); }
  static void input_has_ended(void* s) { of(s).input_has_ended(); }
  static void inputs_are(void* s, inputs& in) { of(s).inputs_are(in); }
  static void reads_input(void* s, std::size_t i) { of(s).reads_input(i); }
  static void was_not_read(void* s) { of(s).was_not_read(); }
  static void stop(void* s, output& out) {
    to_out to(out);
    of(s).stop(to);
  }
  static void on_time(void* s, instant now, output& out) {
    to_out to(out);
    of(s).on_time(now, to);
  }
  static void flush(void* s, output& out) {
    to_out to(out);
    of(s).flush(to);
  }
  static void go_on(void* s, output& out) {
    to_out to(out);
    of(s).go_on(to);
  }
  // Streams spend most of their time in these two loops. Both functions begin at a line of the
  // cache, so that their pace does not depend on the code that the linker has put before them.

  template <class In>
  [[gnu::aligned(64)]] static void consume(void* s, stage_batch& b, output& out) {
    In* const tuples = static_cast<In*>(b.first);
    const std::size_t size = b.size;
    std::size_t done = b.done;
    try {
      to_out to(out);
      stage_in_hand<Stage> stage(of(s));
      to.begin_input();
      do {
        to.let_go_on_below(std::min(size, done + between_looks));
        while (true) {
          (*stage).consume(std::move(tuples[done]), to);
          to.begin_input();
          ++done;
          if (!to.goes_on(done) || is_under_way(*stage)) [[unlikely]]
            break;
        }
      } while (done != size && !to.is_blocked() && !is_under_way(*stage) &&
               !b.stream.is_cancelled());
    } catch (...) {
      b.done = done;
      throw;
    }
    b.done = done;
  }
  template <class In>
  static void consume_one(void* s, void* tuple, output& out) {
    to_out to(out);
    of(s).consume(std::move(*static_cast<In*>(tuple)), to);
  }
  [[gnu::aligned(64)]] static void produce(void* s, stage_batch& b, output& out) {
    const std::size_t size = b.size;
    std::size_t done = b.done;
    try {
      to_out to(out);
      stage_in_hand<Stage> stage(of(s));
      to.begin_input();
      do {
        to.let_go_on_below(std::min(size, done + between_looks));
        while (true) {
          if (!(*stage).produce(to)) [[unlikely]] {
            b.more = false;
            break;
          }
          to.begin_input();
          ++done;
          if (!to.goes_on(done)) [[unlikely]]
            break;
        }
      } while (b.more && done != size && !to.is_blocked() && !b.stream.is_cancelled());
    } catch (...) {
      b.done = done;
      throw;
    }
    b.done = done;
  }

  /// Returns the table. `Works`: the stage has a `consume` or a `produce`. Otherwise its node calls
  /// it by functions that are not in the table, as a join does.
  template <class In, bool Works = true>
  static consteval stage_type table() {
    stage_type t{.size = sizeof(Stage),
                 .alignment = alignof(Stage),
                 .copy = &copy,
                 .needs_a_node = detail::needs_a_node<Stage>,
                 .belongs_to = &belongs_to,
                 .goes_on_after_failures = &goes_on_after_failures,
                 .start = &start,
                 .stop = &stop};
    constexpr bool reads = !std::is_void_v<In>;
    if constexpr (!std::is_trivially_destructible_v<Stage>) t.destroy = &destroy;
    if constexpr (Works && reads) t.consume = &consume<In>;
    if constexpr (Works && reads && !detail::needs_a_node<Stage>) t.consume_one = &consume_one<In>;
    if constexpr (Works && !reads) t.produce = &produce;
    if constexpr (restartable<Stage>) t.restart = &restart;
    if constexpr (Stage::has_counts) t.counts = &counts;
    if constexpr (flushable<Stage, to_out>) t.flush = &flush;
    if constexpr (timed<Stage>) {
      t.deadline = &deadline;
      t.time_is = &time_is;
      if constexpr (reads && acts_on_time<Stage, to_out>) t.on_time = &on_time;
    }
    if constexpr (paced<Stage>) t.room = &room;
    if constexpr (ends_early<Stage>) t.has_enough = &has_enough;
    if constexpr (resumable<Stage>) {
      t.under_way = &under_way;
      t.go_on = &go_on;
      t.give_up = &give_up;
    }
    if constexpr (flushing<Stage>) t.input_has_ended = &input_has_ended;
    if constexpr (knows_inputs<Stage>) {
      t.reads_input = &reads_input;
      t.inputs_are = &inputs_are;
      t.was_not_read = &was_not_read;
    }
    return t;
  }
};
/// The table of a stage from In to Out.
template <class Stage, class In, class Out>
inline constexpr stage_type stage_type_of = stage_functions<Stage, Out>::template table<In>();

}  // namespace garrick::patterns::detail
