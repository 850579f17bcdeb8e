// A hosted object and its door: the thread that is in, waiting visits, the time, and the end.
// Derived classes know how bytes are carried.
//
// Invariants:
//   O1  occupied_ means that a thread is in, or that a posted job will be. That thread or job makes
//       the waiting visits: if a visit waits, occupied_ is true.
//   O2  Calls from below are made on the loop's thread. A visitor on another thread only transmits;
//       the loop's thread tells the stack of the effects (wants_loop_).
//   O3  Once over_, there is no hosted object, no timer and no socket, and the loop is not used.
//   O4  armed_ is the time for which the timer is set; it is never later than the next deadline.
//
// Thread safety: `enter`, `wait_in_line`, and the queries of a `connection`, on any thread;
// functions below "For the thread that is in" are for that thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/transport/hosted.hpp"
#include "garrick/net/transport/internal/gate.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"
#include "garrick/net/transport/transport_settings.hpp"

namespace garrick::net::internal {

/// A count with one writer at a time; the door orders the writers.
class counter {
 public:
  void add(std::uint64_t n) noexcept {
    // order: a count, which says nothing about other memory
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);  // order: as above
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Makes the hosted object, on its thread.
class maker {
 public:
  virtual ~maker() = default;
  virtual std::unique_ptr<hosted> make(carrier& below, const connection& self) = 0;
};

class host : public resident,
             public completion,
             public carrier,
             public detail::entrance,
             public ticket_holder,
             public std::enable_shared_from_this<host> {
 public:
  /// Makes the object and opens the transport, soon, on the loop. Returns false if the loop is
  /// ending.
  [[nodiscard]] bool begin(std::unique_ptr<maker> make);
  /// Ends the link. Called in place of `begin`, on the same thread.
  void abandon() noexcept;

  [[nodiscard]] answer enter() noexcept final;
  void leave() noexcept final;
  [[nodiscard]] visit_result wait_in_line(std::unique_ptr<detail::visit> v, bool limited) final;
  [[nodiscard]] hosted& occupant() noexcept final { return *hosted_; }
  [[nodiscard]] transport_counters counters() const final;
  [[nodiscard]] bool is_over() const noexcept final;
  [[nodiscard]] bool is_connected() const noexcept final { return connected_ && !is_over(); }
  [[nodiscard]] bool was_admitted() const noexcept final { return admitted_; }

  void stop() final;
  void give_way() noexcept final;
  void completed(std::uint64_t what, int failed, std::size_t bytes) final;

  void close() final;
  [[nodiscard]] bool is_closed() const final { return closing_; }

  /// Takes a stream that was accepted for this link. Any thread.
  virtual void adopt(int fd, std::vector<std::byte> first) = 0;

 protected:
  host(io_loop& loop, const transport_settings& s, std::unique_ptr<ticket> t)
      : loop_(loop), settings_(s), ticket_(std::move(t)) {}

  /// On the loop: calls `f` when no other thread is in, at once or in line.
  template <class F>
  void inside(F f) {
    inside_or(f, [&f] { return std::move(f); });
  }
  /// Like `inside`, but puts the result of `make_later()` in line.
  template <class F, class Later>
  void inside_or(F&& f, Later make_later) {
    switch (enter()) {
      case answer::over: return;
      case answer::entered:
        guarded(f);
        settle();
        return;
      case answer::busy: break;
    }
    in_line(make_later());
  }
  /// Any thread: calls `f` on the loop, in line.
  template <class F>
  void in_line(F f) {
    struct later final : detail::visit {
      explicit later(F g) : f_(std::move(g)) {}
      void run(hosted&) override { f_(); }
      F f_;
    };
    static_cast<void>(queue(std::make_unique<later>(std::move(f)), false));
  }

  /// Sets the result of `is_connected`, until the link has ended. Any thread.
  void connected(bool is) noexcept { connected_ = is; }

  // For the thread that is in.
  [[nodiscard]] carried& above() noexcept { return hosted_->stack(); }
  [[nodiscard]] hosted& whole() noexcept { return *hosted_; }
  /// Calls `f`, and tells the link that the messages it passes up are one burst.
  template <class F>
  void in_burst(F f) {
    hosted_->burst(true);
    f();
    hosted_->burst(false);
  }
  [[nodiscard]] bool is_closing() const noexcept { return closing_; }
  [[nodiscard]] bool is_stopping() const noexcept { return stopping_; }
  [[nodiscard]] bool is_occupied() const noexcept {
    return occupied_.load(std::memory_order_relaxed);  // order: its own writes, or the mutex's
  }
  /// Makes the loop look at the link when this visitor has left.
  void want_loop() noexcept { wants_loop_ = true; }
  /// Ends the link when the current call has returned.
  void end(base::error why) noexcept;
  /// Tells the stack the time, if its deadline has passed.
  void advance_if_due(base::instant now);
  [[nodiscard]] static base::instant now() noexcept { return base::real_clock().now(); }

  /// On the loop: opens the transport for the first time.
  virtual void open() = 0;
  /// On the loop: sends waiting bytes, and reports changes to the stack. Returns true to be called
  /// again.
  virtual bool attend() = 0;
  /// Called on another thread when a visitor leaves.
  virtual void attend_elsewhere() = 0;
  /// On the loop, not yet in the link: called when an operation has ended.
  virtual void event(std::uint64_t what, int failed, std::size_t bytes) = 0;
  /// On the loop, not in the link: receives bytes. Returns true if there are more.
  virtual bool receive_first() { return false; }
  /// On the loop, in the link: called when the deadline has passed. Returns true if bytes arrived
  /// before it; they are received first, and then the transport calls `advance_if_due`.
  virtual bool bytes_before_time(base::instant now) = 0;
  /// Returns the time for the next `on_time`.
  [[nodiscard]] virtual base::instant due() const { return base::instant::never(); }
  /// On the loop, in the link: called at the time `due`.
  virtual void on_time(base::instant) {}
  /// On the loop: closes the transport when there is no stack any more.
  virtual void farewell() noexcept = 0;

  io_loop& loop_;
  const transport_settings settings_;
  std::unique_ptr<ticket> ticket_;
  struct {
    counter bytes_sent, bytes_received, writes, reads, dropped, connects, hints;
  } counts_;

  /// `what` of the timer; derived classes have the numbers below.
  static constexpr std::uint64_t timer_number = ~std::uint64_t{0};

 private:
  template <class F>
  void guarded(F& f) noexcept {
    if (closing_) return;
    try {
      f();
    } catch (...) { end(error_of_exception()); }
  }
  [[nodiscard]] static base::error error_of_exception() noexcept;
  [[nodiscard]] visit_result queue(std::unique_ptr<detail::visit> v, bool limited);
  /// Under mutex_.
  void occupy(bool is) noexcept {
    occupied_.store(is, std::memory_order_relaxed);  // order: the mutex's
  }
  void hand_over() noexcept;
  /// On the loop, in: makes the waiting visits, attends to the transport, and leaves.
  void settle() noexcept;
  /// Takes a turn of `settle`. Returns true if no thread is in any more.
  bool settle_once() noexcept;
  void make_visits() noexcept;
  void check_admission();
  void end_for_newcomer() noexcept;
  void arm();
  void timer_expired(base::instant at);
  void finish() noexcept;
  void tell_stack() noexcept;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<detail::visit>> line_;  // under mutex_
  std::atomic<bool> occupied_{true};  // written under mutex_; `begin` posts the job that is in
  bool over_ = false;                 // under mutex_

  std::atomic<bool> connected_{false};
  std::atomic<bool> admitted_{false};  // written by the thread that is in
  int put_off_ = 0;                    // the loop's: how often bytes have put off the time

  // For the thread that is in.
  std::vector<std::unique_ptr<detail::visit>> taken_;
  std::unique_ptr<hosted> hosted_;
  std::unique_ptr<io_timer> timer_;
  base::instant armed_ = base::instant::never();
  base::error why_;
  bool closing_ = false;
  bool stopping_ = false;
  bool wants_loop_ = false;
};

}  // namespace garrick::net::internal
