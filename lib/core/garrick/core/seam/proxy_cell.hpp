// A cell that stands for an actor in another process, to which it sends its mail on.
//
// Problem: a handle to a remote actor has to be an ordinary handle. Code that sends, asks, links,
// monitors, ends or answers must neither know that an actor is remote nor pay for it. So the
// mailbox of a proxy is closed from the beginning, with a tag that tells that the actor lives
// nevertheless (mailbox_word::elsewhere). Each sender then leaves the hot path at the test that it
// makes anyway, for a slow path that is virtual, and there the proxy takes the message: on the
// sender's thread, in the sender's order.
//
// Nothing runs here, and nothing waits here: a proxy has no mailbox, no turn and no object, is not
// listed among the living actors and does not delay a system's end. The code that sends a request
// on counts its answer (environment::outside_began).
//
// A derived class forwards, and calls `end` when it is told of the actor's end.
//
// Private: installed because other parts of the framework derive from it.
//
// Thread safety: stated for each function. `forward` and `forward_signal` are called on any thread,
// and on several at once.
//
// Invariants:
// P1 Messages, requests, answers and signals of one thread to a proxy are forwarded in the order of
//    its sends, each before the send returns.
// P2 Until `end` everything is forwarded. After it the proxy answers as an actor that has ended;
//    the derived class must `lose` mail and `answer_as_ended` signals that come at the same time.
// P3 `nobody_holds_it` is called at most once, after the last strong handle was dropped. Signals
//    may come later, as long as an address is left; `env()` may be gone then.
#pragma once

#include <garrick/base/platform/diagnostics.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/handle.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::core {

GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN

/// The local end of an actor that lives in another process. Derive from it, make one with `new`
/// and hand it out by `handle_access::adopt`; `free_self` deletes it.
class proxy_cell : public cell {
 public:
  /// Marks the proxy as ended, because its actor has ended or cannot be reached any more. From now
  /// on the proxy answers as an actor that ended for this reason. The derived class sends the
  /// `down` and the exit signals. A second call does nothing. Any thread.
  void end(base::exit_reason reason) noexcept;
  /// Like `deliver`, for a request with the time limit `until`. Any other delivery passes on the
  /// limit of a request from elsewhere that is handed on, and otherwise none.
  void deliver_until(envelope* e, base::instant until) noexcept;
  /// Returns the number of messages that may be forwarded now, after `need_credit`; a negative
  /// number is a debt. Any thread.
  [[nodiscard]] std::int64_t credit() const noexcept;

 protected:
  /// Makes a proxy with one strong handle, which is the caller's. Throws std::bad_alloc.
  explicit proxy_cell(environment& env);
  ~proxy_cell() = default;

  /// Sends on a message, a request (`take_request` gives the right to answer it) or an answer to a
  /// request of the remote actor (`envelope_flag::response`, `id()`). `until` is the time limit of
  /// a request, by the environment's clock, if it is known; it may be past. Called on the sender's
  /// thread, perhaps in its handler, or on the clock's. Must not run actors and, in a
  /// `no_wait_scope`, must not wait.
  virtual void forward(envelope_ptr e, base::instant until) noexcept = 0;
  /// Sends on a signal: exit_signal, down, watch, unwatch, kill; `withdrawn`, from an actor that
  /// has asked by way of this proxy; or `handed_on`, about a request of the remote actor. Called as
  /// `forward`.
  virtual void forward_signal(envelope_ptr e) noexcept = 0;

  /// Makes each message or request take a credit before it is forwarded; the sender waits for a
  /// credit as for room in a full mailbox, for `patience` at most. Call it before another thread
  /// knows the proxy. Throws std::bad_alloc.
  void need_credit(std::uint32_t messages, base::duration patience);
  /// Takes the credit for one message, or owes it where waiting is not allowed, cannot help or
  /// takes too long. Returns true if it took one, or if the running actor will pause until there is
  /// credit. If `may_pause` is false, the call waits instead, since there is no room for a message
  /// without credit. Requires `need_credit`. Any thread.
  bool take_or_owe(bool may_pause = true) noexcept;
  /// Adds credit for `messages` more. Requires `need_credit`. Any thread.
  void grant(std::uint32_t messages) noexcept;
  /// Takes credit for `messages`, even if there is less: a forwarded message was as large as
  /// several. Requires `need_credit`. Any thread.
  void owe(std::uint32_t messages) noexcept;

  /// Tells a local watcher of `dead`'s end by a `down`, behind earlier messages from `dead`. The
  /// watcher may be gone. Any thread.
  static void tell_down(const address& watcher, const address& dead, const base::exit_reason& why,
                        std::uint64_t monitor) noexcept;
  /// Sends a local actor an exit signal from `from`. The actor may be gone. Any thread.
  static void tell_exit(const address& who, const address& from,
                        const base::exit_reason& why) noexcept;

  /// Loses a message that cannot be sent on: a dead letter, and the answer `why` for a request.
  void lose(envelope_ptr e, base::error why) noexcept;
  /// Answers a signal that came while the proxy ended. Requires that `end` was called.
  void answer_as_ended(const envelope_ptr& e) noexcept;

  /// Returns whether the actor is known to answer such a message with such an answer. Any thread.
  understanding understands(const base::message_type*,
                            const base::message_type*) noexcept override {
    return understanding::no;  // only the other process can tell
  }

 private:
  bool admit(envelope* e, std::uint64_t head) noexcept final;
  void refuse(envelope* e) noexcept final;
  void answer_late_signals() noexcept final;
  void pass_on(envelope* e, base::instant until) noexcept;
  void signal_elsewhere(envelope* e) noexcept final;

  // a proxy has no turns and no object
  base::run_outcome run(std::uint32_t& budget) noexcept final;
  dispatch_outcome dispatch(envelope* e) final;
  bool dispatch_system(envelope* e) final;
  void start() final {}
  void destroy_object() noexcept final {}
  void rebuild_object() final {}
  void object_exits(const base::exit_reason&) final {}

  std::atomic<bool> ending_{false};
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace garrick::core
