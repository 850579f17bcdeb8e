// The base classes of users' actors.
//
//   class account_actor : public garrick::actor<account> {
//     long cents_ = 0;
//    public:
//     void on(deposit d) { cents_ += d.cents; }
//     result<long> on(withdraw w);
//     long on(balance) const { return cents_; }
//   };
//
// Handlers are overloads of `on`, one for each signature of the protocol. Optional:
//
//   void on_start();                    runs first on the actor's own turn; or a task<>
//   void on_exit(const exit_reason&);   runs last on each object, at the end and before a restart;
//                                       not if the spawn was refused
//   void on(const down&);               system messages; also exit_signal and signals::child_failed
//   void on(const receive_timeout&);    no message was handled for a while: set_receive_timeout;
//                                       each of these may be a task<> that takes its message by
//                                       value, as task<> on(down d)
//   bool skips(const M&);               returns true if a message waits until retry_skipped()
//
// A destructor must not throw: an exception that leaves it ends the process, as in every noexcept
// function.
//
// Thread safety: every member function is for the actor's own turn only. The object lives from the
// spawn to the actor's end or restart, and is never used by two threads at once.
//
// The design is that of paper 001 §4.1–4.4 (docs/papers.md).
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/types/copyable.hpp>
#include <garrick/base/values/exit_reason.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/detail/actor_class.hpp>
#include <garrick/core/detail/monitor.hpp>
#include <garrick/core/detail/typed_question.hpp>
#include <garrick/core/life/signals.hpp>
#include <garrick/core/promise.hpp>
#include <garrick/core/receive_timeout.hpp>
#include <garrick/core/request.hpp>
#include <garrick/core/send.hpp>
#include <garrick/core/spawn_options.hpp>
#include <garrick/core/timer.hpp>

#include <string_view>
#include <utility>

namespace garrick::core {

struct child_options;

namespace detail {

[[nodiscard]] cell* claim_constructing_cell() noexcept;
void link_cells(cell& self, const address& other);
void unlink_cells(cell& self, const address& other);
void demonitor_cell(cell& self, monitor_id id);
void limit_silence(cell& self, base::duration limit);
/// Ends an actor, which cannot refuse. If `final`, no supervisor restarts it. Returns false if the
/// actor could not be told: it will have no further turn, and no strong handle to it exists.
bool kill_cell(const address& who, base::exit_reason reason, bool final = false);
/// Sends an exit signal; `self` is null for a thread. Returns false as `kill_cell` does.
bool exit_cell(cell* self, const address& who, base::exit_reason reason);
/// Tells an actor to end unless it waits for an answer. For actors that trap exits, when their
/// system ends and no actor has work. Returns false as `kill_cell` does.
bool leave_cell(const address& who);

}  // namespace detail

/// The operations of every actor. They are for the actor's own turn: its constructor, its handlers,
/// its hooks and its continuations.
class actor_base {
 public:
  using garrick_actor = void;

  actor_base(const actor_base&) = delete;
  actor_base& operator=(const actor_base&) = delete;

  /// Returns this actor's number: unique in the process, never 0, the same after a restart.
  [[nodiscard]] std::uint64_t id() const noexcept { return cell_->id(); }
  /// Returns the name given at spawn, or else the type's name. Valid while the actor exists.
  [[nodiscard]] std::string_view name() const noexcept { return cell_->name(); }
  /// Returns this actor's address, which does not keep it alive.
  [[nodiscard]] core::address address() const noexcept {
    return handle_access::make_address(cell_);
  }

  /// Ends this actor after the current handler. Its children end first, then `on_exit` runs, and
  /// unread mail becomes dead letters. Links and monitors are told `reason`. A second call changes
  /// nothing. A supervised child is restarted if its `restart_policy` says so.
  ///
  ///     void on(done) { quit(); }
  ///     void on(broken b) { quit(exit_code::user_shutdown); }
  void quit(base::exit_reason reason = {}) { cell_->quit(std::move(reason)); }
  /// This overload refuses an argument that is not a reason.
  template <class = void>
  void quit(detail::refused_reason /*reason*/) {}

  /// Like `garrick::send`.
  template <class P, class... Args>
  void send(const ref<P>& to, Args&&... args) {
    core::send(to, std::forward<Args>(args)...);
  }
  /// Like `garrick::send`: the error for a first argument that is not a handle.
  template <class To, class... Args>
    requires std::is_convertible_v<const To&, detail::not_a_handle>
  void send(const To& /*no handle*/, Args&&... /*unused*/) {
    static_assert(detail::sent_to_no_handle < sizeof(To) != 0 > ::reported);
  }
  /// The same for braces alone, which have no type.
  template <class P>
  void send(const ref<P>& /*to*/, detail::braced /*message*/) {
    static_assert(detail::message_in_braces<P>::reported);
  }

  /// Sends a request at once and returns the response to wait for: call `then` or `await` on it, or
  /// `co_await` it. A duration as the last argument is the time-out, unless the protocol takes it
  /// as part of the message. The request keeps this actor alive until it is answered.
  ///
  /// May wait for a full mailbox as `send` does.
  ///
  /// Errors, in the response: `not_handled`, `receiver_failed`, `timeout`, `unexpected_message`,
  /// `overload` (the receiver is at its limit, or this actor has too many open requests),
  /// `broken_promise`, or the handler's own error. Throws std::logic_error for an empty handle,
  /// std::bad_alloc.
  ///
  ///     request(account, withdraw{120}, 1s)
  ///         .then([](long left) {…}, [](const error& why) {…});
  template <class P, class... Args>
  auto request(const ref<P>& to, Args&&... args) {
    static_assert(
        !std::is_same_v<P, any_protocol>,
        "garrick: a wildcard handle needs request_as<R>(to, ...): R is the type of the answer");
    static_assert(detail::checked_reply<P, Args...>::reported);
    if constexpr (!std::is_same_v<P, any_protocol> && detail::checked_request<P, Args...>::fits)
      return detail::request_plain(*cell_, to, std::forward<Args>(args)...);
    else
      return detail::refused_response();
  }

  /// This overload refuses a first argument that is not a handle.
  template <bool Reached = true, class... Args>
  detail::refused_response request(detail::not_a_handle, const Args&...) {
    static_assert(detail::asked_no_handle<Reached>::reported);
    return {};
  }
  /// Like `request`, with urgent priority: the request overtakes normal mail at the receiver. The
  /// response has normal priority.
  template <class P, class... Args>
  auto request_urgent(const ref<P>& to, Args&&... args) {
    static_assert(!std::is_same_v<P, any_protocol>,
                  "garrick: an urgent request needs a typed handle");
    static_assert(detail::checked_reply<P, Args...>::reported);
    if constexpr (!std::is_same_v<P, any_protocol> && detail::checked_request<P, Args...>::fits)
      return detail::request_plain<true>(*cell_, to, std::forward<Args>(args)...);
    else
      return detail::refused_response();
  }

  /// Like `send`, to the member that the router picks here, or to all members of a broadcast.
  template <router_handle R, class... Args>
  void send(const R& to, Args&&... args) {
    to.send_from_here(std::forward<Args>(args)...);
  }
  /// Like `request`, to the member that the router picks here. A broadcast sends the request to all
  /// members, and its response is a vector of their results; see `fan_out`.
  template <router_handle R, class... Args>
  auto request(const R& to, Args&&... args) {
    return to.request_from(*this, std::forward<Args>(args)...);
  }
  /// The same, with a Message made of the arguments: `request<job>(pool, 7)`.
  template <class Message, router_handle R, class... Args>
  auto request(const R& to, Args&&... args) {
    return detail::asked_in_place(to.request_from(*this, Message{std::forward<Args>(args)...}));
  }

  /// Like `request`, with a Message that is built in place from the arguments, or moved there. This
  /// overload takes no time-out: use `within`. Safe inside a `co_await` expression, also with GCC
  /// 12.
  ///
  ///     result<long> left = co_await request<withdraw>(account, 120).within(1s);
  ///     result<long> sum = co_await request<order>(shop, std::move(order_));
  template <class Message, class P, class... Args>
  auto request(const ref<P>& to, Args&&... args) {
    static_assert(
        !std::is_same_v<P, any_protocol>,
        "garrick: a wildcard handle needs request_as<R>(to, ...): R is the type of the answer");
    static_assert(detail::checked_answer<typename detail::answer_to<P, Message>::type>::reported);
    if constexpr (!std::is_same_v<P, any_protocol> && detail::checked_in_place<P, Message>::fits) {
      using pending = typename detail::pending_for<typename P::template answer<Message>>::type;
      cell& c = detail::target_of(to, "a request");
      return pending(*cell_,
                     detail::send_request(
                         *cell_, c, detail::make_envelope<Message>(std::forward<Args>(args)...)));
    } else {
      return detail::refused_response();
    }
  }

  /// Sends as soon as the receiver has room: below its bound or, without one, its soft limit.
  /// Returns the response, which tells that the message has entered the mailbox, not that it was
  /// handled. No thread waits meanwhile, and plain sends may overtake the message.
  ///
  /// Errors: `not_handled`; `overload` if this actor has too many open requests, or if there is no
  /// memory for a message that waits. The message is then a dead letter.
  ///
  ///     co_await send_when_room(sink, sample{x});
  template <class P, class... Args>
  [[nodiscard]] auto send_when_room(const ref<P>& to, Args&&... args) {
    using content = typename detail::checked_message<P, Args...>::type;
    cell& c = detail::target_of(to, "send_when_room()");
    return typename detail::asked_with<pending_response<>, Args...>::type(
        *cell_,
        detail::send_parked(*cell_, c,
                            detail::make_message_envelope<content>(std::forward<Args>(args)...)));
  }
  /// Like `send_when_room`, with a Message that is built in place from the arguments. Safe inside a
  /// `co_await` expression, also with GCC 12.
  ///
  ///     co_await send_when_room<line>(printer, name, 7);
  template <class Message, class P, class... Args>
  [[nodiscard]] auto send_when_room(const ref<P>& to, Args&&... args) {
    if constexpr (detail::checked_in_place<P, Message>::fits) {
      cell& c = detail::target_of(to, "send_when_room()");
      return pending_response<>(
          *cell_, detail::send_parked(*cell_, c,
                                      detail::make_envelope<Message>(std::forward<Args>(args)...)));
    } else {
      return detail::refused_response();
    }
  }

  /// Sends a request to a wildcard handle, and returns its response, as `request` does. Rs are the
  /// types of the answer's values; an answer of another type is the error `unexpected_message`. A
  /// duration after the message is the time-out.
  template <class... Rs, class... Args>
  [[nodiscard]] auto request_as(const any_ref& to, Args&&... args) {
    static_assert(detail::checked_answer<response<Rs...>>::reported);
    static_assert(sizeof(detail::checked_request<any_protocol, Args...>) != 0);  // a short error
    return request_any<Rs...>(*cell_, to, std::forward<Args>(args)...);
  }

  /// Asks the actor behind a wildcard handle, on its turn and before its waiting mail, whether it
  /// understands P. Returns the response, a typed handle to that actor. The check is made once: if
  /// a dynamic actor changes its behavior later, the handle promises no more than a wildcard one. A
  /// case with values or a guard counts as one that takes its message. A dynamic actor has no
  /// behavior while its start awaits or while it waits for its restart; it is asked afterwards,
  /// behind its mail. For an actor of another node its proxy answers at once, by the protocols with
  /// which the actor was seen here.
  ///
  /// Errors: `unexpected_message` names the first signature that the actor does not understand;
  /// `not_handled` if the actor ended before it could answer; `overload`. Blocking actors and
  /// wildcard pipes cannot answer the question.
  ///
  ///     result<ref<calculator>> typed = co_await request_typed<calculator>(plugin_);
  template <class P>
  [[nodiscard]] pending_response<ref<P>> request_typed(const any_ref& to) {
    cell& c = detail::target_of(to, "request_typed()");
    pending_request r;
    pending_response<ref<P>> pending(*cell_, detail::open_request(*cell_, r));
    if (r.requester != nullptr)
      detail::ask_on_its_turn(c, std::make_unique<detail::typed_question<P>>(r));
    return pending;
  }

  /// Takes over the duty to answer the current request. Answer it later with `deliver` or `fail`,
  /// on any thread. A promise that is dropped answers `broken_promise`, or `receiver_failed` with
  /// the text of the exception if an exception drops it and ends the handler. The promise is empty
  /// if the message was not a request, or if its request was taken before; a handler that returns
  /// an empty promise answers `broken_promise`.
  ///
  ///     result<int> on(query) { waiting_ = make_promise<int>(); return waiting_; }
  ///     void on(answer a) { waiting_.deliver(a.value); }
  template <class... Ts>
  [[nodiscard]] response_promise<Ts...> make_promise() {
    static_assert(
        detail::checked_answer<typename detail::response_of<result<Ts...>>::type>::reported);
    return response_promise<Ts...>(detail::take_current_request(*cell_));
  }

  /// Returns a response without a value that comes after the time `d`; as soon as possible if `d`
  /// is zero or less. The delay keeps this actor alive, and is forgotten when the actor ends or
  /// restarts. Errors: `overload` if this actor has too many open requests.
  ///
  ///     co_await delay(10ms);
  [[nodiscard]] pending_response<> delay(base::duration d) {
    return pending_response<>(*cell_, detail::delay_request(*cell_, d));
  }
  /// This overload refuses a number.
  template <class = void>
  [[nodiscard]] detail::refused_response delay(base::detail::refused_number /*d*/) {
    return {};
  }

  /// Lets another actor answer the current request. The response of the other actor, value or
  /// error, goes straight to the requester. The handler must return the result of this call, and
  /// the answer's type must be the one that the protocol promises. If the message was not a
  /// request, this is a plain send on behalf of its sender. Waits and throws as `send` does.
  ///
  ///     auto on(query q) { return delegate(database_, q); }
  template <class P, class... Args>
  auto delegate(const ref<P>& to, Args&&... args) {
    using content = typename detail::checked_message<P, Args...>::type;
    cell& c = detail::target_of(to, "delegate()");
    envelope* const e = detail::make_message_envelope<content>(std::forward<Args>(args)...);
    detail::hand_on_current(*cell_, c, e);
    if constexpr (std::is_same_v<P, any_protocol>)
      return delegated<>{};
    else
      return delegated_for<typename detail::answer_to<P, content>::type>{};
  }
  /// This overload refuses a first argument that is not a handle.
  template <bool Reached = true, class... Args>
  delegated<detail::refused_delegation> delegate(detail::not_a_handle, const Args&...) {
    static_assert(detail::asked_no_handle<Reached>::reported);
    return {};
  }
  /// Like `delegate`, to the member that the router picks here. Not for a broadcast, since it has
  /// many answers.
  template <router_handle R, class... Args>
  auto delegate(const R& to, Args&&... args) {
    return to.delegate_from(*this, std::forward<Args>(args)...);
  }

  /// Links two actors: when one ends, the other gets an exit signal with the reason. The signal
  /// ends its receiver, unless the reason is normal or `unreachable`, or the receiver traps exits.
  /// If `other` has ended, the signal comes now; for an empty address its reason is `not_found`. A
  /// second call changes nothing, and a link to this actor itself does nothing. Does not wait. A
  /// link survives a restart.
  ///
  ///     link(worker);  // if the worker fails, so does this actor
  void link(const core::address& other) { detail::link_cells(*cell_, other); }
  /// The same for a handle. Throws std::logic_error for an empty one.
  void link(const handle& other) {
    static_cast<void>(detail::target_of(other, "link()"));
    link(other.address());
  }
  /// Removes the link on both sides. An exit signal that is on its way still comes.
  void unlink(const core::address& other) { detail::unlink_cells(*cell_, other); }
  /// The same for a handle.
  void unlink(const handle& other) { detail::unlink_cells(*cell_, other.address()); }
  /// This overload refuses an argument that names no actor.
  template <class = void>
  void link(detail::refused_actor /*other*/) {}
  /// This overload refuses an argument that names no actor.
  template <class = void>
  void unlink(detail::refused_actor /*other*/) {}

  /// Calls `f(const down&)` on this actor's turn, once, when `other` has ended. The call is made
  /// after the mail that waits here at that moment. So it follows all messages from `other`, except
  /// those that this actor skips or that wait for room (`send_when_room`). If `other` has ended
  /// already, or if the address is empty, that moment is now. Each call makes a monitor of its own.
  /// The monitor is gone when this actor ends or restarts. A restart of `other` is not an end. An
  /// exception that leaves `f` ends this actor.
  ///
  ///     const monitor_id m = monitor(worker, [this](const down& d) { replace(d.who); });
  ///     demonitor(m);
  template <class F>
  monitor_id monitor(const core::address& other, F f) {
    static_assert(detail::monitor_check<F>::reported);
    return detail::monitor_by_function(*cell_, other, std::move(f));
  }
  /// The same for a handle. Throws std::logic_error for an empty one.
  template <class F>
  monitor_id monitor(const handle& other, F f) {
    static_assert(detail::monitor_check<F>::reported);
    static_cast<void>(detail::target_of(other, "monitor()"));
    return detail::monitor_by_function(*cell_, other.address(), std::move(f));
  }
  /// Like the function above, with a `down` message to this actor instead of a call. Without a
  /// handler `on(const down&)` the message is a dead letter.
  monitor_id monitor(const core::address& other) {
    return detail::monitor_cell(*cell_, other, nullptr);
  }
  /// The same for a handle. Throws std::logic_error for an empty one.
  monitor_id monitor(const handle& other) {
    static_cast<void>(detail::target_of(other, "monitor()"));
    return monitor(other.address());
  }
  /// This overload refuses an argument that names no actor.
  template <class = void>
  monitor_id monitor(detail::refused_actor /*other*/, detail::any_function /*f*/ = {}) {
    return {};
  }
  /// Cancels a monitor. From now on it sends no `down` and makes no call, even if the watched
  /// actor has ended meanwhile. The id of a monitor that has fired or was cancelled is ignored.
  void demonitor(monitor_id id) { detail::demonitor_cell(*cell_, id); }

  /// Traps exit signals if `on`: they arrive as messages (`on(const exit_signal&)`) and do not end
  /// this actor, whatever the reason. Without that handler they are dead letters. If that handler
  /// is a coroutine, they wait behind the mail. A kill cannot be trapped. Off at first, and after a
  /// restart.
  void trap_exit(bool on);

  /// If `on`, lets other messages be handled while a coroutine handler waits. The actor's state may
  /// then change across a `co_await`. Off at first, and after a restart.
  void interleave(bool on);

  /// Sends this actor a `receive_timeout` when no message was handled for the time `limit`, and
  /// again after each further such time: as soon as possible if `limit` is zero or less, never if
  /// it is infinite. Skipped messages and answers to requests do not count. While the actor awaits,
  /// no time-out comes, and the time starts again afterwards, unless the actor interleaves. A
  /// second call replaces the first. Off at first, and after a restart. The time-out is a dead
  /// letter if no `on(const receive_timeout&)` takes it. An actor that is made of behaviors has
  /// `after` instead.
  ///
  ///     void on_start() { set_receive_timeout(30s); }
  ///     void on(const receive_timeout&) { quit(); }
  void set_receive_timeout(base::duration limit) { detail::limit_silence(*cell_, limit); }
  /// This overload refuses a number.
  template <class = void>
  void set_receive_timeout(base::detail::refused_number /*limit*/) {}

  /// Tries skipped messages again, from the next message on: in their order, and before all others.
  /// A message is skipped while a function `bool skips(const M&)` of the actor's class returns true
  /// for it. A skipped message waits in the mailbox, and `on` does not get it. Senders do not wait
  /// for an actor with skipped messages. A restart tries them again, too; at the end they are dead
  /// letters.
  ///
  ///     bool skips(const query&) const { return !connected_; }
  ///     void on(connected) { connected_ = true;  retry_skipped(); }
  void retry_skipped() { cell_->retry_skipped(); }

  /// Sends a message after a delay, to any actor; as soon as possible if `delay` is zero or less.
  /// The timer keeps the receiver alive, is cancelled when this actor ends or restarts, and does
  /// not fire once the system shuts down. It never waits for a full receiver: at the receiver's
  /// hard limit, or at the bound of a bounded mailbox, the message is a dead letter (`overload`).
  /// Throws std::logic_error for an empty handle, std::bad_alloc.
  ///
  ///     timer t = send_after(100ms, self(), retry{});
  template <class P, class... Args>
  timer send_after(base::duration delay, const ref<P>& to, Args&&... args) {
    using content = typename detail::checked_message<P, Args...>::type;
    return detail::delayed(*cell_, detail::target_of(to, "send_after()"),
                           detail::make_message_envelope<content>(std::forward<Args>(args)...),
                           delay);
  }
  /// Sends a message every `period`, the first time after one period. Requires a copyable message:
  /// all beats share its content, and a handler that takes its own value gets a copy on the
  /// receiver's turn. While 1000 messages wait in the receiver (or its soft limit, if that is
  /// higher), beats are left out, and each is a dead letter (`overload`). Otherwise as
  /// `send_after`. Throws std::invalid_argument for a period of zero or less.
  ///
  ///     timer beat = send_every(1s, self(), tick{});
  template <class P, class... Args>
  timer send_every(base::duration period, const ref<P>& to, Args&&... args) {
    using content = typename detail::checked_message<P, Args...>::type;
    static_assert(base::copyable_message<content>, "garrick: a periodic message must be copyable");
    return detail::periodic(*cell_, detail::target_of(to, "send_every()"),
                            detail::make_message_envelope<content>(std::forward<Args>(args)...),
                            period);
  }

  /// Returns the id of the actor that sent the current message; 0 if a thread sent it, or if no
  /// message is being handled. A request of a thread has the id of a hidden actor.
  [[nodiscard]] std::uint64_t sender_id() const noexcept {
    const envelope* const e = cell_->current();
    if (e == nullptr) return 0;
    return e->is(envelope_flag::request) ? e->requester->id() : e->sender_id;
  }

  /// Returns the number of messages that wait in the mailbox, with skipped ones but without the
  /// current one.
  [[nodiscard]] std::uint32_t mailbox_length() const noexcept { return cell_->mailbox_length(); }

  /// Spawns a class-based actor into the same system, and returns a handle to it, which is never
  /// empty. The arguments are the constructor's; a spawn_options before them is for the spawn. The
  /// constructor runs here, on this thread, and the handlers run elsewhere. Costs one block from a
  /// pool.
  ///
  /// Errors: if the constructor throws or an option is refused (`spawn_failed`), or the system has
  /// begun to stop (`shutting_down`), the handle names an actor that has ended with that error;
  /// `try_spawn` returns the error itself. Throws std::bad_alloc.
  ///
  ///     ref<account> a = spawn<account_actor>(100);
  ///     spawn<reader>(spawn_options{.linked = true}, path);
  template <class A, class... Args>
  auto spawn(Args&&... args);
  /// The same with options, which may be a list in braces.
  template <class A, class... Args>
  auto spawn(const spawn_options& o, Args&&... args);
  /// Spawns a function-based actor: `spawn([](dynamic_actor& self) -> behavior {…})`. The type of
  /// the function's first parameter decides the kind of actor; further parameters are the
  /// arguments. The function runs as the actor's first turn. Errors as above.
  template <class F, class... Args>
    requires(!std::is_same_v<std::decay_t<F>, spawn_options>)
  auto spawn(F&& f, Args&&... args);
  /// The same with options.
  template <class F, class... Args>
  auto spawn(const spawn_options& o, F&& f, Args&&... args);

  /// Like the class-based `spawn`, but returns its errors, `spawn_failed` and `shutting_down`, as
  /// values, and a failure of `on_start`, too. `on_start` runs here, on this thread, in the middle
  /// of this actor's handler; a coroutine runs up to its first wait. The call does not wait for the
  /// `on_start` of an actor that is lazy or has a thread of its own.
  template <class A, class... Args>
  base::result<ref<detail::protocol_of<A>>> try_spawn(Args&&... args);
  /// The same with options, which may be a list in braces.
  template <class A, class... Args>
  base::result<ref<detail::protocol_of<A>>> try_spawn(const spawn_options& o, Args&&... args);

  /// Spawns a class-based child that this actor supervises. The child's options and this actor's
  /// `supervision` decide about restarts. Before this actor ends, its children are stopped, the
  /// youngest first. The handle stays valid over restarts. A child_options before the arguments is
  /// for the child; the arguments must be copyable, since every start gets copies of its own.
  /// Errors as `spawn`, and `spawn_failed` if another child has the given name. Include
  /// <garrick/core/supervision/supervisor.hpp>.
  ///
  ///     worker_ = supervise<worker>(child_options{.name = "worker"}, path_);
  template <class A, class... Args>
  auto supervise(Args&&... args);
  /// The same with options, which may be a list in braces.
  template <class A, class... Args>
  auto supervise(const child_options& o, Args&&... args);
  /// The same for a function-based child: `supervise(f, args...)`.
  template <class F, class... Args>
  auto supervise(F&& f, Args&&... args);
#if defined(__clang__)  // as in spawner.hpp
  /// This overload refuses braces that are not options.
  template <class A = void>
  ref<detail::protocol_of<A>> spawn(...) volatile;
  /// This overload refuses braces that are not options.
  template <class A = void>
  ref<detail::protocol_of<A>> supervise(...) volatile;
#else
  /// This overload refuses braces that are not options.
  template <class A = void, class Garrick = detail::options_in_braces_have_no_such_member>
  ref<detail::protocol_of<A>> spawn(...) volatile = delete;
  /// This overload refuses braces that are not options.
  template <class A = void, class Garrick = detail::options_in_braces_have_no_such_member>
  ref<detail::protocol_of<A>> supervise(...) volatile = delete;
#endif

  /// Sets the rules for the children that this actor supervises. Call it before the first
  /// `supervise`: a child's `stop_within` is fixed when it is started. A restart of this actor
  /// forgets the rules. Throws std::invalid_argument that names a bad setting.
  void set_supervision(const struct supervision& how);

  /// Returns the number of the system's workers: as many of its actors can run at the same time,
  /// besides those with threads of their own. 1 in the testkit.
  [[nodiscard]] std::uint32_t workers() const { return cell_->env().workers->concurrency(); }

  /// Returns the system's time: real or, in the testkit, virtual.
  [[nodiscard]] base::instant now() const { return cell_->env().clock->now(); }

 protected:
  actor_base() : cell_(detail::claim_constructing_cell()) {}
  ~actor_base() = default;

  /// For the framework: returns the cell that holds this object.
  [[nodiscard]] cell& this_cell() const noexcept { return *cell_; }

 private:
  friend struct actor_access;

  template <class Answer>
  struct delegated_of : std::type_identity<delegated<detail::refused_delegation>> {};
  template <class... Ts>
  struct delegated_of<response<Ts...>> {
    using type = delegated<Ts...>;
  };
  template <class Answer>
  using delegated_for = typename delegated_of<Answer>::type;

  cell* cell_;
};

/// For the framework: the cell of an actor.
struct actor_access {
  [[nodiscard]] static cell& get(const actor_base& a) noexcept { return *a.cell_; }
};

/// An actor that understands the protocol P: the base of users' classes. Each signature of P needs
/// one public handler `on`; a missing, wrong or ambiguous one is a compile error that names the
/// signature. An exception that leaves a handler or hook ends the actor with `failure`; a request
/// that the actor held gets `receiver_failed`. Built by `spawn` only.
///
///     struct counter : actor<protocol<void(add), int(read)>> {
///       void on(add a) { sum_ += a.n; }  int on(read) { return sum_; }  int sum_ = 0;
///     };
template <class P>
class actor : public actor_base {
  static_assert(detail::looked_at<P>);

 public:
  using protocol_type = P;  ///< the messages and answers of the actor

  /// Returns a strong handle to this actor. An actor that keeps one to itself lives until it quits.
  [[nodiscard]] ref<P> self() const {
    this_cell().add_strong_from_self();
    return handle_access::adopt<P>(&this_cell());
  }

 protected:
  actor() = default;
  ~actor() = default;
};

}  // namespace garrick::core
