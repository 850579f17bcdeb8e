// An actor's one block: what senders touch, what the runner touches, then (in the derived class)
// the user's object.
//
// Problem: an actor has to cost a few hundred bytes and a handful of nanoseconds a message, live
// exactly as long as something can reach or wake it, and keep its address and its mail when a
// supervisor restarts it. So the control block is apart from the user's object, which it builds,
// destroys and rebuilds in place; everything that few actors need is in an extension that is made
// on demand.
//
// What lies here is what every holder of a handle may need: counting, sending, asking. How the
// actor takes its turns is running_cell.hpp; what ends it is lifecycle.hpp.
//
// Private: installed because templates need it.
//
// Thread safety: stated for each group of functions and fields below. `deliver`, `signal` and the
// counting functions may be called by any thread that holds a handle; everything else by the holder
// of the run right. The invariants I1–I7 stand in mailbox.hpp, L1–L4 in cell_steps.hpp.
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
/// The id of the actor whose handler runs on this thread; 0: none.
[[nodiscard]] inline std::uint64_t running_id() noexcept {
  return base::this_thread.actor_id.load(std::memory_order_relaxed);  // order: own thread's value
}
}  // namespace detail

/// What a dispatch did with a message.
enum class dispatch_outcome : std::uint8_t {
  handled,
  skipped,     ///< stays in the mailbox, in its place, until the behavior changes
  unexpected,  ///< no handler takes it
  kept,        ///< a response that came before anybody waited for it: it is kept with its request
};

/// What an actor says of a message that it could get.
enum class understanding : std::uint8_t {
  no,
  yes,
  not_yet,  ///< it has no behavior, or no object: it has not begun to say
};

/// Where an actor is in its life.
enum class life : std::uint8_t {
  unborn,  ///< not yet run: the start hook is due
  running,
  suspended,  ///< failed; waits for its supervisor's decision, handles the system lane only
  ending,     ///< asked to end: the current handler was its last
  ended,
};

using cell_kind = base::actor_kind;

/// What to do with a message that no case of a dynamic behavior takes.
enum class unmatched : std::uint8_t {
  report,  ///< dead letter and, for a request, `unexpected_message`; the default
  skip,    ///< stays in the mailbox, in its place
  drop,    ///< forgotten; a request still gets `unexpected_message`
  bounce,  ///< goes back to its sender if that is an actor waiting for a response; else dead letter
};

/// What happens to a message when a bounded mailbox is full.
enum class mailbox_policy : std::uint8_t {
  unbounded,    ///< no bound: senders are slowed beyond the soft limit
  reject,       ///< not taken; `try_send` says so
  drop_newest,  ///< not taken, and the sender does not care
  drop_oldest,  ///< refused at the spawn: `latest` (latest.hpp) keeps the newest
  /// The sender waits until there is room, as long as the receiver makes progress, or as `reject`.
  /// `send_when_room` suspends a coroutine instead. What has waited for credit in another node is
  /// taken beyond the bound, up to the hard limit.
  wait,
};

/// What the mailbox of an actor takes, and what its senders may do (overload/). Constant after
/// spawn.
struct mailbox_limits {
  mailbox_policy policy = mailbox_policy::unbounded;
  bool in_place = true;          ///< may a sender run this actor?
  std::uint16_t soft_limit = 0;  ///< messages; 0: all mail goes through `admit`
  std::uint16_t bound = 0;       ///< messages; 0: none
};

// Cells are destroyed by free_self, as what they are.
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
  /// A strong handle from a weak one; false if the actor is gone or going.
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
  /// Is it a proxy, whose actor lives in another process? False once that has ended.
  [[nodiscard]] bool is_elsewhere() const noexcept {
    return (gate_.peek() & mailbox_word::elsewhere) == mailbox_word::elsewhere;
  }
  /// Was it made as a proxy? Also once its actor has ended.
  [[nodiscard]] bool is_proxy() const noexcept { return proxy_; }
  /// Is it only a thread's means of asking? Then its requests count as the thread's.
  [[nodiscard]] bool asks_for_thread() const noexcept { return asks_for_thread_; }
  /// Messages that wait, without the one that is being handled. As they were half a millisecond ago
  /// at most, however long the runner has been at work.
  [[nodiscard]] std::uint32_t mailbox_length() const noexcept;
  /// For comparison with other actors: messages that wait, and one more unless it is idle.
  [[nodiscard]] std::uint32_t load() const noexcept {
    return mailbox_length() + ((gate_.peek() & mailbox_word::idle) == 0 ? 1 : 0);
  }
  /// Does nobody run it, because all workers wait in the sends of other handlers? An estimate.
  /// False for an actor with a thread of its own.
  [[nodiscard]] bool waits_for_waiting_workers() const noexcept;
  /// The name given at spawn, or else the type's name.
  [[nodiscard]] std::string_view name() const noexcept;
  virtual std::string_view type_name() const noexcept = 0;
  [[nodiscard]] cell_kind kind() const noexcept { return kind_; }
  [[nodiscard]] base::executor& home_executor() const noexcept {
    return own_executor_ ? own_executor() : *env_->workers;
  }
  /// Strong handles, the actor's own included; an estimate for diagnosis.
  [[nodiscard]] std::uint32_t handles_now() const noexcept {
    return strong_.load(std::memory_order_relaxed);  // order: an estimate for diagnosis
  }
  [[nodiscard]] const mailbox_gate<envelope>& gate() const noexcept { return gate_; }
  /// Has the system listed it? False for an actor whose spawn was refused.
  [[nodiscard]] bool is_listed() const noexcept { return shard_ != no_shard; }
  [[nodiscard]] bool has_own_executor() const noexcept { return own_executor_; }
  /// Was it started by a supervisor?
  [[nodiscard]] bool is_supervised() const noexcept;
  /// The id of its supervisor; 0: it has none.
  [[nodiscard]] std::uint64_t supervisor_id() const noexcept;
  /// Where it is in its life, for diagnosis: another thread sees it a little late.
  [[nodiscard]] life phase() const noexcept {
    return phase_.load(std::memory_order_relaxed);  // order: own value; others only look
  }
  /// Returns true if the actor is suspended until its supervisor has decided. Senders may wait for
  /// that.
  [[nodiscard]] bool awaits_restart() const noexcept;
  /// How often its supervisor has restarted it; 0 without one. For diagnosis, as `phase`.
  [[nodiscard]] std::uint32_t restarts() const noexcept;
  /// Why the actor ended. Valid once has_ended() is true.
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

  /// Puts `e` into the mailbox whatever its length. For everything that must not wait.
  void deliver_now(envelope* e) noexcept {
    const push_outcome r = gate_.push(e);
    if (r == push_outcome::woke)
      wake();
    else if (r == push_outcome::closed) [[unlikely]]
      refuse(e);
  }

  /// As `deliver_now`, for a response: senders may wait for room again (H2).
  void deliver_answer(envelope* e) noexcept {
    const push_outcome r = gate_.push<true, true>(e);
    if (r == push_outcome::woke)
      wake();
    else if (r == push_outcome::closed) [[unlikely]]
      refuse(e);
  }

  /// Puts `e` into the system lane. An ended actor answers monitors and links at once.
  void signal(envelope* e) noexcept;

  /// As `signal` and `deliver_now`, but a weak handle is enough. Returns false if the actor has
  /// ended, or will end without another turn; `e` stays the caller's then. Not for a proxy that is
  /// elsewhere.
  [[nodiscard]] bool signal_unheld(envelope* e) noexcept;
  [[nodiscard]] bool deliver_unheld(envelope* e) noexcept;

  /// As `deliver`, with urgent priority.
  void deliver_urgent(envelope* e) noexcept;
  /// As `deliver_now`, with urgent priority.
  void deliver_urgent_now(envelope* e) noexcept;

  /// Of a proxy that asks on behalf of somebody elsewhere: until when the answer to this request is
  /// wanted, by the environment's clock. Long ago, if nobody waits for it any more. Any thread that
  /// has the request.
  [[nodiscard]] virtual base::instant wanted_until(std::uint64_t) const noexcept {
    return base::instant::never();
  }

  /// What its mailbox takes.
  [[nodiscard]] mailbox_limits limits() const noexcept {
    return {policy_, in_place_, soft_limit_, bound_};
  }
  /// The bound of a mailbox that has one, else the number of messages from which on senders are
  /// slowed. Constant after spawn.
  [[nodiscard]] std::uint32_t soft_limit() const noexcept {
    return bound_ != 0 ? bound_ : soft_limit_;
  }
  /// The number of messages beyond which they are lost. Constant after spawn.
  [[nodiscard]] std::uint32_t hard_limit() const noexcept;
  /// Of a proxy, where there is room for its mail, of a kind that overload/ knows. Null if its mail
  /// takes no credit.
  [[nodiscard]] belongings* room_elsewhere() const noexcept;

  void dispose() noexcept final { free_self(); }

  // ---- before anybody else knows the cell -------------------------------------------------------

  /// The spawner, which has the run right until then: all that comes while the object is built
  /// waits. True: nothing has come, and the actor starts lazily. So it is idle, and perhaps it runs
  /// already. False: the spawner schedules it.
  [[nodiscard]] bool lies_idle() noexcept {
    return starts_lazily_ && reader_.release(gate_, 0) == release_outcome::released;
  }
  [[nodiscard]] bool starts_lazily() const noexcept { return starts_lazily_; }
  /// The extension, whose constants any thread may read from now on.
  [[nodiscard]] cell_extension& spawn_constants();
  /// Messages, at most 32768.
  void set_soft_limit(std::uint32_t messages) noexcept {
    soft_limit_ = static_cast<std::uint16_t>(messages);
  }
  /// Makes the mailbox a bounded one; `bound` as in `set_soft_limit`.
  void set_bound(mailbox_policy policy, std::uint32_t bound);
  /// Of a proxy: its mail takes credit (credit.hpp). Takes the object over, also if it throws
  /// std::bad_alloc.
  void set_room_elsewhere(belongings* where);
  void set_in_place(bool on) noexcept { in_place_ = on; }
  /// Its only use is to ask on behalf of a thread.
  void set_asks_for_thread() noexcept { asks_for_thread_ = true; }
  /// Runs here instead of on the system's workers.
  void set_executor(base::executor& own);

  // ---- the runner: the actor's own turn ---------------------------------------------------------

  /// A strong handle from inside, possible even after the last handle from outside is gone.
  void add_strong_from_self() noexcept { cell_steps::add_strong_from_self(*this); }

  [[nodiscard]] cell_extension& ext();
  [[nodiscard]] cell_extension* ext_if() const noexcept { return ext_; }
  [[nodiscard]] envelope* current() const noexcept {
    return current_.load(std::memory_order_relaxed);  // order: own value
  }
  /// Messages that wait, exactly.
  [[nodiscard]] std::uint32_t waiting_now() const noexcept { return waiting_after(begun()); }
  void set_phase(life now) noexcept {
    phase_.store(now, std::memory_order_relaxed);  // order: others only look
  }

  /// Ends the actor after the current handler. Without memory for it, the reason has its code
  /// alone.
  void quit(base::exit_reason reason) noexcept;
  /// Ends the actor because its last handle is gone. A timer or a pending request would hold one,
  /// so nothing can wake this actor any more.
  void become_unreachable() noexcept { quit(base::exit_code::unreachable); }

  /// Does it wait for a response, and for nothing else?
  [[nodiscard]] bool is_awaiting() const noexcept { return reader_.is_holding(); }

  void set_unmatched(unmatched what) noexcept { on_unmatched_ = what; }
  [[nodiscard]] unmatched on_unmatched() const noexcept { return on_unmatched_; }

  // ---- the runner: the mailbox, for the rooms of cell/ ------------------------------------------

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
  /// Skipped messages are tried again, in their order, before everything else.
  void retry_skipped() noexcept;
  /// Tells senders whether waiting for room makes sense now.
  void set_stalled(bool on) noexcept { reader_.set_stalled(gate_, on); }
  /// Returns true if the actor awaits a response or its restart.
  [[nodiscard]] bool is_stalled() const noexcept;
  /// Senders are slowed again if the actor awaits nothing more.
  void slow_senders_again() noexcept;
  /// Returns the number of messages that no case takes; they are kept until the behavior changes.
  [[nodiscard]] std::uint32_t skipped_count() const noexcept;

  // ---- the runner: the user's object, for lifecycle ---------------------------------------------

  /// A system message (down, exit, …) that the user's object may want; false if it has no handler
  /// for it.
  virtual bool dispatch_system(envelope* e) = 0;
  /// Does the actor handle such messages, and answer them so, as far as that can be told now?
  [[nodiscard]] virtual understanding understands(const base::message_type* message,
                                                  const base::message_type* answer) noexcept = 0;
  /// The first thing on the actor's own turn.
  virtual void start() = 0;
  /// Destroys the user's object (end, or before a restart). Idempotent.
  virtual void destroy_object() noexcept = 0;
  /// Builds the user's object anew for a restart.
  virtual void rebuild_object() = 0;
  /// Runs the user's exit hook, if the object has one.
  virtual void object_exits(const base::exit_reason& reason) = 0;

 protected:
  cell(environment& env, cell_kind kind, bool starts_lazily) noexcept;
  ~cell();

  /// By the constructor of a proxy.
  void become_proxy() noexcept { proxy_ = true; }
  /// Does the user's object stand?
  [[nodiscard]] bool has_object() const noexcept { return has_object_; }
  void set_has_object(bool on) noexcept { has_object_ = on; }

  /// Hands one message to the user's code. May throw what the user's code throws.
  virtual dispatch_outcome dispatch(envelope* e) = 0;
  /// Destroys this cell and gives its block back.
  virtual void free_self() noexcept = 0;

 private:
  friend struct cell_steps;
  friend class running_cell;  // its fields are the runner's
  friend class proxy_cell;    // answers senders in its own way
  friend class cell_list;
  struct layout;

  /// The mailbox is full, stalled or closed. True if `e` is to be pushed all the same; false if it
  /// is gone.
  virtual bool admit(envelope* e, std::uint64_t head) noexcept = 0;
  /// The actor has ended: `e` is lost.
  virtual void refuse(envelope* e) noexcept = 0;
  /// A signal was linked although the actor has ended. Answers those that expect an answer.
  virtual void answer_late_signals() noexcept = 0;
  /// A proxy's: `e` is for its actor, wherever that is. The address that it was sent to keeps the
  /// block.
  virtual void signal_elsewhere(envelope* e) noexcept;
  /// A proxy's: the last strong handle is gone.
  virtual void nobody_holds_it() noexcept {}

  /// How many messages the runner has begun to handle, modulo 2^32. Any thread.
  [[nodiscard]] std::uint32_t begun() const noexcept {
    // order: relaxed; another thread may see a message that is just done as one that waits
    return reader_.consumed() + (current_.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
  }
  /// How many messages wait if that many were begun.
  [[nodiscard]] std::uint32_t waiting_after(std::uint32_t begun) const noexcept {
    const std::uint32_t n = gate_.pushes() - begun;
    return n < (1u << 31) ? n : 0;
  }
  [[gnu::hot]] void wake() noexcept;
  /// Requires `own_executor_`.
  [[nodiscard]] base::executor& own_executor() const noexcept;
  void last_strong_dropped() noexcept;
  /// May it end on this thread, after the present handler?
  [[nodiscard]] bool may_end_here() const noexcept;
  void end_here() noexcept;
  void schedule() noexcept { home_executor().schedule(*this); }
  void free_block() noexcept;

  // senders, all in one cache line (`layout`); these and `env_` are constant after spawn
  cell_kind kind_;
  bool own_executor_ = false;  ///< the executor is in the extension
  // of `limits`, with policy_ and bound_ below: they would not fit into the line
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
  /// why it ended, unless the extension knows more
  base::exit_code end_code_ = base::exit_code::normal;
  std::uint8_t urgent_streak_ = 0;
  /// the mailbox has a bound, or senders wait for room: see parked.hpp
  bool watched_ = false;
  /// constant after spawn: the extension was made before anybody knew the cell, so any thread may
  /// read its constants
  bool has_spawn_constants_ : 1 = false;
  bool starts_lazily_ : 1;  ///< when its first message comes; as above, and in the same byte
  bool proxy_ : 1 = false;  ///< constant
  bool asks_for_thread_ : 1 = false;  ///< constant after spawn
  mailbox_policy policy_ = mailbox_policy::unbounded;
  std::uint16_t bound_ = 0;

  // the system's list of actors (cell_list.hpp), under that list's lock
  std::uint8_t shard_ = no_shard;  ///< which list holds it
  cell* list_prev_ = nullptr;
  cell* list_next_ = nullptr;
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace garrick::core
