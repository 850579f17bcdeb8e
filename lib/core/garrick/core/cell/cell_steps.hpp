// The steps that several threads take with one cell: counting handles, signals, and the end.
//
// Problem: the order of these steps lets an actor end once, frees its block once and loses no
// signal. Each step is one line, and no test on one machine notices a wrong one. So the steps are
// templates, apart from the cell: the product's cell takes them, and so does a cell of the model
// checker (internal/cell_steps.model.cpp), which has fields of the same names.
//
// A `Cell` has `atomics` (the policy), `strong_`, `weak_`, `attention_`, `gate_` and `reader_`, and
// the functions that are called below.
//
// Private: installed because cell.hpp needs it.
//
// Thread safety: stated for each function.
//
// Invariants of an actor's lifetime. All strong handles together own one weak handle. Being
// scheduled or running changes no count.
// L1 A pusher holds a strong handle, so `unreachable` is never set while a push is under way. A
//    thread that reports an actor's end may hold only a weak one, since a runner may make a handle
//    to its own actor at any time. Such a thread pushes only while a thread has the run right, or
//    takes the run right with its push. So it wakes no actor that belongs to the dropper of the
//    last handle (`tell_unheld`, `signal_unheld`).
// L2 Exactly one thread reclaims the actor: the dropper that found `idle` or `closed`, or the
//    runner that found `unreachable`.
// L3 Weak handles and addresses keep the block's memory, but not the actor. A weak handle does not
//    become a strong one if the count is zero.
// L4 Timers, pending requests and the registry hold strong handles. So no actor is reclaimed that a
//    timer, an answer or a name can still wake.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/platform/assert.hpp>
#include <garrick/core/mailbox/mailbox.hpp>

#include <cstdint>

namespace garrick::core {

/// The memory orders below that the model checker weakens, one at a time.
enum class cell_order : std::uint8_t {
  drop_strong,
  drop_weak,
  lock,
  set_attention,
  take_attention,
};

/// The outcome of a sender's wait for room.
enum class wait_end : std::uint8_t {
  woken,      ///< by the runner, by the time limit, because all workers wait, or without a cause
  claimed,    ///< the sender has the cell's run right
  pointless,  ///< the cell is idle, stalled or has ended
};

/// The steps. A cell that hides its counts and flags makes this struct a friend.
struct cell_steps {
  template <class Cell>
  using atomics = typename Cell::atomics;

  // ---- counting: any thread with a handle -------------------------------------------------------

  template <class Cell>
  static void drop_strong(Cell& c) noexcept {
    // order: acq_rel: the reclaiming thread has seen all writes of the handles' holders
    if (c.strong_.fetch_sub(
            1, base::order<atomics<Cell>, cell_order::drop_strong>(std::memory_order_acq_rel)) == 1)
      c.last_strong_dropped();
  }

  template <class Cell>
  static void drop_weak(Cell& c) noexcept {
    // order: acq_rel: the block is freed after each holder's last use
    if (c.weak_.fetch_sub(
            1, base::order<atomics<Cell>, cell_order::drop_weak>(std::memory_order_acq_rel)) == 1)
      c.free_block();
  }

  /// Makes a strong handle from a weak one. Returns false if the count of strong handles is zero
  /// (L3).
  template <class Cell>
  [[nodiscard]] static bool lock(Cell& c) noexcept {
    std::uint32_t n = c.strong_.load(std::memory_order_relaxed);  // order: validated by the CAS
    while (n != 0) {
      // order: acquire: as a copy of a handle that another thread published
      if (c.strong_.compare_exchange_weak(
              n, n + 1, base::order<atomics<Cell>, cell_order::lock>(std::memory_order_acquire),
              std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// For the runner: makes a strong handle, also after the last one has been dropped.
  template <class Cell>
  static void add_strong_from_self(Cell& c) noexcept {
    // order: relaxed: the runner needs nothing from the droppers
    if (c.strong_.fetch_add(1, std::memory_order_relaxed) == 0) [[unlikely]]
      c.gate_.undrop();
  }

  /// For the thread that has dropped the last strong handle. If no thread runs the actor, the actor
  /// ends here after the present handler, or where it is scheduled (L2).
  template <class Cell>
  static void last_strong_dropped(Cell& c) noexcept {
    switch (c.gate_.drop()) {
      case drop_outcome::running: return;
      case drop_outcome::closed: {
        auto& env = c.env();
        drop_weak(c);
        env.release();  // the reference of the actor's end
        return;
      }
      case drop_outcome::idle: break;
    }
    // This thread owns the cell alone now, and takes its free run right.
    const bool claimed = c.reader_.claim_idle(c.gate_);
    GARRICK_ASSERT(claimed,
                   "an unreachable actor is pushed to: a handle was used after it was dropped");
    c.become_unreachable();
    // The list of actors that end here needs the cell's link. If a claim left an entry behind in a
    // queue, that entry still uses the link, so the actor ends where the queue hands it on.
    if (c.may_end_here() && !c.has_stale_entry()) {
      c.end_here();
      return;
    }
    auto& env = c.env();
    env.hold();  // a worker may end this actor, and with it its system, before `schedule` returns
    c.schedule();
    env.release();
  }

  // ---- signals ----------------------------------------------------------------------------------

  /// Any thread with a handle: puts `e` into the system lane. It is handled before this thread's
  /// later messages (I6).
  template <class Cell, class Node>
  static void signal(Cell& c, Node* e) noexcept {
    const push_outcome pushed = c.gate_.push_signal(e);
    if (pushed == push_outcome::closed) {
      c.answer_late_signals();
      return;
    }
    want_attention(c);
    if (pushed == push_outcome::woke) c.wake();
  }

  /// Any thread with a weak handle, while the system lives: as `signal`, perhaps after the last
  /// strong handle has gone. Returns false if the actor has ended, or will end without another
  /// turn; `e` stays the caller's then.
  template <class Cell, class Node>
  [[nodiscard]] static bool signal_unheld(Cell& c, Node* e) noexcept {
    const std::uint64_t head = c.gate_.peek();
    if ((head & mailbox_word::closed) != 0 || mailbox_word::is_left(head)) return false;
    switch (c.gate_.template push_signal<false>(e)) {
      case push_outcome::closed: c.answer_late_signals(); return true;
      case push_outcome::queued: want_attention(c); return true;
      case push_outcome::woke: break;
    }
    want_attention(c);
    wake_unheld(c);
    return true;
  }

  /// Any thread with a weak handle: puts `e` behind the mail, perhaps after the last strong handle
  /// has gone. Returns false as `signal_unheld` does.
  template <class Cell, class Node>
  [[nodiscard]] static bool tell_unheld(Cell& c, Node* e) noexcept {
    const push_outcome pushed = c.gate_.template push<false>(e);
    if (pushed == push_outcome::woke) wake_unheld(c);
    return pushed != push_outcome::closed;
  }

  /// Wakes a cell of which the caller has the run right, and to which perhaps no strong handle is
  /// left.
  template <class Cell>
  static void wake_unheld(Cell& c) noexcept {
    auto& system = c.env();
    system.hold();  // as in `last_strong_dropped`
    c.wake();
    system.release();
  }

  /// Any thread with a handle: lets the runner look at the urgent and system lanes soon.
  template <class Cell>
  static void want_attention(Cell& c) noexcept {
    // order: release, pairs with take_signals: the earlier push
    c.attention_.store(
        1, base::order<atomics<Cell>, cell_order::set_attention>(std::memory_order_release));
  }

  /// The runner: returns true if a signal or an urgent message has come since `take_signals`. A
  /// hint, but exact for pushes before a message that has been taken.
  template <class Cell>
  [[nodiscard]] static bool wants_attention(const Cell& c) noexcept {
    return c.attention_.load(std::memory_order_relaxed) != 0;  // order: a hint; see take_signals
  }

  /// The runner: takes the next message, or null if there is none. Returns false if signals or
  /// urgent mail came before that message: the signals have been handled, the urgent mail has been
  /// sorted in, and the runner calls this function again.
  template <class Cell, class Node>
  [[nodiscard]] static bool take_message(Cell& c, Node*& message) noexcept {
    message = c.pick();
    // A signal that the sender sent before this message is handled before it. The flag is read only
    // now, since taking the message has acquired the signal.
    if (!wants_attention(c)) [[likely]]
      return true;
    if (message != nullptr) c.put_back(message);
    c.attend();
    return false;
  }

  /// The runner: takes the system lane, and returns its oldest signal, which leads to the others.
  /// `take_arrivals` takes the other arrivals.
  template <class Cell, class TakeArrivals>
  [[nodiscard]] static auto* take_signals(Cell& c, TakeArrivals take_arrivals) noexcept {
    // First, so that a later signal asks again. order: acquire, pairs with want_attention
    c.attention_.exchange(
        0, base::order<atomics<Cell>, cell_order::take_attention>(std::memory_order_acquire));
    take_arrivals();
    auto* newest = c.reader_.take_signals(c.gate_);
    decltype(newest) oldest = nullptr;
    while (newest != nullptr) {
      auto* const older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

  // ---- senders that wait for room ---------------------------------------------------------------

  /// Any thread with a handle: waits until the runner has made room, or for `limit_ns` at most. May
  /// return early. Returns the reason for the end of the wait. `claim()` takes the cell out of a
  /// queue, if it is in one and this thread may run it. It is called after the tag was set, so the
  /// runner will see the sender.
  template <class Cell, class Claim>
  [[nodiscard]] static wait_end wait_for_wake(Cell& c, std::int64_t limit_ns,
                                              Claim claim) noexcept {
    auto& lot = *c.env().lot;
    const std::uint32_t epoch = lot.epoch(c.id());
    if (!c.gate_.ask_to_wait()) return wait_end::pointless;
    // A hint that lets the runner publish its progress after its present message. order: release:
    // the runner may take this store in place of an earlier `want_attention`, which must count
    c.attention_.store(1, std::memory_order_release);
    if (claim()) return wait_end::claimed;
    lot.wait(c.id(), epoch, limit_ns);
    return wait_end::woken;
  }

  /// The runner: wakes the waiting senders. It clears the tag first, so that later requests to wait
  /// are seen.
  template <class Cell>
  static void wake_senders(Cell& c) noexcept {
    c.reader_.clear_waiting(c.gate_);
    c.env().lot->wake(c.id());
  }

  // ---- the end ----------------------------------------------------------------------------------

  /// The runner: ends the cell. `last_words` is called when the mailbox is closed and the remaining
  /// signals are answered: it loses the rest of the mail, and tells the watchers. Afterwards the
  /// block may be gone.
  template <class Cell, class LastWords>
  static void end(Cell& c, LastWords last_words) noexcept {
    auto& env = c.env();
    const bool alone = (c.gate_.peek() & mailbox_word::unreachable) != 0;
    if (!alone) {
      // A handle that outlives the actor may outlive the system: the environment has to stay for
      // it. The drop of the last handle releases it.
      env.hold();
      // After the close another thread may drop the last handle and free the block. The weak handle
      // keeps the block until the function is done.
      c.add_weak();
    }
    const std::uint64_t tags = c.reader_.close(c.gate_);
    const bool unreachable = (tags & mailbox_word::unreachable) != 0;
    if (unreachable && !alone) env.release();
    c.answer_late_signals();  // a later pusher finds the mailbox closed and does this
    if ((tags & mailbox_word::waiting) != 0) env.lot->wake(c.id());
    last_words();
    if (unreachable) drop_weak(c);  // the strong handles' share
    if (!alone) drop_weak(c);
  }
};

}  // namespace garrick::core
