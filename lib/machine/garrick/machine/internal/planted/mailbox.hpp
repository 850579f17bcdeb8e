// The mailbox's protocol once more, plain and with a switch for each planted bug: what the explorer
// has to find.
//
// It is a copy of core/cell/mailbox.hpp reduced to its transitions, so that an error can be put into one
// line without touching what is shipped. With `bug::none` it is correct and passes every seed,
// which shows that a failure comes from the bug and not from the copy.
//
// Thread safety: as core/cell/mailbox.hpp.
#pragma once

#include <garrick/core/cell/mailbox.hpp>

#include <cstdint>
#include <utility>

namespace garrick::machine::internal::planted {

enum class bug : std::uint8_t {
  none,
  /// push decides from its first look, not from the word that it replaced, that somebody runs
  lost_wake_up,
  /// release stores the idle word without comparing: what arrived just now stays behind
  wake_up_before_release,
  /// push leaves the idle tag where it was: the next pusher schedules, too
  double_run,
  /// the newest envelope is freed as soon as it was handled, although the word names it and
  /// compares with it
  early_free,
  touch_after_release,  ///< the runner clears its own state after it gave up the run right
  /// close takes what arrived and then closes, without looking whether more came between
  lost_on_close,
  signal_before_link,     ///< push_signal sets the tag first and links afterwards
  signal_tag_after_take,  ///< the runner takes the lane first and clears the tag afterwards
  reordered_signals,      ///< the lane is handled newest first
  reordered_messages,     ///< arrivals are not turned round
  reordered_urgent,       ///< urgent arrivals are put before those that wait already
  unfair_urgent,          ///< urgent messages never leave a turn to normal ones
  undrop_does_not_wait,   ///< a handle made from a count of zero does not wait for the drop's mark
  /// whoever drops the last handle leaves the end to a runner that is not there
  reclaim_ignores_idle,
};

template <bug Bug>
struct planted_mailbox {
  using word = core::mailbox_word;
  using push_outcome = core::push_outcome;
  using drop_outcome = core::drop_outcome;
  using release_outcome = core::release_outcome;
  static constexpr auto any_order = std::memory_order_seq_cst;  // order: the policy ignores it

  template <class Node, class Atomics>
  class reader;

  template <class Node, class Atomics>
  class gate {
   public:
    explicit gate(bool born_idle) noexcept : head_(born_idle ? word::idle : 0) {}

    [[nodiscard]] push_outcome push(Node* n) noexcept {
      std::uint64_t old = head_.load(any_order);
      const bool was_idle_at_first = (old & word::idle) != 0;
      for (;;) {
        if ((old & word::closed) != 0) return push_outcome::closed;
        n->next = to_node(old);
        const std::uint64_t kept =
            old & (word::signal | word::unreachable | (Bug == bug::double_run ? word::idle : 0));
        const std::uint64_t now = ((old & ~(word::one - 1)) + word::one) | to_bits(n) | kept;
        if (!head_.compare_exchange_weak(old, now, any_order, any_order)) continue;
        const bool was_idle =
            Bug == bug::lost_wake_up ? was_idle_at_first : (old & word::idle) != 0;
        return was_idle ? push_outcome::woke : push_outcome::queued;
      }
    }

    [[nodiscard]] push_outcome push_signal(Node* n) noexcept {
      if (Bug != bug::signal_before_link) link_signal(n);
      std::uint64_t old = head_.load(any_order);
      for (;;) {
        if ((old & word::closed) != 0) {
          if (Bug == bug::signal_before_link) link_signal(n);
          return push_outcome::closed;
        }
        if (!head_.compare_exchange_weak(old, (old & ~word::idle) | word::signal, any_order,
                                         any_order))
          continue;
        if (Bug == bug::signal_before_link) link_signal(n);
        return (old & word::idle) != 0 ? push_outcome::woke : push_outcome::queued;
      }
    }

    [[nodiscard]] drop_outcome drop() noexcept {
      const std::uint64_t old = head_.fetch_or(word::unreachable, any_order);
      if ((old & word::closed) != 0) return drop_outcome::closed;
      if (Bug == bug::reclaim_ignores_idle) return drop_outcome::running;
      return (old & word::idle) != 0 ? drop_outcome::idle : drop_outcome::running;
    }

    void undrop() noexcept {
      if (Bug != bug::undrop_does_not_wait)
        while ((head_.load(any_order) & word::unreachable) == 0) Atomics::pause();
      head_.fetch_and(~word::unreachable, any_order);
    }

    [[nodiscard]] std::uint64_t peek() const noexcept { return head_.load(any_order); }

   private:
    template <class, class>
    friend class reader;
    void link_signal(Node* n) noexcept {
      Node* top = signals_.load(any_order);
      do n->next = top;
      while (!signals_.compare_exchange_weak(top, n, any_order, any_order));
    }
    static Node* to_node(std::uint64_t w) noexcept {
      return reinterpret_cast<Node*>(w & word::address);
    }
    static std::uint64_t to_bits(Node* n) noexcept { return reinterpret_cast<std::uint64_t>(n); }

    typename Atomics::template atomic<std::uint64_t> head_;
    typename Atomics::template atomic<Node*> signals_{nullptr};
  };

  template <class Node, class Atomics>
  class reader {
   public:
    using gate_type = gate<Node, Atomics>;

    [[nodiscard]] Node* next(gate_type& g) noexcept {
      if (front_ == nullptr) take_arrivals(g);
      Node* const n = front_;
      if (n != nullptr) front_ = n->next;
      return n;
    }
    [[nodiscard]] Node* peek_front() const noexcept { return front_; }
    [[nodiscard]] bool has_urgent() const noexcept { return urgent_front_ != nullptr; }
    [[nodiscard]] Node* next_urgent() noexcept {
      Node* const n = urgent_front_;
      if (n != nullptr) urgent_front_ = n->next;
      return n;
    }

    bool take_arrivals(gate_type& g) noexcept {
      Node* const newest = gate_type::to_node(g.head_.load(any_order));
      Node* const seen = last_;
      if (newest == seen || newest == nullptr) return false;
      Node* normal = nullptr;
      Node* urgent = nullptr;
      Node** normal_end = &normal;
      for (Node* n = newest; n != nullptr && n != seen;) {
        Node* const older = n->next;
        if (Node::is_urgent(n)) {
          n->next = urgent;
          urgent = n;
        } else if (Bug == bug::reordered_messages) {
          n->next = nullptr;
          *normal_end = n;
          normal_end = &n->next;
        } else {
          n->next = normal;
          normal = n;
        }
        n = older;
      }
      append(front_, normal);
      if (Bug == bug::reordered_urgent)
        append(urgent, std::exchange(urgent_front_, nullptr)), urgent_front_ = urgent;
      else
        append(urgent_front_, urgent);
      if (last_handled_) Node::retire(seen);
      last_ = newest;
      last_handled_ = false;
      return true;
    }

    void done(Node* n) noexcept {
      if (n == last_ && Bug != bug::early_free)
        last_handled_ = true;
      else
        Node::retire(n);
    }

    [[nodiscard]] release_outcome release(gate_type& g, std::uint64_t) noexcept {
      std::uint64_t old = g.head_.load(any_order);
      Node* const seen = last_;
      Node* const retired = last_handled_ ? seen : nullptr;
      for (;;) {
        if (gate_type::to_node(old) != seen || (old & word::signal) != 0)
          return release_outcome::arrivals;
        if ((old & word::unreachable) != 0) return release_outcome::unreachable;
        const std::uint64_t now = (old & ~(word::one - 1)) | word::idle;
        if (Bug != bug::touch_after_release) forget();
        bool released = true;
        if (Bug == bug::wake_up_before_release)
          g.head_.store(now, any_order);
        else
          released = g.head_.compare_exchange_strong(old, now, any_order, any_order);
        if (released) {
          if (Bug == bug::touch_after_release) {
            Atomics::pause();
            forget();
          }
          if (retired != nullptr) Node::retire(retired);
          return release_outcome::released;
        }
        last_ = seen;
        last_handled_ = retired != nullptr;
      }
    }

    [[nodiscard]] Node* take_signals(gate_type& g) noexcept {
      if (Bug != bug::signal_tag_after_take) g.head_.fetch_and(~word::signal, any_order);
      Node* newest = g.signals_.exchange(nullptr, any_order);
      if (Bug == bug::signal_tag_after_take) g.head_.fetch_and(~word::signal, any_order);
      return newest;
    }
    [[nodiscard]] static Node* take_signals_of_the_dead(gate_type& g) noexcept {
      return g.signals_.exchange(nullptr, any_order);
    }

    [[nodiscard]] bool close(gate_type& g) noexcept {
      take_arrivals(g);
      for (;;) {
        std::uint64_t old = g.head_.load(any_order);
        if (Bug != bug::lost_on_close && gate_type::to_node(old) != last_) {
          take_arrivals(g);
          continue;
        }
        const std::uint64_t now = (old & (~(word::one - 1) | word::unreachable)) | word::closed;
        if (!g.head_.compare_exchange_weak(old, now, any_order, any_order)) continue;
        if (last_handled_) Node::retire(last_);
        forget();
        return (old & word::unreachable) != 0;
      }
    }

    [[nodiscard]] bool claim_idle(gate_type& g) noexcept {
      std::uint64_t old = g.head_.load(any_order);
      while ((old & word::idle) != 0)
        if (g.head_.compare_exchange_weak(old, old & ~word::idle, any_order, any_order))
          return true;
      return false;
    }

   private:
    void forget() noexcept {
      last_ = nullptr;
      last_handled_ = false;
    }
    static void append(Node*& chain, Node* more) noexcept {
      Node** end = &chain;
      while (*end != nullptr) end = &(*end)->next;
      *end = more;
    }

    Node* last_ = nullptr;
    bool last_handled_ = false;
    Node* front_ = nullptr;
    Node* urgent_front_ = nullptr;
  };
};

/// What is shipped, in the same shape.
struct shipped_mailbox {
  template <class Node, class Atomics>
  using gate = core::mailbox_gate<Node, Atomics>;
  template <class Node, class Atomics>
  using reader = core::mailbox_reader<Node, Atomics>;
};

}  // namespace garrick::machine::internal::planted
