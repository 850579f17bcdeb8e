// Replicas of a pattern side by side.
//
//   farm(resize)                               as many as there are workers, in turn
//   farm(count).replicas(4).by_key(&word::text)
//   farm(resize).ordered()                     results in the order of the tuples
//
// The policies have the names of a router's (guide 16): round_robin, random_member, least_loaded,
// by_key, broadcast. `by` takes one of your own. Tuples of one producer reach one replica in their
// order; so do those with one key, whatever their producer, as far as their producers are ordered.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/channel/routes.hpp>
#include <garrick/patterns/detail/ordered.hpp>
#include <garrick/patterns/pipeline.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

/// Replicas of the pattern P side by side.
template <class P, class Policy>
class farm_of {
 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own what they are made of
  static constexpr bool garrick_keeps_order = false;
  using input = typename P::input;    ///< what it takes; void: it is a source
  using output = typename P::output;  ///< what it puts out; void: it is a sink

  /// For the framework.
  farm_of(P pattern, Policy policy, std::size_t replicas, bool ordered = false)
      : pattern_(std::move(pattern)),
        policy_(std::move(policy)),
        replicas_(replicas),
        ordered_(ordered) {}

  /// The same with so many replicas. Throws std::invalid_argument for none, and for more than 4096.
  [[nodiscard]] farm_of replicas(std::size_t n) const {
    if (n == 0 || n > 4096)
      throw std::invalid_argument("garrick: a farm has 1 to 4096 replicas, not " +
                                  std::to_string(n));
    farm_of f = *this;
    f.replicas_ = n;
    return f;
  }

  /// One replica after the other. So it is if nothing else is said.
  [[nodiscard]] auto round_robin() const { return with(in_turn()); }
  /// Any replica; one seed gives one sequence of choices.
  [[nodiscard]] auto random_member(std::uint64_t seed = 1) const { return with(at_random{seed}); }
  /// The replica where fewest tuples wait.
  [[nodiscard]] auto least_loaded() const { return with(to_least_loaded()); }
  /// Each replica gets a copy. A `message<T>` (guide 4) is copied on write.
  [[nodiscard]] auto broadcast() const { return with(to_all()); }
  /// Equal keys to the same replica. `key` is a pointer to a member, or a function of the tuple
  /// without captures (else say lent(f)), whose result std::hash knows. If it throws, the stage
  /// that put the tuple out has failed.
  template <class Key>
  [[nodiscard]] auto by_key(Key key) const {
    static_assert(std::is_invocable_v<Key&, const input&>,
                  "garrick: by_key takes a pointer to a member of the tuple, or a function of it");
    return with(keyed<Key>(std::move(key)));
  }
  /// The replica whose number `f(tuple, n)` gives, of n.
  template <class F>
  [[nodiscard]] auto by(F f) const {
    return with(chosen<F>{std::move(f)});
  }
  /// Results in the order of the tuples that they came from. The tuples go round; a replica that is
  /// ahead waits for those behind as soon as its channel is full. For a stage or a pipeline of
  /// stages.
  [[nodiscard]] auto ordered() const {
    static_assert(
        detail::keeps_order<P>,
        "garrick: an ordered farm holds a sequential stage, or a pipeline of such stages");
    static_assert(std::is_same_v<Policy, in_turn>,
                  "garrick: an ordered farm gives its replicas one tuple after the other");
    return farm_of(pattern_, policy_, replicas_, true);
  }

  /// What it looks like.
  [[nodiscard]] plan describe() const {
    return {.what = "farm",
            .policy = Policy::name,
            .replicas = replicas_,
            .ordered = ordered_,
            .parts = {pattern_.describe()}};
  }

  /// For the framework.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    static_assert(!std::is_void_v<input>,
                  "garrick: a farm's pattern takes tuples; this is a source");
    const std::size_t n = replicas_ != 0            ? replicas_
                          : b.options.replicas != 0 ? b.options.replicas
                                                    : b.workers;
    if constexpr (detail::keeps_order<P>)
      if (ordered_) return detail::build_ordered(b, pattern_, n, next);
    std::vector<detail::inlet_ptr<input>> all;
    for (std::size_t i = 0; i < n; ++i)
      all.push_back(pattern_.build(b.inside(std::to_string(i + 1) + "."), next));
    auto in = std::make_shared<detail::routes_inlet<input, Policy>>(std::move(all), policy_);
    if (b.options.remove_emitters) return in;
    return detail::through_a_node<input>(b, "emitter", in);
  }

 private:
  template <class Other>
  [[nodiscard]] farm_of<P, Other> with(Other policy) const {
    static_assert(std::is_same_v<Policy, in_turn>, "garrick: a farm has one policy");
    return {pattern_, std::move(policy), replicas_, ordered_};
  }

  P pattern_;
  Policy policy_;
  std::size_t replicas_;  // 0: not said
  bool ordered_;
};

/// Replicas of a pattern side by side: any composition, also of farms. A function stands for
/// `seq(function)`.
template <class P>
[[nodiscard]] auto farm(P pattern) {
  auto s = detail::as_stage(std::move(pattern));
  static_assert(
      !requires { typename decltype(s)::value; },
      "garrick: each replica would yield a value of its own: put fold behind the farm");
  return farm_of<decltype(s), in_turn>(std::move(s), in_turn(), 0);
}

}  // namespace garrick::patterns
