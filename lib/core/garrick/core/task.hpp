// Coroutine handlers: a handler that returns task<R> may suspend without holding a thread.
//
//   task<long> on(transfer t) {   // parameters by value: they live in the coroutine's frame
//     result<long> left = co_await request<withdraw>(t.from, t.cents);
//     if (!left) co_return left.error();
//     co_return *left;
//   }
//
// Guarantees: a frame resumes and dies only on its actor's turn, before the actor's state is
// destroyed. If the actor ends first, the frame is destroyed with its parameters and variables, and
// the requester gets an error. While a coroutine waits, other messages wait, too, unless the actor
// asked for interleaving. Only the framework's awaitables can be awaited. For others use `adapt`
// (adapt.hpp), which posts to the mailbox.
//
// Errors: co_await yields a result and does not throw. An exception that leaves the coroutine ends
// the actor, like one that leaves any handler.
//
// GCC 12 destroys some temporaries twice when they are built inside a co_await expression (the
// guide's chapter 6 has the table). A request with such a temporary as an argument cannot be
// awaited: that does not compile (request.hpp). `co_await request<message>(to, args...)` builds the
// message inside a function, and is safe.
//
// Thread safety: a coroutine runs on its actor's turn, and a task is used there alone.
#pragma once

#include <garrick/core/request.hpp>
#include <garrick/core/turn/suspended_frame.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::core {

template <class R = void>
class task;

namespace detail {

/// The coroutine that this thread resumes next. A trampoline takes the place of symmetric transfer,
/// since its depth does not depend on the optimiser.
inline constinit thread_local std::coroutine_handle<> next_coroutine{};

inline void resume_chain(std::coroutine_handle<> first, suspended_frame* frame) {
  const std::coroutine_handle<> outer = std::exchange(next_coroutine, first);
  suspended_frame* const outer_frame = std::exchange(running_frame, frame);
  while (next_coroutine) std::exchange(next_coroutine, {}).resume();
  next_coroutine = outer;
  running_frame = outer_frame;
}

/// The type and the sender of a message, for a dead letter: the content was moved into the frame of
/// the coroutine that handles it. The type is null for a hook's frame.
struct handled_message {
  const base::message_type* type = nullptr;
  std::uint64_t sender = 0;
};

/// Ends the actor for an exception that left a top-level coroutine, and destroys its frame.
void frame_failed(cell& self, const handled_message& message, pending_request request,
                  const std::exception_ptr& what, std::coroutine_handle<> frame) noexcept;
void link_frame(cell& self, suspended_frame& f) noexcept;
void unlink_frame(suspended_frame& f) noexcept;

template <class T>
inline constexpr bool is_pending = false;
template <class... Rs>
inline constexpr bool is_pending<pending_response<Rs...>> = true;
template <class Argument, class... Rs>
inline constexpr bool is_pending<asked_with_temporary<Argument, Rs...>> = true;
template <>
inline constexpr bool is_pending<refused_response> = true;

/// Returns true if other messages may be handled while a coroutine of this actor waits.
[[nodiscard]] bool interleaves(cell& self) noexcept;

/// Marks an awaitable that resumes its coroutine on the actor's turn only.
struct framework_awaitable {};

class task_promise_base : public suspended_frame {
 public:
  static void* operator new(std::size_t n) { return base::block_pool::allocate(n); }
  static void operator delete(void* p, std::size_t n) noexcept {
    base::block_pool::deallocate(p, n);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct finish {
    bool await_ready() const noexcept { return false; }
    template <class P>
    void await_suspend(std::coroutine_handle<P> h) noexcept {
      task_promise_base& p = h.promise();
      if (p.parent_)
        next_coroutine = p.parent_;
      else
        p.top_level_done();
    }
    void await_resume() const noexcept {}
  };
  finish final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }

  template <class A>
  decltype(auto) await_transform(A&& awaitable) {
    static_assert(checked_await<std::remove_cvref_t<A>>::reported);
    static_assert(std::is_base_of_v<framework_awaitable, std::remove_cvref_t<A>> ||
                      is_task<std::remove_cvref_t<A>> || is_pending<std::remove_cvref_t<A>>,
                  "garrick: a task awaits requests, tasks and garrick's own awaitables; wrap "
                  "anything else with garrick::adapt");
    return std::forward<A>(awaitable);
  }

  /// Runs the coroutine as the top-level one of a handler.
  void start_top_level(cell& self, std::coroutine_handle<> me, envelope* e) {
    self_ = &self;
    me_ = me;
    request_ = take_request_for_later(e);
    message_ = {e->type, e->sender_id};
    link_frame(self, *this);
    resume_chain(me, this);
  }
  /// Runs the coroutine as a hook, which has no message.
  void start_top_level(cell& self, std::coroutine_handle<> me) {
    self_ = &self;
    me_ = me;
    link_frame(self, *this);
    resume_chain(me, this);
  }
  [[nodiscard]] pending_request hand_over_request(const cell& self) noexcept final {
    return self_ == &self ? std::exchange(request_, {}) : pending_request{};
  }
  void set_parent(std::coroutine_handle<> parent) noexcept { parent_ = parent; }
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  void destroy_frame() noexcept final {
    // When `unkept` is dropped, after the frame, the requester is told why there is no answer.
    const promise_base unkept(std::exchange(request_, {}));
    me_.destroy();
  }

 protected:
  ~task_promise_base() = default;
  virtual void answer(pending_request r) = 0;

 private:
  void top_level_done() noexcept {
    unlink_frame(*this);
    running_frame = nullptr;
    cell& self = *self_;
    pending_request request = std::exchange(request_, {});
    const handled_message m = message_;
    std::exception_ptr failure = std::exchange(failure_, nullptr);
    if (!failure) {
      try {
        answer(std::exchange(request, {}));
      } catch (...) { failure = std::current_exception(); }  // the requester has been told
    }
    if (failure) return frame_failed(self, m, request, failure, me_);
    me_.destroy();
  }

  std::coroutine_handle<> parent_;
  std::coroutine_handle<> me_;
  cell* self_ = nullptr;
  pending_request request_;
  handled_message message_;
  std::exception_ptr failure_;
};

/// The promise of a task that returns a value; co_return may give an error.
template <class R>
class task_promise final : public task_promise_base {
 public:
  using value = typename std::conditional_t<is_core_result<R>, std::type_identity<R>,
                                            std::type_identity<result<R>>>::type;

  task<R> get_return_object() noexcept;
  template <class U>
    requires std::is_convertible_v<U, value>
  void return_value(U&& v) {
    value_.emplace(std::forward<U>(v));
  }
  /// Takes a delegation. A function of its own, so that the error for a wrong one is short.
  template <class... Us>
  void return_value([[maybe_unused]] delegated<Us...> d) {
    if constexpr (std::is_same_v<typename response_of<value>::type, response<Us...>>)
      value_.emplace(d);
    else
      static_assert(delegation_becomes<value, Us...>::reported);
  }
  [[nodiscard]] value take() {
    this->rethrow();
    return std::move(*value_);
  }

 protected:
  void answer(pending_request r) override;

 private:
  std::optional<value> value_;
};

template <>
class task_promise<void> final : public task_promise_base {
 public:
  using value = result<void>;
  task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  [[nodiscard]] value take() {
    this->rethrow();
    return {};
  }

 protected:
  void answer(pending_request r) override { respond_value<unit>(r); }
};

}  // namespace detail

/// The return type of a coroutine handler that answers with R; `co_return` takes an R, an error or
/// a result<R>. Helpers that a handler awaits return it, too. The framework or `co_await` starts
/// the coroutine; a task that is never started is destroyed with this object. Requires parameters
/// by value, which live in the coroutine's frame; references would dangle. An exception that leaves
/// the coroutine ends the actor. Costs one frame from a pool.
///
///     task<long> on(total) { co_return co_await sum_of(left_, right_); }
///     task<long> sum_of(ref<account> a, ref<account> b);
template <class R>
class [[nodiscard]] task {
 public:
  using promise_type = detail::task_promise<R>;             ///< for the compiler
  using handle_type = std::coroutine_handle<promise_type>;  ///< for the framework

  /// For the framework: takes over a coroutine that has not started.
  explicit task(handle_type h) noexcept : h_(h) {}
  task(task&& o) noexcept : h_(std::exchange(o.h_, {})) {}
  task& operator=(task&&) = delete;
  ~task() {
    if (h_) h_.destroy();
  }

  /// Awaiting a task runs it as a part of the awaiting coroutine, and yields its value or error as
  /// a `result`. Await it once.
  bool await_ready() const noexcept { return false; }
  /// For the compiler: starts this coroutine; `parent` continues when it is done.
  void await_suspend(std::coroutine_handle<> parent) noexcept {
    h_.promise().set_parent(parent);
    detail::next_coroutine = h_;
  }
  /// For the compiler: returns the value or error. Throws the exception that left the coroutine.
  auto await_resume() { return h_.promise().take(); }

  /// For the framework: returns the coroutine, which the caller owns from now on.
  [[nodiscard]] handle_type release() noexcept { return std::exchange(h_, {}); }

 private:
  handle_type h_;
};

namespace detail {

template <class R>
task<R> task_promise<R>::get_return_object() noexcept {
  return task<R>(std::coroutine_handle<task_promise>::from_promise(*this));
}
inline task<void> task_promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

template <class R>
void task_promise<R>::answer(pending_request r) {
  if (r.requester == nullptr) return;
  if (value_->answered_later()) {
    respond_error(r, base::errc::broken_promise);
    return;
  }
  respond_result(r, typename response_of<R>::type{}, std::move(*value_));
}

template <class Answer, class R>
void start_task(cell& self, envelope* e, task<R>&& t) {
  static_assert(std::is_same_v<Answer, typename response_of<R>::type>,
                "garrick: the task's value has another type than the protocol's answer");
  // the extension lists the frame; if this throws, `e` keeps its request
  static_cast<void>(self.ext());
  const auto h = t.release();
  h.promise().start_top_level(self, h, e);
}

template <class R>
void start_hook(cell& self, task<R>&& t) {
  static_cast<void>(self.ext());  // the extension lists the frame
  const auto h = t.release();
  h.promise().start_top_level(self, h);
}

}  // namespace detail

/// For the framework: the awaiter of a request.
template <class P>
class response_awaiter;

/// For the framework: waits for the response in the coroutine's frame, and yields it as a `result`.
template <class... Rs>
class response_awaiter<pending_response<Rs...>> final : public continuation,
                                                        public detail::framework_awaitable {
 public:
  using value = std::conditional_t<sizeof...(Rs) == 0, result<void>, result<Rs...>>;

  explicit response_awaiter(pending_response<Rs...>&& p) noexcept : self_(p.self_), id_(p.id_) {
    p.used_ = true;
  }
  response_awaiter(response_awaiter&&) = delete;
  ~response_awaiter() {
    if (waiting_) detail::forget_request(*self_, id_);
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) {
    waiting_ = true;
    in_suspend_ = true;
    waiter_ = h;
    frame_ = detail::running_frame;
    detail::attach_continuation(*self_, id_, this, !detail::interleaves(*self_));
    in_suspend_ = false;
    return waiting_;  // false: the response was there already
  }
  value await_resume() { return std::move(value_); }

  void on_response(cell&, envelope* e) override {
    detail::take_answer<content_of<Rs...>>(value_, e);
    waiting_ = false;
    if (!in_suspend_) detail::resume_chain(waiter_, frame_);
  }
  void abandon() noexcept override { waiting_ = false; }

 private:
  cell* self_;
  std::uint64_t id_;
  bool waiting_ = false;
  bool in_suspend_ = false;
  std::coroutine_handle<> waiter_;
  suspended_frame* frame_ = nullptr;
  value value_ = base::error(base::errc::cancelled);  // until the answer has come
};

template <class... Rs>
auto operator co_await(pending_response<Rs...>&& p) noexcept {
  return response_awaiter<pending_response<Rs...>>(std::move(p));
}

}  // namespace garrick::core
