// How a graph is built, from the sink to the source: each stage gives an inlet, and each producer
// of it is connected there, with a channel of its own.
//
// Private: installed because templates need it.
//
// Thread safety: the actor that spawns the stream.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/channel/routes.hpp>
#include <garrick/patterns/detail/stage_node.hpp>
#include <garrick/patterns/stream_options.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// A connection that can be made only when all nodes are there.
class loose_end {
 public:
  loose_end() = default;
  virtual ~loose_end() = default;
  loose_end(const loose_end&) = delete;
  loose_end& operator=(const loose_end&) = delete;
  virtual void connect() = 0;
};

/// A graph that is being built, and where in it.
struct builder {
  graph& to;
  const stream_options& options;
  std::size_t workers;
  std::string path{};          ///< what the names of nodes begin with
  std::vector<loop*> loops{};  ///< around what is built
  std::vector<std::unique_ptr<loose_end>>* loose_ends = nullptr;  ///< of loops

  /// For a part with a name of its own.
  [[nodiscard]] builder inside(const std::string& part) const {
    builder b = *this;
    b.path += part;
    return b;
  }
  [[nodiscard]] node_options node(const std::string& name, bool own_thread = false) const {
    return {.name = path + name,
            .own_thread = own_thread,
            .in_place = options.in_place,
            .loops = loops};
  }
};

/// The way into a stage that takes T.
template <class T>
class inlet {
 public:
  inlet() = default;
  virtual ~inlet() = default;
  inlet(const inlet&) = delete;
  inlet& operator=(const inlet&) = delete;
  /// A channel, or several, of this producer's own. With `back_edge` it leads back in that loop.
  [[nodiscard]] virtual std::unique_ptr<output<T>> connect(node& producer,
                                                           const loop* back_edge = nullptr) = 0;
};
struct no_inlet {};
template <class T>
using inlet_ptr = std::conditional_t<std::is_void_v<T>, no_inlet, std::shared_ptr<inlet<T>>>;

/// Into one node.
template <class T>
class node_inlet final : public inlet<T> {
 public:
  node_inlet(node& to, inputs<T>& in, std::size_t capacity)
      : to_(to), in_(in), capacity_(capacity) {}
  std::unique_ptr<output<T>> connect(node& producer, const loop* back_edge) override {
    auto made = std::make_shared<channel<T>>(capacity_);
    in_.add(made, producer, back_edge);
    return std::unique_ptr<output<T>>(new channel_output<T>(std::move(made), to_));
  }

 private:
  node& to_;
  inputs<T>& in_;
  std::size_t capacity_;
};

template <class T>
[[nodiscard]] inlet_ptr<T> inlet_of(node& to, inputs<T>& in, std::size_t capacity) {
  return base::shared_as<inlet<T>>(new node_inlet<T>(to, in, capacity));
}

/// Into several, by a policy.
template <class T, class Policy>
class routes_inlet final : public inlet<T> {
 public:
  routes_inlet(std::vector<inlet_ptr<T>> to, Policy policy)
      : to_(std::move(to)), policy_(std::move(policy)) {}
  std::unique_ptr<output<T>> connect(node& producer, const loop* back_edge) override {
    std::vector<std::unique_ptr<output<T>>> all;
    for (const auto& i : to_) all.push_back(i->connect(producer, back_edge));
    if (all.size() == 1) return std::move(all.front());
    return std::unique_ptr<output<T>>(new routes<T, Policy>(std::move(all), policy_));
  }

 private:
  std::vector<inlet_ptr<T>> to_;
  Policy policy_;
};

template <class Out>
std::unique_ptr<output_for<Out>> connect(const inlet_ptr<Out>& next, node& producer) {
  if constexpr (std::is_void_v<Out>)
    return std::make_unique<no_output>();
  else
    return next->connect(producer);
}

/// Makes the output of a node.
template <class Out>
class output_maker {
 public:
  output_maker() = default;
  virtual ~output_maker() = default;
  output_maker(const output_maker&) = delete;
  output_maker& operator=(const output_maker&) = delete;
  [[nodiscard]] virtual std::unique_ptr<output_for<Out>> make(node& producer) const = 0;
};
template <class Out, class F>
class made_by final : public output_maker<Out> {
 public:
  explicit made_by(F f) : f_(std::move(f)) {}
  std::unique_ptr<output_for<Out>> make(node& producer) const override { return f_(producer); }

 private:
  F f_;
};
/// A channel to a stage, or none behind the last one.
template <class Out>
class connected final : public output_maker<Out> {
 public:
  explicit connected(inlet_ptr<Out> to) : to_(std::move(to)) {}
  std::unique_ptr<output_for<Out>> make(node& producer) const override {
    return connect<Out>(to_, producer);
  }

 private:
  inlet_ptr<Out> to_;
};
template <class Out>
using output_maker_ptr = std::unique_ptr<output_maker<Out>>;
template <class Out, class F>
[[nodiscard]] output_maker_ptr<Out> make_output_by(F f) {
  return output_maker_ptr<Out>(new made_by<Out, F>(std::move(f)));
}
template <class Out>
[[nodiscard]] output_maker_ptr<Out> make_output_to(inlet_ptr<Out> to) {
  return output_maker_ptr<Out>(new connected<Out>(std::move(to)));
}

/// Hands on what it gets: the emitter of a farm, a loop's end.
template <class T>
struct forwards {
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  template <class To>
  void consume(T&& in, To& out) {
    out.put(std::move(in));
  }
};

/// A node that hands on to `next`, so that several producers share its policy.
template <class T>
inlet_ptr<T> through_a_node(const builder& b, const std::string& name, const inlet_ptr<T>& next) {
  auto& n =
      b.to.add_node<stage_node<forwards<T>, T, T>>(b.node(name), on_failure::fail, forwards<T>());
  n.to(next->connect(n));
  return inlet_of<T>(n, n.in(), b.options.capacity);
}

}  // namespace garrick::patterns::detail
