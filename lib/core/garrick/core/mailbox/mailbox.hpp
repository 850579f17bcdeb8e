// The mailbox: one word with the newest envelope, the run right's state and a count of pushes.
//
// Problem: any thread may push, and one runner takes. When a push finds the actor idle, exactly one
// thread must schedule it. The runner must be able to stop without losing an envelope that arrives
// at that moment. All of that may cost one locked operation for each push and one per batch.
//
// The envelopes form a stack: each points to the one pushed before it, and the word names the
// newest. The runner never takes the stack away. It remembers the newest envelope that it has seen.
// All envelopes above that are new, and move to the runner's local queue, oldest first. So a batch
// costs a plain load, and giving up the run right is one compare-and-swap that fails if an envelope
// has come. mailbox_word.hpp describes the tags one by one, and docs/internals/mailbox.md the
// transitions and the threads that make them.
//
// The *run right* is the right to run the actor, and the *runner* is the thread that has it. The
// reasons for this design are in docs/decisions/0001-hot-path.md.
//
// Private: installed because templates need it.
//
// Thread safety: `mailbox_gate` is for holders of strong handles, `mailbox_reader` for the runner.
//
// Invariants of the run right
// I1 At most one thread holds the run right of an actor. The thread that clears `idle` creates it
//    (in a push, a signal or `claim_idle`), or spawn does. At most one queue at a time hands it on,
//    and `release` or `close` ends it.
// I2 After a successful `release` the former runner does not touch the cell.
// I3 Only the runner frees an envelope that was pushed, and never while the word names it. So an
//    address in the word means the same envelope as long as the runner compares with it. (Signals
//    have a stack of their own. After the end, the thread that takes a signal frees it.)
// I4 Nothing is lost. Since `release` compares the whole word, it fails if a push came before it,
//    and a push that comes after it finds `idle` set.
// I5 Envelopes of one priority are taken in the order of their successful compare-and-swap. So a
//    chain of sends in which one causes the next arrives in that order. Mail that the actor skips,
//    or that waits behind an await, keeps its order and is handled later.
// I6 The number of links, monitors, children and requests through proxies bounds the system lane.
//    Ordinary pushes neither fill nor pass it: the runner looks at `signal` before each message.
// I7 The count in the word minus `consumed` is the number of envelopes modulo 2^16. A push that
//    flips the count's highest bit, as every 2^15th does, adds one to `halves`. A thread that sees
//    the new `halves` has seen the word with the flipped bit, and a thread that sees `consumed` has
//    seen the pushes that it counts. So `length` is never too high. The lowest bit of `halves`
//    equals the highest bit of the count, unless a push has flipped that bit and not counted the
//    flip yet: so a reader notices one such push.
//
// Invariants of a mailbox whose actor awaits
// H1 While the mailbox is held, `release` may leave the local queue filled. Nothing in it can be
//    handled, and the response that ends the hold is a push like any other.
// H2 From the push of the last response that the actor awaits until its next await, the word is not
//    `stalled`: that push clears the tag, and a `release` that would set it finds the response.
//
// The policy parameter gives the atomics, so that the model checker runs this very header
// (internal/mailbox.model.cpp).
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/brief_wait.hpp>
#include <garrick/base/concurrency/single_writer_count.hpp>
#include <garrick/core/mailbox/mailbox_word.hpp>

#include <cstdint>

namespace garrick::core {

/// The result of a push.
enum class push_outcome : std::uint8_t {
  queued,  ///< another thread holds the run right and will take the envelope
  woke,    ///< the actor was idle: the pusher must schedule it
  closed,  ///< the actor has ended: the envelope was not taken
};

/// The result of the last strong handle's drop.
enum class drop_outcome : std::uint8_t {
  running,  ///< the runner will notice and reclaim
  idle,     ///< no thread runs the actor or will: the dropper reclaims
  closed,   ///< the actor ended before: the dropper frees the block
};

/// The places in this header where the model checker weakens a memory order or plants an error.
enum class mailbox_order : std::uint8_t {
  push,
  push_halves,
  push_signal_link,
  push_signal_head,
  drop,
  undrop,
  next,
  take_arrivals,
  release,
  take_signals_head,
  take_signals,
  signals_of_the_dead,
  close,
  publish_consumed,
  pushes_halves,
  length_consumed
};

/// The senders' side.
template <class Node, class Atomics = base::real_atomics>
class mailbox_gate {
 public:
  template <class T>
  using atomic = typename Atomics::template atomic<T>;
  using word = mailbox_word;

  /// Makes the gate of a new actor: idle, or with a run right, which its maker holds. `handled` is
  /// for tests: the number of envelopes pushed and handled before. The reader must get it, too.
  explicit mailbox_gate(bool born_idle, std::uint32_t handled = 0) noexcept
      : head_((born_idle ? word::idle : 0) + (handled & 0xffff) * word::one),
        consumed_(handled),
        halves_(handled >> 15) {}

  /// Pushes an envelope. Requires a strong handle (L1), or, if not `Held`, a weak one: then a cell
  /// that is left (`is_left`) counts as closed. Returns the outcome; unless it is `closed`, `n`
  /// belongs to the runner. With `Answer`, clears the tag `stalled` (H2).
  template <bool Held = true, bool Answer = false>
  [[nodiscard]] push_outcome push(Node* n) noexcept {
    // order: the CAS below validates this read
    std::uint64_t old = head_.load(std::memory_order_relaxed);
    for (;;) {
      if ((old & word::closed) != 0 || (!Held && word::is_left(old))) [[unlikely]]
        return push_outcome::closed;
      n->next = to_node(old);
      const std::uint64_t kept =
          old & (word::signal | word::waiting | word::unreachable | (Answer ? 0 : word::stalled));
      const std::uint64_t now = ((old & ~(word::one - 1)) + word::one) | to_bits(n) | kept;
      // order: acq_rel: releases the envelope to the acquire in the reader's `next` and
      // `take_arrivals`. If the actor was idle, acquires the last runner's `release`, so that the
      // thread that schedules the actor passes on all writes of the last run.
      if (head_.compare_exchange_weak(
              old, now, base::order<Atomics, mailbox_order::push>(std::memory_order_acq_rel),
              std::memory_order_relaxed)) {
        if (((old ^ now) & word::count_half) != 0) [[unlikely]]
          // order: release, pairs with `length`: the word with the flipped bit
          halves_.fetch_add(
              1, base::order<Atomics, mailbox_order::push_halves>(std::memory_order_release));
        return (old & word::idle) != 0 ? push_outcome::woke : push_outcome::queued;
      }
    }
  }

  /// Pushes to the system lane. Requires a strong handle or, if not `Held`, a weak one; or a cell
  /// that cannot go away meanwhile. Returns the outcome. Even after `closed`, `n` belongs to the
  /// lane: the caller then drains the lane with `take_signals_of_the_dead`.
  template <bool Held = true>
  [[nodiscard]] push_outcome push_signal(Node* n) noexcept {
    // The envelope may be linked although the actor closes at this moment: close() drains the lane
    // after it set `closed`, and a pusher that finds `closed` here drains it too, so nothing stays
    // behind.
    Node* top = signals_.load(std::memory_order_relaxed);  // order: validated by the CAS
    do {
      n->next = top;
      // order: release: the envelope, to the acquire in take_signals
    } while (!signals_.compare_exchange_weak(
        top, n, base::order<Atomics, mailbox_order::push_signal_link>(std::memory_order_release),
        std::memory_order_relaxed));
    std::uint64_t old = head_.load(std::memory_order_relaxed);  // order: validated by the CAS
    for (;;) {
      if ((old & word::closed) != 0) return push_outcome::closed;
      // A cell that is left belongs to the dropper, which drains the lane at the end.
      const bool wakes = (old & word::idle) != 0 && (Held || !word::is_left(old));
      const std::uint64_t now = (wakes ? old & ~word::idle : old) | word::signal;
      // order: acq_rel as in push; the release also orders the link into `signals_` before the tag
      // that announces it
      if (head_.compare_exchange_weak(
              old, now,
              base::order<Atomics, mailbox_order::push_signal_head>(std::memory_order_acq_rel),
              std::memory_order_relaxed))
        return wakes ? push_outcome::woke : push_outcome::queued;
    }
  }

  /// Notes that the last strong handle is gone. Returns the outcome; after `running`, the caller
  /// does not touch the cell.
  [[nodiscard]] drop_outcome drop() noexcept {
    // order: acq_rel: release, so that the reclaiming runner has seen all that the droppers did;
    // acquire pairs with the runner's release
    const std::uint64_t old = head_.fetch_or(
        word::unreachable, base::order<Atomics, mailbox_order::drop>(std::memory_order_acq_rel));
    if ((old & word::closed) != 0) return drop_outcome::closed;
    return (old & word::idle) != 0 ? drop_outcome::idle : drop_outcome::running;
  }

  /// Takes back the tag of a drop, because the runner has made a handle to its actor after the
  /// count had fallen to zero. If the dropper has counted but not tagged yet, waits for the tag: it
  /// is one instruction away, and the wait leaves the dropper a processor at any priority.
  void undrop() noexcept {
    base::brief_wait<Atomics> wait;
    // order: relaxed: only the tag matters; the runner uses no write of the dropper
    while ((head_.load(base::order<Atomics, mailbox_order::undrop>(std::memory_order_relaxed)) &
            word::unreachable) == 0)
      wait.once();
    // order: only the runner reads the tag
    head_.fetch_and(~word::unreachable, std::memory_order_relaxed);
  }

  /// Sets the tag that asks the runner to wake waiting senders. Returns false if waiting would be
  /// pointless.
  [[nodiscard]] bool ask_to_wait() noexcept {
    std::uint64_t old = head_.load(std::memory_order_relaxed);  // order: validated by the CAS
    for (;;) {
      if ((old & (word::idle | word::closed | word::stalled)) != 0) return false;
      // order: relaxed: the sender read its wake-up word with acquire before this, so that read
      // cannot move behind it
      if (head_.compare_exchange_weak(old, old | word::waiting, std::memory_order_relaxed,
                                      std::memory_order_relaxed))
        return true;
    }
  }

  /// Returns the word at some moment of the call. Any thread; a hint.
  [[nodiscard]] std::uint64_t peek() const noexcept {
    // order: a hint; decisions are validated by a CAS
    return head_.load(std::memory_order_relaxed);
  }

  /// Like `peek`. If the word is closed, the runner's writes before the end are visible.
  [[nodiscard]] std::uint64_t peek_acquire() const noexcept {
    // order: pairs with close(): the runner's writes before the end
    return head_.load(std::memory_order_acquire);
  }
  /// Returns the number of handled envelopes, modulo 2^32, as last published. Any thread.
  [[nodiscard]] std::uint32_t consumed() const noexcept {
    return consumed_.load(std::memory_order_relaxed);  // order: an estimate
  }

  /// Returns the number of waiting envelopes, modulo 2^16 (I7). Any thread; exact only for the
  /// runner. If `head` is older than `consumed`, the result is far too high. Call `length()` before
  /// rejecting mail.
  [[nodiscard]] std::uint32_t short_length(std::uint64_t head) const noexcept {
    // order: an estimate
    return (word::count(head) - consumed_.load(std::memory_order_relaxed)) & 0xffff;
  }

  /// Returns the number of pushes, modulo 2^32. Any thread. The number is never too high. It is too
  /// low, by 2^16, only while two threads whose pushes flipped the bit, 2^15 apart, are both still
  /// before the next instruction (I7).
  [[nodiscard]] std::uint32_t pushes() const noexcept {
    // order: acquire, pairs with push: the word with the flipped bit, which the next load must see
    std::uint32_t halves =
        halves_.load(base::order<Atomics, mailbox_order::pushes_halves>(std::memory_order_acquire));
    // order: acquire: the caller's later reads are at least as new
    const std::uint32_t count = word::count(head_.load(std::memory_order_acquire));
    if (halves % 2 != count / half) ++halves;  // a flip that is not counted yet
    return halves * half + count % half;
  }

  /// Returns the number of waiting envelopes, up to 2^31. Any thread. An estimate: at some moment
  /// of the call at least this number waited, by the published count.
  [[nodiscard]] std::uint32_t length() const noexcept {
    // order: acquire, pairs with publish_consumed: the pushes of consumed envelopes
    const std::uint32_t before = consumed_.load(
        base::order<Atomics, mailbox_order::length_consumed>(std::memory_order_acquire));
    std::uint32_t n = pushes() - before;
    if (n >= (1u << 31)) n &= 0xffff;  // flips were counted late: the low half is exact
    // Without this subtraction, a caller that lost its core between the two reads would count mail
    // that arrived and was handled meanwhile.
    // order: an estimate
    const std::uint32_t since = consumed_.load(std::memory_order_relaxed) - before;
    return n > since ? n - since : 0;
  }

  /// For the runner: publishes the number of envelopes that it has handled.
  void publish_consumed(std::uint32_t total) noexcept {
    // order: release, pairs with `length`: the pushes that the runner has acquired
    consumed_.store(
        total, base::order<Atomics, mailbox_order::publish_consumed>(std::memory_order_release));
  }

  /// Returns the envelope that a word names; null if none.
  static Node* to_node(std::uint64_t bits) noexcept {
    return reinterpret_cast<Node*>(bits & word::address);
  }
  /// Returns the part of a word that names `n`.
  static std::uint64_t to_bits(Node* n) noexcept { return reinterpret_cast<std::uint64_t>(n); }

 private:
  template <class, class>
  friend class mailbox_reader;

  atomic<std::uint64_t> head_;
  atomic<Node*> signals_{nullptr};
  atomic<std::uint32_t> consumed_;
  static constexpr std::uint32_t half = 1u << 15;
  atomic<std::uint32_t> halves_;
};

/// The result of a release.
enum class release_outcome : std::uint8_t {
  released,     ///< the run right is gone; the cell must not be touched
  arrivals,     ///< an envelope or a tag came: the run continues
  unreachable,  ///< no thread can push any more and no mail is left: reclaim
};

/// The runner's side: everything here belongs to the holder of the run right.
template <class Node, class Atomics = base::real_atomics>
class mailbox_reader {
 public:
  using gate = mailbox_gate<Node, Atomics>;
  using word = mailbox_word;

  /// `handled` is for tests: the reader counts as if this many envelopes had been handled. The gate
  /// must get the same number.
  explicit mailbox_reader(std::uint32_t handled = 0) noexcept : consumed_(handled) {}

  /// Returns the oldest envelope of normal priority that has not been handled yet, or null. Takes
  /// new arrivals when the local queue is empty.
  [[nodiscard]] Node* next(gate& g) noexcept {
    Node* oldest = front_;
    if (oldest == nullptr) {
      // order: acquire pairs with the release in push: the envelopes' contents
      Node* const newest = gate::to_node(
          g.head_.load(base::order<Atomics, mailbox_order::next>(std::memory_order_acquire)));
      const std::uint64_t seen = last_ & ~handled_bit;
      if (gate::to_bits(newest) == seen || newest == nullptr) return nullptr;
      if (gate::to_bits(newest->next) == seen && !Node::is_urgent(newest)) [[likely]] {
        // One message, the usual case: it never enters the local queue.
        const std::uint64_t before = last_;
        last_ = gate::to_bits(newest);
        if ((before & handled_bit) != 0) retire(reinterpret_cast<Node*>(seen));
        return newest;
      }
      take_arrivals(g);
      oldest = front_;
      if (oldest == nullptr) return nullptr;
    }
    front_ = oldest->next;
    return oldest;
  }

  /// A list of envelopes in their order.
  struct chain {
    Node* first = nullptr;
    Node* last = nullptr;
  };

  /// Returns the oldest envelope of normal priority in the local queue, or null.
  [[nodiscard]] Node* peek_front() const noexcept { return front_; }

  /// Moves all envelopes that arrived since the last call to the end of the local queue, oldest
  /// first. Returns true if there were any.
  [[gnu::noinline]] bool take_arrivals(gate& g) noexcept {
    chain none;
    return sort_arrivals(g, none, [](const Node*) { return false; });
  }

  /// Like `take_arrivals`, but puts envelopes that `passes` accepts into `apart`, which must be
  /// empty.
  template <class Passes>
  bool sort_arrivals(gate& g, chain& apart, Passes passes) noexcept {
    // order: acquire pairs with the release in push: the envelopes' contents
    Node* const newest = gate::to_node(g.head_.load(
        base::order<Atomics, mailbox_order::take_arrivals>(std::memory_order_acquire)));
    Node* const seen = last();
    if (newest == seen || newest == nullptr) return false;
    if (front_ == nullptr) answers_inside_ = false;
    chain normal;
    chain urgent;
    for (Node* n = newest; n != nullptr && n != seen;) {
      Node* const older = n->next;
      chain& to = passes(n) ? apart : Node::is_urgent(n) ? urgent : normal;
      if (to.first == nullptr) to.last = n;
      n->next = to.first;
      to.first = n;
      if (Node::is_answer(n) && !is_holding()) answers_inside_ = true;
      n = older;
    }
    if (normal.first != nullptr) append(normal.first, normal.last);
    if (urgent.first != nullptr) append_urgent(urgent.first, urgent.last);
    if (last_handled()) retire(seen);
    last_ = gate::to_bits(newest);
    return true;
  }

  /// Takes the envelopes that `passes` accepts out of the local queue, and returns them. `passes`
  /// may accept only answers. Searches only if an answer may have come in since the last search.
  template <class Passes>
  [[nodiscard]] chain take_out(Passes passes) noexcept {
    chain out;
    if (!answers_inside_) return out;
    answers_inside_ = false;
    chain rest;
    for (Node* n = front_; n != nullptr;) {
      Node* const newer = n->next;
      chain& to = passes(n) ? out : rest;
      (to.first == nullptr ? to.first : to.last->next) = n;
      to.last = n;
      n->next = nullptr;
      n = newer;
    }
    front_ = rest.first;
    back_ = rest.last;
    return out;
  }

  /// Begins or ends a hold. Meanwhile the local queue and the urgent lane stay as they are, and the
  /// owner handles only the envelopes that it sorts out (H1).
  void hold(bool on) noexcept { urgent_ = on ? urgent_ | holding_bit : urgent_ & ~holding_bit; }
  /// Returns true if the mailbox is held.
  [[nodiscard]] bool is_holding() const noexcept { return (urgent_ & holding_bit) != 0; }
  /// Returns true in the usual case: no hold and no urgent mail, so `next` has the next message.
  [[nodiscard]] bool is_plain() const noexcept { return urgent_ == 0; }

  /// Returns the oldest urgent envelope among those already taken, or null.
  [[nodiscard]] Node* next_urgent() noexcept {
    Node* const newest = urgent_back();
    if (newest == nullptr) return nullptr;
    Node* const n = newest->next;
    if (n == newest)
      set_urgent_back(nullptr);
    else
      newest->next = n->next;
    return n;
  }
  /// Returns true if an urgent envelope is among those already taken.
  [[nodiscard]] bool has_urgent() const noexcept { return urgent_back() != nullptr; }
  /// Returns the next result of `next_urgent`.
  [[nodiscard]] Node* peek_urgent() const noexcept {
    return has_urgent() ? urgent_back()->next : nullptr;
  }

  /// Marks `n`, whose payload is gone, as handled. It is freed now, or later if the word still
  /// names it (I3).
  void done(Node* n) noexcept {
    consumed_.raise();
    if (n == last())
      last_ |= handled_bit;
    else
      retire(n);
  }

  /// Gives up the run right if nothing has come. Requires an empty local queue, unless the mailbox
  /// is held. `flags` is `stalled` or nothing. `overlook` may be `waiting`: senders then continue
  /// to wait although the actor goes idle, which is right only because their wait is bounded.
  [[nodiscard]] release_outcome release(gate& g, std::uint64_t flags,
                                        std::uint64_t overlook = 0) noexcept {
    g.publish_consumed(consumed());
    // order: validated by the CAS, or by take_arrivals's acquire
    std::uint64_t old = g.head_.load(std::memory_order_relaxed);
    Node* const seen = last();
    for (;;) {
      if (gate::to_node(old) != seen || (old & (word::signal | word::waiting) & ~overlook) != 0)
        return release_outcome::arrivals;
      if ((old & word::unreachable) != 0) return release_outcome::unreachable;
      const std::uint64_t now = (old & (~(word::one - 1) | overlook)) | word::idle | flags;
      Node* const retired = last_handled() ? seen : nullptr;
      last_ = 0;  // before the CAS: afterwards the next runner owns this object
      // order: release: the run, to the thread that clears `idle` next (push, push_signal, drop)
      if (g.head_.compare_exchange_strong(
              old, now, base::order<Atomics, mailbox_order::release>(std::memory_order_release),
              std::memory_order_relaxed)) {
        if (retired != nullptr) retire(retired);
        return release_outcome::released;
      }
      last_ = gate::to_bits(seen) | (retired != nullptr ? handled_bit : 0);
    }
  }

  /// Publishes the progress of the runner to senders. `begun` is the number of messages that it has
  /// begun to handle but not finished; they count as handled.
  void publish(gate& g, std::uint32_t begun = 0) const noexcept {
    g.publish_consumed(consumed() + begun);
  }

  /// Takes and returns the whole system lane, newest first, and clears its tag.
  [[nodiscard]] Node* take_signals(gate& g) noexcept {
    g.head_.fetch_and(
        ~word::signal,
        // order: acquire: the exchange stays after it, so that a later push sets the tag again
        base::order<Atomics, mailbox_order::take_signals_head>(std::memory_order_acquire));
    // order: acquire pairs with the release in push_signal
    return g.signals_.exchange(
        nullptr, base::order<Atomics, mailbox_order::take_signals>(std::memory_order_acquire));
  }

  /// Takes and returns the whole lane of an actor that has ended. Any thread.
  [[nodiscard]] static Node* take_signals_of_the_dead(gate& g) noexcept {
    // order: relaxed: a thread that links a signal after this look finds the mailbox closed and
    // comes here itself
    if (g.signals_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return g.signals_.exchange(nullptr, base::order<Atomics, mailbox_order::signals_of_the_dead>(
                                            // order: acquire pairs with the release in push_signal
                                            std::memory_order_acquire));
  }

  /// Clears the tag that senders set before they wait.
  void clear_waiting(gate& g) noexcept {
    g.head_.fetch_and(~word::waiting,
                      // order: relaxed: the wake-up word is advanced with release after it
                      std::memory_order_relaxed);
  }

  /// Sets or clears the tag `mailbox_word::stalled`: with it, senders do not wait for room.
  void set_stalled(gate& g, bool on) noexcept {
    if (on)
      g.head_.fetch_or(word::stalled, std::memory_order_relaxed);  // order: a hint for senders
    else  // order: a hint for senders; release: a proxy's end (`elsewhere`), to peek_acquire
      g.head_.fetch_and(~word::stalled, std::memory_order_release);
  }

  /// Ends the mailbox: later pushes fail. Returns the previous tags, of which `unreachable` and
  /// `waiting` matter. Earlier arrivals stay in the local queue for the caller to drain.
  [[nodiscard]] std::uint64_t close(gate& g) noexcept {
    take_arrivals(g);
    for (;;) {
      std::uint64_t old = g.head_.load(std::memory_order_relaxed);  // order: validated by the CAS
      if (gate::to_node(old) != last()) {
        take_arrivals(g);
        continue;
      }
      const std::uint64_t now = (old & (~(word::one - 1) | word::unreachable)) | word::closed;
      // order: acq_rel: pairs with drop. Of the dropper and the closing runner, exactly one sees
      // the other's change of the word
      if (g.head_.compare_exchange_weak(
              old, now, base::order<Atomics, mailbox_order::close>(std::memory_order_acq_rel),
              std::memory_order_relaxed)) {
        if (last_handled()) retire(last());
        last_ = 0;
        return old & word::tags;
      }
    }
  }

  /// Puts a chain (first … last, oldest first) before all others in the local queue.
  void prepend(Node* first, Node* last_of_chain) noexcept {
    last_of_chain->next = front_;
    if (front_ == nullptr) back_ = last_of_chain;
    front_ = first;
  }

  /// Puts `n` back, so that it is the next envelope again.
  void put_back(Node* n) noexcept {
    if (Node::is_urgent(n)) {
      Node* const newest = urgent_back();
      n->next = newest != nullptr ? newest->next : n;
      if (newest != nullptr)
        newest->next = n;
      else
        set_urgent_back(n);
      return;
    }
    if (Node::is_answer(n)) answers_inside_ = true;
    prepend(n, n);
  }

  /// Puts a chain (first … last, oldest first) behind all others in the local queue.
  void append(Node* first, Node* last_of_chain) noexcept {
    (front_ == nullptr ? front_ : back_->next) = first;
    back_ = last_of_chain;
    last_of_chain->next = nullptr;
  }

  /// Takes the run right of an idle actor: for the owner of a blocking actor whose wait timed out,
  /// and for reclaiming. Returns false if a pusher was quicker and will schedule it.
  [[nodiscard]] bool claim_idle(gate& g) noexcept {
    std::uint64_t old = g.head_.load(std::memory_order_relaxed);  // order: validated by the CAS
    while ((old & word::idle) != 0) {
      // order: relaxed: the caller released it itself, or has acquired it in drop
      if (g.head_.compare_exchange_weak(old, old & ~word::idle, std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// Returns the number of envelopes handled, modulo 2^32. Any thread; but frequent reads take the
  /// line from the runner, which writes it with each message.
  [[nodiscard]] std::uint32_t consumed() const noexcept { return consumed_.get(); }
  /// Returns true if the local queue is empty.
  [[nodiscard]] bool empty() const noexcept { return front_ == nullptr; }

 private:
  static constexpr std::uint64_t handled_bit = 1;
  static constexpr std::uint64_t holding_bit = 1;
  [[nodiscard]] Node* last() const noexcept {
    return reinterpret_cast<Node*>(last_ & ~handled_bit);
  }
  [[nodiscard]] bool last_handled() const noexcept { return (last_ & handled_bit) != 0; }
  [[nodiscard]] Node* urgent_back() const noexcept {
    return reinterpret_cast<Node*>(urgent_ & ~holding_bit);
  }
  void set_urgent_back(Node* n) noexcept { urgent_ = gate::to_bits(n) | (urgent_ & holding_bit); }
  void append_urgent(Node* first, Node* last_of_chain) noexcept {
    Node* const newest = urgent_back();
    last_of_chain->next = newest != nullptr ? newest->next : first;
    if (newest != nullptr) newest->next = first;
    set_urgent_back(last_of_chain);
  }
  static void retire(Node* n) noexcept { Node::retire(n); }

  /// the newest envelope seen, which the word may still name; lowest bit: it was handled
  std::uint64_t last_ = 0;
  Node* front_ = nullptr;  ///< local queue, oldest first
  Node* back_ = nullptr;
  /// urgent envelopes in a ring: the newest, whose `next` is the oldest; lowest bit: the mailbox is
  /// held
  std::uint64_t urgent_ = 0;
  base::single_writer_count consumed_;
  bool answers_inside_ = false;  ///< the local queue may hold answers that are not sorted out
};

}  // namespace garrick::core
