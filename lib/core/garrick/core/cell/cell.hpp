// The block of an actor: the senders' fields, the runner's fields, then (in the derived class) the
// user's object.
//
// Problem: an actor has to cost a few hundred bytes and a handful of nanoseconds a message, live
// exactly as long as something can reach or wake it, and keep its address and its mail when a
// supervisor restarts it. So the control block is apart from the user's object, which it builds,
// destroys and rebuilds in place; state that few actors need is in an extension that is made on
// demand.
//
// This class has the functions for every holder of a handle: counting, sending, asking.
// running_cell.hpp has the actor's turns, and lifecycle.hpp its end.
//
// Private: installed because templates need it.
//
// Thread safety: stated for each group of functions and fields below. The invariants I1–I7 are in
// mailbox.hpp, L1–L4 in cell_steps.hpp.
#pragma once

#include <garrick/base/concurrency/probe.hpp>
#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/base/platform/diagnostics.hpp>
#include <garrick/base/values/exit_reason.hpp>
#include <garrick/core/cell/cell_steps.hpp>
#include <garrick/core/cell/environment.hpp>
#include <garrick/core/mailbox/envelope.hpp>
#include <garrick/core/mailbox/mailbox.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace garrick::core {

class belongings;
struct cell_extension;

namespace detail {
/// Returns the id of the actor of which a handler runs on this thread; 0: none.
[[nodiscard]] inline std::uint64_t running_id() noexcept {
  return base::this_thread.actor_id.load(std::memory_order_relaxed);  // order: own thread's value
}
}  // namespace detail

/// The result of a dispatch.
enum class dispatch_outcome : std::uint8_t {
  handled,
  skipped,     ///< stays in the mailbox, in its place, until the behavior changes
  unexpected,  ///< no handler takes it
  kept,        ///< a response that came before its await: it is kept with its request
};

/// The result of `cell::understands`.
enum class understanding : std::uint8_t {
  no,
  yes,
  not_yet,  ///< the actor has no behavior or no object yet
};

/// The phases of an actor's life.
enum class life : std::uint8_t {
  unborn,  ///< not yet run: the start hook is due
  running,
  suspended,  ///< failed; waits for its supervisor's decision, handles the system lane only
  ending,     ///< asked to end: the current handler was its last
  ended,
};

using cell_kind = base::actor_kind;

/// The treatment of a message that no case of a dynamic behavior takes.
enum class unmatched : std::uint8_t {
  report,  ///< a dead letter and, for a request, `unexpected_message`; the default
  skip,    ///< stays in the mailbox, in its place
  drop,    ///< forgotten; a request still gets `unexpected_message`
  bounce,  ///< goes back to a sender that waits for a response; otherwise a dead letter
};

/// The treatment of a message for a full bounded mailbox.
enum class mailbox_policy : std::uint8_t {
  unbounded,    ///< no bound: senders are slowed beyond the soft limit
  reject,       ///< not taken; `try_send` reports it
  drop_newest,  ///< not taken, and the sender is not told
  drop_oldest,  ///< refused at the spawn: `latest` (latest.hpp) keeps the newest
  /// The sender waits until there is room. If the receiver makes no progress, the message is not
  /// taken, as with `reject`. `send_when_room` suspends a coroutine instead. A message that has
  /// waited for credit in another node is taken beyond the bound, up to the hard limit.
  wait,
};

/// The limits of an actor's mailbox, and the means of its senders to make room (overload/).
/// Constant after spawn.
struct mailbox_limits {
  mailbox_policy policy = mailbox_policy::unbounded;
  bool in_place = true;          ///< a sender may run this actor
  std::uint16_t soft_limit = 0;  ///< messages; 0: all mail goes through `admit`
  std::uint16_t bound = 0;       ///< messages; 0: none
};

// A cell is destroyed by its `free_self`, which knows its type.
GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN

class alignas(64) cell : public base::runnable {
 public:
  using atomics = base::real_atomics;
  static constexpr std::uint8_t no_shard = 0xff;

  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;

  // ---- any thread with a handle -----------------------------------------------------------------

  void add_strong() noexcept {
    // order: the caller holds a strong handle, so the count cannot be zero
    strong_.fetch_add(1, std::memory_order_relaxed);
  }
  void drop_strong() noexcept { cell_steps::drop_strong(*this); }
  void add_weak() noexcept {
    // order: the caller holds a weak or strong handle
    weak_.fetch_add(1, std::memory_order_relaxed);
  }
  void drop_weak() noexcept { cell_steps::drop_weak(*this); }
  /// Makes a strong handle from a weak one. Returns false if the count of strong handles is zero.
  [[nodiscard]] bool lock() noexcept { return cell_steps::lock(*this); }

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] environment& env() const noexcept { return *env_; }
  [[nodiscard]] bool has_ended() const noexcept {
    return (gate_.peek() & mailbox_word::elsewhere) == mailbox_word::closed;
  }
  /// Returns false if the actor has ended, or will end without another turn. A hint.
  [[nodiscard]] bool has_turns() const noexcept {
    const std::uint64_t head = gate_.peek();
    return (head & mailbox_word::closed) == 0 && !mailbox_word::is_left(head);
  }
  /// Returns true for a proxy, whose actor lives in another process, until that actor has ended.
  [[nodiscard]] bool is_elsewhere() const noexcept {
    return (gate_.peek() & mailbox_word::elsewhere) == mailbox_word::elsewhere;
  }
  /// Returns true if the cell was made as a proxy, also after its actor has ended.
  [[nodiscard]] bool is_proxy() const noexcept { return proxy_; }
  /// Returns true if the cell only makes requests for a thread. They count as the thread's.
  [[nodiscard]] bool asks_for_thread() const noexcept { return asks_for_thread_; }
  /// Returns the number of waiting messages, without the current one. The number is at most half a
  /// millisecond old, however long the runner has been at work.
  [[nodiscard]] std::uint32_t mailbox_length() const noexcept;
  /// Returns the number of waiting messages, plus one unless the actor is idle, to compare actors.
  [[nodiscard]] std::uint32_t load() const noexcept {
    return mailbox_length() + ((gate_.peek() & mailbox_word::idle) == 0 ? 1 : 0);
  }
  /// Returns true if no thread runs the actor because all workers wait in the sends of other
  /// handlers. An estimate. False for an actor with a thread of its own.
  [[nodiscard]] bool waits_for_waiting_workers() const noexcept;
  /// Returns the name given at spawn, or else the type's name.
  [[nodiscard]] std::string_view name() const noexcept;
  virtual std::string_view type_name() const noexcept = 0;
  [[nodiscard]] cell_kind kind() const noexcept { return kind_; }
  [[nodiscard]] base::executor& home_executor() const noexcept {
    return own_executor_ ? own_executor() : *env_->workers;
  }
  /// Returns the number of strong handles, the actor's own included; an estimate for diagnosis.
  [[nodiscard]] std::uint32_t handles_now() const noexcept {
    return strong_.load(std::memory_order_relaxed);  // order: an estimate for diagnosis
  }
  [[nodiscard]] const mailbox_gate<envelope>& gate() const noexcept { return gate_; }
  /// Returns true if the system has listed the actor; false if its spawn was refused.
  [[nodiscard]] bool is_listed() const noexcept { return shard_ != no_shard; }
  [[nodiscard]] bool has_own_executor() const noexcept { return own_executor_; }
  /// Returns true if a supervisor started the actor.
  [[nodiscard]] bool is_supervised() const noexcept;
  /// Returns the id of the actor's supervisor; 0 without one.
  [[nodiscard]] std::uint64_t supervisor_id() const noexcept;
  /// Returns the phase of the actor's life. Another thread may read an old value, for diagnosis.
  [[nodiscard]] life phase() const noexcept {
    return phase_.load(std::memory_order_relaxed);  // order: own value; others only look
  }
  /// Returns true if the actor is suspended until its supervisor has decided. Senders may wait for
  /// the decision.
  [[nodiscard]] bool awaits_restart() const noexcept;
  /// Returns the number of restarts by the supervisor; 0 without one. For diagnosis, as `phase`.
  [[nodiscard]] std::uint32_t restarts() const noexcept;
  /// Returns the reason of the actor's end. Valid once has_ended() is true.
  [[nodiscard]] base::exit_reason end_reason() const;

  /// Puts `e` into the mailbox, and schedules the actor if it was idle. Slows the caller if the
  /// mailbox is over its soft limit. If the actor has ended, `e` becomes a dead letter, and its
  /// requester gets an error. Never throws.
  void deliver(envelope* e) noexcept {
    const std::uint64_t head = gate_.peek();
    if ((head & (mailbox_word::closed | mailbox_word::stalled)) != 0 ||
        gate_.short_length(head) >= soft_limit_) [[unlikely]] {
      if (!admit(e, head)) return;
    }
    const push_outcome r = gate_.push(e);
    if (r == push_outcome::woke)
      wake();
    else if (r == push_outcome::closed) [[unlikely]]
      refuse(e);
  }

  /// Puts `e` into the mailbox, however long that is, for messages that must not wait.
  void deliver_now(envelope* e) noexcept {
    const push_outcome r = gate_.push(e);
    if (r == push_outcome::woke)
      wake();
    else if (r == push_outcome::closed) [[unlikely]]
      refuse(e);
  }

  /// Like `deliver_now`, for a response: senders may wait for room again (H2).
  void deliver_answer(envelope* e) noexcept {
    const push_outcome r = gate_.push<true, true>(e);
    if (r == push_outcome::woke)
      wake();
    else if (r == push_outcome::closed) [[unlikely]]
      refuse(e);
  }

  /// Puts `e` into the system lane. An ended actor answers monitors and links at once.
  void signal(envelope* e) noexcept;

  /// Like `signal` and `deliver_now`, but a weak handle is enough. Returns false if the actor has
  /// ended, or will end without another turn; `e` stays the caller's then. Not for a proxy that is
  /// elsewhere.
  [[nodiscard]] bool signal_unheld(envelope* e) noexcept;
  [[nodiscard]] bool deliver_unheld(envelope* e) noexcept;

  /// Like `deliver`, with urgent priority.
  void deliver_urgent(envelope* e) noexcept;
  /// Like `deliver_now`, with urgent priority.
  void deliver_urgent_now(envelope* e) noexcept;

  /// For a proxy that asks on behalf of an actor elsewhere: returns the time until which the answer
  /// to this request is wanted, by the environment's clock. Returns a time long past if no actor
  /// waits for the answer any more. For any thread that holds the request.
  [[nodiscard]] virtual base::instant wanted_until(std::uint64_t) const noexcept {
    return base::instant::never();
  }

  /// Returns the limits of the mailbox.
  [[nodiscard]] mailbox_limits limits() const noexcept {
    return {policy_, in_place_, soft_limit_, bound_};
  }
  /// Returns the bound of a bounded mailbox, else the number of messages from which on senders are
  /// slowed. Constant after spawn.
  [[nodiscard]] std::uint32_t soft_limit() const noexcept {
    return bound_ != 0 ? bound_ : soft_limit_;
  }
  /// Returns the number of waiting messages beyond which new ones are lost. Constant after spawn.
  [[nodiscard]] std::uint32_t hard_limit() const noexcept;
  /// Returns a proxy's object for credit, of a type that overload/ knows. Null if its mail takes no
  /// credit.
  [[nodiscard]] belongings* room_elsewhere() const noexcept;

  void dispose() noexcept final { free_self(); }

  // ---- before any other thread knows the cell ---------------------------------------------------

  /// For the spawner, which holds the run right until this call, so messages wait while the object
  /// is built. Returns true if the actor starts lazily and no message has come: the actor is then
  /// idle, or runs already. Otherwise the spawner schedules it.
  [[nodiscard]] bool lies_idle() noexcept {
    return starts_lazily_ && reader_.release(gate_, 0) == release_outcome::released;
  }
  [[nodiscard]] bool starts_lazily() const noexcept { return starts_lazily_; }
  /// Returns the extension. Any thread may read its constants from now on.
  [[nodiscard]] cell_extension& spawn_constants();
  /// Sets the soft limit: messages, at most 32768.
  void set_soft_limit(std::uint32_t messages) noexcept {
    soft_limit_ = static_cast<std::uint16_t>(messages);
  }
  /// Makes the mailbox a bounded one; `bound` as in `set_soft_limit`.
  void set_bound(mailbox_policy policy, std::uint32_t bound);
  /// For a proxy: makes its mail take credit (credit.hpp). Takes `where` over, also if the call
  /// throws std::bad_alloc.
  void set_room_elsewhere(belongings* where);
  void set_in_place(bool on) noexcept { in_place_ = on; }
  /// Marks a cell that only makes requests for a thread.
  void set_asks_for_thread() noexcept { asks_for_thread_ = true; }
  /// Lets the actor run on `own` instead of the system's workers.
  void set_executor(base::executor& own);

  // ---- the runner: the actor's own turn ---------------------------------------------------------

  /// Makes a strong handle from inside, possible even after the last handle from outside is gone.
  void add_strong_from_self() noexcept { cell_steps::add_strong_from_self(*this); }

  [[nodiscard]] cell_extension& ext();
  [[nodiscard]] cell_extension* ext_if() const noexcept { return ext_; }
  [[nodiscard]] envelope* current() const noexcept {
    return current_.load(std::memory_order_relaxed);  // order: own value
  }
  /// Returns the exact number of waiting messages.
  [[nodiscard]] std::uint32_t waiting_now() const noexcept { return waiting_after(begun()); }
  void set_phase(life now) noexcept {
    phase_.store(now, std::memory_order_relaxed);  // order: others only look
  }

  /// Ends the actor after the current handler. Without memory for the reason, only its code is
  /// kept.
  void quit(base::exit_reason reason) noexcept;
  /// Ends the actor because its last handle is gone. A timer or a pending request would hold one,
  /// so nothing can wake this actor any more.
  void become_unreachable() noexcept { quit(base::exit_code::unreachable); }

  /// Returns true if the actor awaits a response and handles no other mail.
  [[nodiscard]] bool is_awaiting() const noexcept { return reader_.is_holding(); }

  void set_unmatched(unmatched what) noexcept { on_unmatched_ = what; }
  [[nodiscard]] unmatched on_unmatched() const noexcept { return on_unmatched_; }

  // ---- the runner: the mailbox, for the rooms above cell/ ---------------------------------------

  [[nodiscard]] mailbox_gate<envelope>& gate() noexcept { return gate_; }
  [[nodiscard]] mailbox_reader<envelope>& reader() noexcept { return reader_; }

  /// Lets the runner look at the mailbox's bound, and at senders that wait for room, before each
  /// message.
  void set_watched(bool on) noexcept { watched_ = on; }
  [[nodiscard]] bool is_watched() const noexcept { return watched_; }

  /// Destroys and frees an envelope that the mailbox holds.
  void finish(envelope* e) noexcept {
    detail::destroy_payload(e);
    reader_.done(e);
  }
  /// Lets the runner try skipped messages again, in their order, before all other mail.
  void retry_skipped() noexcept;
  /// Tells senders whether waiting for room makes sense now.
  void set_stalled(bool on) noexcept { reader_.set_stalled(gate_, on); }
  /// Returns true if the actor awaits a response or its restart.
  [[nodiscard]] bool is_stalled() const noexcept;
  /// Clears the tag `stalled` if the actor awaits nothing more: senders are slowed again.
  void slow_senders_again() noexcept;
  /// Returns the number of messages that no case takes; they are kept until the behavior changes.
  [[nodiscard]] std::uint32_t skipped_count() const noexcept;

  // ---- the runner: the user's object, for lifecycle ---------------------------------------------

  /// Hands a system message (down, exit, …) to the user's object. Returns false if the object has
  /// no handler for it.
  virtual bool dispatch_system(envelope* e) = 0;
  /// Returns whether the actor takes messages of the type `message` and answers with the type
  /// `answer`, as far as this is known now.
  [[nodiscard]] virtual understanding understands(const base::message_type* message,
                                                  const base::message_type* answer) noexcept = 0;
  /// Runs the start hook, or a blocking actor's function, first on the actor's own turn.
  virtual void start() = 0;
  /// Destroys the user's object, at the end or before a restart. Idempotent.
  virtual void destroy_object() noexcept = 0;
  /// Rebuilds the user's object for a restart.
  virtual void rebuild_object() = 0;
  /// Runs the user's exit hook, if the object has one.
  virtual void object_exits(const base::exit_reason& reason) = 0;

 protected:
  cell(environment& env, cell_kind kind, bool starts_lazily) noexcept;
  ~cell();

  /// Marks the cell as a proxy. Called by a proxy's constructor.
  void become_proxy() noexcept { proxy_ = true; }
  /// Returns true if the user's object exists.
  [[nodiscard]] bool has_object() const noexcept { return has_object_; }
  void set_has_object(bool on) noexcept { has_object_ = on; }

  /// Hands one message to the user's code. Passes the exceptions of that code on.
  virtual dispatch_outcome dispatch(envelope* e) = 0;
  /// Destroys this cell and gives its block back.
  virtual void free_self() noexcept = 0;

 private:
  friend struct cell_steps;
  friend class running_cell;  // its fields are the runner's
  friend class proxy_cell;    // answers senders in its own way
  friend class cell_list;
  struct layout;

  /// Called if the mailbox is full, stalled or closed. Returns true if the caller must still push
  /// `e`; false if `e` is no longer the caller's.
  virtual bool admit(envelope* e, std::uint64_t head) noexcept = 0;
  /// Called if a push has found the mailbox closed. Loses `e`; a proxy may forward it instead.
  virtual void refuse(envelope* e) noexcept = 0;
  /// Answers the signals that were linked although the actor has ended, if they expect an answer.
  virtual void answer_late_signals() noexcept = 0;
  /// For a proxy: takes a signal to its actor elsewhere. The sender's address keeps the block.
  virtual void signal_elsewhere(envelope* e) noexcept;
  /// For a proxy: called when the last strong handle is gone.
  virtual void nobody_holds_it() noexcept {}

  /// Returns the number of messages that the runner has begun to handle, modulo 2^32. Any thread.
  [[nodiscard]] std::uint32_t begun() const noexcept {
    // order: relaxed; another thread may count a message that is just done as waiting
    return reader_.consumed() + (current_.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
  }
  /// Returns the number of waiting messages if the runner has begun to handle `begun` messages.
  [[nodiscard]] std::uint32_t waiting_after(std::uint32_t begun) const noexcept {
    const std::uint32_t n = gate_.pushes() - begun;
    return n < (1u << 31) ? n : 0;
  }
  [[gnu::hot]] void wake() noexcept;
  /// Returns the cell's own executor. Requires `own_executor_`.
  [[nodiscard]] base::executor& own_executor() const noexcept;
  void last_strong_dropped() noexcept;
  /// Returns true if the actor may end on this thread, after the present handler.
  [[nodiscard]] bool may_end_here() const noexcept;
  void end_here() noexcept;
  void schedule() noexcept { home_executor().schedule(*this); }
  void free_block() noexcept;

  // for senders, all in one cache line (`layout`); `env_` and the fields before `gate_` are
  // constant after spawn
  cell_kind kind_;
  bool own_executor_ = false;  ///< the executor is in the extension
  // a part of `limits`, as are policy_ and bound_ below, which would not fit into the line
  bool in_place_ = true;
  std::uint16_t soft_limit_;
  mailbox_gate<envelope> gate_;
  std::atomic<std::uint32_t> strong_{1};
  std::atomic<std::uint32_t> weak_{1};  ///< all strong handles together count as one
  environment* env_;

  // the runner
  mailbox_reader<envelope> reader_;
  cell_extension* ext_ = nullptr;
  std::atomic<envelope*> current_{nullptr};  ///< the message being handled
  std::uint64_t id_;                         ///< constant
  std::atomic<std::uint8_t> attention_{
      0};  ///< any thread sets it, the runner clears it: look at the system and urgent lanes soon
  std::atomic<life> phase_;  ///< the runner writes it
  bool has_object_ = false;
  unmatched on_unmatched_ = unmatched::report;
  /// the reason of its end, unless the extension has a reason with more data
  base::exit_code end_code_ = base::exit_code::normal;
  std::uint8_t urgent_streak_ = 0;
  /// the mailbox has a bound, or senders wait for room: see parked.hpp
  bool watched_ = false;
  /// constant after spawn: the extension was made before another thread knew the cell, so any
  /// thread may read its constants
  bool has_spawn_constants_ : 1 = false;
  bool starts_lazily_ : 1;            ///< at its first message; constant, in the same byte as above
  bool proxy_ : 1 = false;            ///< constant
  bool asks_for_thread_ : 1 = false;  ///< constant after spawn
  mailbox_policy policy_ = mailbox_policy::unbounded;
  std::uint16_t bound_ = 0;

  // the system's list of actors (cell_list.hpp), under that list's lock
  std::uint8_t shard_ = no_shard;  ///< the number of its list
  cell* list_prev_ = nullptr;
  cell* list_next_ = nullptr;
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace garrick::core
