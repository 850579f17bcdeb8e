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

#include <garrick/base/memory/shared_as.hpp>
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
      const check first(key_);
      return add_stage_before(b, b.node(name_ + " keys"), policy_, stage_type_of<check, T, T>,
                              &first, tuple_type_of<T>, in);
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

  spread_windows(const Stamps& stamps, KeyOf key, const Worker& worker, const std::string& name,
                 on_failure policy, std::size_t replicas)
      : stamps_(stage_type_of<Stamps, T, stamped<T>>, &stamps, &tuple_type_of<T>, name + " times"),
        worker_(stage_type_of<Worker, stamped<T>, Out>, &worker, &tuple_type_of<stamped<T>>, name),
        key_(std::move(key)),
        replicas_(replicas) {
    stamps_.policy = worker_.policy = policy;
  }

  [[nodiscard]] plan describe() const {
    return {.what = "farm",
            .policy = by_key_with_watermarks<KeyOf>::name,
            .replicas = replicas_,
            .parts = {{.what = "stage", .name = worker_.name, .emitter = false}}};
  }
  inlet_ptr<T> build(const builder& b, const inlet_ptr<Out>& next) const {
    const std::size_t n = replicas_ != 0            ? replicas_
                          : b.options.replicas != 0 ? b.options.replicas
                                                    : b.workers;
    std::vector<any_inlet_ptr> all;
    for (std::size_t i = 0; i < n; ++i)
      all.push_back(worker_.build(b.inside(std::to_string(i + 1) + "."), next));
    using policy = by_key_with_watermarks<KeyOf>;
    return stamps_.build(b, base::shared_as<inlet>(new routes_inlet<stamped<T>, policy>(
                                std::move(all), policy(key_))));
  }

 private:
  any_seq stamps_;
  any_seq worker_;
  KeyOf key_;
  std::size_t replicas_;
};

}  // namespace garrick::patterns::detail
