// The shipped mailbox with one error planted in it. The model checker has to find the error, which
// shows that the checker is not blind.
//
// An error in an atomic step is planted in the atomics: `planted_atomics` does something else at
// one named place of mailbox/mailbox.hpp. An error in a step without atomics is planted in
// `planted_reader`, which replaces one function. With nothing planted both behave as the shipped
// code.
//
// Include this header last, for the same reason as relacy_atomics.hpp.
//
// Thread safety: the model checker runs one fiber at a time.
#pragma once

#include <garrick/core/mailbox/mailbox.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

namespace garrick::core::model {

/// An error of the mailbox.
enum class bug : std::uint8_t {
  none,
  lost_wake_up,            ///< push decides from its first look that a thread runs the actor
  wake_up_before_release,  ///< release does not compare: a new arrival stays behind
  double_run,              ///< push leaves the idle tag, so the next pusher schedules, too
  early_free,              ///< an envelope is freed as soon as it was handled
  touch_after_release,     ///< the runner clears its own state after it gave up the run right
  lost_on_close,           ///< close does not look for further arrivals
  signal_before_link,      ///< push_signal sets the tag first and links afterwards
  signal_tag_after_take,   ///< the runner takes the lane first and clears the tag afterwards
  stalled_by_answer,       ///< the push of an answer leaves the tag that it should clear
  reordered_messages,      ///< arrivals are not turned round
  reordered_urgent,        ///< urgent arrivals are put before those that wait already
  undrop_does_not_wait,    ///< a handle made from a count of zero does not wait for the drop's tag
  reclaim_ignores_idle,    ///< the last drop leaves the end to a missing runner
};
inline bug planted = bug::none;

/// An envelope of the model: its content is plain memory, and so is the mark that it was freed.
struct node {
  node* next = nullptr;
  base::model::relacy_atomics::cell<int> content{0};
  base::model::relacy_atomics::cell<int> freed{0};
  /// tells the sender that it may use the envelope again; null: the sender uses each envelope once
  base::model::relacy_atomics::atomic<int>* returned = nullptr;
  int sender = 0;
  int number = 0;
  bool answer = false;
  bool urgent = false;

  static bool is_urgent(const node* n) { return n->urgent; }
  static bool is_answer(const node* n) { return n->answer; }
  static void retire(node* n) {
    RL_ASSERT(n->freed.get() == 0);
    n->freed.set(1);
    // order: release, pairs with the sender's look
    if (n->returned != nullptr) n->returned->store(1, std::memory_order_release);
  }
  void fill(int from, int which) {
    sender = from;
    number = which;
    content.set(from * 10 + which);
  }
};

/// N envelopes, each at the beginning of a cache line, as the word needs them. The model checker
/// places its suites anywhere, so there is room to move up to the next line.
template <std::size_t N>
class envelopes {
 public:
  envelopes() {
    const auto at = reinterpret_cast<std::uintptr_t>(room_);
    first_ = reinterpret_cast<char*>((at + 63) / 64 * 64);
    for (std::size_t i = 0; i < N; ++i) ::new (static_cast<void*>(first_ + i * stride)) node;
  }
  envelopes(const envelopes&) = delete;
  envelopes& operator=(const envelopes&) = delete;
  ~envelopes() {
    for (node& n : *this) n.~node();
  }
  node& operator[](std::size_t i) { return *reinterpret_cast<node*>(first_ + i * stride); }

  struct iterator {
    char* at;
    node& operator*() const { return *reinterpret_cast<node*>(at); }
    iterator& operator++() {
      at += stride;
      return *this;
    }
    bool operator!=(const iterator& o) const { return at != o.at; }
  };
  iterator begin() { return {first_}; }
  iterator end() { return {first_ + N * stride}; }

 private:
  static constexpr std::size_t stride = (sizeof(node) + 63) / 64 * 64;
  char room_[N * stride + 64];
  char* first_;
};

/// The state of a planted error between two operations.
struct memory {
  template <class T>
  using atomic = base::model::relacy_atomics::atomic<T>;

  struct of_thread {
    struct {
      bool looked = false;
      std::uint64_t word = 0;
    } first_look;
    struct {
      atomic<node*>* lane = nullptr;
      node* envelope = nullptr;
    } pending;
  };
  base::model::place at{};                     ///< the place of the next operation
  atomic<std::uint64_t>* announced = nullptr;  ///< the word with a signal tag still to be cleared
  std::array<of_thread, 4> threads{};

  of_thread& of_this_thread() {
    return threads.at(static_cast<std::size_t>(rl::ctx().threadx_->index_));
  }
};
inline memory now;

/// The checker's atomics; the operation at the place of the planted bug goes wrong.
struct planted_atomics : base::model::relacy_atomics {
  using right = base::model::relacy_atomics;

  template <auto Place>
  static std::memory_order order(std::memory_order as_written) {
    now.at = base::model::place(Place);
    return right::order<Place>(as_written);
  }

  template <class T>
  class atomic : public right::atomic<T> {
    using right_atomic = right::atomic<T>;
    using word = mailbox_word;
    static constexpr bool is_head = std::is_same_v<T, std::uint64_t>;
    static constexpr bool is_lane = std::is_same_v<T, node*>;

   public:
    using right_atomic::right_atomic;

    T load(std::memory_order order) const {
      const bool here = is_here(bug::undrop_does_not_wait, mailbox_order::undrop);
      if constexpr (is_lane) link_pending();
      const T seen = right_atomic::load(order);
      if constexpr (is_head)
        if (here) return seen | word::unreachable;
      return seen;
    }

    T exchange(T value, std::memory_order order) {
      const bool here = is_here(bug::signal_tag_after_take, mailbox_order::take_signals);
      if constexpr (is_lane) link_pending();
      const T seen = right_atomic::exchange(value, order);
      if (here) now.announced->fetch_and(~word::signal, order);
      return seen;
    }

    T fetch_or(T bits, std::memory_order order) {
      const bool here = is_here(bug::reclaim_ignores_idle, mailbox_order::drop);
      const T seen = right_atomic::fetch_or(bits, order);
      return here ? seen & ~word::idle : seen;
    }

    T fetch_and(T bits, std::memory_order order) {
      if constexpr (is_head) {
        if (is_here(bug::signal_tag_after_take, mailbox_order::take_signals_head)) {
          now.announced = this;
          return right_atomic::load(order);
        }
      }
      return right_atomic::fetch_and(bits, order);
    }

    bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                               std::memory_order failure) {
      return swap(expected, value, [&](T& seen, T wanted) {
        return right_atomic::compare_exchange_weak(seen, wanted, success, failure);
      });
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                 std::memory_order failure) {
      return swap(expected, value, [&](T& seen, T wanted) {
        return right_atomic::compare_exchange_strong(seen, wanted, success, failure);
      });
    }

   private:
    template <class Swap>
    bool swap(T& expected, T value, Swap right_swap) {
      const base::model::place here = std::exchange(now.at, {});
      if constexpr (is_head) return swap_head(here, expected, value, right_swap);
      if constexpr (is_lane) {
        if (planted == bug::signal_before_link && here == mailbox_order::push_signal_link) {
          now.of_this_thread().pending = {this, value};
          return true;
        }
      }
      return right_swap(expected, value);
    }

    template <class Swap>
    bool swap_head(base::model::place here, T& expected, T value, Swap right_swap) {
      if ((planted == bug::wake_up_before_release && here == mailbox_order::release) ||
          (planted == bug::lost_on_close && here == mailbox_order::close)) {
        this->store(value, std::memory_order_seq_cst);  // order: any; the error is not to compare
        return true;
      }
      if (here == mailbox_order::push) {
        if (planted == bug::double_run) value |= expected & word::idle;
        if (planted == bug::stalled_by_answer) value |= expected & word::stalled;
        if (planted == bug::lost_wake_up) return swap_from_first_look(expected, value, right_swap);
      }
      const bool swapped = right_swap(expected, value);
      if (swapped && here == mailbox_order::push_signal_head) link_pending();
      return swapped;
    }

    template <class Swap>
    static bool swap_from_first_look(T& expected, T value, Swap right_swap) {
      auto& [looked, first] = now.of_this_thread().first_look;
      if (!std::exchange(looked, true)) first = expected;
      if (!right_swap(expected, value)) return false;
      expected = first;
      looked = false;
      return true;
    }

    static void link_pending() {
      auto& [lane, n] = now.of_this_thread().pending;
      if (lane == nullptr) return;
      auto& head = *std::exchange(lane, nullptr);
      node* top =
          head.right::atomic<node*>::load(std::memory_order_relaxed);  // order: swapped below
      do n->next = top;
      while (!head.right::atomic<node*>::compare_exchange_weak(
          top, n, std::memory_order_release,
          std::memory_order_relaxed));  // order: as push_signal_link
    }
  };

 private:
  /// Returns true if the present operation goes wrong.
  static bool is_here(bug which, mailbox_order where) {
    return std::exchange(now.at, {}) == base::model::place(where) && planted == which;
  }
};

using gate = mailbox_gate<node, planted_atomics>;

/// The shipped reader, with a planted error in at most one function.
class planted_reader : public mailbox_reader<node, planted_atomics> {
  using right = mailbox_reader<node, planted_atomics>;

 public:
  node* next(core::model::gate& from) {
    if (planted == bug::reordered_messages && peek_front() == nullptr && take_arrivals(from)) {
      few turned;
      while (peek_front() != nullptr) turned.add(right::next(from));
      for (node* const n : turned) prepend(n, n);
    }
    return right::next(from);
  }

  bool take_arrivals(core::model::gate& from) {
    few waiting = planted == bug::reordered_urgent ? all_urgent() : few();
    const bool any = right::take_arrivals(from);
    if (planted == bug::reordered_urgent) {
      const few fresh = all_urgent();
      waiting.put_back_into(*this);
      fresh.put_back_into(*this);
    }
    return any;
  }

  void done(node* n) {
    if (planted == bug::early_free)
      node::retire(n);
    else
      right::done(n);
  }

  release_outcome release(core::model::gate& of, std::uint64_t flags) {
    const release_outcome outcome = right::release(of, flags);
    if (planted == bug::touch_after_release && outcome == release_outcome::released) {
      rl::ctx().sched();
      static_cast<right&>(*this) = right();
    }
    return outcome;
  }

 private:
  /// More envelopes than any suite has, without an allocation.
  class few {
   public:
    void add(node* n) { all_[count_++] = n; }
    node* const* begin() const { return all_.data(); }
    node* const* end() const { return all_.data() + count_; }
    /// Puts the envelopes back: the reader takes them in this order, before everything else.
    void put_back_into(right& reader) const {
      for (std::size_t i = count_; i != 0; --i) reader.put_back(all_[i - 1]);
    }

   private:
    std::array<node*, 8> all_{};
    std::size_t count_ = 0;
  };

  few all_urgent() {
    few taken;
    while (node* const n = next_urgent()) taken.add(n);
    return taken;
  }
};

}  // namespace garrick::core::model
