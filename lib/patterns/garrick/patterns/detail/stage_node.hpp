// The nodes of the shipped stages: one that reads, one that only puts out.
//
// A step takes a batch from one input and runs it through the stage. Then it hands on the results,
// and last it gives the tuples' slots back: a tuple is accounted for until its results are (L1).
//
// Private: installed because templates need it.
//
// Thread safety: as node.hpp.
#pragma once

#include <garrick/base/types/copyable.hpp>
#include <garrick/patterns/channel/input.hpp>
#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/emit.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

struct no_output;
/// What a step of a stage without an output puts results into.
struct no_slots {
  explicit no_slots(no_output&) noexcept {}
  void begin_input() noexcept {}
  [[nodiscard]] bool is_blocked() const noexcept { return false; }
};
/// The output of a stage that has none.
struct no_output {
  using in_hand = no_slots;
  void begin_input() noexcept {}
  void take_back() noexcept {}
  void start() noexcept {}
  void stop() noexcept {}
  [[nodiscard]] std::size_t pending() const noexcept { return 0; }
  std::size_t publish(turn&) noexcept { return 0; }
  [[nodiscard]] bool is_blocked() const noexcept { return false; }
  [[nodiscard]] bool sleep() noexcept { return true; }
  std::size_t close(turn&) noexcept { return 0; }
  [[nodiscard]] std::size_t waiting() noexcept { return 0; }
  [[nodiscard]] bool is_unwanted() noexcept { return false; }
};
template <class Out>
struct output_of {
  using type = output<Out>;
};
template <>
struct output_of<void> {
  using type = no_output;
};
template <class Out>
using output_for = typename output_of<Out>::type;

/// Tells a stage whose running part wants to know in which graph it is.
template <class Stage>
void belong(Stage& s, graph& g) noexcept {
  if constexpr (requires { s.belongs_to(g); }) s.belongs_to(g);
}

/// The tuple in what a node takes; null: there is none.
template <class T>
[[nodiscard]] T* content_of(T& taken) noexcept {
  return &taken;
}

/// A copy of a tuple, for the dead letter if its `consume` throws after it has moved from it. None
/// if the tuple stays as it is, or cannot be copied.
template <class T>
class spare_tuple {
  static constexpr bool exists = base::copyable_message<T> && !std::is_trivially_copyable_v<T>;

 public:
  explicit spare_tuple(const T& of) {
    if constexpr (exists) copy_.emplace(of);
  }
  /// The copy, else what was left.
  [[nodiscard]] T& best(T& left) noexcept {
    if constexpr (exists) return *copy_;
    return left;
  }

 private:
  struct none {};
  [[no_unique_address]] std::conditional_t<exists, std::optional<T>, none> copy_;
};

/// A stage in the hands of a step: a copy of its own if the stage is small and does not mind, so
/// that its state can stay in registers while results are written to memory.
template <class Stage>
class stage_in_hand {
  static constexpr bool copied = requires { Stage::may_be_copied_for_a_step; } &&
                                 std::is_trivially_copyable_v<Stage> && sizeof(Stage) <= 64;

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

/// Is the stage in the middle of results that are put out piece by piece?
template <class Stage>
[[nodiscard]] bool is_under_way([[maybe_unused]] const Stage& s) noexcept {
  if constexpr (resumable<Stage>)
    return s.under_way();
  else
    return false;
}

/// What nodes with and without inputs share: the output, the start and the end.
template <class Stage, class Out>
class stage_node_base : public node {
 public:
  void to(std::unique_ptr<output_for<Out>> o) { out_ = std::move(o); }

 protected:
  using in_hand = typename output_for<Out>::in_hand;

  stage_node_base(graph& of, const node_options& o, on_failure policy, Stage s)
      : node(of, o), stage_(std::move(s)), policy_(policy) {
    belong(stage_, of);
    if constexpr (requires { stage_.goes_on_after_failures(); })
      if (policy_ == on_failure::skip) stage_.goes_on_after_failures();
    if (policy_ == on_failure::restart) first_.emplace(stage_);
  }
  ~stage_node_base() override {
    if (exists_) std::destroy_at(&stage_);
  }

  void start() {
    if (std::exchange(started_, true)) return;
    counted([this] {
      stage_.start();
      out_->start();
    });
  }
  /// After the last input. What the stage puts out is in the loops from now on.
  void stop() {
    if (std::exchange(stopped_, true)) return;
    out_->begin_input();
    const std::size_t before = out_->pending();
    counted([this] {
      {
        in_hand to(*out_);
        stage_.stop(to);
      }
      out_->stop();
    });
    into_loops(out_->pending() - before);
    settle(0);
  }
  /// Hands on what was put out. False: some of it has found no room.
  [[nodiscard]] bool publish(turn& t) {
    count_out(out_->publish(t));
    if (!out_->is_blocked()) return true;
    count_out(out_->publish(t));  // a consumer that ran in place may have made room
    return !out_->is_blocked();
  }
  /// Hands on what found no room before, at the beginning of a step. False: there is still none.
  /// True: what was run in place for it was not the last thing of this step.
  [[nodiscard]] bool catches_up(turn& t) {
    if (!out_->is_blocked()) return true;
    if (!publish(t)) return false;
    t.nested_until = instant::never();
    return true;
  }
  /// As `publish`, with what is kept for the way back in a loop, which blocks nobody. Before the
  /// outputs are closed.
  [[nodiscard]] bool publish_all(turn& t) {
    static_cast<void>(publish(t));
    return out_->pending() == 0;
  }
  /// Before the node sleeps for want of input: what is kept for the way back in a loop did not make
  /// it blocked, and has to find its room all the same. False: there is some now.
  [[nodiscard]] bool hands_on_kept(turn& t) {
    if (out_->pending() == 0) return true;
    static_cast<void>(publish(t));
    return out_->sleep();
  }
  [[nodiscard]] step_outcome blocked() noexcept {
    return out_->sleep() ? step_outcome::blocked : step_outcome::worked;
  }
  [[nodiscard]] step_outcome ended(turn& t) noexcept {
    drop(out_->close(t));
    return step_outcome::ended;
  }
  void abandon(turn& t) noexcept override {
    if constexpr (holding<Stage>)
      if (exists_) drop(stage_.held());
    if constexpr (keeping<Stage>)
      if (exists_) drop(stage_.kept());
    if constexpr (requires { stage_.take_lost(); })
      if (exists_) drop(stage_.take_lost());
    drop(out_->close(t));
  }
  /// So many tuples were taken and their results published, but for those of what the stage holds.
  void settle(std::size_t n) noexcept {
    if constexpr (holding<Stage>) {
      const std::size_t held_before = std::exchange(held_, stage_.held());
      n += held_before - held_;
    }
    if constexpr (requires { stage_.take_lost(); }) drop(stage_.take_lost());
    if constexpr (requires { stage_.take_late(); }) count_late(stage_.take_late());
    out_of_loops(n);
  }
  /// The time of this step. True: the stage's time has come.
  [[nodiscard]] bool look_at_clock(turn& t) {
    now_ = t.on.now();
    if constexpr (requires { stage_.time_is(now_); }) stage_.time_is(now_);
    return stage_.deadline() <= now_;
  }
  /// Nothing is to be done until an input wakes the node, or until the stage's time comes.
  [[nodiscard]] step_outcome starved([[maybe_unused]] turn& t) {
    if constexpr (timed<Stage>) wake_at(stage_.deadline(), t);
    return step_outcome::starved;
  }

  /// A `consume` has thrown: what it put out is dropped.
  void count_lost() {
    out_->take_back();
    count_failure();
  }
  /// The same, and the stage goes on as its policy says. Rethrows what ends the stream.
  void failed() {
    count_lost();
    if (policy_ == on_failure::fail) throw;
    if (policy_ == on_failure::skip) return;
    if constexpr (requires { stage_.restart(); }) {
      stage_.restart();
    } else {
      if constexpr (holding<Stage>) drop(stage_.held());
      exists_ = false;  // for good if making it anew throws: that ends the stream
      std::destroy_at(&stage_);
      std::construct_at(&stage_, *first_);
      exists_ = true;
      stage_.start();
    }
  }
  /// The same for what is called again at once, whether it has thrown or not, as a source is.
  void failed_again() {
    if (policy_ == on_failure::fail || ++in_a_row_ < most_failures_in_a_row) return failed();
    count_lost();
    try {
      throw;
    } catch (const std::exception& e) {
      throw std::runtime_error("it has thrown " + std::to_string(in_a_row_) +
                               " times in a row, the last time: " + e.what());
    }
  }
  /// It has not thrown this time.
  void went_well() noexcept { in_a_row_ = 0; }
  [[nodiscard]] on_failure policy() const noexcept { return policy_; }

  union {
    Stage stage_;  ///< while it `exists_`
  };
  std::unique_ptr<output_for<Out>> out_;
  bool stopped_ = false;
  instant now_{};  ///< of this step, if the stage has times

 private:
  /// Calls what belongs to no tuple. What it throws ends the stream.
  template <class F>
  void counted(const F& f) {
    try {
      f();
    } catch (...) {
      count_failure();
      throw;
    }
  }

  bool started_ = false;
  bool exists_ = true;
  const on_failure policy_;
  std::uint32_t in_a_row_ = 0;  ///< failures of what is called again at once
  std::size_t held_ = 0;        ///< by the stage, when it was last looked at
  std::optional<Stage> first_;
};

/// A node that reads.
template <class Stage, class In, class Out>
class stage_node final : public stage_node_base<Stage, Out> {
  using base = stage_node_base<Stage, Out>;
  using typename base::in_hand;

 public:
  stage_node(graph& of, const node_options& o, on_failure policy, Stage s)
      : base(of, o, policy, std::move(s)) {}

  inputs<In>& in() noexcept { return in_; }
  std::size_t drop_inputs() noexcept override { return in_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override { return in_.waiting(); }

 private:
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    [[maybe_unused]] const bool was_blocked = out.is_blocked();
    if (!this->catches_up(t)) return this->blocked();
    this->start();
    std::size_t most = this->batch();
    if constexpr (knows_inputs<Stage>) {
      if constexpr (timed<Stage>) {
        this->stage_.time_is(t.on.now());
        if (was_blocked) this->stage_.was_not_read();
      }
      this->stage_.inputs_are(in_);
    }
    if constexpr (needs_a_node<Stage>) {
      if (const auto done = before_input(t, most)) return *done;
    } else if (out.is_unwanted()) {
      in_.leave();
    }
    const std::span<In> batch = in_.next(most);
    if (batch.empty()) return nothing(t);
    if constexpr (knows_inputs<Stage>) this->stage_.reads_input(in_.number());
    const std::size_t before = out.pending();
    std::size_t n = 0;
    try {
      if (this->policy() != on_failure::fail)
        for (; n < batch.size() && !out.is_blocked() && !this->is_cancelled() &&
               !is_under_way(this->stage_);
             ++n)
          consume_or_lose(batch[n]);
      else
        consume(batch, n);
    } catch (...) {
      if (this->policy() == on_failure::fail) this->count_lost();
      dealt_with(batch.first(n + 1), before, t);
      throw;
    }
    dealt_with(batch.first(n), before, t);
    return out.is_blocked() ? this->blocked() : step_outcome::worked;
  }
  /// Consumes the batch from number `n` on, as far as there is room. `n` is how many are done, also
  /// when it throws.
  void consume(std::span<In> batch, std::size_t& n) {
    std::size_t done = n;
    try {
      in_hand to(*this->out_);
      stage_in_hand<Stage> stage(this->stage_);
      while (done < batch.size() && !to.is_blocked() && !this->is_cancelled() &&
             !is_under_way(*stage)) {
        const std::size_t until = std::min(batch.size(), done + node::between_looks);
        do {
          to.begin_input();
          (*stage).consume(std::move(batch[done]), to);
          ++done;
        } while (done < until && !to.is_blocked() && !is_under_way(*stage));
      }
    } catch (...) {
      n = done;
      throw;
    }
    n = done;
  }
  /// For a stage that goes on after a failure. Throws what ends the stream.
  void consume_or_lose(In& tuple) {
    auto& out = *this->out_;
    out.begin_input();
    spare_tuple<In> spare(tuple);
    try {
      in_hand to(out);
      this->stage_.consume(std::move(tuple), to);
    } catch (...) {
      if (auto* const content = content_of(spare.best(tuple)))
        this->dead_letter(std::move(*content), std::current_exception());
      this->failed();
    }
  }
  void dealt_with(std::span<In> some, std::size_t before, turn& t) {
    auto& out = *this->out_;
    this->count_in(tuples_among<In>(some), some.size());
    this->into_loops(out.pending() - before);
    static_cast<void>(this->publish(t));
    in_.done(some.size());
    this->settle(some.size());
  }
  /// What a stage with times, or with results that come piece by piece, does first in a step.
  /// Lowers `most` to what it takes. Nothing: it may take input now.
  std::optional<step_outcome> before_input(turn& t, std::size_t& most) {
    auto& out = *this->out_;
    if (out.is_unwanted()) {
      in_.leave();
      if constexpr (resumable<Stage>) give_up();
    }
    if constexpr (resumable<Stage>)
      if (this->stage_.under_way()) return more(t, [&](in_hand& to) { this->stage_.go_on(to); });
    if constexpr (timed<Stage>)
      if (this->look_at_clock(t))
        if constexpr (requires(in_hand& to) { this->stage_.on_time(this->now_, to); })
          return more(t, [&](in_hand& to) { this->stage_.on_time(this->now_, to); });
    if constexpr (ends_early<Stage>)
      if (this->stage_.has_enough()) return wind_down(t);
    if constexpr (paced<Stage>) {
      most = std::min(most, this->stage_.room());
      if (most == 0) return this->starved(t);
    }
    return std::nullopt;
  }
  /// Results that belong to no new tuple.
  template <class F>
  step_outcome more(turn& t, const F& put) {
    auto& out = *this->out_;
    const std::size_t before = out.pending();
    out.begin_input();
    try {
      in_hand to(out);
      put(to);
      this->went_well();
    } catch (...) {
      if constexpr (resumable<Stage>) {  // it goes on with the next tuple, or the next result
        if constexpr (!flushing<Stage>) this->count_partial();
        this->failed();
      } else {
        this->failed_again();
      }
    }
    this->into_loops(out.pending() - before);
    const bool all = this->publish(t);
    this->settle(0);
    return all ? step_outcome::worked : this->blocked();
  }
  void give_up() noexcept {
    if (!this->stage_.under_way()) return;
    if constexpr (holding<Stage> && !flushing<Stage>) this->drop(this->stage_.held());
    this->stage_.give_up();
    this->settle(0);
  }
  /// The stage has enough: ends its output, tells those before it, and drops what still comes. What
  /// it has put on the way back of a loop finds its room first: the loop counts it.
  step_outcome wind_down(turn& t) {
    this->stop();
    if (!this->publish(t)) return this->blocked();
    if (this->out_->pending() == 0) this->drop(this->out_->close(t));
    in_.leave();
    const std::size_t n = in_.next(this->batch()).size();
    if (n == 0) {
      if (in_.ended()) return step_outcome::ended;
      return this->hands_on_kept(t) && in_.sleep() ? step_outcome::starved : step_outcome::worked;
    }
    in_.done(n);
    this->count_in(n);
    this->drop(n);
    this->out_of_loops(n);
    return step_outcome::worked;
  }
  step_outcome nothing(turn& t) {
    if (!in_.ended()) {
      if (!this->hands_on_kept(t)) return step_outcome::worked;
      return in_.sleep() ? this->starved(t) : step_outcome::worked;
    }
    if constexpr (flushing<Stage>) {
      this->stage_.input_has_ended();
      if (this->stage_.under_way()) return step_outcome::worked;
    }
    this->stop();
    return this->publish_all(t) ? this->ended(t) : this->blocked();
  }

  inputs<In> in_;
};

/// A node that only puts out.
template <class Stage, class Out>
class source_node final : public stage_node_base<Stage, Out> {
  using base = stage_node_base<Stage, Out>;

 public:
  source_node(graph& of, const node_options& o, on_failure policy, Stage s)
      : base(of, o, policy, std::move(s)) {}

 private:
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    if (!this->catches_up(t)) return this->blocked();
    this->start();
    if (out.is_unwanted()) this->stop();
    std::size_t most = this->batch();
    if constexpr (timed<Stage>) {
      if (!this->stopped_ && !this->look_at_clock(t)) return this->starved(t);
      most = 1;
    }
    if (!this->stopped_ && !goes_on(most)) this->stop();
    if (!this->publish(t)) return this->blocked();
    return this->stopped_ ? this->ended(t) : step_outcome::worked;
  }
  /// Lets the stage put out something, at most `most` times and as long as there is room. False: it
  /// has nothing more.
  bool goes_on(std::size_t most) {
    bool more = true;
    std::size_t n = 0;
    try {
      more = produce(n, most);
      this->went_well();
    } catch (...) {
      if (n != 0) this->went_well();
      this->failed_again();
    }
    this->count_made(n);
    return more;
  }
  /// The same. `n` is how many times that was, also when it throws.
  bool produce(std::size_t& n, std::size_t most) {
    typename base::in_hand to(*this->out_);
    stage_in_hand<Stage> stage(this->stage_);
    while (n < most && !to.is_blocked() && !this->is_cancelled()) {
      const std::size_t until = std::min(most, n + node::between_looks);
      do {
        to.begin_input();
        if (!(*stage).produce(to)) return false;
        ++n;
      } while (n < until && !to.is_blocked());
    }
    return true;
  }
};

}  // namespace garrick::patterns::detail
