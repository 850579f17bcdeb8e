// Replicas of windows: those that go by one watermark, and those that need none.
//
// Problem: each replica sees the tuples of its keys alone. If it went by their times, a tuple would
// be late or not depending on how many replicas there are, and a replica whose keys are quiet would
// keep its windows open. So one node before them finds the watermark and puts it among the tuples,
// for every replica, behind the tuple that has moved it on. It does so only when the watermark
// enters another pane, since nothing happens in between.
//
// Private: installed because templates need it.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/window_check.hpp>
#include <garrick/patterns/detail/window_stage.hpp>
#include <garrick/patterns/event_time.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/plan.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::patterns::detail {

/// Hands on tuples whose key can be told. It stands before replicas that share the keys: else a key
/// that throws would be a failure of the stage that put the tuple out.
template <class T, class KeyOf>
class key_check_stage {
 public:
  explicit key_check_stage(KeyOf key) : key_of_(std::move(key)) {}
  void start() noexcept {}
  template <class To>
  void stop(To& /*out*/) noexcept {}
  void restart() noexcept {}
  template <class To>
  void consume(T&& in, To& out) {
    static_cast<void>(hash_of<given<KeyOf, T>>(part_of(key_of_, std::as_const(in))));
    out.put(std::move(in));
  }

 private:
  [[no_unique_address]] KeyOf key_of_;
};

/// A farm by key, whose replicas need to know nothing of each other.
template <class T, class Out, class KeyOf, class Farm>
class farm_of_windows {
 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own what they are made of
  static constexpr bool garrick_keeps_order = false;
  using input = T;     ///< what it takes
  using output = Out;  ///< what it puts out

  farm_of_windows(KeyOf key, Farm farm, std::string name, on_failure policy)
      : key_(std::move(key)), farm_(std::move(farm)), name_(std::move(name)), policy_(policy) {}

  [[nodiscard]] plan describe() const { return farm_.describe(); }
  inlet_ptr<T> build(const builder& b, const inlet_ptr<Out>& next) const {
    const inlet_ptr<T> in = farm_.build(b, next);
    if constexpr (std::is_member_object_pointer_v<KeyOf>) {
      return in;  // to read a member does not throw
    } else {
      using check = key_check_stage<T, KeyOf>;
      auto& n = b.to.template add_node<stage_node<check, T, T>>(b.node(name_ + " keys"), policy_,
                                                                check(key_));
      n.to(in->connect(n));
      return inlet_of<T>(n, n.in(), b.options.capacity);
    }
  }

 private:
  KeyOf key_;
  Farm farm_;
  std::string name_;
  on_failure policy_;
};

/// Event-time windows of replicas that share the keys and go by one watermark.
template <class T, class Out, class Stamps, class KeyOf, class Worker>
class spread_windows {
  static_assert(all_of<tuple_check<T>, tuple_check<Out>>::reported);

 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own what they are made of
  static constexpr bool garrick_keeps_order = false;
  using input = T;     ///< what it takes
  using output = Out;  ///< what it puts out

  spread_windows(Stamps stamps, KeyOf key, Worker worker, std::string name, on_failure policy,
                 std::size_t replicas)
      : stamps_(std::move(stamps)),
        key_(std::move(key)),
        worker_(std::move(worker)),
        name_(std::move(name)),
        policy_(policy),
        replicas_(replicas) {}

  [[nodiscard]] plan describe() const {
    return {.what = "farm",
            .policy = by_key_with_watermarks<KeyOf>::name,
            .replicas = replicas_,
            .parts = {{.what = "stage", .name = name_, .emitter = false}}};
  }
  inlet_ptr<T> build(const builder& b, const inlet_ptr<Out>& next) const {
    const std::size_t n = replicas_ != 0            ? replicas_
                          : b.options.replicas != 0 ? b.options.replicas
                                                    : b.workers;
    std::vector<inlet_ptr<stamped<T>>> all;
    for (std::size_t i = 0; i < n; ++i) {
      const builder part = b.inside(std::to_string(i + 1) + ".");
      auto& w = part.to.template add_node<stage_node<Worker, stamped<T>, Out>>(part.node(name_),
                                                                               policy_, worker_);
      w.to(detail::connect<Out>(next, w));
      all.push_back(inlet_of<stamped<T>>(w, w.in(), b.options.capacity));
    }
    using policy = by_key_with_watermarks<KeyOf>;
    routes_inlet<stamped<T>, policy> in(std::move(all), policy(key_));
    node_options o = b.node(name_ + " times");
    o.in_place = o.in_place && !timed<Stamps>;
    auto& s = b.to.template add_node<stage_node<Stamps, T, stamped<T>>>(o, policy_, stamps_);
    s.to(in.connect(s, nullptr));
    return inlet_of<T>(s, s.in(), b.options.capacity);
  }

 private:
  Stamps stamps_;
  KeyOf key_;
  Worker worker_;
  std::string name_;
  on_failure policy_;
  std::size_t replicas_;
};

}  // namespace garrick::patterns::detail
