// Replicas of a pattern side by side.
//
//   farm(resize)                               as many as there are workers, in turn
//   farm(count).replicas(4).by_key(&word::text)
//   farm(resize).ordered()                     results in the order of the tuples
//
// The policies are named as those of a router (guide 16): round_robin, random_member, least_loaded,
// by_key, broadcast. `by` takes a policy of your own. The tuples that one producer sends to one
// replica stay in order. With by_key, the tuples of one key stay in order, too, as far as their
// producers order them.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/patterns/channel/routes.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/ordered.hpp>
#include <garrick/patterns/detail/route_check.hpp>
#include <garrick/patterns/pipeline.hpp>
#include <garrick/patterns/stream_options.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns {

namespace detail {

/// The policy of an ordered farm.
struct in_order {
  static constexpr const char* name = in_turn::name;
};

template <class P, bool TakesTuples = false>
struct farm_of_a_source : failed_check {
  static_assert(TakesTuples,
                "garrick: a farm's replicas take tuples, and this pattern is a source: put the "
                "source before the farm");
};
template <class P, bool YieldsNothing = false>
struct farm_of_a_fold : failed_check {
  static_assert(YieldsNothing,
                "garrick: each replica would yield a value of its own: put fold behind the farm");
};
template <class P, bool KeepsOrder = false>
struct farm_cannot_be_ordered : failed_check {
  static_assert(KeepsOrder,
                "garrick: an ordered farm holds a stage that is a function or a class, a "
                "data-parallel pattern, or a pipeline of such stages. No farm, parallel, loop, "
                "other actor or stage that goes by the clock: their results may come behind those "
                "of later tuples");
};
template <class Policy, bool IsFirst = false>
struct farm_has_one_policy : failed_check {
  static_assert(IsFirst, "garrick: a farm has one policy, and an ordered one is round_robin");
};

template <class F>
consteval auto check_farm() {
  if constexpr (!passes<stage_check<F>>) {
    return verdict<stage_check<F>>;
  } else {
    using P = stage_of<F>;
    if constexpr (std::is_void_v<typename P::input>)
      return verdict<farm_of_a_source<P>>;
    else if constexpr (requires { typename P::value; })
      return verdict<farm_of_a_fold<P>>;
    else
      return verdict<run_check<P>>;
  }
}

}  // namespace detail

/// Replicas of the pattern P side by side.
template <class P, class Policy>
class farm_of {
 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own all their parts
  static constexpr bool garrick_keeps_order = false;
  using input = typename P::input;    ///< the type of its tuples
  using output = typename P::output;  ///< the type of its results; void: it is a sink

  /// For the framework: makes a farm of its parts. If `replicas` is 0, stream_options decides.
  farm_of(P pattern, Policy policy, std::size_t replicas)
      : pattern_(std::move(pattern)), policy_(std::move(policy)), replicas_(replicas) {}

  /// Returns a copy with `n` replicas; by default stream_options::replicas. Throws
  /// std::invalid_argument for none, and for more than `most_replicas`.
  [[nodiscard]] farm_of replicas(std::size_t n) const {
    if (n == 0 || n > most_replicas)
      throw std::invalid_argument("garrick: a farm has 1 to " + std::to_string(most_replicas) +
                                  " replicas, not " + std::to_string(n));
    farm_of f = *this;
    f.replicas_ = n;
    return f;
  }

  /// Returns a farm that gives tuples to each replica in turn. This is the default.
  [[nodiscard]] auto round_robin() const { return with(detail::in_turn()); }
  /// Returns a farm that gives each tuple to a random replica; the same seed gives the same
  /// sequence of choices.
  [[nodiscard]] auto random_member(std::uint64_t seed = 1) const {
    return with(detail::at_random{seed});
  }
  /// Returns a farm that gives each tuple to the replica where fewest tuples wait.
  [[nodiscard]] auto least_loaded() const { return with(detail::to_least_loaded()); }
  /// Returns a farm that gives each replica a copy of each tuple. A `message` (guide 4) is copied
  /// on write.
  [[nodiscard]] auto broadcast() const {
    using check = detail::broadcast_check<input>;
    static_assert(check::reported);
    if constexpr (detail::passes<check>)
      return with(detail::to_all());
    else
      return *this;
  }
  /// Returns a farm that gives tuples of equal keys to the same replica. `key` is a pointer to a
  /// member, or a function of the tuple without captures (otherwise pass lent(f)), and std::hash
  /// knows its result. If `key` throws, the stage that put the tuple out has failed, and its policy
  /// decides.
  template <class Key>
  [[nodiscard]] auto by_key(Key key) const {
    using check = detail::key_check<Key, input>;
    static_assert(check::reported);
    if constexpr (detail::passes<check>)
      return with(detail::keyed<Key>(std::move(key)));
    else
      return *this;
  }
  /// Returns a farm that gives each tuple to replica number `f(tuple, n)`, of n. `f` has no
  /// captures (otherwise pass lent(f)).
  template <class F>
  [[nodiscard]] auto by(F f) const {
    using check = detail::choice_check<F, input>;
    static_assert(check::reported);
    if constexpr (detail::passes<check>)
      return with(detail::chosen<F>{std::move(f)});
    else
      return *this;
  }
  /// Returns a farm that puts out results in the order of their tuples. The replicas get the tuples
  /// in turn. A replica that is ahead waits for the others as soon as its channel is full. The
  /// pattern must be a stage, a data-parallel pattern, or a pipeline of these.
  [[nodiscard]] auto ordered() const {
    constexpr bool fits = detail::keeps_order<P>;
    static_assert(detail::unless<fits, detail::farm_cannot_be_ordered<P>>::reported);
    if constexpr (fits)
      return with(detail::in_order());
    else
      return *this;
  }

  /// Returns the pattern's structure.
  [[nodiscard]] plan describe() const {
    return {.what = "farm",
            .policy = Policy::name,
            .replicas = replicas_,
            .ordered = is_ordered,
            .parts = {pattern_.describe()}};
  }

  /// For the framework: adds the nodes of the replicas.
  detail::inlet_ptr<input> build(const detail::builder& b,
                                 const detail::inlet_ptr<output>& next) const {
    const std::size_t n = replicas_ != 0            ? replicas_
                          : b.options.replicas != 0 ? b.options.replicas
                                                    : b.workers;
    if constexpr (is_ordered) {
      return detail::build_ordered(b, pattern_, n, next);
    } else {
      std::vector<detail::any_inlet_ptr> all;
      for (std::size_t i = 0; i < n; ++i)
        all.push_back(pattern_.build(b.inside(std::to_string(i + 1) + "."), next));
      auto in = base::shared_as<detail::inlet>(
          new detail::routes_inlet<input, Policy>(std::move(all), policy_));
      if (b.options.remove_emitters) return in;
      return detail::through_a_node<input>(b, "emitter", in);
    }
  }

 private:
  static constexpr bool is_ordered = std::is_same_v<Policy, detail::in_order>;

  template <class Other>
  [[nodiscard]] farm_of<P, Other> with(Other policy) const {
    static_assert(detail::unless<std::is_same_v<Policy, detail::in_turn>,
                                 detail::farm_has_one_policy<Policy>>::reported);
    return {pattern_, std::move(policy), replicas_};
  }

  P pattern_;
  Policy policy_;
  std::size_t replicas_;  // 0: not said
};

/// Returns a farm: replicas of a pattern, side by side. The pattern is any composition, also one
/// with farms. A function stands for `seq(function)`.
template <class P = detail::several_functions>
[[nodiscard]] auto farm(P pattern) {
  using check = detail::check_of<decltype(detail::check_farm<P>())>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return farm_of<detail::stage_of<P>, detail::in_turn>(seq(std::move(pattern)), detail::in_turn(),
                                                         0);
  else
    return detail::refused_pattern();
}

/// This overload refuses a second argument: a farm holds one pattern, and `replicas` says how many
/// of it.
template <class Call = void>
[[nodiscard]] detail::refused_pattern farm(detail::anything /*pattern*/, detail::anything /*n*/) {
  static_assert(detail::is_right_call<Call>,
                "garrick: farm(pattern) takes one pattern: farm(f).replicas(4) says how many of "
                "it, and several stages are a pipeline(...)");
  return {};
}

}  // namespace garrick::patterns
