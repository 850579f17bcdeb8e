// An I/O thread: its event loop, and the transports' interface to it. Only io_loop.cpp sees Asio.
//
// A resident is an object on the loop: a link's host, a listener, a closing connection. The loop
// keeps it alive until it leaves, and does not end before all have left. All posts and waits of a
// resident are therefore answered.
//
// Invariants:
//   L1  A loop that has ended has no residents, and takes none.
//   L2  `completed` and jobs run on the loop's thread, one after the other. This thread is the
//       loop's own, its keeper, or, if the loop shares a seat (`share`), the present leader.
//   L3  A wait is completed at most once. If the socket or the timer was destroyed or reused
//       meanwhile, the wait may still be completed: `what` tells the waits apart.
//
// Thread safety: `post`, `add`, `begin_stop`, `residents` and `is_current` on any thread, all else
// on the loop's thread, unless it says otherwise.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "garrick/base/concurrency/leader_seat.hpp"
#include "garrick/base/time/clock.hpp"
#include "garrick/net/transport/internal/loop/unique_fd.hpp"

namespace garrick::net::internal {

class name_lookups;

/// Something to do once.
class job {
 public:
  virtual ~job() = default;
  virtual void run() = 0;

 protected:
  job() = default;
  job(const job&) = delete;
  job& operator=(const job&) = delete;
};

/// Returns a job that calls `f`.
template <class F>
std::unique_ptr<job> make_job(F f) {
  struct calls final : job {
    explicit calls(F g) : f_(std::move(g)) {}
    void run() override { f_(); }
    F f_;
  };
  return std::make_unique<calls>(std::move(f));
}

/// The receiver of the results of waits for a socket or a timer. `what` is the number that was
/// given with the operation.
class completion {
 public:
  /// Takes the result of a wait. `failed`: the system's number of an error, or 0. `bytes`: the
  /// number of bytes read; 0 at the end of a stream.
  virtual void completed(std::uint64_t what, int failed, std::size_t bytes) = 0;
  /// Called before the loop waits: see `io_loop::before_wait`.
  virtual void loop_waits(std::uint64_t what) { static_cast<void>(what); }

 protected:
  ~completion() = default;
};

/// An object on a loop.
class resident {
 public:
  virtual ~resident() = default;
  /// Asks the object to leave the loop soon, by `io_loop::remove`: the loop will end.
  virtual void stop() = 0;

 protected:
  resident() = default;
  resident(const resident&) = delete;
  resident& operator=(const resident&) = delete;
};

class io_loop final : public base::event_loop {
 public:
  /// Makes a loop without a thread. Throws std::system_error if there are no descriptors for the
  /// system's events.
  io_loop(std::size_t number, std::shared_ptr<name_lookups> names);
  ~io_loop();

  /// Starts the thread; throws std::system_error.
  void start();
  /// Lets the leaders of the seat lead this loop, too, as soon as no other loop has the seat, and
  /// if the system has a descriptor left. Called once, in a job of the loop. Requires a seat.
  void share(std::shared_ptr<base::leader_seat> seat);
  bool lead(leader& who) noexcept override;
  /// Tells every resident to leave. Once they have, the loop ends.
  void begin_stop();
  /// Waits for the thread's end. Not on a loop's thread, and by one caller at a time.
  void join();

  /// Returns true on this loop's thread.
  [[nodiscard]] bool is_current() const noexcept;
  /// Returns true if a thread waits for events or handles them: then a posted job runs soon,
  /// without a call to this loop's own thread. Any thread; a hint.
  [[nodiscard]] bool is_led() const noexcept;
  /// Runs a job soon. Returns false if the loop has ended; the job is unchanged then.
  bool post(std::unique_ptr<job>&& what);
  /// Adds a resident. Returns false if the loop is ending.
  bool add(std::shared_ptr<resident> who);
  /// Removes a resident. The loop's handle to it is dropped when the current job has returned.
  void remove(resident& who);
  /// Returns the number of residents.
  [[nodiscard]] std::size_t residents() const noexcept {
    return count_.load(std::memory_order_relaxed);  // order: a hint for spreading load
  }

  /// Counts one closed stream more, or less (-1), that has still to send bytes. On the loop's
  /// thread.
  void count_unsaid(int more) noexcept {
    unsaid_.fetch_add(more, std::memory_order_release);  // order: release, pairs with `unsaid`
  }
  /// Returns the number of closed streams that have still to send bytes. Any thread.
  [[nodiscard]] int unsaid() const noexcept {
    return unsaid_.load(std::memory_order_acquire);  // order: acquire, so their bytes are sent
  }

  /// Returns room for reading: the called-back object uses it until it returns. On the loop's
  /// thread.
  [[nodiscard]] std::span<std::byte> read_room(std::size_t size);

  /// Calls `who->loop_waits(what)` before the loop's next turn: an actor that an event has woken
  /// may run before. The call must wake no thread. On the loop's thread.
  void before_wait(std::shared_ptr<completion> who, std::uint64_t what);
  /// Calls `who->loop_waits(what)` before the loop waits, but after the work that waits now on this
  /// thread, such as an actor that an event has just woken. On the loop's thread.
  void behind_others(std::shared_ptr<completion> who, std::uint64_t what);

  /// Called before an event is handled: tells the guest that leads, if there is one.
  void event_has_come() noexcept {
    if (guest_ != nullptr) std::exchange(guest_, nullptr)->event_has_come(!has_waited_);
  }

  /// Returns the look-ups for residents.
  [[nodiscard]] name_lookups& names() noexcept { return *names_; }

  /// The use of Asio by the classes below.
  struct engine;
  [[nodiscard]] engine& asio() noexcept { return *engine_; }

 private:
  void run() noexcept;
  bool run_one();
  void end_turn();
  void stand_by();
  void open_seat();
  void await_interruption();
  /// Returns the shared seat; null if the loop's own thread leads it. Any thread.
  [[nodiscard]] base::leader_seat* shares() const noexcept {
    return shared_.load(std::memory_order_acquire);  // order: acquire, pairs with open_seat
  }
  void call_keeper() noexcept;
  void end_if_empty();

  const std::size_t number_;
  const std::shared_ptr<name_lookups> names_;
  std::unique_ptr<engine> engine_;
  std::thread thread_;
  std::unique_ptr<std::byte[]> read_room_;  // the loop's thread's, as its size
  std::size_t read_size_ = 0;
  // the loop's thread's
  std::shared_ptr<base::leader_seat> seat_;  // the seat that it shares or would like to
  leader* guest_ = nullptr;                  // the leader that was not told of an event
  bool has_waited_ = false;                  // guest_ has waited for the event
  bool is_over_ = false;                     // as ended_
  std::vector<std::pair<std::shared_ptr<completion>, std::uint64_t>> before_wait_;
  std::vector<std::pair<std::shared_ptr<completion>, std::uint64_t>> behind_others_;
  // the keeper's: when it may leave the seat again, and how long it waits the next time
  std::uint64_t keeps_until_ = 0;
  std::uint64_t keeps_ns_ = 0;
  std::atomic<std::size_t> count_{0};
  std::atomic<int> unsaid_{0};
  std::atomic<base::leader_seat*> shared_{nullptr};
  std::mutex mutex_;
  std::unordered_map<resident*, std::shared_ptr<resident>> residents_;  // under mutex_
  bool started_ = false;                                                // under mutex_
  bool stopping_ = false;                                               // under mutex_
  bool ended_ = false;                                                  // under mutex_
};

/// The loops of one `io_threads`.
struct io_pool {
  std::vector<std::unique_ptr<io_loop>> loops;
  std::atomic<std::size_t> turn{0};
  std::mutex stopping;  // a thread is joined once: a second caller of `stop` waits for the first

  /// Returns the loop with the fewest residents; of several such loops, each in turn.
  [[nodiscard]] std::size_t least_loaded() noexcept;
};

/// A descriptor with events that the loop watches. The waiting functions may be called on any
/// thread that has the socket to itself.
class io_socket {
 public:
  /// Watches the descriptor. Throws std::system_error, or std::bad_alloc; the descriptor is closed
  /// then.
  io_socket(io_loop& loop, unique_fd fd);
  /// Closes the descriptor.
  ~io_socket();
  io_socket(const io_socket&) = delete;
  io_socket& operator=(const io_socket&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Reads bytes of a stream when there are some. One read at a time; the bytes outlive the loop's
  /// turn in which the socket is destroyed.
  void read(std::span<std::byte> into, std::shared_ptr<completion> who, std::uint64_t what);
  void wait_readable(std::shared_ptr<completion> who, std::uint64_t what);
  void wait_writable(std::shared_ptr<completion> who, std::uint64_t what);
  /// Returns the descriptor, which is no longer watched.
  [[nodiscard]] unique_fd release();

 private:
  struct part;
  std::unique_ptr<part> part_;
  int fd_;
};

/// Calls back at a given time.
class io_timer {
 public:
  explicit io_timer(io_loop& loop);
  ~io_timer();
  io_timer(const io_timer&) = delete;
  io_timer& operator=(const io_timer&) = delete;

  /// Sets a new time and forgets the earlier one. May be called as the waiting functions of
  /// `io_socket`.
  void expire_at(base::instant when, std::shared_ptr<completion> who, std::uint64_t what);

 private:
  struct part;
  std::unique_ptr<part> part_;
};

/// An address as the system takes it.
struct socket_address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// Waits for the addresses of a name.
class resolution {
 public:
  /// Takes the addresses of the name; `failed` is the reason if there are none.
  virtual void resolved(std::uint64_t what, std::vector<socket_address> found,
                        std::string failed) = 0;

 protected:
  ~resolution() = default;
};

}  // namespace garrick::net::internal
