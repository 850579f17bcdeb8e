// The ring through which programs of plain threads pass tuples: bounded, for one producer and one
// consumer. The producer publishes a batch at a time, and the consumer returns its places in the
// same way. A side that must wait spins for a short while, then yields the processor, since there
// may be more threads than processors, and then sleeps. C++17 and the standard library only.
//
// Thread safety: `push`, `flush` and `close` belong to the producer; `take` and `ended` to the
// consumer.
#pragma once

#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

// The wait of a side: it spins with pauses, then yields the processor, and after a thousand turns
// sleeps for a moment at a time. No thread wakes it: a wake-up would cost the other side a fence
// for each batch and sometimes a system call, and rings that are written by hand do without.
// Without the sleep, threads that wait for long would keep the processors from threads with work.
class patience {
 public:
  void wait() {
    ++turns_;
    if (turns_ < 64) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else if (turns_ < 1000) {
      sched_yield();
    } else {
      const timespec nap{0, 20'000};
      nanosleep(&nap, nullptr);
    }
  }
  void reset() { turns_ = 0; }

 private:
  std::uint32_t turns_ = 0;
};

// A ring of `batches` batches of `batch` tuples; both are powers of two.
template <class T>
class batched_ring {
 public:
  explicit batched_ring(std::size_t batch, std::size_t batches = 16)
      : batch_(batch), mask_(batch * batches - 1), slots_(batch * batches) {}

  void push(T value) {
    if (tail_ == limit_) make_room();
    slots_[tail_++ & mask_] = std::move(value);
    if (tail_ - shown_ == batch_) flush();
  }
  // Publishes the pushed tuples to the consumer.
  void flush() {
    if (shown_ == tail_) return;
    shown_ = tail_;
    to_.store(tail_, std::memory_order_release);  // order: the writes to the slots
  }
  void close() {
    flush();
    closed_.store(true, std::memory_order_release);  // order: after the last tuples were shown
  }

  // Calls f(tuple) for at most a batch of the published tuples. Returns their number.
  template <class F>
  std::size_t take(F&& f) {
    if (head_ == seen_) seen_ = to_.load(std::memory_order_acquire);  // order: the slots' contents
    std::size_t n = seen_ - head_;
    if (n > batch_) n = batch_;
    for (std::size_t i = 0; i < n; ++i) f(std::move(slots_[head_++ & mask_]));
    if (n != 0) from_.store(head_, std::memory_order_release);  // order: the slots have been read
    return n;
  }
  // Returns true if the ring is empty and closed.
  bool ended() {
    if (!closed_.load(std::memory_order_acquire)) return false;  // order: the tuples before it
    // order: relaxed; the line above has seen the last one
    return head_ == to_.load(std::memory_order_relaxed);
  }

 private:
  void make_room() {
    flush();
    patience p;
    // order: acquire: the consumer has read the slots
    while ((limit_ = from_.load(std::memory_order_acquire) + mask_ + 1) == tail_) p.wait();
  }

  const std::size_t batch_;
  const std::size_t mask_;
  std::vector<T> slots_;
  alignas(64) std::size_t tail_ = 0;  // the producer's
  std::size_t shown_ = 0;
  std::size_t limit_ = mask_ + 1;
  alignas(64) std::size_t head_ = 0;  // the consumer's
  std::size_t seen_ = 0;
  alignas(64) std::atomic<std::size_t> to_{0};
  alignas(64) std::atomic<std::size_t> from_{0};
  std::atomic<bool> closed_{false};
};

// Takes all tuples of several rings on one thread until all rings have ended. Calls `idle()`
// whenever all rings are empty, so that results so far can be passed on.
template <class Rings, class F, class Idle>
void drain_all(const Rings& rings, F&& f, Idle&& idle) {
  patience p;
  for (bool open = true; open;) {
    std::size_t n = 0;
    open = false;
    for (const auto& r : rings) {
      n += r->take(f);
      open |= !r->ended();
    }
    if (n != 0) {
      p.reset();
    } else {
      idle();
      p.wait();
    }
  }
}
template <class Rings, class F>
void drain_all(const Rings& rings, F&& f) {
  drain_all(rings, f, [] {});
}

// Does the same for one ring.
template <class T, class F, class Idle>
void drain(batched_ring<T>& ring, F&& f, Idle&& idle) {
  patience p;
  for (;;) {
    if (ring.take(f) != 0) {
      p.reset();
    } else if (ring.ended()) {
      return;
    } else {
      idle();
      p.wait();
    }
  }
}

}  // namespace bench
