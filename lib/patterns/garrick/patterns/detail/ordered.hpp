// How a farm keeps its tuples' order without numbering them.
//
// The emitter gives the replicas one tuple after the other, each with a mark behind it. A replica
// hands on the results of a tuple and then the mark. So the collector knows where the results of
// the next tuple are: it reads one replica's channel up to a mark, and then the next one's. A tuple
// without results leaves only its mark. What a replica has ready too early waits in its channel, so
// the channels are the bound of what is out of order.
//
// Private: installed because templates need it.
//
// Thread safety: as node.hpp.
#pragma once

#include <garrick/patterns/detail/inlet.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// A tuple, or the mark behind the last result of one.
template <class T>
struct framed {
  std::optional<T> tuple;
};

/// Marks are not counted.
template <class T>
inline constexpr bool always_tuples<framed<T>> = false;
template <class T>
[[nodiscard]] bool is_tuple(const framed<T>& item) noexcept {
  return item.tuple.has_value();
}
template <class T>
[[nodiscard]] T* content_of(framed<T>& taken) noexcept {
  return taken.tuple ? &*taken.tuple : nullptr;
}

/// A pattern that has a form for framed tuples.
template <class P>
concept keeps_order = P::garrick_keeps_order;

/// Puts frames around what a stage puts out.
template <class T>
class framing_output final : public output<T> {
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
  void put_elsewhere(T&& value) override {
    to_.put(framed<T>{std::move(value)});
    this->blocked_ = to_.is_blocked();
  }

  slots<framed<T>>& to_;
};

/// A stage between framed tuples.
template <class Stage, class In, class Out>
class framed_stage {
 public:
  explicit framed_stage(Stage s) : stage_(std::move(s)) {}
  void start() { stage_.start(); }
  void goes_on_after_failures()
    requires requires(Stage& s) { s.goes_on_after_failures(); }
  {
    stage_.goes_on_after_failures();
  }
  void restart()
    requires requires(Stage& s) { s.restart(); }
  {
    stage_.restart();
  }
  [[nodiscard]] bool under_way() const
    requires resumable<Stage>
  {
    return stage_.under_way();
  }
  void go_on(slots<framed<Out>>& out) {
    framing_output<Out> frame(out);
    slots<Out> to(frame);
    stage_.go_on(to);
  }
  void give_up() noexcept { stage_.give_up(); }
  [[nodiscard]] std::size_t held() const
    requires holding<Stage>
  {
    return stage_.held();
  }
  void stop(slots<framed<Out>>& out) {
    framing_output<Out> frame(out);
    slots<Out> to(frame);
    stage_.stop(to);
  }
  void consume(framed<In>&& in, slots<framed<Out>>& out) {
    if (!in.tuple) return out.put(framed<Out>{});
    framing_output<Out> frame(out);
    slots<Out> to(frame);
    stage_.consume(*std::move(in.tuple), to);
  }

 private:
  Stage stage_;
};

/// Puts a mark behind each tuple.
template <class T>
struct frames {
  void start() noexcept {}
  void stop(slots<framed<T>>& /*out*/) noexcept {}
  void consume(T&& in, slots<framed<T>>& out) {
    out.put(framed<T>{std::move(in)});
    out.put(framed<T>{});
  }
};

/// One after the other, each with its mark.
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
template <class T>
class collector_node final : public stage_node_base<forwards<T>, T> {
  using base = stage_node_base<forwards<T>, T>;

 public:
  collector_node(graph& of, const node_options& o) : base(of, o, on_failure::fail, forwards<T>()) {}

  inputs<framed<T>>& in() noexcept { return in_; }
  std::size_t drop_inputs() noexcept override { return in_.drop(); }
  [[nodiscard]] std::size_t waiting() const noexcept override { return in_.waiting(); }

 private:
  step_outcome step(turn& t) override {
    auto& out = *this->out_;
    if (!this->catches_up(t)) return this->blocked();
    this->start();
    if (out.is_unwanted()) in_.leave();
    const std::size_t before = out.pending();
    std::size_t taken = 0;
    while (taken < this->batch() && !out.is_blocked()) {
      const std::size_t n = read_group(this->batch() - taken);
      if (n == 0) break;
      taken += n;
    }
    if (taken == 0) return nothing(t);
    this->into_loops(out.pending() - before);
    const bool all = this->publish(t);
    this->out_of_loops(taken);
    return all ? step_outcome::worked : this->blocked();
  }
  /// Hands on what the present replica has ready, up to a mark. Returns how many items that were.
  std::size_t read_group(std::size_t most) {
    auto& out = *this->out_;
    const std::span<framed<T>> batch = in_.next_of(at_, most);
    std::size_t n = 0;
    for (bool mark = false; n < batch.size() && !mark && !out.is_blocked(); ++n) {
      mark = !batch[n].tuple;
      if (mark)
        at_ = at_ + 1 < in_.size() ? at_ + 1 : 0;
      else
        hand_on(batch, n);
    }
    take(batch.first(n));
    return n;
  }
  /// These are dealt with.
  void take(std::span<framed<T>> items) noexcept {
    this->count_in(tuples_among<framed<T>>(items), items.size());
    in_.done(items.size());
  }
  /// Tuple number `n` of the batch. Throws what the choice of its way throws.
  void hand_on(std::span<framed<T>> batch, std::size_t n) {
    auto& out = *this->out_;
    out.begin_input();
    try {
      out.put(*std::move(batch[n].tuple));
    } catch (...) {
      out.take_back();
      this->count_failure();
      take(batch.first(n + 1));
      throw;
    }
  }
  /// The present replica has nothing ready.
  step_outcome nothing(turn& t) {
    if (!in_.ended_at(at_)) {
      if (!this->hands_on_kept(t)) return step_outcome::worked;
      return in_.sleep_at(at_) ? step_outcome::starved : step_outcome::worked;
    }
    if (in_.ended()) {
      this->stop();
      return this->publish_all(t) ? this->ended(t) : this->blocked();
    }
    at_ = at_ + 1 < in_.size() ? at_ + 1 : 0;  // what the others put out at their end
    return step_outcome::worked;
  }

  inputs<framed<T>> in_;
  std::size_t at_ = 0;  ///< the replica whose turn it is
};

/// Builds an ordered farm of `n` replicas.
template <class P>
inlet_ptr<typename P::input> build_ordered(const builder& b, const P& pattern, std::size_t n,
                                           const inlet_ptr<typename P::output>& next) {
  using In = typename P::input;
  using Out = typename P::output;
  auto& collector = b.to.add_node<collector_node<Out>>(b.node("collector"));
  collector.to(next->connect(collector));
  const inlet_ptr<framed<Out>> out =
      inlet_of<framed<Out>>(collector, collector.in(), b.options.capacity);
  std::vector<inlet_ptr<framed<In>>> all;
  for (std::size_t i = 0; i < n; ++i)
    all.push_back(pattern.build_framed(b.inside(std::to_string(i + 1) + "."), out));
  auto& emitter = b.to.add_node<stage_node<frames<In>, In, framed<In>>>(
      b.node("emitter"), on_failure::fail, frames<In>());
  emitter.to(
      routes_inlet<framed<In>, in_turn_with_marks>(std::move(all), {}).connect(emitter, nullptr));
  return inlet_of<In>(emitter, emitter.in(), b.options.capacity);
}

}  // namespace garrick::patterns::detail
