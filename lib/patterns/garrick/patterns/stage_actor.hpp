// A stage that is an actor: it can ask others, set timers and be asked itself.
//
//   class tagger : public stage_actor<line, tagged, void(reload)> {
//    public:
//     explicit tagger(ref<dictionary> d) : dictionary_(d) {}
//     void consume(line l) {
//       request(dictionary_, look_up{l.text}).then([this, keep = hold()](tag t) {
//         send_next(tagged{t});
//       });
//     }
//     void on(reload);
//   };
//   pipeline(lines, seq_actor<tagger>(dictionary), store)
//   pipeline(lines, ask<look_up>(dictionary, 8), store)  // 8 requests under way
//
// Its `consume` runs on the actor's turns, never in place. Optionally the class has `on_start()`
// and `on_exit`, as any actor, `on_stop()`, which is called after the last tuple, and
// `on_restart()`.
//
// Thread safety: as that of actors.
#pragma once

#include <garrick/base/memory/shared_as.hpp>
#include <garrick/base/platform/assert.hpp>
#include <garrick/garrick.hpp>
#include <garrick/patterns/detail/actor_node.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/failure_policy.hpp>
#include <garrick/patterns/plan.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::patterns {

/// Marks a tuple on which a stage's actor still works. The stage does not end while such a mark
/// exists. It can be moved. Destroy it, on any thread, when the tuple's results are put out.
class stage_hold {
 public:
  /// Makes a mark that holds nothing.
  stage_hold() noexcept = default;
  /// For the framework: holds the stage open at `at`.
  stage_hold(std::shared_ptr<detail::graph> of, detail::held_open& at) noexcept
      : of_(std::move(of)), at_(&at) {
    at.hold();
  }
  stage_hold(stage_hold&& o) noexcept : of_(std::move(o.of_)), at_(std::exchange(o.at_, nullptr)) {}
  stage_hold& operator=(stage_hold&& o) noexcept {
    std::swap(of_, o.of_);
    std::swap(at_, o.at_);
    return *this;
  }
  ~stage_hold() {
    if (at_ != nullptr) at_->release();
  }

 private:
  std::shared_ptr<detail::graph> of_;
  detail::held_open* at_ = nullptr;
};

namespace detail {

/// An actor's way to its stage, open from `on_start` on. Thread safety: the actor's turns.
class actor_of_stage {
 protected:
  actor_of_stage() = default;
  ~actor_of_stage() = default;

  [[nodiscard]] stage_hold hold() const { return {owner_.lock(), node()}; }
  void hold_at_most(std::size_t n) noexcept { node().hold_at_most(n == 0 ? 1 : n); }
  [[nodiscard]] on_failure policy() const noexcept { return node().policy(); }
  [[nodiscard]] actor_node& node() const noexcept {
    GARRICK_ASSERT(node_ != nullptr,
                   "a stage's actor was used as a stage in its constructor: wait for on_start");
    return *node_;
  }
  /// For the framework: gives the actor its node.
  void sit(actor_node& at, const std::shared_ptr<graph>& owner) noexcept {
    node_ = &at;
    owner_ = owner;
  }

 private:
  actor_node* node_ = nullptr;
  std::weak_ptr<graph> owner_;
};

}  // namespace detail

/// The base of a class that is a stage and an actor: it takes In, puts out Out (void: nothing), and
/// understands the signatures Extra. It has a public `consume(In)`, and a handler for each of
/// Extra. The functions below work from `on_start` on: the constructor must not use them.
///
/// An exception that leaves `consume` follows the stage's policy; with `restart`, the actor lives
/// on, and its `on_restart()` is called. An exception that leaves another handler or a continuation
/// ends the actor, and so the stream, with an error that names the stage; so does `quit`. The
/// exception is counted as a failure, and the tuples that the actor held by then as dropped.
template <class In, class Out, class... Extra>
class stage_actor : public actor<protocol<void(detail::go), void(detail::leave), Extra...>>,
                    protected detail::actor_of_stage {
  static_assert(!std::is_void_v<In>, "garrick: a stage's actor takes tuples");

 public:
  using stage_input = In;    ///< the type of its tuples
  using stage_output = Out;  ///< the type of its results; void: it is a sink

  /// For the framework: a class derived from the user's handles the message.
  void on(detail::go) {}
  /// For the framework: a class derived from the user's handles the message.
  void on(detail::leave) {}

 protected:
  stage_actor() = default;
  ~stage_actor() = default;

  /// Puts a result out. Call it in `consume`, or on any other turn of this actor until the stage
  /// has ended; not in the constructor. Never waits: a result without room is kept, and then the
  /// stage takes no tuple until there is room.
  ///
  /// In `consume` and `on_stop` it throws std::bad_alloc, and the exceptions of a key function of
  /// the next stage. On other turns it throws nothing: the failure is counted, and the stream ends
  /// with an error that names the stage, or `value` becomes a dead letter, as the stage's policy
  /// says.
  template <class T = Out>
  void send_next(T value)
    requires(!std::is_void_v<Out> && std::is_same_v<T, Out>)
  {
    node().put(value, *this);
  }
  /// This overload refuses a value that does not convert to Out.
  template <class T>
  void send_next(T /*value*/)
    requires(!std::is_convertible_v<T, Out>)
  {
    static_assert(std::is_same_v<T, Out>,
                  "garrick: send_next(value) of a stage_actor<In, Out> takes an Out");
  }
  /// Puts `value` out if fewer than `limit` tuples wait in the channel to the next stage, as
  /// emit::try_send_next does. Otherwise returns the error `overload` and leaves `value` as before.
  /// With a limit of zero it always returns `overload`. After the end of the stage the value is
  /// dropped and counted. An exception of a key function of the next stage is treated as in
  /// `send_next`; this function then returns no error.
  template <class T>
  [[nodiscard]] error try_send_next(std::size_t limit, T&& value)
    requires(std::is_same_v<T, Out>)
  {
    if (node().try_put(limit, value, *this)) return {};
    return make_error(errc::overload, "try_send_next()", "the next stage's channel is full");
  }
  /// Returns a hold. While it lives, neither the stage nor a loop around the stage ends.
  using detail::actor_of_stage::hold;
  /// Sets the number of holds, at least 1, with which the stage takes no further tuple: 1024 by
  /// default.
  using detail::actor_of_stage::hold_at_most;
  /// Reports the failure of a tuple that `consume` has taken: the stream ends with an error that
  /// names the stage, or `tuple` becomes a dead letter, as the stage's policy says. Call it before
  /// the tuple's hold is dropped.
  template <class T>
  void tuple_failed(T tuple, const error& why) {
    node().tuple_failed(tuple, why);
  }
  /// The same for an exception that was caught.
  template <class T>
  void tuple_failed(T tuple, const std::exception_ptr& why) {
    node().tuple_failed(tuple, why);
  }
  /// Ends the actor, and so the stream, with an error that names the stage: no tuple comes after
  /// this one.
  void quit(exit_reason reason = {}) {
    node().quits();
    actor_base::quit(std::move(reason));
  }
  /// Returns the stage's policy for failures.
  using detail::actor_of_stage::policy;

  /// For the framework: works as `send_next`, but on turns other than those of `consume` and
  /// `on_stop` an exception goes to `failed(std::exception_ptr)`.
  template <class T, class F>
  void send_next_or(T value, const F& failed)
    requires(std::is_same_v<T, Out>)
  {
    node().put_or(value, *this, failed);
  }

 private:
  using detail::actor_of_stage::node;
};

/// A stage that is an actor, takes In and puts out Out; void: it is a sink.
template <class In, class Out>
class actor_stage {
 public:
  static_assert(detail::first_failure<detail::tuple_check<In>, detail::tuple_check<Out>>::reported);

  using garrick_stage = void;
  using garrick_sendable = void;  ///< copies share their parts, which do not change
  static constexpr bool garrick_keeps_order = false;
  using input = In;    ///< the type of its tuples
  using output = Out;  ///< the type of its results; void: it is a sink

  /// For the framework: makes a stage of its actors.
  explicit actor_stage(detail::any_actor_stage s) : stage_(std::move(s)) {}

  /// Returns a copy with another name, which its actors have, too.
  [[nodiscard]] actor_stage named(std::string name) const {
    actor_stage s = *this;
    s.stage_.name = std::move(name);
    return s;
  }
  /// This overload refuses a name that is not text.
  template <detail::no_name T>
  [[nodiscard]] actor_stage named(const T& /*name*/) const {
    static_assert(detail::name_is_no_text<T>::reported);
    return *this;
  }
  /// Returns a copy with a thread of its own, for code that blocks.
  [[nodiscard]] actor_stage own_thread() const {
    actor_stage s = *this;
    s.stage_.own_thread = true;
    return s;
  }
  /// Returns a copy with another answer to exceptions of `consume`. Throws std::invalid_argument
  /// for `restart` if the class has no `on_restart()`: an actor is not rebuilt.
  [[nodiscard]] actor_stage on(on_failure policy) const {
    actor_stage s = *this;
    s.stage_.follow(policy);
    return s;
  }

  /// Returns the stage's structure.
  [[nodiscard]] plan describe() const { return stage_.describe(); }

  /// For the framework: adds the node of the actor.
  detail::inlet_ptr<In> build(const detail::builder& b, const detail::inlet_ptr<Out>& next) const {
    return stage_.build(b, next);
  }

 private:
  detail::any_actor_stage stage_;
};

namespace detail {

template <class Class, bool Is = false>
struct no_stage_actor : failed_check {
  static_assert(Is,
                "garrick: a stage's actor derives publicly from stage_actor<In, Out, Extra...>, "
                "has a public consume(In), and is not final");
};

template <class A>
inline constexpr bool is_stage_actor =
    !std::is_final_v<A> && requires(A& a, typename A::stage_input in) {
      typename A::stage_output;
      typename A::protocol_type;
      a.consume(std::move(in));
    };

template <class Class, bool AtOnce = false>
struct stage_actor_is_a_coroutine : failed_check {
  static_assert(
      AtOnce,
      "garrick: the consume, on_stop and on_restart of a stage's actor are no coroutines: "
      "they would never run. They ask with then and keep a hold(); its on_start and its "
      "handlers may return a task");
};
template <class A>
inline constexpr bool is_coroutine_as_stage = requires(A& a, typename A::stage_input in) {
  { a.consume(std::move(in)) } -> core::detail::coroutine;
} || requires(A& a) {
  { a.on_stop() } -> core::detail::coroutine;
} || requires(A& a) {
  { a.on_restart() } -> core::detail::coroutine;
};

/// The type in which a stage keeps an argument for its actors. A literal stays where it is.
template <class Arg>
using stored =
    std::conditional_t<base::detail::is_literal<Arg>, lent<std::decay_t<Arg>>, std::decay_t<Arg>>;

template <class A, class... Args>
consteval auto check_stage_actor() {
  if constexpr (!is_stage_actor<A>) {
    return verdict<no_stage_actor<A>>;
  } else if constexpr (is_coroutine_as_stage<A>) {
    return verdict<stage_actor_is_a_coroutine<A>>;
  } else {
    using parts = first_failure<arguments_check<true, Args...>, making_check<A, Args...>>;
    if constexpr (!passes<parts>) {
      return verdict<parts>;
    } else {
      using seated = seated_actor<A, stored<Args>...>;
      using check = core::detail::spawn_check<seated, stage_seat, stored<Args>...>;
      if constexpr (detail::passes<check>)
        return verdict<passed_check>;
      else
        return verdict<check>;
    }
  }
}

/// Returns a stage of the class A, whose actors get copies of these arguments.
template <class A, class... Args>
[[nodiscard]] any_actor_stage stage_of_actors(std::tuple<Args...> args, std::string name) {
  return {
      .maker = base::shared_as<const actor_maker>(new one_actor_maker<A, Args...>(std::move(args))),
      .name = std::move(name)};
}

}  // namespace detail

/// Returns a stage of the actor class A. Each replica, and each spawn, makes an actor of copies of
/// these arguments, which are checked, and passed, as those of a spawn: `lent(x)` gives the
/// constructor an X&. Preparations on the actor's own turn belong in `on_start`. No callback can be
/// given for them, but an argument may be a function, for example one made by patterns::bind. If
/// the constructor or `on_start` throws, the stream ends with an error that names the stage. Copies
/// of a pattern share the arguments, so several streams may copy them at once.
template <class A, class... Args>
[[nodiscard]] auto seq_actor(Args&&... args) {
  using check = detail::check_of<decltype(detail::check_stage_actor<A, Args...>())>;
  static_assert(check::reported);
  if constexpr (detail::passes<check>)
    return actor_stage<typename A::stage_input, typename A::stage_output>(
        detail::stage_of_actors<A>(
            std::tuple<detail::stored<Args>...>(detail::stored<Args>(std::forward<Args>(args))...),
            std::string(base::type_name<A>)));
  else
    return detail::refused_pattern();
}

}  // namespace garrick::patterns
