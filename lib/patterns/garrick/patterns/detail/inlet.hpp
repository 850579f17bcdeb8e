// The building of a graph, from the sink to the source: each stage gives an inlet, to which each of
// its producers is connected, with a channel of its own.
//
// Private: installed because templates need it.
//
// Thread safety: the actor that spawns the stream.
#pragma once

#include <garrick/patterns/channel/output.hpp>
#include <garrick/patterns/channel/routes.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/detail/stage_node.hpp>
#include <garrick/patterns/plan.hpp>
#include <garrick/patterns/stream_options.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// A connection that can be made only when all nodes exist.
class loose_end {
 public:
  loose_end() = default;
  virtual ~loose_end() = default;
  loose_end(const loose_end&) = delete;
  loose_end& operator=(const loose_end&) = delete;
  virtual void connect() = 0;
};

/// A graph that is being built, and the present place in it.
struct builder {
  graph& to;
  const stream_options& options;
  std::size_t workers;
  std::string path{};          ///< the beginning of the names of nodes
  std::vector<loop*> loops{};  ///< around the present place
  std::vector<std::unique_ptr<loose_end>>* loose_ends = nullptr;  ///< the ways back of loops

  /// Returns the builder for a part with a name of its own.
  [[nodiscard]] builder inside(const std::string& part) const;
  [[nodiscard]] node_options node(const std::string& name, bool own_thread = false) const;
};

/// The entrance of a stage.
class inlet {
 public:
  inlet() = default;
  virtual ~inlet() = default;
  inlet(const inlet&) = delete;
  inlet& operator=(const inlet&) = delete;
  /// Connects a producer. Returns its output: a channel, or several, of the producer's own. With
  /// `back_edge` the channel leads back in that loop.
  [[nodiscard]] virtual std::unique_ptr<output> connect(node& producer,
                                                        const loop* back_edge = nullptr) = 0;
};
/// The entrance of a stage that takes T; null for a source. T only helps readers of the code: an
/// inlet knows its type at run time.
template <class T>
using inlet_ptr = std::shared_ptr<inlet>;
using any_inlet_ptr = std::shared_ptr<inlet>;

/// Returns the entrance of one node, by its inputs.
[[nodiscard]] any_inlet_ptr inlet_of(node& to, inputs& in, std::size_t capacity);

/// The entrance of several nodes. A derived class leads each result to one of them.
class several_inlets : public inlet {
 public:
  /// `may_refuse`: the policy is asked even if there is only one node.
  several_inlets(std::vector<any_inlet_ptr> to, bool may_refuse);
  std::unique_ptr<output> connect(node& producer, const loop* back_edge) override;

 protected:
  [[nodiscard]] virtual std::unique_ptr<output> route(
      std::vector<std::unique_ptr<output>> to) const = 0;

 private:
  std::vector<any_inlet_ptr> to_;
  bool may_refuse_;
};
/// The entrance of several nodes, among which a policy chooses.
template <class T, class Policy>
class routes_inlet final : public several_inlets {
 public:
  routes_inlet(std::vector<any_inlet_ptr> to, Policy policy)
      : several_inlets(
            std::move(to), requires { Policy::may_refuse; }),
        policy_(std::move(policy)) {}

 private:
  std::unique_ptr<output> route(std::vector<std::unique_ptr<output>> to) const override {
    return std::unique_ptr<output>(new routes<T, Policy>(std::move(to), policy_));
  }

  Policy policy_;
};

/// Returns a channel to a stage, or an output without a reader behind the last one.
[[nodiscard]] std::unique_ptr<output> connect(const any_inlet_ptr& next, node& producer);

/// A stage that hands its tuples on: the emitter of a farm, a loop's gate.
template <class T>
struct forwards : stage_defaults {
  template <class To>
  void consume(T&& in, To& out) {
    out.put(std::move(in));
  }
};
template <class T>
inline constexpr const stage_type& forwards_type = stage_type_of<forwards<T>, T, T>;

/// Returns the new node of a stage that takes `takes`. The caller must give it an output.
[[nodiscard]] stage_node& add_stage(const builder& b, const node_options& o, on_failure policy,
                                    const stage_type& type, const void* prototype,
                                    const tuple_type& takes);
/// The same, with a channel to `next`. Returns the entrance.
[[nodiscard]] any_inlet_ptr add_stage_before(const builder& b, const node_options& o,
                                             on_failure policy, const stage_type& type,
                                             const void* prototype, const tuple_type& takes,
                                             const any_inlet_ptr& next);

/// Returns the inlet of a node that hands on to `next`, so that several producers share its policy.
template <class T>
any_inlet_ptr through_a_node(const builder& b, const std::string& name, const any_inlet_ptr& next) {
  const forwards<T> stage;
  return add_stage_before(b, b.node(name), on_failure::fail, forwards_type<T>, &stage,
                          tuple_type_of<T>, next);
}

// ---- patterns in a row

/// A sequential stage: one class for all types of stages and tuples. Its copies share the
/// prototype, which is never changed.
class any_seq {
 public:
  /// Copies `of` as the prototype. `takes`: null for a source.
  any_seq(const stage_type& type, const void* of, const tuple_type* takes, std::string name);
  any_seq(const any_seq& o);
  any_seq(any_seq&& o) noexcept;
  any_seq& operator=(const any_seq& o);
  any_seq& operator=(any_seq&& o) noexcept;
  ~any_seq();

  [[nodiscard]] const stage_type& type() const noexcept { return shared_->type(); }
  [[nodiscard]] const void* prototype() const noexcept { return shared_->get(); }
  [[nodiscard]] const tuple_type* takes() const noexcept { return takes_; }
  /// Returns true if the stage may be one node with a neighbour.
  [[nodiscard]] bool may_be_fused() const noexcept;
  [[nodiscard]] plan describe() const;
  /// Returns the inlet of a node for the stage alone.
  [[nodiscard]] any_inlet_ptr build(const builder& b, const any_inlet_ptr& next) const;

  std::string name;
  on_failure policy = on_failure::fail;
  bool own_thread = false;
  bool cheap = false;

 private:
  std::shared_ptr<const stage_object> shared_;
  const tuple_type* takes_;
};

/// A pattern in a row: a sequential stage, or another pattern, which builds itself.
struct part_of_row {
  const any_seq* seq = nullptr;
  const void* pattern = nullptr;
  any_inlet_ptr (*build)(const void* pattern, const builder& b,
                         const any_inlet_ptr& next) = nullptr;
  plan (*describe)(const void* pattern) = nullptr;
};
template <class P>
[[nodiscard]] any_inlet_ptr build_itself(const void* pattern, const builder& b,
                                         const any_inlet_ptr& next) {
  return static_cast<const P*>(pattern)->build(b, next);
}
/// Returns a pattern as a part of a row. `p` must live as long as the part.
template <class P>
[[nodiscard]] part_of_row part_of_row_of(const P& p) {
  if constexpr (requires { p.as_any_seq(); })
    return {.seq = &p.as_any_seq()};
  else
    return {.pattern = &p, .build = &build_itself<P>, .describe = &describe_itself<P>};
}
/// Builds patterns in a row, and returns the inlet of the first. Neighbours of which all but one
/// are cheap become one node.
[[nodiscard]] any_inlet_ptr build_row(const builder& b, std::span<const part_of_row> parts,
                                      const any_inlet_ptr& next);
/// Returns the plan of a pattern `what` with these parts.
[[nodiscard]] plan describe_row(const char* what, std::span<const part_of_row> parts);

}  // namespace garrick::patterns::detail
