// A farm that keeps its tuples' order without numbering them.
//
// The emitter gives the replicas one tuple after the other, each with a mark behind it. A replica
// hands on the results of a tuple and then the mark. So the collector knows where the results of
// the next tuple are: it reads one replica's channel up to a mark, and then that of the next
// replica. A tuple without results leaves only its mark. Results that are ready too early wait in
// their replica's channel, so the channels bound the disorder.
//
// Private: installed because templates need it.
//
// Thread safety: as in node.hpp.
#pragma once

#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/running.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// A tuple, or the mark behind the last result of one.
template <class T>
struct framed {
  using garrick_perhaps_a_tuple = void;
  std::optional<T> tuple;
};

/// A pattern that has a form for framed tuples.
template <class P>
concept keeps_order = P::garrick_keeps_order;

/// Puts frames around a stage's results.
template <class T>
class framing_output final : public output {
 public:
  explicit framing_output(slots<framed<T>>& to) noexcept : to_(to) {}
  void take_back() noexcept override {}
  [[nodiscard]] std::size_t pending() const noexcept override { return 0; }
  std::size_t publish(turn& /*t*/) override { return 0; }
  [[nodiscard]] bool sleep() noexcept override { return true; }
  std::size_t close(turn& /*t*/) noexcept override { return 0; }
  [[nodiscard]] std::size_t waiting() noexcept override { return to_.waiting(); }
  [[nodiscard]] bool is_unwanted() noexcept override { return false; }

 private:
  void put_elsewhere(void* value) override {
    to_.put(framed<T>{std::move(*static_cast<T*>(value))});
    blocked_ = to_.is_blocked();
  }

  slots<framed<T>>& to_;
};

/// A stage that takes and puts out framed tuples. It differs from Stage only in the functions that
/// put results out.
template <class Stage, class In, class Out>
class framed_stage : public Stage {
 public:
  static constexpr bool may_be_copied_for_a_step = false;

  explicit framed_stage(Stage s) : Stage(std::move(s)) {}
  void go_on(slots<framed<Out>>& out) {
    framing_output<Out> frame(out);
    slots<Out> to(frame);
    Stage::go_on(to);
  }
  void stop(slots<framed<Out>>& out) {
    framing_output<Out> frame(out);
    slots<Out> to(frame);
    Stage::stop(to);
  }
  void consume(framed<In>&& in, slots<framed<Out>>& out) {
    if (!in.tuple) return out.put(framed<Out>{});
    framing_output<Out> frame(out);
    slots<Out> to(frame);
    Stage::consume(*std::move(in.tuple), to);
  }
};

/// Puts a mark behind each tuple.
template <class T>
struct frames : stage_defaults {
  void consume(T&& in, slots<framed<T>>& out) {
    out.put(framed<T>{std::move(in)});
    out.put(framed<T>{});
  }
};

/// The policy that chooses each replica in turn, for a tuple and its mark.
struct in_turn_with_marks {
  std::size_t next = 0;
  template <class T, class Choices>
  std::size_t choose(const framed<T>& item, const Choices& among) noexcept {
    const std::size_t chosen = next;
    if (!item.tuple) next = next + 1 < among.size() ? next + 1 : 0;
    return chosen;
  }
};

/// Reads the replicas' channels in turn.
class collector_base : public reading_node {
 public:
  using reading_node::reading_node;

 protected:
  struct group {
    std::size_t n = 0;  ///< items
    bool mark = false;  ///< the last one is a mark
  };
  /// Hands on as many tuples as there is room for, up to a mark. Throws a policy's exception; then
  /// `g` counts the items before the tuple that could not be handed on.
  virtual void hand_on(some_tuples batch, group& g) = 0;

 private:
  step_outcome step(turn& t) override;
  std::size_t read_group(std::size_t most);
  void take(some_tuples batch, std::size_t n) noexcept;
  step_outcome nothing(turn& t);

  std::size_t at_ = 0;  ///< the number of the replica to read
};
template <class T>
class collector_node final : public collector_base {
 public:
  collector_node(graph& of, const node_options& o)
      : collector_base(of, o, on_failure::fail, forwards_type<T>, &hands_on,
                       tuple_type_of<framed<T>>) {}

 private:
  void hand_on(some_tuples batch, group& g) override {
    framed<T>* const items = static_cast<framed<T>*>(batch.first);
    for (; g.n < batch.count && !g.mark && !out_->is_blocked(); ++g.n) {
      if (!items[g.n].tuple) {
        g.mark = true;
      } else {
        out_->begin_input();
        out_->put(*items[g.n].tuple);
      }
    }
  }

  static constexpr forwards<T> hands_on{};
};

/// Builds an ordered farm of `n` replicas.
template <class P>
any_inlet_ptr build_ordered(const builder& b, const P& pattern, std::size_t n,
                            const any_inlet_ptr& next) {
  using In = typename P::input;
  using Out = typename P::output;
  auto& collector = b.to.add_node<collector_node<Out>>(b.node("collector"));
  collector.to(next->connect(collector));
  const any_inlet_ptr out = inlet_of(collector, collector.in(), b.options.capacity);
  std::vector<any_inlet_ptr> all;
  for (std::size_t i = 0; i < n; ++i)
    all.push_back(pattern.build_framed(b.inside(std::to_string(i + 1) + "."), out));
  const frames<In> stage;
  stage_node& emitter =
      add_stage(b, b.node("emitter"), on_failure::fail, stage_type_of<frames<In>, In, framed<In>>,
                &stage, tuple_type_of<In>);
  emitter.to(
      routes_inlet<framed<In>, in_turn_with_marks>(std::move(all), {}).connect(emitter, nullptr));
  return inlet_of(emitter, emitter.in(), b.options.capacity);
}

}  // namespace garrick::patterns::detail
