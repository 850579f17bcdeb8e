// An actor's one block: what senders touch, what the runner touches, then (in the derived class)
// the user's object.
//
// Problem: an actor has to cost a few hundred bytes and a handful of nanoseconds a message, live
// exactly as long as something can reach or wake it, and keep its address and its mail when a
// supervisor restarts it. So the control block is apart from the user's object, which it builds,
// destroys and rebuilds in place; everything that few actors need is in an extension that is made
// on demand.
//
// Thread safety: per group of fields below. `deliver`, `signal` and the counting functions may be
// called from any thread that holds a handle; everything else by the holder of the run right.
// Invariants I1–I7 and L1–L4: docs/decisions/0001-hot-path.md.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/base/values/exit_reason.hpp>
#include <garrick/core/cell/envelope.hpp>
#include <garrick/core/cell/environment.hpp>
#include <garrick/core/cell/mailbox.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace garrick::core {

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

/// Where an actor is in its life.
enum class life : std::uint8_t {
  unborn,  ///< not yet run: the start hook is due
  running,
  suspended,  ///< failed; waits for its supervisor's decision, handles the system lane only
  ending,     ///< asked to end: the current handler was its last
  ended,
};

/// How an actor is run.
enum class cell_kind : std::uint8_t {
  event,     ///< on the system's workers
  detached,  ///< on a thread of its own, message by message
  blocking,  ///< on a thread of its own that receives in a loop, or on the user's thread (scoped)
};

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
  drop_oldest,  ///< taken; the oldest one goes
  wait,         ///< not taken, but `send_when_room` suspends a coroutine until there is room
};

// Cells are destroyed by free_self, as what they are. GCC does not see that the destructors are
// protected, since there is a friend.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif

class alignas(64) cell : public base::runnable {
 public:
  static constexpr std::uint8_t no_shard = 0xff;

  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;

  // ---- any thread with a handle -----------------------------------------------------------------

  void add_strong() noexcept {
    // order: the caller holds a strong handle, so the count cannot be zero
    strong_.fetch_add(1, std::memory_order_relaxed);
  }
  void drop_strong() noexcept {
    // order: acq_rel: whoever reclaims has seen everything that every handle's holder did
    if (strong_.fetch_sub(1, std::memory_order_acq_rel) == 1) last_strong_dropped();
  }
  void add_weak() noexcept {
    // order: the caller holds a weak or strong handle
    weak_.fetch_add(1, std::memory_order_relaxed);
  }
  void drop_weak() noexcept {
    // order: acq_rel: the block is freed after everybody's last use
    if (weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) free_block();
  }
  /// A strong handle from a weak one; false if the actor is gone or going.
  [[nodiscard]] bool lock() noexcept;

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] environment& env() const noexcept { return *env_; }
  [[nodiscard]] bool has_ended() const noexcept {
    return (gate_.peek() & mailbox_word::closed) != 0;
  }
  [[nodiscard]] std::uint32_t mailbox_length() const noexcept { return gate_.length(); }
  /// the name given at spawn or the type's name
  [[nodiscard]] std::string_view name() const noexcept;
  virtual std::string_view type_name() const noexcept = 0;
  [[nodiscard]] cell_kind kind() const noexcept { return kind_; }
  [[nodiscard]] base::executor& home_executor() const noexcept;
  /// Why the actor ended. Valid once has_ended() is true.
  [[nodiscard]] base::exit_reason end_reason() const;

  /// Puts `e` into the mailbox and schedules the actor if it was idle; slows the caller if the
  /// mailbox is over its soft limit; makes a dead letter (or an error response) of it if the actor
  /// has ended. Never throws.
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

  /// Puts `e` into the mailbox whatever its length; for responses, time-outs and everything that
  /// must not wait.
  void deliver_now(envelope* e) noexcept {
    const push_outcome r = gate_.push(e);
    if (r == push_outcome::woke)
      wake();
    else if (r == push_outcome::closed) [[unlikely]]
      refuse(e);
  }

  /// Puts `e` into the system lane. An ended actor answers monitors and links at once.
  void signal(envelope* e) noexcept;

  /// As `deliver`, with urgent priority.
  void deliver_urgent(envelope* e) noexcept;

  // ---- the runner -------------------------------------------------------------------------------

  base::run_outcome run(std::uint32_t& budget) noexcept final;
  void dispose() noexcept final { free_self(); }

  /// A strong handle from inside, possible even after the last handle from outside is gone.
  void add_strong_from_self() noexcept;

  [[nodiscard]] cell_extension& ext();
  [[nodiscard]] cell_extension* ext_if() const noexcept { return ext_; }
  [[nodiscard]] envelope* current() const noexcept { return current_; }
  [[nodiscard]] life phase() const noexcept { return phase_; }

  /// Ends the actor after the current handler.
  void quit(base::exit_reason reason);

  /// Lets the runner look at the mailbox's bound, and at senders that wait for room, before each
  /// message.
  void set_watched(bool on) noexcept { watched_ = on; }
  void set_unmatched(unmatched what) noexcept { on_unmatched_ = what; }
  [[nodiscard]] unmatched on_unmatched() const noexcept { return on_unmatched_; }

 protected:
  cell(environment& env, cell_kind kind, bool born_idle) noexcept;
  ~cell();

  /// Does the user's object stand?
  [[nodiscard]] bool has_object() const noexcept { return has_object_; }
  void set_has_object(bool on) noexcept { has_object_ = on; }

  /// Hands one message to the user's code. May throw what the user's code throws.
  virtual dispatch_outcome dispatch(envelope* e) = 0;
  /// A system message (down, exit, …) that the user's object may want; false if it has no handler
  /// for it.
  virtual bool dispatch_system(envelope* e) = 0;
  /// The first thing on the actor's own turn.
  virtual void start() = 0;
  /// Destroys the user's object (end, or before a restart). Idempotent.
  virtual void destroy_object() noexcept = 0;
  /// Builds the user's object anew for a restart.
  virtual void rebuild_object() = 0;
  /// Runs the user's exit hook, if the object has one.
  virtual void object_exits(const base::exit_reason& reason) = 0;
  /// Destroys this cell and gives its block back.
  virtual void free_self() noexcept = 0;

 private:
  friend struct cell_access;

  bool admit(envelope* e, std::uint64_t head) noexcept;
  bool run_in_place() noexcept;
  void run_in_place_chain(base::executor& ex) noexcept;
  bool wait_for_room() noexcept;
  void wake() noexcept;
  void refuse(envelope* e) noexcept;
  void last_strong_dropped() noexcept;
  void free_block() noexcept;

  base::run_outcome run_nested(std::uint32_t& budget) noexcept;
  base::run_outcome run_loop(std::uint32_t& budget) noexcept;
  release_outcome end_batch() noexcept;
  static void wake_overlooked() noexcept;
  envelope* pick() noexcept;
  envelope* peek_next() noexcept;
  envelope* pick_apart() noexcept;
  envelope* pick_for_blocking() noexcept;
  void put_back(envelope* e) noexcept;
  void process_for_blocking(envelope* e) noexcept;
  void attend() noexcept;
  void after_batch() noexcept;
  void become_unreachable() noexcept;
  [[nodiscard]] bool is_stalled() const noexcept;
  [[nodiscard]] bool has_nothing_to_handle() const noexcept;
  [[nodiscard]] std::uint32_t own_hard_limit() const noexcept;
  [[nodiscard]] std::uint32_t own_quantum(std::uint32_t budget) const noexcept;
  void begin() noexcept;
  void process(envelope* e) noexcept;
  dispatch_outcome route(envelope* e);
  void settle(envelope* e, dispatch_outcome outcome) noexcept;
  void on_failure(envelope* e) noexcept;
  bool reach_end() noexcept;

  // runnable's tail padding: constant after spawn
  cell_kind kind_;
  bool own_executor_ = false;      ///< the executor is in the extension
  bool in_place_ = true;           ///< may a sender run this actor?
  std::uint8_t shard_ = no_shard;  ///< which of the system's lists holds it; that list's lock

  // senders; `soft_limit_` and `env_` are constant
  mailbox_gate<envelope> gate_;
  std::atomic<std::uint32_t> strong_{1};
  std::atomic<std::uint32_t> weak_{1};  ///< all strong handles together count as one
  environment* env_;

  // the runner
  mailbox_reader<envelope> reader_;
  cell_extension* ext_ = nullptr;
  envelope* current_ = nullptr;  ///< the message being handled
  std::uint64_t id_;             ///< constant
  std::atomic<std::uint8_t> attention_{
      0};  ///< any thread sets it, the runner clears it: look at the system and urgent lanes soon
  life phase_;
  bool has_object_ = false;
  unmatched on_unmatched_ = unmatched::report;
  /// why it ended, unless the extension knows more
  base::exit_code end_code_ = base::exit_code::normal;
  std::uint8_t urgent_streak_ = 0;
  /// the mailbox is bounded, or senders wait for room: see bounded_mailbox.hpp
  bool watched_ = false;
  /// constant after spawn: the extension was made before anybody knew the cell, so any thread may
  /// read its constants
  bool optional_ = false;
  /// constant after spawn; the bound is `soft_limit_`
  mailbox_policy policy_ = mailbox_policy::unbounded;
  std::uint32_t soft_limit_;  ///< constant after spawn

  // the system's list of actors, under that list's lock
  cell* list_prev_ = nullptr;
  cell* list_next_ = nullptr;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// For the parts of core, the system and the testkit that drive cells; not for users.
struct cell_access {
  static mailbox_gate<envelope>& gate(cell& c) noexcept { return c.gate_; }
  static mailbox_reader<envelope>& reader(cell& c) noexcept { return c.reader_; }
  static cell*& list_prev(cell& c) noexcept { return c.list_prev_; }
  static cell*& list_next(cell& c) noexcept { return c.list_next_; }
  static std::uint8_t& shard(cell& c) noexcept { return c.shard_; }
  static bool& own_executor(cell& c) noexcept { return c.own_executor_; }
  static bool& in_place(cell& c) noexcept { return c.in_place_; }
  static std::uint32_t& soft_limit(cell& c) noexcept { return c.soft_limit_; }
  static bool born_idle(const cell& c) noexcept {
    return (c.gate_.peek() & mailbox_word::idle) != 0;
  }
  static bool& optional(cell& c) noexcept { return c.optional_; }
  static mailbox_policy& policy(cell& c) noexcept { return c.policy_; }
  static bool watched(const cell& c) noexcept { return c.watched_; }
  static life& phase(cell& c) noexcept { return c.phase_; }
  static std::atomic<std::uint8_t>& attention(cell& c) noexcept { return c.attention_; }
  static envelope*& current(cell& c) noexcept { return c.current_; }
  static std::uint32_t strong(const cell& c) noexcept {
    return c.strong_.load(std::memory_order_relaxed);  // order: an estimate for diagnosis
  }
  static void on_failure(cell& c, envelope* e) noexcept { c.on_failure(e); }
  static void become_unreachable(cell& c) noexcept { c.become_unreachable(); }
  static bool dispatch_system(cell& c, envelope* e) { return c.dispatch_system(e); }
  static dispatch_outcome dispatch(cell& c, envelope* e) { return c.dispatch(e); }
  static void destroy_object(cell& c) noexcept { c.destroy_object(); }
  static void rebuild_object(cell& c) { c.rebuild_object(); }
  static void object_exits(cell& c, const base::exit_reason& r) { c.object_exits(r); }
  static void begin(cell& c) noexcept { c.begin(); }
  static void attend(cell& c) noexcept { c.attend(); }
  static envelope* pick(cell& c) noexcept { return c.pick_for_blocking(); }
  static void put_back(cell& c, envelope* e) noexcept { c.put_back(e); }
  static envelope* peek_next(cell& c) noexcept { return c.peek_next(); }
  static void process(cell& c, envelope* e) noexcept { c.process_for_blocking(e); }
  static void after_batch(cell& c) noexcept { c.after_batch(); }
  static bool awaits(const cell& c) noexcept { return c.reader_.is_holding(); }
  static bool stalled(cell& c) noexcept { return c.ext_ != nullptr && c.is_stalled(); }
};

}  // namespace garrick::core
