// The mailbox under the model checker: the shipped header, every interleaving and every stale value
// that C++ allows. A lost message is found as a deadlock or a wrong count, a double run as an
// unordered access to the actor's state, an early free as an access to a freed envelope.
#include <garrick/core/mailbox/mailbox.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <garrick/core/mailbox/internal/planted_mailbox.model.hpp>

using namespace garrick::core;
using namespace garrick::core::model;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 20'000;
constexpr unsigned enough_to_fail = 20'000;

using reader = planted_reader;

/// An actor with the fields of a cell. The thread that makes the actor runnable runs it at once.
struct actor {
  gate mail{true};
  reader runner;
  relacy_atomics::atomic<std::uint32_t> strong{1};
  relacy_atomics::cell<int> handled{0};
  relacy_atomics::cell<int> reclaimed{0};
  relacy_atomics::atomic<std::uint32_t> epoch{0};
  std::array<int, 4> last_of{};
  /// for each holder of a handle: a use of the actor's block, before the holder drops the handle
  std::array<relacy_atomics::cell<int>, 3> used;
  unsigned holders = 0;
  bool has_urgent_senders = false;
  bool block_given_up = false;  ///< for a check; the model checker does not follow it

  actor() { now = {}; }

  void take(node* n) {
    RL_ASSERT(n->content.get() == n->sender * 10 + n->number);
    RL_ASSERT(n->number == last_of[static_cast<std::size_t>(n->sender)] + 1);  // FIFO
    last_of[static_cast<std::size_t>(n->sender)] = n->number;
    handled.set(handled.get() + 1);
  }

  void reclaim() {
    RL_ASSERT(reclaimed.get() == 0);
    reclaimed.set(1);
    RL_ASSERT(strong.load(std::memory_order_relaxed) == 0);  // order: relaxed; close has acquired
    static_cast<void>(handled.get());
    for (unsigned i = 0; i < holders; ++i) RL_ASSERT(used[i].get() == 1);
    give_up_block();
  }

  /// Gives up the strong handles' share in the block's memory, which must happen only once.
  void give_up_block() {
    RL_ASSERT(!block_given_up);
    block_given_up = true;
  }

  /// Sorts out urgent mail before each message, as the cell does.
  node* pick() {
    if (has_urgent_senders) {
      runner.take_arrivals(mail);
      if (node* const n = runner.next_urgent()) return n;
    }
    node* const n = runner.next(mail);
    return n != nullptr ? n : runner.next_urgent();
  }

  template <class Handler>
  void run(Handler handler) {
    // the cell looks at its own state before it looks at its mail
    static_cast<void>(handled.get());
    for (;;) {
      while (node* const n = pick()) {
        take(n);
        handler(*n);
        runner.done(n);
      }
      switch (runner.release(mail, 0)) {
        case release_outcome::released: return;
        case release_outcome::unreachable:
          static_cast<void>(runner.close(mail));
          reclaim();
          return;
        case release_outcome::arrivals:
          if ((mail.peek() & mailbox_word::waiting) != 0) {
            runner.clear_waiting(mail);
            epoch.fetch_add(1, std::memory_order_acq_rel);  // order: as drain_lot::wake
            relacy_atomics::wake_one(epoch);
          }
          break;
      }
    }
  }
  void run() {
    run([](node&) {});
  }

  void send(node& n) {
    if (mail.push(&n) == push_outcome::woke) run();
  }

  void drop() {
    if (strong.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // order: as cell::drop_strong
    switch (mail.drop()) {
      case drop_outcome::running: return;
      case drop_outcome::closed: return give_up_block();
      case drop_outcome::idle:
        RL_ASSERT(runner.claim_idle(mail));
        static_cast<void>(handled.get());  // the cell notes its exit reason before it closes
        static_cast<void>(runner.close(mail));
        reclaim();
    }
  }
};

/// Two senders: nothing is lost, doubled or reordered, one thread runs at a time, nothing is freed
/// early (I1–I5).
struct push_suite : rl::test_suite<push_suite, 2> {
  actor a;
  std::array<envelopes<3>, 2> nodes;

  void thread(unsigned index) {
    for (int i = 0; i < 3; ++i) {
      nodes[index][static_cast<std::size_t>(i)].fill(static_cast<int>(index), i + 1);
      a.send(nodes[index][static_cast<std::size_t>(i)]);
    }
  }
  void after() {
    RL_ASSERT(a.handled.get() == 6);
    for (auto& list : nodes)
      for (node& n : list) RL_ASSERT(n.freed.get() == 1);
  }
};

/// Three threads drop their handles while messages are under way. Exactly one thread reclaims, and
/// only after everything has been handled (L1, L2).
struct drop_suite : rl::test_suite<drop_suite, 3> {
  actor a;
  envelopes<3> nodes;

  drop_suite() : a() {
    a.strong.store(3, std::memory_order_relaxed);  // order: before the threads
    a.holders = 3;
  }
  void thread(unsigned index) {
    nodes[index].fill(static_cast<int>(index), 1);
    if (index != 2) a.send(nodes[index]);
    a.used[index].set(1);
    a.drop();
  }
  void after() {
    RL_ASSERT(a.handled.get() == 2);
    RL_ASSERT(a.reclaimed.get() == 1);
  }
};

/// A worker that holds no handle runs the actor while the only handle is dropped.
struct worker_suite : rl::test_suite<worker_suite, 2> {
  actor a;
  envelopes<1> nodes;
  parker worker;

  worker_suite() : a() { a.holders = 1; }
  void thread(unsigned index) {
    if (index == 0) {
      nodes[0].fill(0, 1);
      const push_outcome r = a.mail.push(&nodes[0]);
      RL_ASSERT(r == push_outcome::woke);
      worker.unpark();
      a.used[0].set(1);
      a.drop();
    } else {
      worker.park();
      a.run();
    }
  }
  void after() {
    RL_ASSERT(a.handled.get() == 1);
    RL_ASSERT(a.reclaimed.get() == 1);
  }
};

/// The runner makes a handle to its actor while the last one is being dropped, and then drops or
/// keeps the new one.
template <bool Keeps>
struct undrop_suite : rl::test_suite<undrop_suite<Keeps>, 2> {
  actor a;
  envelopes<2> nodes;
  node& first = nodes[0];
  node& second = nodes[1];
  parker worker;

  void handle(node& n) {
    if (&n != &first) return;
    // order: as cell::add_strong_from_self
    if (a.strong.fetch_add(1, std::memory_order_relaxed) == 0) a.mail.undrop();
    second.fill(2, 1);
    const push_outcome r = a.mail.push(&second);
    RL_ASSERT(r == push_outcome::queued);
    if (!Keeps) a.drop();
  }
  void thread(unsigned index) {
    if (index == 0) {
      first.fill(0, 1);
      const push_outcome r = a.mail.push(&first);
      RL_ASSERT(r == push_outcome::woke);
      worker.unpark();
      a.drop();
    } else {
      worker.park();
      a.run([this](node& n) { handle(n); });
    }
  }
  void after() {
    if (Keeps) a.drop();
    RL_ASSERT(a.handled.get() == 2);
    RL_ASSERT(a.reclaimed.get() == 1);
  }
};

/// A signal is seen although ordinary traffic and the end of a batch race with it. A late signal is
/// taken by the thread that finds that the actor has ended.
struct signal_suite : rl::test_suite<signal_suite, 3> {
  actor a;
  envelopes<2> nodes;
  envelopes<2> signals;
  std::array<relacy_atomics::cell<int>, 2> signalled;
  relacy_atomics::cell<int> ended{0};

  void count_signals(node* n) {
    for (; n != nullptr; n = n->next) {
      const auto which = static_cast<std::size_t>(n->sender);
      RL_ASSERT(n->content.get() == n->sender * 10 + 1);
      RL_ASSERT(signalled[which].get() == 0);
      signalled[which].set(1);
    }
  }

  /// Runs the actor, which the first signal ends.
  void run() {
    static_cast<void>(a.handled.get());
    for (;;) {
      while (node* const n = a.runner.next(a.mail)) {
        a.take(n);
        a.runner.done(n);
      }
      if (a.runner.release(a.mail, 0) == release_outcome::released) return;
      if ((a.mail.peek() & mailbox_word::signal) == 0) continue;
      count_signals(a.runner.take_signals(a.mail));
      RL_ASSERT(ended.get() == 0);
      ended.set(1);
      static_cast<void>(a.runner.close(a.mail));
      while (node* const n = a.runner.peek_front() != nullptr ? a.runner.next(a.mail) : nullptr) {
        a.take(n);
        a.runner.done(n);
      }
      count_signals(reader::take_signals_of_the_dead(a.mail));
      return;
    }
  }

  void thread(unsigned index) {
    if (index == 2) {
      for (int i = 0; i < 2; ++i) {
        node& n = nodes[static_cast<std::size_t>(i)];
        n.fill(0, i + 1);
        const push_outcome r = a.mail.push(&n);
        if (r == push_outcome::woke) run();
        if (r == push_outcome::closed) {
          static_cast<void>(a.mail.peek_acquire());  // as cell::end_reason
          RL_ASSERT(ended.get() == 1);
          n.freed.set(1);
        }
      }
      return;
    }
    node& s = signals[index];
    s.fill(static_cast<int>(index), 1);
    switch (a.mail.push_signal(&s)) {
      case push_outcome::woke: run(); break;
      case push_outcome::closed:
        static_cast<void>(a.mail.peek_acquire());
        RL_ASSERT(ended.get() == 1);
        count_signals(reader::take_signals_of_the_dead(a.mail));
        break;
      case push_outcome::queued: break;
    }
  }
  void after() {
    RL_ASSERT(ended.get() == 1);
    for (auto& s : signalled) RL_ASSERT(s.get() == 1);
    for (node& n : nodes) RL_ASSERT(n.freed.get() == 1);
  }
};

/// Signals to an actor that lives on: each is announced to its runner.
struct announcement_suite : rl::test_suite<announcement_suite, 2> {
  actor a;
  envelopes<2> signals;

  void run() {
    static_cast<void>(a.handled.get());
    while (a.runner.release(a.mail, 0) != release_outcome::released) {
      for (node* n = a.runner.take_signals(a.mail); n != nullptr; n = n->next) {
        RL_ASSERT(n->content.get() == n->sender * 10 + 1);
        a.handled.set(a.handled.get() + 1);
      }
    }
  }
  void thread(unsigned index) {
    signals[index].fill(static_cast<int>(index), 1);
    if (a.mail.push_signal(&signals[index]) == push_outcome::woke) run();
  }
  void after() { RL_ASSERT(a.handled.get() == 2); }
};

/// A sender that waits for room is woken when the runner goes idle.
struct wait_suite : rl::test_suite<wait_suite, 2> {
  actor a;
  envelopes<2> nodes;

  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 2; ++i) {
        nodes[static_cast<std::size_t>(i)].fill(0, i + 1);
        a.send(nodes[static_cast<std::size_t>(i)]);
      }
    } else {
      // order: as drain_lot::epoch
      const std::uint32_t epoch = a.epoch.load(std::memory_order_acquire);
      if (!a.mail.ask_to_wait()) return;
      relacy_atomics::wait(a.epoch, epoch);  // a lost wake-up is a deadlock
    }
  }
  void after() { RL_ASSERT(a.handled.get() == 2); }
};

/// An actor that awaits an answer: the answer is sorted out of the arrivals, the rest stays, and
/// the run right is given up although messages are left (H1). After the push of the answer, the
/// word no longer carries `stalled` (H2).
struct hold_suite : rl::test_suite<hold_suite, 2> {
  actor a;
  envelopes<4> nodes;
  reader::chain answers;
  bool answered = false;

  hold_suite() : a() { a.runner.hold(true); }

  void run() {
    static_cast<void>(a.handled.get());
    for (;;) {
      if (a.runner.is_holding()) {
        if (answers.first == nullptr)
          static_cast<void>(a.runner.sort_arrivals(a.mail, answers, node::is_answer));
        if (node* const n = answers.first) {
          answers.first = n->next;
          RL_ASSERT(!answered && n->content.get() == n->sender * 10 + n->number);
          answered = true;
          a.handled.set(a.handled.get() + 1);
          a.runner.done(n);
          a.runner.hold(false);
        }
      }
      if (a.runner.is_plain()) {
        while (node* const n = a.runner.next(a.mail)) {
          a.take(n);
          a.runner.done(n);
        }
      }
      if (a.runner.release(a.mail, answered ? 0 : mailbox_word::stalled) ==
          release_outcome::released)
        return;
    }
  }
  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 3; ++i) {
        nodes[static_cast<std::size_t>(i)].fill(0, i + 1);
        if (a.mail.push(&nodes[static_cast<std::size_t>(i)]) == push_outcome::woke) run();
      }
    } else {
      nodes[3].fill(1, 1);
      nodes[3].answer = true;
      const push_outcome r = a.mail.push<true, true>(&nodes[3]);
      RL_ASSERT((a.mail.peek() & mailbox_word::stalled) == 0);
      if (r == push_outcome::woke) run();
    }
  }
  void after() {
    RL_ASSERT(a.handled.get() == 4);
    for (node& n : nodes) RL_ASSERT(n.freed.get() == 1);
  }
};

/// Urgent messages overtake the others and keep their own order (I5).
struct urgent_suite : rl::test_suite<urgent_suite, 2> {
  actor a;
  envelopes<5> nodes;

  urgent_suite() : a() { a.has_urgent_senders = true; }
  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 4; ++i) {
        node& n = nodes[static_cast<std::size_t>(i)];
        n.fill(0, i + 1);
        n.urgent = true;
        a.send(n);
      }
    } else {
      nodes[4].fill(1, 1);
      a.send(nodes[4]);
    }
  }
  void after() { RL_ASSERT(a.handled.get() == 5); }
};

/// A sender uses an envelope again as soon as it has been freed, as block_pool does. No comparison
/// may mistake the new envelope for the old one at the same address (I3).
struct reuse_suite : rl::test_suite<reuse_suite, 2> {
  actor a;
  envelopes<5> nodes;
  relacy_atomics::atomic<int> returned{0};

  void thread(unsigned index) {
    if (index == 1) {
      nodes[4].fill(1, 1);
      return a.send(nodes[4]);
    }
    nodes[0].returned = &returned;
    nodes[0].fill(0, 1);
    a.send(nodes[0]);
    for (int i = 1; i < 4; ++i) {
      // order: acquire, pairs with retire
      const bool again = returned.load(std::memory_order_acquire) == 1;
      node& n = nodes[again ? 0 : static_cast<std::size_t>(i)];
      if (again) {
        returned.store(0, std::memory_order_relaxed);  // order: as the pool, before the next use
        n.freed.set(0);
      }
      n.fill(0, i + 1);
      a.send(n);
    }
  }
  void after() { RL_ASSERT(a.handled.get() == 5); }
};

/// The count of pushes is about to wrap. `length` is never more than the mailbox held at some
/// moment (I7): one envelope, if each is pushed after the handling of its predecessor; or three.
template <bool one_at_a_time>
struct length_suite : rl::test_suite<length_suite<one_at_a_time>, 3> {
  static constexpr std::uint32_t handled_before = 0x1fffe;
  gate mail{true, handled_before};
  mailbox_reader<node, planted_atomics> runner{handled_before};
  envelopes<3> nodes;
  parker worker;
  parker pusher;
  relacy_atomics::atomic<int> released{0};

  length_suite() { now = {}; }
  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 3; ++i) {
        // order: acquire: the runner's published count
        while (one_at_a_time && released.load(std::memory_order_acquire) < i) pusher.park();
        node& n = nodes[static_cast<std::size_t>(i)];
        n.fill(0, i + 1);
        if (mail.push(&n) == push_outcome::woke) worker.unpark();
      }
      worker.unpark();
    } else if (index == 1) {
      for (int handled = 0; handled < 3;) {
        worker.park();
        if ((mail.peek() & mailbox_word::idle) != 0) continue;
        do {
          while (node* const n = runner.next(mail)) {
            runner.done(n);
            ++handled;
          }
        } while (runner.release(mail, 0) != release_outcome::released);
        if (!one_at_a_time) continue;
        released.store(handled, std::memory_order_release);  // order: as the pusher says
        pusher.unpark();
      }
    } else {
      for (int i = 0; i < 2; ++i) RL_ASSERT(mail.length() <= (one_at_a_time ? 1 : 3));
    }
  }
  void after() { RL_ASSERT(mail.length() == 0); }
};

/// Returns the checker's report on `Suite` with the error `which`; empty if it finds nothing.
template <class Suite>
std::string found(bug which) {
  planted = which;
  std::string text = explore<Suite>(enough_to_fail);
  planted = bug::none;
  return text;
}

template <class... Suites>
bool one_needs(mailbox_order at, std::memory_order as_written) {
  return (needs<Suites>(at, as_written, enough_to_fail) || ...);
}

}  // namespace

TEST_CASE("nothing is lost, doubled, reordered or freed early") {
  CHECK(explore<push_suite>(thorough) == "");
}
TEST_CASE("exactly one thread reclaims an unreachable actor") {
  CHECK(explore<drop_suite>(thorough) + explore<worker_suite>(thorough) == "");
}
TEST_CASE("an actor may make a handle to itself after the last one fell") {
  CHECK(explore<undrop_suite<false>>(thorough) + explore<undrop_suite<true>>(thorough) == "");
}
TEST_CASE("signals are seen, also at the end") {
  CHECK(explore<announcement_suite>(thorough) == "");
  CHECK(explore<signal_suite>(thorough) == "");
}
TEST_CASE("a sender that waits is woken") { CHECK(explore<wait_suite>(thorough) == ""); }
TEST_CASE("the length is never more than was there at some moment, also where the count wraps") {
  CHECK(explore<length_suite<false>>(thorough) == "");
  CHECK(explore<length_suite<true>>(thorough) == "");
}
TEST_CASE("an actor that awaits takes the answer past its mail, and loses nothing") {
  CHECK(explore<hold_suite>(thorough) == "");
}

// take_signals_head is beyond this checker, which executes each thread's operations in program
// order: without acquire, the exchange of the lane could move before the clearing of the tag, and a
// signal that comes between would be announced to no runner.
TEST_CASE("the mailbox needs each of its memory orders") {
  using o = mailbox_order;
  using m = std::memory_order;
  const auto need = [](mailbox_order at, std::memory_order as_written) {
    CAPTURE(static_cast<int>(at));
    CHECK((one_needs<push_suite, drop_suite, worker_suite, undrop_suite<false>, signal_suite,
                     wait_suite, length_suite<false>>(at, as_written)));
  };
  need(o::push, m::acq_rel);
  need(o::push_signal_link, m::release);
  need(o::push_signal_head, m::acq_rel);
  need(o::drop, m::acq_rel);
  need(o::next, m::acquire);
  need(o::take_arrivals, m::acquire);
  need(o::release, m::release);
  need(o::take_signals, m::acquire);
  need(o::signals_of_the_dead, m::acquire);
  need(o::close, m::acq_rel);
  need(o::push_halves, m::release);
  need(o::publish_consumed, m::release);
  need(o::length_consumed, m::acquire);
  need(o::pushes_halves, m::acquire);
}

TEST_CASE("urgent messages keep their own order") { CHECK(explore<urgent_suite>(thorough) == ""); }
TEST_CASE("an envelope may be used again as soon as it is freed") {
  CHECK(explore<reuse_suite>(thorough) == "");
}

TEST_CASE("planted: a release that overlooks arrivals loses them") {
  CHECK(found<push_suite>(bug::wake_up_before_release) != "");
}
TEST_CASE("planted: a wake-up from an old look is lost, or two pushers schedule one actor") {
  CHECK(found<push_suite>(bug::lost_wake_up) != "");
  CHECK(found<push_suite>(bug::double_run) != "");
}
TEST_CASE("planted: an envelope that the word still names is freed") {
  CHECK(found<reuse_suite>(bug::early_free) != "");
}
TEST_CASE("planted: the runner touches the actor after it gave it up") {
  CHECK(found<push_suite>(bug::touch_after_release) != "");
}
TEST_CASE("planted: a message is lost when the mailbox closes") {
  CHECK(found<signal_suite>(bug::lost_on_close) != "");
}
TEST_CASE("planted: a signal is announced before it is there, or its announcement is wiped out") {
  CHECK(found<announcement_suite>(bug::signal_before_link) != "");
  CHECK(found<announcement_suite>(bug::signal_tag_after_take) != "");
}
TEST_CASE("planted: an answer leaves the actor stalled") {
  CHECK(found<hold_suite>(bug::stalled_by_answer) != "");
}
TEST_CASE("planted: messages are reordered, or urgent ones") {
  CHECK(found<push_suite>(bug::reordered_messages) != "");
  CHECK(found<urgent_suite>(bug::reordered_urgent) != "");
}
TEST_CASE("planted: an actor is ended while a new handle to it exists") {
  CHECK(found<undrop_suite<true>>(bug::undrop_does_not_wait) != "");
}
TEST_CASE("planted: an idle actor without handles is never ended") {
  CHECK(found<drop_suite>(bug::reclaim_ignores_idle) != "");
}
