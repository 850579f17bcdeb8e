// The operations that a thread outside the actors needs: spawn an actor, send it a request, end it.
// The actor system and the testkit's deterministic system share them.
//
// Thread safety: on an actor system, any thread may call every function.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/blocking.hpp>
#include <garrick/core/spawn.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace garrick::system {

namespace detail {

/// The compiler's error for a response that is converted to a value without `get()`.
template <class To, bool Come = false>
struct get_is_missing : base::detail::failed_check {
  static_assert(Come,
                "garrick: system.request(...) gives a response that has not come yet, and no "
                "value: .get() waits for it and gives a result<T>");
};

}  // namespace detail

/// The response to a request from an ordinary thread: the return value of `system.request(...)`. It
/// belongs to one thread. If it is dropped without `get()`, the request is withdrawn: a later
/// answer is ignored. It can be moved, so a thread may keep several in a vector.
///
///     result<long> left = system.request(account, withdraw{120}).within(1s).get();
template <class... Rs>
class [[nodiscard]] blocking_response
    : public core::detail::not_yet_a_value<detail::get_is_missing> {
 public:
  /// The type that `get` returns: the handler's values, or an error.
  using value = std::conditional_t<sizeof...(Rs) == 0, core::result<void>, core::result<Rs...>>;

  /// For the framework: sends the request at once. Throws std::bad_alloc.
  template <class Start>
  blocking_response(core::environment& of, Start begin_request)
      : scope_(of, true), pending_(begin_request(*scope_)) {}
  /// Takes the request over; afterwards `o.get()` returns the error `cancelled`.
  blocking_response(blocking_response&& o) noexcept
      : scope_(std::move(o.scope_)),
        pending_(std::move(o.pending_)),
        taken_(std::exchange(o.taken_, true)) {}
  /// Does the same; this object's previous request is withdrawn unless it was answered.
  blocking_response& operator=(blocking_response&& o) noexcept {
    if (this != &o) {
      this->~blocking_response();
      ::new (static_cast<void*>(this)) blocking_response(std::move(o));
    }
    return *this;
  }
  ~blocking_response() = default;

  /// Sets a time limit: if no answer arrives within `limit` from now, the answer is the error
  /// `timeout`.
  blocking_response& within(base::duration limit) & {
    static_cast<void>(std::move(pending_).within(limit));
    return *this;
  }
  /// The same for a temporary request.
  blocking_response&& within(base::duration limit) && { return std::move(within(limit)); }
  /// This overload refuses a number.
  template <base::detail::plain_number N>
  blocking_response&& within(N /*limit*/) {
    static_assert(base::detail::number_is_no_time<N>::reported);
    return std::move(*this);
  }

  /// Blocks until the answer has arrived, and returns it. Without `within` it blocks for ever if
  /// the receiver neither answers nor ends. Call it once: a second call returns the error
  /// `cancelled`. On a worker thread it returns the error `would_block` at once: use then, await or
  /// co_await there. In a process that was forked from the system's process it also returns
  /// `would_block`. Other errors: `not_handled`, `receiver_failed`, `unexpected_message`,
  /// `overload`, `broken_promise`, `timeout`, `request_cycle`, and any error that the handler
  /// answers with. If a constructor throws while the value is brought to this thread, the error is
  /// `receiver_failed` with the exception's text. Throws an exception that the final move into the
  /// return value throws.
  [[nodiscard]] value get() {
    if (std::exchange(taken_, true))
      return base::make_error(base::errc::cancelled, "get()",
                              "the answer was taken before, or moved to another object");
    if (base::this_thread.worker_of != nullptr)
      return base::make_error(base::errc::would_block, "get()",
                              "this is a worker thread: use .then, .await or co_await in an actor");
    return scope_->get(std::move(pending_));
  }
  /// This conversion refuses every type: `get` returns the value.
  template <class To>
  operator To() const {
    static_assert(detail::get_is_missing<To>::reported);
    return core::detail::no_value_yet<To>();
  }

 private:
  core::scoped_actor scope_;
  core::pending_response<Rs...> pending_;  // after scope_: it is dropped before its actor
  bool taken_ = false;
};

/// True if the first argument is spawn_options. The overloads of `spawn` are chosen by this value.
template <class... Args>
inline constexpr bool starts_with_options = false;
template <class First, class... Rest>
inline constexpr bool starts_with_options<First, Rest...> =
    std::is_same_v<std::decay_t<First>, core::spawn_options>;

/// Base of a class `Derived` that has `core::environment& env()`: an actor system or the testkit's
/// system. Any thread may call the functions of an actor system.
template <class Derived>
class spawner {
 public:
  /// Spawns a class-based actor: `system.spawn<account_actor>(100)`. The object is built here, on
  /// the calling thread, from the arguments; its handlers run elsewhere. Costs one block from a
  /// pool. The handle is never empty: if the constructor throws, or the system has begun to stop
  /// (`shutting_down`), the handle names an actor that has ended with that error; see `try_spawn`.
  /// Throws std::bad_alloc.
  template <class A, class... Args>
    requires(!starts_with_options<Args...>)
  core::ref<core::detail::protocol_of<A>> spawn(Args&&... args) {
    static_assert(core::detail::spawn_check<A, Args...>::reported);
    return core::detail::spawn_checked<A>(environment_of(), nullptr, nullptr, nullptr,
                                          std::forward<Args>(args)...);
  }
  /// The same with options, such as a name, a thread of its own, or the mailbox's limit. With a
  /// refused option, or if a detached actor can get no thread, the actor has ended with the error
  /// `spawn_failed`.
  template <class A, class... Args>
  core::ref<core::detail::protocol_of<A>> spawn(const core::spawn_options& o, Args&&... args) {
    static_assert(core::detail::spawn_check<A, Args...>::reported);
    return core::detail::spawn_checked<A>(environment_of(), nullptr, &o, nullptr,
                                          std::forward<Args>(args)...);
  }
  /// Spawns a function-based actor: `system.spawn([](dynamic_actor& self) -> behavior { … })`. The
  /// type of the function's first parameter chooses the kind of actor; the function runs as the
  /// actor's first turn. Otherwise as above.
  template <class F, class... Args>
    requires(!std::is_same_v<std::decay_t<F>, core::spawn_options>)
  auto spawn(F&& f, Args&&... args) {
    static_assert(core::detail::function_check<F, Args...>::reported);
    return core::detail::spawn_function(environment_of(), nullptr, nullptr, std::forward<F>(f),
                                        std::forward<Args>(args)...);
  }
  /// The same with options.
  template <class F, class... Args>
  auto spawn(const core::spawn_options& o, F&& f, Args&&... args) {
    static_assert(core::detail::function_check<F, Args...>::reported);
    return core::detail::spawn_function(environment_of(), nullptr, &o, std::forward<F>(f),
                                        std::forward<Args>(args)...);
  }
  // Braces have no type, so only an ellipsis takes braces that are not options. In a call without
  // arguments an ellipsis is as good a match as the other overloads, so this overload is volatile:
  // the others are preferred. GCC refuses braces before it looks at the body, and would not reach
  // an assertion there.
#if defined(__clang__)
  /// This overload refuses braces that make no options.
  template <class A = void>
  core::ref<core::detail::protocol_of<A>> spawn(...) volatile {
    static_assert(core::detail::takes_braces<A>,
                  "garrick: in braces stand members of spawn_options, in the order of their "
                  "declaration; an argument of the constructor names its type, as in "
                  "spawn<supervisor>(supervision{.strategy = one_for_all})");
    return {};
  }
#else
  /// This overload refuses braces that make no options.
  template <class A = void, class Garrick = core::detail::options_in_braces_have_no_such_member>
  core::ref<core::detail::protocol_of<A>> spawn(...) volatile = delete;
#endif
  /// Spawns like `spawn`, but returns the error `spawn_failed` if the constructor or `on_start`
  /// fails or an option is refused, and `shutting_down` if the system has begun to stop. So
  /// `on_start` runs on the calling thread, as the constructor does; a coroutine runs up to its
  /// first wait. The `on_start` of an actor with a thread of its own runs on that thread, and the
  /// call does not wait for it.
  template <class A, class... Args>
  base::result<core::ref<core::detail::protocol_of<A>>> try_spawn(Args&&... args) {
    static_assert(core::detail::check_behind<core::spawn_options, A, Args...>::type::reported);
    return core::detail::try_spawn_with<A>(environment_of(), nullptr, std::forward<Args>(args)...);
  }
  /// The same with options, which may be a list in braces.
  template <class A, class... Args>
  base::result<core::ref<core::detail::protocol_of<A>>> try_spawn(const core::spawn_options& o,
                                                                  Args&&... args) {
    static_assert(core::detail::spawn_check<A, Args...>::reported);
    return core::detail::try_spawn_with<A>(environment_of(), nullptr, o,
                                           std::forward<Args>(args)...);
  }

  /// Sends a request from an ordinary thread, at once. A duration as the last argument is its
  /// time-out. `get()` of the returned object waits for the answer; see blocking_response for the
  /// errors. An actor uses its own `request`.
  ///
  ///     long left = system.request(account, withdraw{120}, 1s).get().value();
  template <class P, class... Args>
  auto request(const core::ref<P>& to, Args&&... args) {
    static_assert(
        !std::is_same_v<P, core::any_protocol>,
        "garrick: a wildcard handle needs request_as<R>(to, ...): R is the type of the answer");
    static_assert(core::detail::checked_reply<P, Args...>::reported);
    if constexpr (!std::is_same_v<P, core::any_protocol> &&
                  core::detail::checked_request<P, Args...>::fits)
      return request_with([&](core::blocking_actor& asker) {
        return asker.request(to, std::forward<Args>(args)...);
      });
    else
      return core::detail::refused_response();
  }
  /// The same with urgent priority: the request overtakes normal mail at the receiver.
  template <class P, class... Args>
  auto request_urgent(const core::ref<P>& to, Args&&... args) {
    static_assert(!std::is_same_v<P, core::any_protocol>,
                  "garrick: an urgent request needs a typed handle");
    static_assert(core::detail::checked_reply<P, Args...>::reported);
    if constexpr (!std::is_same_v<P, core::any_protocol> &&
                  core::detail::checked_request<P, Args...>::fits)
      return request_with([&](core::blocking_actor& asker) {
        return asker.request_urgent(to, std::forward<Args>(args)...);
      });
    else
      return core::detail::refused_response();
  }
  /// This overload refuses a first argument that is not a handle.
  template <bool Reached = true>
  core::detail::refused_response request(core::detail::not_a_handle, core::detail::anything = {},
                                         core::detail::anything = {}, core::detail::anything = {}) {
    static_assert(core::detail::asked_no_handle<Reached>::reported);
    return {};
  }
  /// Sends a request to a router in the same way.
  template <class R, class... Args>
    requires requires { typename R::garrick_router; }
  auto request(const R& to, Args&&... args) {
    return request_with([&](core::blocking_actor& asker) {
      return asker.request(to, std::forward<Args>(args)...);
    });
  }
  /// Sends a request to a wildcard handle in the same way; Rs are the types of the answer's values.
  template <class... Rs, class... Args>
  auto request_as(const core::any_ref& to, Args&&... args) {
    static_assert(core::detail::checked_answer<core::response<Rs...>>::reported);
    static_assert(sizeof(core::detail::checked_request<core::any_protocol, Args...>) != 0);
    return request_with([&](core::blocking_actor& asker) {
      return asker.request_as<Rs...>(to, std::forward<Args>(args)...);
    });
  }

  /// Asks the actor behind a wildcard handle whether it understands P; `get()` returns a typed
  /// handle to it. See actor_base::request_typed.
  ///
  ///     ref<calculator> typed = system.request_typed<calculator>(plugin).get().value();
  template <class P>
  auto request_typed(const core::any_ref& to) {
    return request_with([&](core::blocking_actor& asker) { return asker.request_typed<P>(to); });
  }

  /// Sends an exit signal: the actor ends with `reason` after its present message, or gets the
  /// signal as a message if it traps exits. A normal reason ends no actor. Does not wait, and does
  /// nothing to an actor that has ended. Throws std::logic_error for an empty handle.
  void exit(const core::handle& who, base::exit_reason reason = base::exit_code::user_shutdown) {
    static_cast<void>(core::detail::target_of(who, "exit()"));
    core::detail::exit_cell(nullptr, who.address(), std::move(reason));
  }
  /// Ends an actor with a signal that it cannot trap; otherwise like `exit`.
  void kill(const core::handle& who) {
    static_cast<void>(core::detail::target_of(who, "kill()"));
    core::detail::kill_cell(who.address(), base::exit_code::kill);
  }

 protected:
  spawner() = default;
  ~spawner() = default;

 private:
  core::environment& environment_of() noexcept { return static_cast<Derived*>(this)->env(); }

  template <class Start>
  auto request_with(Start start) {
    return make_blocking(
        static_cast<decltype(start(std::declval<core::blocking_actor&>()))*>(nullptr), start);
  }
  template <class... Rs, class Start>
  blocking_response<Rs...> make_blocking(core::pending_response<Rs...>*, Start& start) {
    return blocking_response<Rs...>(environment_of(), start);
  }
  /// For a router's refusal, which the compiler has already reported.
  template <class Start>
  core::detail::refused_response make_blocking(core::detail::refused_response*, Start&) {
    return {};
  }
};

}  // namespace garrick::system
