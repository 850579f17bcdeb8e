// Blocking actors receive in a loop, on a thread of their own. Any other thread can take part
// through a scoped actor.
//
//   spawn([](blocking_actor& self) {
//     self.receive([](int x) { … }, after(1s) >> [] { … });
//   });
//
//   class collector : public blocking_actor {
//    public:
//     void run() { receive([](int x) { … }); }   // its whole life: when it returns, the actor ends
//   };
//   spawn<collector>();
//
// A receive takes the oldest message that a case matches, and leaves the others in their order.
// While no message matches, the thread sleeps.
//
// Thread safety: the actor's own thread only. Paper 001 §4.2.
#pragma once

#include <garrick/base/platform/assert.hpp>
#include <garrick/core/actor.hpp>
#include <garrick/core/behavior.hpp>
#include <garrick/core/turn/waiting_executor.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

namespace garrick::core {

/// Thrown by `receive` when the actor is told to end. The function of a blocking actor must let it
/// pass: the framework, which called the function, catches it. A scoped actor's thread gets it when
/// the actor's system ends, or when another actor or thread ends the actor; each further `receive`
/// throws it again.
class blocking_actor_ends : public std::exception {
 public:
  blocking_actor_ends() noexcept = default;
  /// For the framework: keeps the reason, unless there is no memory for its text.
  explicit blocking_actor_ends(const base::exit_reason& why) noexcept;
  /// Returns a text for people, with the reason's text if it has one.
  [[nodiscard]] const char* what() const noexcept override {
    return text_ ? text_->what() : "garrick: this blocking actor was told to end";
  }

 private:
  std::optional<std::runtime_error> text_;  // its copies do not throw
};

namespace detail {

/// While it lives, makes `actor` the sender of this thread's messages.
class sending_as {
 public:
  explicit sending_as(std::uint64_t actor) noexcept : outer_(running_id()) { set(actor); }
  ~sending_as() { set(outer_); }
  sending_as(const sending_as&) = delete;
  sending_as& operator=(const sending_as&) = delete;

 private:
  static void set(std::uint64_t id) noexcept {
    // order: read by the watchdog as a sample
    base::this_thread.actor_id.store(id, std::memory_order_relaxed);
  }
  std::uint64_t outer_;
};

/// Returns `would_block` with advice if this thread is a worker, which other actors need; otherwise
/// no error.
[[nodiscard]] base::error may_not_wait(const cell& self, std::string_view what);

/// Receives once. Returns true if a case took a message, false if the time-out ran. Throws
/// blocking_actor_ends if the actor was told to end, std::logic_error on a worker.
bool receive_one(cell& self, behavior_impl& cases);

}  // namespace detail

/// An actor with a thread of its own, on which it may block. It is the base of classes with a
/// public `void run()`, which is the actor's whole life, and the `self` of spawned functions. The
/// thread comes from the system's bounded pool; if none is left, the spawn fails with
/// `spawn_failed`. Thread safety: the actor's own thread only.
///
///     system.spawn([](blocking_actor& self) {
///       self.receive([](int x) {…}, after(1s) >> [] {…});
///     });
class blocking_actor : public actor<any_protocol> {
 public:
  using garrick_blocking = void;

  /// For the framework: an actor's life, from `on_start`, if it has one, to the end of `run`.
  /// `blocking_actor_ends` unwinds it.
  template <class A>
  static void live(A& self) {
    try {
      if constexpr (requires { self.on_start(); }) self.on_start();
      if (self.this_cell().phase() < life::ending) self.run();
    } catch (const blocking_actor_ends&) {}
    self.quit();
  }

  /// Blocks until one of the cases has taken the oldest message that matches; the other messages
  /// stay in their order. Returns true then, and false if the time of an `after` case passed first.
  /// Responses to `then` are handled meanwhile.
  ///
  /// Errors: an exception that leaves a case is passed on; the message is a dead letter, and its
  /// requester gets `receiver_failed`. If the actor is told to end, the call throws
  /// `blocking_actor_ends`: let it pass, or let it end the loop of a scoped actor's thread. On a
  /// worker thread, which only a scoped actor can use, it throws std::logic_error at once.
  template <class... Cases>
  bool receive(Cases... cases) {
    static_assert((detail::checked_case<Cases>::reported && ...));
    if constexpr ((detail::is_case<Cases> && ...)) {
      detail::behavior_for<Cases...> b(detail::to_case(std::move(cases))...);
      return detail::receive_one(this_cell(), b);
    } else {
      return false;
    }
  }
  /// Receives as long as `condition()` returns true; calls it before each message. The cases live
  /// as long as the call. The time of an `after` case starts anew with each receive.
  template <class Condition, class... Cases>
  void receive_while(Condition condition, Cases... cases) {
    static_assert((detail::checked_case<Cases>::reported && ...));
    if constexpr ((detail::is_case<Cases> && ...)) {
      detail::behavior_for<Cases...> b(detail::to_case(std::move(cases))...);
      while (condition()) detail::receive_one(this_cell(), b);
    }
  }
  /// Like every actor's `send`. The message names this actor as its sender, also if a scoped actor
  /// sends it.
  template <class To, class... Args>
  void send(const To& to, Args&&... args) {
    const detail::sending_as me(id());
    actor::send(to, std::forward<Args>(args)...);
  }
  /// Blocks until the answer to a request has come, and returns it. Messages wait meanwhile, and
  /// responses to `then` are handled.
  ///
  /// Errors: those of the request; `would_block`, at once, on a worker thread; `request_cycle`, in
  /// builds that look for cycles, if the receiver waits for this actor; `cancelled` if a scoped
  /// actor is told to end, as at the end of its system; `receiver_failed` if an exception keeps the
  /// value from being taken out of the response. Throws as `receive` if a blocking actor that is
  /// not scoped is told to end, and any exception of moving the value to the caller.
  ///
  ///     result<long> cents = self.get(self.request(account, balance{}, 1s));
  template <class... Rs>
  [[nodiscard]] auto get(pending_response<Rs...>&& p);
  /// Takes the response of a request that does not compile, so that the request's error stays the
  /// only one.
  detail::refused_response get(detail::refused_response) { return {}; }

 protected:
  blocking_actor() = default;
  ~blocking_actor() = default;
};

namespace detail {
/// Waits until the continuation sets `done`. Returns an error if a scoped actor was told to end.
[[nodiscard]] base::error wait_for_response(cell& self, const bool& done);

template <class Result, class Content>
class blocking_continuation final : public continuation {
 public:
  explicit blocking_continuation(Result& result_here, bool& is_done) noexcept
      : into_(result_here), done_(is_done) {}
  void on_response(cell&, envelope* e) override {
    done_ = true;
    take_answer<Content>(into_, e);
  }
  void abandon() noexcept override {
    done_ = true;
    into_ = Result(base::error(base::errc::cancelled));
  }

 private:
  Result& into_;
  bool& done_;
};
}  // namespace detail

template <class... Rs>
auto blocking_actor::get(pending_response<Rs...>&& p) {
  using value = std::conditional_t<sizeof...(Rs) == 0, result<void>, result<Rs...>>;
  value answer = base::error(base::errc::cancelled);
  bool done = false;
  const std::uint64_t id = std::move(p).take_id();
  if (base::error why = detail::may_not_wait(this_cell(), "get()")) {
    detail::forget_request(this_cell(), id);
    return value(std::move(why));
  }
  if (detail::closes_cycle(this_cell(), id)) {
    detail::forget_request(this_cell(), id);
    return value(base::error(base::errc::request_cycle));
  }
  detail::blocking_continuation<value, content_of<Rs...>> k(answer, done);
  struct withdraw {
    cell& self;
    std::uint64_t request;
    const bool& answered;
    ~withdraw() {
      if (!answered) detail::forget_request(self, request);  // told to end while it waited
    }
  } const guard{this_cell(), id, done};
  detail::attach_continuation(this_cell(), id, &k, false);
  if (base::error why = detail::wait_for_response(this_cell(), done)) return value(std::move(why));
  return answer;
}

/// Lets any thread take part as an actor, for as long as this object lives. Only the thread that
/// made it may use it. In a handler that runs on a worker it may send, but not wait. It is hidden:
/// `await_all` and the end of its system do not wait for it. It can be moved.
///
/// A scoped actor may outlive its system, which tells it to end. Then its wait ends, and
/// each later wait ends at once: `receive` throws `blocking_actor_ends`, `get` returns the error
/// `cancelled`.
///
///     scoped_actor me(system.env());
///     send(printer, me->self());  me->receive([](done) {});
class scoped_actor final {
 public:
  /// Makes an actor of the system with this environment: `system.env()`. Throws std::bad_alloc.
  explicit scoped_actor(environment& env) : scoped_actor(env, false) {}
  /// For the framework: makes an actor that sends requests on behalf of a thread, and that no other
  /// actor knows. Its requests to other nodes are ordered with the thread's own messages.
  scoped_actor(environment& env, bool asks_for_thread);
  /// Takes the actor over; `o` has none then, and may only be dropped or assigned to.
  scoped_actor(scoped_actor&& o) noexcept
      : state_(std::exchange(o.state_, nullptr)), self_(std::exchange(o.self_, nullptr)) {}
  /// The same; ends the actor that was here before.
  scoped_actor& operator=(scoped_actor&& o) noexcept {
    if (this == &o) return *this;
    const scoped_actor ends(std::move(*this));
    std::swap(state_, o.state_);
    std::swap(self_, o.self_);
    return *this;
  }
  /// Ends the actor; unread mail becomes dead letters.
  ~scoped_actor();

  [[nodiscard]] blocking_actor* operator->() noexcept { return &**this; }
  [[nodiscard]] blocking_actor& operator*() noexcept {
    GARRICK_ASSERT(self_ != nullptr, "a scoped_actor was used after it was moved from");
    return *self_;
  }

 private:
  struct state;
  state* state_;
  blocking_actor* self_;
};

}  // namespace garrick::core
