// Replicas of windows: with a shared watermark, or without any.
//
// Problem: each replica sees the tuples of its keys alone. If it used the times of these tuples,
// the number of replicas would decide whether a tuple is late, and a replica whose keys are quiet
// would keep its windows open. So one node before them finds the watermark and puts it among the
// tuples, for every replica, behind the tuple that has moved the watermark on. It does so only when
// the watermark enters another pane, since nothing happens in between.
//
// A session may end at any time. A watermark for every replica behind every tuple would cost more
// than the tuples. So each tuple carries the watermark that it meets, by which the replica decides
// exactly. Sessions that end in a replica without tuples come out by watermarks alone, which are
// sent between two batches, and only to replicas that wait for one (E3 and E4 in watermark.hpp).
//
// Private: installed because templates need it.
//
// Thread safety: patterns are plain values.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/running.hpp>
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

/// A stage that hands on the tuples whose key can be computed. It comes before replicas that share
/// the keys: otherwise a key that throws would be a failure of the stage that put the tuple out.
template <class T, class KeyOf>
class key_check_stage : public stage_defaults {
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

/// A farm by key, whose replicas need no knowledge of each other.
template <class T, class Out, class KeyOf, class Farm>
class farm_of_windows {
 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own all their parts
  static constexpr bool garrick_keeps_order = false;
  using input = T;     ///< the type of its tuples
  using output = Out;  ///< the type of its results

  farm_of_windows(KeyOf key, Farm farm, std::string name, on_failure policy)
      : key_(std::move(key)), farm_(std::move(farm)), name_(std::move(name)), policy_(policy) {}

  [[nodiscard]] plan describe() const { return farm_.describe(); }
  inlet_ptr<T> build(const builder& b, const inlet_ptr<Out>& next) const {
    const inlet_ptr<T> in = farm_.build(b, next);
    if constexpr (std::is_member_object_pointer_v<KeyOf> &&
                  std::is_nothrow_invocable_v<std::hash<given<KeyOf, T>>, const given<KeyOf, T>&>) {
      return in;  // choosing a replica does not throw
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

/// Returns the number of replicas: the given one or, if that is 0, the stream's.
[[nodiscard]] inline std::size_t replicas_of(std::size_t said, const builder& b) noexcept {
  if (said != 0) return said;
  return b.options.replicas != 0 ? b.options.replicas : b.workers;
}
[[nodiscard]] inline plan plan_of_replicas(std::size_t said, const char* policy,
                                           const std::string& name) {
  return {.what = "farm",
          .policy = policy,
          .replicas = said,
          .parts = {{.what = "stage", .name = name, .emitter = false}}};
}

/// Event-time windows of replicas that share the keys and use one watermark.
template <class T, class Out, class Stamps, class KeyOf, class Worker>
class spread_windows {
  static_assert(first_failure<tuple_check<T>, tuple_check<Out>>::reported);

 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own all their parts
  static constexpr bool garrick_keeps_order = false;
  using input = T;     ///< the type of its tuples
  using output = Out;  ///< the type of its results

  spread_windows(const Stamps& stamps, KeyOf key, const Worker& worker, const std::string& name,
                 on_failure policy, std::size_t replicas)
      : stamps_(stage_type_of<Stamps, T, stamped<T>>, &stamps, &tuple_type_of<T>, name + " times"),
        worker_(stage_type_of<Worker, stamped<T>, Out>, &worker, &tuple_type_of<stamped<T>>, name),
        key_(std::move(key)),
        replicas_(replicas) {
    stamps_.policy = worker_.policy = policy;
  }

  [[nodiscard]] plan describe() const {
    return plan_of_replicas(replicas_, by_key_with_watermarks<KeyOf>::name, worker_.name);
  }
  inlet_ptr<T> build(const builder& b, const inlet_ptr<Out>& next) const {
    const std::size_t n = replicas_of(replicas_, b);
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

/// The same for windows that need every watermark: sessions.
template <class T, class Out, class Marks, class KeyOf, class Worker>
class spread_sessions {
  static_assert(first_failure<tuple_check<T>, tuple_check<Out>>::reported);

 public:
  using garrick_stage = void;
  using garrick_sendable = void;  ///< stages own all their parts
  static constexpr bool garrick_keeps_order = false;
  using input = T;     ///< the type of its tuples
  using output = Out;  ///< the type of its results

  spread_sessions(Marks marks, KeyOf key, Worker worker, std::string name, on_failure policy,
                  std::size_t replicas)
      : marks_(std::move(marks)),
        worker_(std::move(worker)),
        key_(std::move(key)),
        name_(std::move(name)),
        policy_(policy),
        replicas_(replicas) {}

  [[nodiscard]] plan describe() const {
    return plan_of_replicas(replicas_, by_key_with_awaited<KeyOf>::name, name_);
  }
  inlet_ptr<T> build(const builder& b, const inlet_ptr<Out>& next) const {
    const std::size_t n = replicas_of(replicas_, b);
    const awaited_ptr awaited(new awaited_watermarks(n, worker_.shortest()));
    std::vector<any_inlet_ptr> all;
    for (std::size_t i = 0; i < n; ++i) {
      Worker one(worker_);
      one.says_to(awaited, i);
      const builder inside = b.inside(std::to_string(i + 1) + ".");
      all.push_back(add_stage_before(inside, inside.node(name_), policy_,
                                     stage_type_of<Worker, marked<T>, Out>, &one,
                                     tuple_type_of<marked<T>>, next));
    }
    Marks marks(marks_);
    marks.looks_at(awaited);
    using policy = by_key_with_awaited<KeyOf>;
    return add_stage_before(b, b.node(name_ + " times"), policy_,
                            stage_type_of<Marks, T, marked<T>>, &marks, tuple_type_of<T>,
                            base::shared_as<inlet>(new routes_inlet<marked<T>, policy>(
                                std::move(all), policy(key_, awaited))));
  }

 private:
  Marks marks_;
  Worker worker_;
  KeyOf key_;
  std::string name_;
  on_failure policy_;
  std::size_t replicas_;
};

}  // namespace garrick::patterns::detail
