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
//   void on_start();                    the first thing on the actor's own turn; or a task<>
//   void on_exit(const exit_reason&);   the last, unless the spawn was refused
//   void on(const down&);               system messages; also exit_signal and signals::child_failed
//
// No destructor may throw: one that does ends the process, as it would in every noexcept function.
//
// Thread safety: every member function is for the actor's own turn only. The object lives from
// spawn to its end (or restart) and is never used by two threads at once. Paper 001 §4.1–4.4.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/types/copyable.hpp>
#include <garrick/base/values/exit_reason.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/cell/signals.hpp>
#include <garrick/core/cell/timer_record.hpp>
#include <garrick/core/promise.hpp>
#include <garrick/core/request.hpp>
#include <garrick/core/send.hpp>
#include <garrick/core/spawn_options.hpp>

#include <string_view>
#include <utility>

namespace garrick::core {

/// A delayed or periodic send that can be cancelled. It can be moved, not copied; it may outlive
/// the actor, and letting it fall cancels nothing.
class timer {
 public:
  timer() noexcept = default;
  explicit timer(timer_record* adopted) noexcept : record_(adopted) {}
  timer(timer&& o) noexcept : record_(std::exchange(o.record_, nullptr)) {}
  timer& operator=(timer&& o) noexcept {
    std::swap(record_, o.record_);
    return *this;
  }
  ~timer() {
    if (record_ != nullptr) record_->drop_holder();
  }
  /// True if it was still to fire.
  bool cancel() noexcept { return record_ != nullptr && record_->cancel_and_unlist(); }
  [[nodiscard]] bool active() const noexcept { return record_ != nullptr && record_->active(); }

 private:
  timer_record* record_ = nullptr;
};

/// What a monitor is cancelled with.
struct monitor_id {
  std::uint64_t value = 0;
};

namespace detail {

[[nodiscard]] cell* claim_constructing_cell() noexcept;
void link_cells(cell& self, const address& other);
void unlink_cells(cell& self, const address& other);
monitor_id monitor_cell(cell& self, const address& other, continuation* callback);
void demonitor_cell(cell& self, monitor_id id);
timer delayed(cell& self, cell& target, envelope* e, base::duration delay);
timer periodic(cell& self, cell& target, envelope* e, base::duration period);
/// `final`: no supervisor restarts it.
/// Both: false if nobody holds a handle to `who` now, so that it could not be told. It may still be
/// at work, and hold itself later.
bool kill_cell(const address& who, base::exit_reason reason, bool final = false);
bool exit_cell(cell* self, const address& who, base::exit_reason reason);

template <class F>
class down_continuation final : public continuation {
 public:
  explicit down_continuation(F f) : f_(std::move(f)) {}
  void on_response(cell&, envelope* e) override {
    struct cleanup {
      down_continuation* k;
      ~cleanup() { k->abandon(); }
    } const guard{this};
    f_(*static_cast<const down*>(e->raw()));
  }
  void abandon() noexcept override {
    this->~down_continuation();
    base::block_pool::deallocate(this, sizeof(down_continuation));
  }
  [[nodiscard]] static continuation* make(F f) {
    return ::new (base::block_pool::allocate(sizeof(down_continuation)))
        down_continuation(std::move(f));
  }

 private:
  ~down_continuation() = default;
  F f_;
};

}  // namespace detail

/// What every actor can do on its own turn.
class actor_base {
 public:
  actor_base(const actor_base&) = delete;
  actor_base& operator=(const actor_base&) = delete;

  [[nodiscard]] std::uint64_t id() const noexcept { return cell_->id(); }
  [[nodiscard]] std::string_view name() const noexcept { return cell_->name(); }
  [[nodiscard]] core::address address() const noexcept {
    return handle_access::make_address(cell_);
  }

  /// Ends this actor after the current handler.
  void quit(base::exit_reason reason = {}) { cell_->quit(std::move(reason)); }

  template <class P, class... Args>
  void send(const ref<P>& to, Args&&... args) {
    core::send(to, std::forward<Args>(args)...);
  }

  /// Sends a request. The last argument may be a duration: the time-out, if the protocol does not
  /// take it as part of the message.
  template <class P, class... Args>
  auto request(const ref<P>& to, Args&&... args) {
    static_assert(
        !std::is_same_v<P, any_protocol>,
        "garrick: a wildcard handle needs request_as<R>(to, ...): say what the answer holds");
    if constexpr (!std::is_same_v<P, any_protocol> && detail::checked_request<P, Args...>::fits)
      return detail::request_plain(*cell_, to, std::forward<Args>(args)...);
    else
      return detail::refused_response();
  }

  /// The same with urgent priority: the request overtakes normal mail at the receiver. The answer
  /// comes as any other.
  template <class P, class... Args>
  auto request_urgent(const ref<P>& to, Args&&... args) {
    static_assert(!std::is_same_v<P, any_protocol>,
                  "garrick: an urgent request needs a typed handle");
    if constexpr (!std::is_same_v<P, any_protocol> && detail::checked_request<P, Args...>::fits)
      return detail::request_plain<true>(*cell_, to, std::forward<Args>(args)...);
    else
      return detail::refused_response();
  }

  /// The same for a router: the member is picked here.
  template <router_handle R, class... Args>
  void send(const R& to, Args&&... args) {
    to.send_from_here(std::forward<Args>(args)...);
  }
  template <router_handle R, class... Args>
  auto request(const R& to, Args&&... args) {
    return to.request_from(*this, std::forward<Args>(args)...);
  }
  template <class Message, router_handle R, class... Args>
  auto request(const R& to, Args&&... args) {
    return to.request_from(*this, Message{std::forward<Args>(args)...});
  }

  /// Builds the message in place: `co_await request<withdraw>(account, 120)`.
  template <class Message, class P, class... Args>
  auto request(const ref<P>& to, Args&&... args) {
    static_assert(
        !std::is_same_v<P, any_protocol>,
        "garrick: a wildcard handle needs request_as<R>(to, ...): say what the answer holds");
    if constexpr (!std::is_same_v<P, any_protocol> && detail::checked_in_place<P, Message>::fits) {
      using pending = typename detail::pending_for<typename P::template answer<Message>>::type;
      cell& c = detail::target_of(to);
      return pending(*cell_,
                     detail::send_request(
                         *cell_, c, detail::make_envelope<Message>(std::forward<Args>(args)...)));
    } else {
      return detail::refused_response();
    }
  }

  /// Sends when the receiver has room (below its bound or, without one, its soft limit): `co_await
  /// send_when_room(to, sample{x})`. The response says that the message has entered the mailbox,
  /// not that it was handled. It may be overtaken by plain sends.
  template <class P, class... Args>
  pending_response<> send_when_room(const ref<P>& to, Args&&... args) {
    using content = typename detail::checked_message<P, Args...>::type;
    cell& c = detail::target_of(to);
    return {*cell_,
            detail::send_parked(
                *cell_, c, detail::make_message_envelope<content>(std::forward<Args>(args)...))};
  }

  /// A request to a wildcard handle; Rs name what the answer holds. A duration after the message is
  /// the time-out.
  template <class... Rs, class... Args>
  [[nodiscard]] pending_response<Rs...> request_as(const any_ref& to, Args&&... args) {
    return request_any<Rs...>(*cell_, to, std::forward<Args>(args)...);
  }

  /// Takes the request that is being handled out of the handler's hands: answer it later with
  /// `deliver`, from anywhere.
  template <class... Ts>
  [[nodiscard]] response_promise<Ts...> make_promise() {
    return response_promise<Ts...>(detail::take_current_request(*cell_));
  }

  /// Answers itself with nothing after that time: `co_await delay(10ms)`, or `.then(...)`.
  /// Forgotten when this actor ends or restarts.
  [[nodiscard]] pending_response<> delay(base::duration d) {
    return pending_response<>(*cell_, detail::delay_request(*cell_, d));
  }

  /// Lets another actor answer the request that is being handled: its response goes straight to the
  /// requester.
  template <class P, class... Args>
  auto delegate(const ref<P>& to, Args&&... args) {
    using content = typename detail::checked_message<P, Args...>::type;
    cell& c = detail::target_of(to);
    envelope* const e = detail::make_message_envelope<content>(std::forward<Args>(args)...);
    detail::hand_request_over(*cell_, c, e);
    c.deliver(e);
    if constexpr (std::is_same_v<P, any_protocol>)
      return delegated<>{};
    else
      return delegated_for<typename P::template answer<content>>{};
  }
  /// The same for a router: the member is picked here. Not for a broadcast, which has many answers.
  template <router_handle R, class... Args>
  auto delegate(const R& to, Args&&... args) {
    return to.delegate_from(*this, std::forward<Args>(args)...);
  }

  /// Ends together with `other`, whoever ends first, unless the reason is normal or `unreachable`,
  /// or exits are trapped.
  void link(const core::address& other) { detail::link_cells(*cell_, other); }
  void link(const handle& other) { detail::link_cells(*cell_, other.address()); }
  void unlink(const core::address& other) { detail::unlink_cells(*cell_, other); }
  void unlink(const handle& other) { detail::unlink_cells(*cell_, other.address()); }

  /// Calls f(const down&) on this actor's turn when `other` has ended, at once if it has ended
  /// already.
  template <class F>
  monitor_id monitor(const core::address& other, F f) {
    return detail::monitor_cell(*cell_, other, detail::down_continuation<F>::make(std::move(f)));
  }
  template <class F>
  monitor_id monitor(const handle& other, F f) {
    return monitor(other.address(), std::move(f));
  }
  /// The same with a `down` message to this actor.
  monitor_id monitor(const core::address& other) {
    return detail::monitor_cell(*cell_, other, nullptr);
  }
  monitor_id monitor(const handle& other) { return monitor(other.address()); }
  void demonitor(monitor_id id) { detail::demonitor_cell(*cell_, id); }

  /// While on, exit signals are messages (`on(const exit_signal&)`) and do not end this actor.
  void trap_exit(bool on);

  /// While on, other messages are handled while a coroutine handler waits.
  void interleave(bool on);

  /// Sends after a delay, to anyone. The timer is cancelled when this actor ends or restarts.
  template <class P, class... Args>
  timer send_after(base::duration delay, const ref<P>& to, Args&&... args) {
    using content = typename detail::checked_message<P, Args...>::type;
    return detail::delayed(*cell_, detail::target_of(to),
                           detail::make_message_envelope<content>(std::forward<Args>(args)...),
                           delay);
  }
  /// Sends again and again; the first time after one period. Requires a copyable message. Throws
  /// std::invalid_argument for a period of zero or less. While 1000 messages (or its soft limit, if
  /// that is higher) wait in the receiver, beats are left out, and each is a dead letter
  /// (`overload`).
  template <class P, class... Args>
  timer send_every(base::duration period, const ref<P>& to, Args&&... args) {
    using content = typename detail::checked_message<P, Args...>::type;
    static_assert(base::copyable_message<content>, "garrick: a periodic message must be copyable");
    return detail::periodic(*cell_, detail::target_of(to),
                            detail::make_message_envelope<content>(std::forward<Args>(args)...),
                            period);
  }

  /// Who sent the message that is being handled; 0: a thread.
  [[nodiscard]] std::uint64_t sender_id() const noexcept {
    const envelope* const e = cell_->current();
    if (e == nullptr) return 0;
    return e->is(envelope_flag::request) ? e->requester->id() : e->sender_id;
  }

  /// Messages in the mailbox now; an estimate.
  [[nodiscard]] std::uint32_t mailbox_length() const noexcept { return cell_->mailbox_length(); }

  /// Spawns an actor into the same system; see spawn.hpp.
  template <class A, class... Args>
  auto spawn(Args&&... args);
  template <class F, class... Args>
    requires(!std::is_same_v<std::decay_t<F>, spawn_options>)
  auto spawn(F&& f, Args&&... args);
  template <class F, class... Args>
  auto spawn(const spawn_options& o, F&& f, Args&&... args);

  /// As spawn, with the constructor's failure, or a refused option, as an error value.
  template <class A, class... Args>
  base::result<ref<typename A::protocol_type>> try_spawn(Args&&... args);

  /// Spawns a child that this actor supervises: it is restarted as its options and this actor's
  /// `supervision` say, and stopped, youngest first, before this actor ends. The handle stays valid
  /// over restarts. Include supervisor.hpp.
  template <class A, class... Args>
  auto supervise(Args&&... args);
  template <class F, class... Args>
  auto supervise(F&& f, Args&&... args);
  /// How this actor treats the children that it supervises. Call it before the first `supervise`.
  void set_supervision(const struct supervision& how);

  /// What time it is for this system: real or virtual.
  [[nodiscard]] base::instant now() const { return cell_->env().clock->now(); }

 protected:
  actor_base() : cell_(detail::claim_constructing_cell()) {}
  ~actor_base() = default;

  [[nodiscard]] cell& this_cell() const noexcept { return *cell_; }

 private:
  friend struct actor_access;

  template <class Answer>
  struct delegated_of;
  template <class... Ts>
  struct delegated_of<response<Ts...>> {
    using type = delegated<Ts...>;
  };
  template <class Answer>
  using delegated_for = typename delegated_of<Answer>::type;

  cell* cell_;
};

/// For the framework.
struct actor_access {
  [[nodiscard]] static cell& get(const actor_base& a) noexcept { return *a.cell_; }
};

/// An actor that understands the protocol P.
template <class P>
class actor : public actor_base {
 public:
  using protocol_type = P;

  /// A strong handle to this actor.
  [[nodiscard]] ref<P> self() const {
    this_cell().add_strong_from_self();
    return handle_access::adopt<P>(&this_cell());
  }

 protected:
  actor() = default;
  ~actor() = default;
};

}  // namespace garrick::core
