// Signals, handles and the end of a cell under the model checker: the shipped steps and the shipped
// mailbox, around a run loop of a few lines. A cell that is used after its block has gone, or ends
// twice, is found as an unordered access to plain memory or as a wrong count. A lost signal is
// found since it is never answered.
#include <garrick/base/concurrency/run_token.hpp>
#include <garrick/core/cell/cell_steps.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include <garrick/core/mailbox/internal/planted_mailbox.model.hpp>

using namespace garrick::core;
using namespace garrick::core::model;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 20'000;
constexpr unsigned enough_to_fail = 20'000;

/// The system of the cells: it has to stay as long as a cell may use it.
class model_environment {
 public:
  void hold() { holders_.fetch_add(1, relaxed); }  // order: as environment::hold
  void release() {
    // order: as environment::release
    if (holders_.fetch_sub(1, acq_rel) != 1) return;
    RL_ASSERT(!gone);
    gone = true;
    content_.set(1);
  }
  void use() {
    rl::ctx().sched();
    RL_ASSERT(!gone);
    static_cast<void>(content_.get());
  }
  bool gone = false;  ///< for checks; the model checker does not follow it
  /// No sender waits for room here (drain_lot.model.cpp).
  struct {
    static void wake(int) { RL_ASSERT(false); }
  }* lot = nullptr;

 private:
  relacy_atomics::atomic<int> holders_{1};  ///< the system's own
  relacy_atomics::cell<int> content_{0};
};

/// The number of a signal that asks for the end. The other numbers only name the signals.
constexpr int kill = 9;

/// A cell with the fields that the steps use, and a run loop. The thread that makes it runnable
/// runs it at once. A derived class may queue it instead.
class model_cell {
 public:
  using atomics = relacy_atomics;

  model_cell() { now = {}; }
  virtual ~model_cell() = default;

  void send(node& m) {
    touch();
    switch (gate_.push(&m)) {
      case push_outcome::queued: return;
      case push_outcome::woke: return schedule();
      case push_outcome::closed:
        static_cast<void>(gate_.peek_acquire());  // as cell::end_reason
        RL_ASSERT(ended.get() == 1);
        environment.use();  // a dead letter
        m.freed.set(1);
    }
  }
  void signal(node& s) {
    touch();
    cell_steps::signal(*this, &s);
  }

  /// Requires the run right.
  void run() {
    touch();
    handled.set(handled.get());  // the runner's own
    while (!stop()) {
      node* m = nullptr;
      if (!cell_steps::take_message(*this, m)) continue;
      if (m != nullptr) {
        handle(*m);
        reader_.done(m);
      } else {
        switch (reader_.release(gate_, 0)) {
          case release_outcome::released: return;
          case release_outcome::unreachable: become_unreachable(); break;
          case release_outcome::arrivals:
            if ((gate_.peek() & mailbox_word::signal) != 0) attend();
        }
      }
    }
  }

  // called by the steps
  model_environment& env() { return environment; }
  static int id() { return 1; }
  void last_strong_dropped() { cell_steps::last_strong_dropped(*this); }
  void become_unreachable() { ending = true; }
  virtual bool may_end_here() { return false; }
  virtual bool has_stale_entry() { return false; }
  virtual void end_here() {}
  virtual void schedule() {
    environment.use();
    run();
    environment.use();
  }
  void wake() { schedule(); }
  virtual void free_block() { free_self(); }
  void add_weak() { weak_.fetch_add(1, relaxed); }  // order: as cell::add_weak
  node* pick() { return reader_.next(gate_); }
  void put_back(node* m) { reader_.put_back(m); }
  void attend() {
    node* oldest = cell_steps::take_signals(*this, [this] { reader_.take_arrivals(gate_); });
    while (oldest != nullptr) {
      node* const newer = oldest->next;
      on_signal(*oldest);
      oldest = newer;
    }
  }
  void answer_late_signals() {
    static_cast<void>(gate_.peek_acquire());  // as cell::end_reason
    RL_ASSERT(ended.get() == 1);
    environment.use();
    node* n = mailbox_reader<node, atomics>::take_signals_of_the_dead(gate_);
    while (n != nullptr) {
      node* const older = n->next;
      on_signal(*n);
      n = older;
    }
  }

  atomics::atomic<std::uint32_t> strong_{1};
  atomics::atomic<std::uint32_t> weak_{1};
  atomics::atomic<std::uint8_t> attention_{0};
  mailbox_gate<node, atomics> gate_{true};
  mailbox_reader<node, atomics> reader_;

  model_environment environment;
  relacy_atomics::cell<int> handled{0};
  relacy_atomics::cell<int> ended{0};
  // for checks; the model checker does not follow them
  bool freed = false;
  bool has_ended = false;
  /// The cell's handler makes a handle to its actor, and drops it or keeps it.
  enum class own_handle { none, dropped, kept } own = own_handle::none;

 protected:
  /// A use of the block by a thread that may use it.
  void touch() {
    RL_ASSERT(!freed);
    static_cast<void>(block_.get());
  }
  void free_self() {
    RL_ASSERT(!freed);
    freed = true;
    block_.set(-1);
  }
  virtual void handle(node& m) {
    RL_ASSERT(m.content.get() == m.sender * 10 + m.number);
    handled.set(handled.get() + 1);
    if (own == own_handle::none) return;
    cell_steps::add_strong_from_self(*this);
    if (own == own_handle::dropped) cell_steps::drop_strong(*this);
  }
  virtual void on_signal(node& s) {
    RL_ASSERT(s.content.get() == s.sender * 10 + s.number);
    RL_ASSERT(s.freed.get() == 0);
    s.freed.set(1);
    if (s.number == kill) ending = true;
  }

  /// Ends the cell if its end is due. Returns true if it has ended.
  bool stop() {
    if (!ending) return false;
    if (cell_steps::wants_attention(*this)) attend();
    RL_ASSERT(ended.get() == 0);
    ended.set(1);
    cell_steps::end(*this, [this] {
      environment.use();
      touch();
      while (reader_.peek_front() != nullptr) reader_.done(reader_.next(gate_));  // dead letters
      environment.release();  // the last actor has left: the system goes
      touch();
    });
    has_ended = true;
    return true;
  }

 private:
  relacy_atomics::cell<int> block_{0};
  bool ending = false;  ///< the runner's
};

/// Two senders, each of which sends a signal and then a message, twice: a sender's signals keep
/// their order, and no message is handled before the signal that its sender sent before it (I6).
struct order_suite : rl::test_suite<order_suite, 2> {
  struct ordered : model_cell {
    std::array<int, 2> signals{};
    void handle(node& m) override {
      model_cell::handle(m);
      RL_ASSERT(signals[static_cast<std::size_t>(m.sender)] >= m.number);
    }
    void on_signal(node& s) override {
      model_cell::on_signal(s);
      RL_ASSERT(s.number == ++signals[static_cast<std::size_t>(s.sender)]);
    }
  };
  ordered cell;
  std::array<envelopes<2>, 2> messages;
  std::array<envelopes<2>, 2> signals;

  void thread(unsigned index) {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto number = static_cast<int>(i) + 1;
      signals[index][i].fill(static_cast<int>(index), number);
      messages[index][i].fill(static_cast<int>(index), number);
      cell.signal(signals[index][i]);
      cell.send(messages[index][i]);
    }
  }
  void after() {
    RL_ASSERT(cell.handled.get() == 4);
    for (auto& of_one : signals)
      for (node& s : of_one) RL_ASSERT(s.freed.get() == 1);
  }
};

/// A cell that a thread without a handle runs.
struct workers_cell : model_cell {
  parker worker;
  relacy_atomics::atomic<int> scheduled{0};
  unsigned senders = 2;  ///< the senders that are not done; the model checker does not follow it

  void schedule() override {
    environment.use();
    scheduled.store(1, release);  // order: as an inbox
    worker.unpark();
  }
  void sender_is_done() {
    --senders;
    worker.unpark();
  }
  void run_if_scheduled() {
    if (scheduled.exchange(0, acquire) == 1) run();  // order: as an inbox
  }
  void work() {
    while (!has_ended && senders != 0) {
      worker.park();
      run_if_scheduled();
    }
  }
};

/// An actor is killed while other threads watch it, send to it and drop their handles. Each signal
/// is handled or answered once, and the block and the system go once, after each thread's last use.
struct end_suite : rl::test_suite<end_suite, 3> {
  workers_cell cell;
  envelopes<1> messages;
  envelopes<3> signals;

  // order: before the threads
  end_suite() { cell.strong_.store(2, relaxed); }
  void thread(unsigned index) {
    if (index == 2) return cell.work();
    if (index == 0) {
      signals[0].fill(0, kill);
      cell.signal(signals[0]);
      messages[0].fill(0, 1);
      cell.send(messages[0]);
    } else {
      for (std::size_t i = 1; i < 3; ++i) {
        signals[i].fill(1, static_cast<int>(i));
        cell.signal(signals[i]);
      }
    }
    cell_steps::drop_strong(cell);
    cell.sender_is_done();
  }
  void after() {
    cell.run_if_scheduled();
    RL_ASSERT(cell.freed && cell.environment.gone);
    for (node& s : signals) RL_ASSERT(s.freed.get() == 1);
    RL_ASSERT(messages[0].freed.get() == 1);
  }
};

/// The last handle is dropped while a weak one is made strong, and while the actor's handler makes
/// a handle to its actor, which it drops or keeps for longer.
template <bool Keeps>
struct lock_suite : rl::test_suite<lock_suite<Keeps>, 3> {
  workers_cell cell;
  envelopes<2> messages;

  lock_suite() {
    cell.weak_.store(2, relaxed);  // order: before the threads
    cell.own = Keeps ? model_cell::own_handle::kept : model_cell::own_handle::dropped;
    messages[0].fill(0, 1);
    messages[1].fill(1, 1);
  }
  void thread(unsigned index) {
    if (index == 2) return cell.work();
    if (index == 0) {
      cell.send(messages[0]);
      cell_steps::drop_strong(cell);
    } else {
      if (cell_steps::lock(cell)) {
        cell.send(messages[1]);
        cell_steps::drop_strong(cell);
      } else {
        messages[1].freed.set(1);
      }
      cell_steps::drop_weak(cell);
    }
    cell.sender_is_done();
  }
  void after() {
    cell.run_if_scheduled();
    if (Keeps) {
      RL_ASSERT(!cell.has_ended);
      for (int kept = cell.handled.get(); kept != 0; --kept) cell_steps::drop_strong(cell);
      cell.run_if_scheduled();
    }
    RL_ASSERT(cell.freed && cell.environment.gone);
    RL_ASSERT(cell.ended.get() == 1);
    for (node& m : messages) RL_ASSERT(m.freed.get() == 1);
  }
};

/// The last handle is dropped while a thread with a weak one reports another actor's end, by a
/// signal and by a message, and while the actor's handler makes a handle to its actor, which it
/// drops or keeps. Each message that was taken is handled or answered once. An actor that lives on
/// loses nothing.
template <bool Keeps>
struct unheld_suite : rl::test_suite<unheld_suite<Keeps>, 3> {
  workers_cell cell;
  envelopes<2> messages;
  envelopes<1> signals;
  bool is_told = false;
  bool is_signalled = false;

  unheld_suite() {
    cell.weak_.store(2, relaxed);  // order: before the threads
    cell.environment.hold();       // for the thread that reports
    cell.own = Keeps ? model_cell::own_handle::kept : model_cell::own_handle::dropped;
    messages[0].fill(0, 1);
    messages[1].fill(1, 1);
    signals[0].fill(1, 1);
  }
  void thread(unsigned index) {
    if (index == 2) return cell.work();
    if (index == 0) {
      cell.send(messages[0]);
      cell_steps::drop_strong(cell);
    } else {
      is_signalled = cell_steps::signal_unheld(cell, &signals[0]);
      is_told = cell_steps::tell_unheld(cell, &messages[1]);
      if (!is_signalled) signals[0].freed.set(1);
      if (!is_told) messages[1].freed.set(1);
      cell_steps::drop_weak(cell);
      cell.environment.release();
    }
    cell.sender_is_done();
  }
  void after() {
    cell.run_if_scheduled();
    if (Keeps) {  // by the handler of the first message at the latest
      RL_ASSERT(is_signalled && is_told && !cell.has_ended);
      for (int kept = cell.handled.get(); kept != 0; --kept) cell_steps::drop_strong(cell);
      cell.run_if_scheduled();
    }
    RL_ASSERT(cell.freed && cell.environment.gone);
    RL_ASSERT(cell.ended.get() == 1);
    RL_ASSERT(signals[0].freed.get() == 1);
    for (node& m : messages) RL_ASSERT(m.freed.get() == 1);
  }
};

/// A worker's handler sends to an actor, runs it in place out of the queue and drops the last
/// handle to it, while another worker takes the queue's entries, also stale ones. The link belongs
/// to the queue or to the list of cells that end here, never to both.
struct queue_suite : rl::test_suite<queue_suite, 2> {
  struct queued_cell : model_cell {
    garrick::base::run_token<relacy_atomics> token;
    relacy_atomics::cell<int> link{0};
    relacy_atomics::atomic<int> queue{0};  ///< its entries: never more than one
    bool ends_here = false;                ///< it is in the first worker's list

    bool may_end_here() override { return rl::thread_index() == 0; }
    bool has_stale_entry() override { return token.has_stale_entry(); }
    void end_here() override {
      rl::ctx().sched();
      link.set(link.get() + 1);
      ends_here = true;
    }
    void schedule() override {
      environment.use();
      if (!token.offer()) return;
      link.set(link.get() + 1);
      RL_ASSERT(queue.exchange(1, acq_rel) == 0);  // order: as an inbox
      environment.use();
    }
    void free_block() override {
      if (token.retire()) free_self();
    }
    void pop() {
      if (queue.exchange(0, acquire) == 0) return;  // order: as an inbox
      touch();
      rl::ctx().sched();
      static_cast<void>(link.get());
      switch (token.take()) {
        case garrick::base::take_outcome::taken: return run();
        case garrick::base::take_outcome::stale: return;
        case garrick::base::take_outcome::orphan: return free_self();
      }
    }
    void handler_is_over() {
      if (!ends_here) return;
      link.set(link.get() + 1);
      RL_ASSERT(stop());
    }
  };
  queued_cell cell;
  envelopes<2> messages;

  void thread(unsigned index) {
    if (index == 1) {
      for (int i = 0; i < 3; ++i) cell.pop();
      return;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      messages[i].fill(0, static_cast<int>(i) + 1);
      cell.send(messages[i]);
      if (cell.token.claim()) cell.run();
    }
    cell_steps::drop_strong(cell);
    cell.handler_is_over();
  }
  void after() {
    for (int i = 0; i < 2 && !cell.freed; ++i) cell.pop();
    RL_ASSERT(cell.freed && cell.environment.gone);
    RL_ASSERT(cell.handled.get() == 2);
  }
};

}  // namespace

TEST_CASE("a signal is handled before the messages that its sender sent after it") {
  CHECK(explore<order_suite>(thorough) == "");
}
TEST_CASE("at the end each signal is answered once, and block and system go once, after all uses") {
  CHECK(explore<end_suite>(thorough) == "");
}
TEST_CASE("a weak handle, and the actor itself, may make a handle while the last one falls") {
  CHECK(explore<lock_suite<false>>(thorough) == "");
  CHECK(explore<lock_suite<true>>(thorough) == "");
}
TEST_CASE("a thread that tells of an end needs no handle, and an actor that goes on hears of it") {
  CHECK(explore<unheld_suite<false>>(thorough) == "");
  CHECK(explore<unheld_suite<true>>(thorough) == "");
}
TEST_CASE("an actor that ends after a handler leaves the link to the queue that has an entry") {
  CHECK(explore<queue_suite>(thorough) == "");
}

// Beyond this checker are `lock` (a weak handle comes from another thread, and its passing on
// orders more than the count) and the two orders of `attention`, which keep a store behind the
// push's swap: the checker executes each thread's operations in program order.
TEST_CASE("the counts need each of their memory orders") {
  CHECK((needs<end_suite>(cell_order::drop_strong, acq_rel, enough_to_fail) ||
         needs<lock_suite<false>>(cell_order::drop_strong, acq_rel, enough_to_fail)));
  CHECK((needs<end_suite>(cell_order::drop_weak, acq_rel, enough_to_fail) ||
         needs<lock_suite<false>>(cell_order::drop_weak, acq_rel, enough_to_fail)));
}
