// A team that many actors share: each actor hands over a container and the work to be done on it
// (paper 003 §6).
//
//   accelerator acc = spawn(system, accelerator_team().replicas(4).own_threads("<4-7>"));
//   request(acc, [](double& x) { x = slow(x); }, std::move(row)).then(…);
//   request(acc, reduce(cents_of, sum), std::move(orders)).then(…);
//
// An actor with long messages slows all actors that wait for it. With an accelerator the actor is
// free again at once, and several helpers do the work. The container is moved to the accelerator,
// and the result is moved back.
//
// Thread safety: `accelerator` is a handle, as ref is; `accelerator_team` is a plain value.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/data_pattern.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/map.hpp>
#include <garrick/patterns/team/shared_work.hpp>
#include <garrick/patterns/team/team.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// The actor behind an accelerator.
class accelerator_actor;

/// A request to an accelerator.
class offloaded {
 public:
  offloaded() = default;
  virtual ~offloaded() = default;
  offloaded(const offloaded&) = delete;
  offloaded& operator=(const offloaded&) = delete;
  /// Begins the request's work. Called on a turn of the accelerator.
  virtual void begin(accelerator_actor& on) = 0;
};
/// To an accelerator: work on this request.
struct offload {
  using garrick_sendable = void;  ///< checked when it was made
  std::unique_ptr<offloaded> what;
};

class accelerator_actor final : public actor<protocol<void(offload), void(work_on)>> {
 public:
  explicit accelerator_actor(data_options o) : options_(std::move(o)) {}
  void on_start() { team_.assemble(*this, options_.team, options_.name); }
  void on(offload o) { o.what->begin(*this); }
  void on(work_on t) { team_.go_on(std::move(t), *this, this->self()); }

  /// Begins the work and promises its result. Called once, by `offloaded::begin`.
  template <class In, class Out>
  void work_at(const data_seed<In, Out>& seed, In&& in) {
    response_promise<Out> promise = this->template make_promise<Out>();
    data_options o = seed.options;
    o.team = options_.team;
    std::shared_ptr<awaited_work<Out>> work;
    try {
      work = seed.body->begin(std::move(in), o.cut(this->workers()));
    } catch (...) {  // of the container's `size`, for example
      return promise.fail(make_error(errc::receiver_failed, o.name, what_was_thrown()));
    }
    work->answers(std::move(promise));
    team_.begin(work->work(), *this, this->self());
  }

 private:
  data_options options_;
  team team_;
};

template <class In, class Out>
class offloaded_body final : public offloaded {
 public:
  offloaded_body(data_seed<In, Out> s, In in) : seed_(std::move(s)), in_(std::move(in)) {}
  void begin(accelerator_actor& on) override { on.work_at<In, Out>(seed_, std::move(in_)); }

 private:
  const data_seed<In, Out> seed_;
  In in_;
};

/// Returns the work of a request as a pattern: a function becomes a map of its container.
template <class C, class What>
[[nodiscard]] auto pattern_of(What what) {
  if constexpr (data_parallel<What>)
    return what;
  else
    return map<C>(std::move(what));
}

/// Throws std::invalid_argument for options of a pattern that an accelerator would not heed.
inline void check_offloaded(const data_options& o, on_failure policy) {
  const char* why = nullptr;
  if (o.team.own_threads)
    why = "own_threads() is for accelerator_team() to say";
  else if (o.team.replicas != 0)
    why = "replicas(n) is for accelerator_team() to say";
  else if (policy != on_failure::fail)
    why = "on(policy) is for stages: a request that fails is answered with an error";
  if (why != nullptr)
    throw std::invalid_argument("garrick: \"" + o.name + "\" for an accelerator: " + why);
}

// Instantiated only to fail.
template <class Takes, class Gets, bool Same = false>
struct offloaded_container_does_not_fit : failed_check {
  static_assert(Same, "garrick: this pattern takes another container than the request hands over");
};

}  // namespace detail

/// The protocol of an accelerator's actor.
using accelerator_protocol = protocol<void(detail::offload)>;

/// The handle of an accelerator. It may be copied and sent; the accelerator ends when no handle is
/// left and no request is waiting for its answer. Requests are worked on in their order; a long one
/// gives way to others after some milliseconds.
class accelerator {
 public:
  using garrick_router = void;    ///< for `request`
  using garrick_sendable = void;  ///< it holds a handle

  /// Makes an empty handle: a request through it throws std::logic_error.
  accelerator() noexcept = default;
  /// Makes the handle of an accelerator that was found by its name.
  explicit accelerator(ref<accelerator_protocol> r) noexcept : to_(std::move(r)) {}

  /// Sends a request and returns its response, for actor_base::request and actor_system::request:
  /// `request(acc, f, container)` maps a function over the container, in place or to a vector
  /// (map.hpp); `request(acc, pattern, container)` runs a `reduce`, `divide_conquer` or another
  /// data-parallel pattern, with the pattern's chunk and name and the accelerator's replicas. The
  /// answer is the result, or the error `receiver_failed`, which names the pattern and the place
  /// (`spawn` in data_pattern.hpp).
  ///
  /// Throws std::invalid_argument for a pattern with `replicas`, `own_threads` or `on`: the
  /// accelerator chooses its own helpers and threads, and answers a failure with an error. Throws
  /// std::logic_error if this handle is empty.
  template <class What, class C>
  [[nodiscard]] auto request_from(actor_base& self, What what, C container) const {
    auto p = detail::pattern_of<C>(std::move(what));
    using P = decltype(p);
    if constexpr (detail::refused<P>) {
      return core::detail::refused_response();
    } else {
      detail::check_offloaded(p.seed().options, p.policy());
      using check = detail::offloaded_container_does_not_fit<typename P::input, C,
                                                             std::is_same_v<typename P::input, C>>;
      static_assert(check::reported);
      if constexpr (std::is_same_v<typename P::input, C>) {
        using seed = std::remove_cvref_t<decltype(p.seed())>;
        using work = detail::offloaded_body<C, typename P::output>;
        return self.template request_as<typename P::output>(
            any_ref(to_),
            detail::offload{std::make_unique<work>(seed(p.seed()), std::move(container))});
      } else {
        return core::detail::refused_response();
      }
    }
  }
  /// Like the function above, for `request(acc, f, container, limit)`: the answer is the error
  /// `timeout` if there is no other within the time `limit`. The accelerator still does the work.
  template <class What, class C>
  [[nodiscard]] auto request_from(actor_base& self, What what, C container, duration limit) const {
    return request_from(self, std::move(what), std::move(container)).within(limit);
  }

 private:
  ref<accelerator_protocol> to_;
};

/// The options of an accelerator's team.
class accelerator_team {
 public:
  /// Returns a team of `n` helpers, which work on a request at once; by default one per worker.
  /// Throws std::invalid_argument for zero.
  [[nodiscard]] accelerator_team replicas(std::size_t n) const {
    detail::check_team(n);
    accelerator_team t = *this;
    t.options_.team.replicas = n;
    return t;
  }
  /// Returns a team whose helpers have threads of their own, on these processors if they are named
  /// (spawn_options::affinity). Then the workers do none of the work. They still run on those
  /// processors, unless the setting `scheduler.affinity` places them elsewhere. Without `replicas`
  /// there are as many threads as workers, however few processors are named.
  [[nodiscard]] accelerator_team own_threads(std::string affinity = {}) const {
    accelerator_team t = *this;
    t.options_.team.own_threads = true;
    t.options_.team.affinity = std::move(affinity);
    return t;
  }
  /// Returns a team with another name, for logs.
  [[nodiscard]] accelerator_team named(std::string name) const {
    accelerator_team t = *this;
    t.options_.name = std::move(name);
    return t;
  }
  /// This overload refuses a name that is not text.
  template <detail::no_name T>
  [[nodiscard]] accelerator_team named(const T& /*name*/) const {
    static_assert(detail::name_is_no_text<T>::reported);
    return *this;
  }
  /// For the framework: returns the options of the team.
  [[nodiscard]] const detail::data_options& options() const noexcept { return options_; }

 private:
  detail::data_options options_{.team = {}, .chunk = 0, .name = "accelerator"};
};

/// Makes an accelerator. `from` is an actor system, a test system, or an actor (`*this`). If its
/// helpers cannot start, for example because a processor is not allowed, it ends at once, and
/// requests fail. Throws the exceptions of `from.spawn`.
template <class Spawner>
accelerator spawn(Spawner& from, const accelerator_team& t) {
  return accelerator(from.template spawn<detail::accelerator_actor>(
      detail::asked_options({.name = t.options().name}), t.options()));
}
/// Like `spawn`, but returns the error `spawn_failed` for a refusal.
template <class Spawner>
result<accelerator> try_spawn(Spawner& from, const accelerator_team& t) {
  auto made = from.template try_spawn<detail::accelerator_actor>(
      detail::asked_options({.name = t.options().name}), t.options());
  if (!made) return made.error();
  return accelerator(*made);
}
/// Returns the description of an accelerator that is a supervisor's child. An exception of a
/// request's function is an answer, and restarts nothing. Throws std::invalid_argument for a
/// bounded mailbox.
///
///     system.spawn<supervisor>(supervision{}, accelerator_child({.name = "acc"}, team));
///
/// The accelerator's handle is `accelerator(h)`: `find_child` finds the child, and
/// `request_typed<accelerator_protocol>` gives h for it. The function is a template, so that only
/// files that call it compile the actor.
template <std::same_as<accelerator_team> Team = accelerator_team>
[[nodiscard]] child_spec accelerator_child(child_options how, const Team& t) {
  how.spawn = detail::asked_options(std::move(how.spawn));
  if (how.name.empty()) how.name = t.options().name;
  return child<detail::accelerator_actor>(std::move(how), t.options());
}

}  // namespace garrick::patterns
