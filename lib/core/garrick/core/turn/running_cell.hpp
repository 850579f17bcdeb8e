// A cell that takes turns: how the runner picks messages, handles them and stops; and what a sender
// does for a receiver that is full (internal/full_receiver.cpp).
//
// Every cell is one of these, except a proxy, which takes no turns (proxy/proxy_cell.hpp). They
// are two classes so that a handle need only know the first.
//
// Private: installed because templates need it.
//
// Thread safety: `admit` and what it calls is for any thread that holds a handle; everything else
// is for the holder of the run right.
#pragma once

#include <garrick/base/platform/diagnostics.hpp>
#include <garrick/core/cell/cell.hpp>

#include <cstdint>
#include <vector>

namespace garrick::core {

class address;

GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN

/// One message that waits in a mailbox.
struct waiting_message {
  const base::message_type* type;
  std::uint64_t sender;  ///< id of the actor that sent it, or that asks; 0: a thread or unknown
  bool urgent;
  bool request;
  bool response;
  const envelope* content;  ///< valid until the actor goes on
};

namespace detail {
struct stacked_actor;
}

/// How long a sender tries to get a mailbox below a limit.
struct sender_patience {
  int failures;           ///< waits without progress, in a row
  std::uint32_t handled;  ///< messages that the receiver handles meanwhile, at most
};

/// A cell with its run loop.
class running_cell : public cell {
 public:
  /// Requires that it is no proxy.
  [[nodiscard]] static running_cell& of(cell& c) noexcept { return static_cast<running_cell&>(c); }

  [[gnu::hot]] base::run_outcome run(std::uint32_t& budget) noexcept final;

  /// Runs it inside the caller, for a batch, if it waits for its turn, the caller is a handler on
  /// one of its workers, and nothing forbids it. Any thread that holds a handle.
  bool run_if_it_waits() noexcept;

  /// The mail of `of` is drained elsewhere: takes the credit for one message, or goes without where
  /// waiting is not allowed, cannot help or takes too long. True: there was one, or the actor whose
  /// handler this is pauses until there is. `may_pause` false: it waits instead, since there is no
  /// room for what goes without. Requires that `of` has credit. Any thread.
  static bool take_or_owe(cell& of, bool may_pause = true) noexcept;
  /// There is room for so many messages more where the mail is drained. Wakes senders. Requires
  /// `drain_elsewhere`. Never blocks.
  void grant_credit(std::uint32_t messages) noexcept;
  /// How many messages there is credit for; below zero, so many have gone without. An estimate.
  [[nodiscard]] std::int64_t credit() const noexcept;

  // ---- for those with a run loop of their own: blocking actors and the testkit ------------------

  /// Has a signal or an urgent message come since `attend`? A hint; `attend` acquires.
  [[nodiscard]] bool wants_attention() const noexcept { return cell_steps::wants_attention(*this); }
  /// Handles the system lane and takes what has arrived.
  void attend() noexcept;
  /// The next message, or null; the caller handles it, or puts it back.
  [[nodiscard]] envelope* take_next() noexcept;
  void put_back(envelope* e) noexcept;
  /// What `take_next` will return, left where it is.
  [[nodiscard]] const envelope* peek_next() noexcept;
  /// Keeps a message that no case takes until the behavior changes.
  void skip(envelope* e) noexcept;
  /// The first `most` messages that wait for it, in the order in which it takes them: what was
  /// skipped, answers that are let through, urgent ones, then the others. Costs a look at each, and
  /// at what has arrived since the actor's last message. Throws std::bad_alloc.
  [[nodiscard]] std::vector<waiting_message> waiting(std::size_t most);
  /// Handles a message as the run loop does, and finishes it.
  void handle(envelope* e) noexcept;
  /// The message that user code handles now, or null.
  void set_current(envelope* e) noexcept {
    current_.store(e, std::memory_order_relaxed);  // order: others only ask whether there is one
  }
  /// Wakes senders that wait, and attends, when a batch ended because something came.
  void after_batch() noexcept;

 protected:
  using cell::cell;
  ~running_cell() = default;

 private:
  friend struct cell_steps;

  bool admit(envelope* e, std::uint64_t head) noexcept final;
  void refuse(envelope* e) noexcept final;
  void answer_late_signals() noexcept final;

  [[nodiscard]] base::executor* executor_in_place() const noexcept;
  bool run_in_place(bool must) noexcept;
  bool run_claimed(bool must) noexcept;
  void run_in_place_chain(base::executor& ex) noexcept;
  [[nodiscard]] bool has_run_enough_in_place() const noexcept;
  enum class wait_outcome : std::uint8_t {
    progress,     ///< there is room, or the receiver has handled a good number of messages
    claimed,      ///< the receiver waited in a queue, and this thread has its run right
    look_again,   ///< the receiver was idle; or an actor of its restart waits in a queue
    no_progress,  ///< the time is over
    pointless,    ///< the receiver is stalled or has ended; or it waits for the sender
  };
  [[nodiscard]] wait_outcome why_it_does_not_run() const noexcept;
  wait_outcome wait_for_room() noexcept;
  bool wait_below_bound() noexcept;
  wait_outcome wait_below(std::uint32_t limit, const sender_patience& most) noexcept;
  wait_end wait_for_restart(std::int64_t limit_ns) noexcept;
  wait_outcome wait_counted(base::executor* ex, const detail::stacked_actor* top) noexcept;
  bool run_now() noexcept;
  [[nodiscard]] bool runs_signal_here() const noexcept;
  [[nodiscard]] address wanted_for_restart() const noexcept;
  [[nodiscard]] bool is_at(std::uint32_t limit) const noexcept;
  [[nodiscard]] bool keeps(std::uint32_t limit) const noexcept;
  [[nodiscard]] bool can_run_soon() const noexcept;
  [[nodiscard]] bool can_make_room() const noexcept;
  bool make_room(std::uint32_t length) noexcept;
  bool make_room_at_hard_limit() noexcept;
  static void prepare_to_wait() noexcept;
  static bool owe_and_pause(cell& of) noexcept;
  bool pause() noexcept;
  static void forget_debt() noexcept;

  base::run_outcome run_nested(std::uint32_t& budget) noexcept;
  [[gnu::hot]] base::run_outcome run_loop(std::uint32_t& budget) noexcept;
  [[gnu::hot]] release_outcome end_batch() noexcept;
  static void wake_overlooked() noexcept;
  static void charge_in_place_work(std::uint32_t& budget) noexcept;
  envelope* pick() noexcept;
  envelope* pick_apart() noexcept;
  envelope* pick_by_priority() noexcept;
  [[nodiscard]] bool has_nothing_to_handle() const noexcept;
  [[nodiscard]] std::uint32_t own_quantum(std::uint32_t budget) const noexcept;
  [[gnu::hot]] void process(envelope* e) noexcept;
  dispatch_outcome route(envelope* e);
  void settle(envelope* e, dispatch_outcome outcome) noexcept;
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace garrick::core
