// Senders that wait for room under the model checker: the shipped lot, mailbox and steps. A wake-up
// that is lost is a deadlock, since these waits have no limit.
#include <garrick/base/concurrency/run_token.hpp>
#include <garrick/base/concurrency/waiting_workers.hpp>
#include <garrick/core/cell/cell_steps.hpp>
#include <garrick/core/overload/drain_lot.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <garrick/core/mailbox/internal/planted_mailbox.model.hpp>

using garrick::base::run_token;
using garrick::base::waiting_order;
using garrick::base::waiting_workers;
using namespace garrick::core;
using namespace garrick::core::model;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 20'000;
constexpr unsigned enough_to_fail = 20'000;

using lot_of_model = basic_drain_lot<patient_atomics, 4>;

/// The part of a system that the steps need.
struct environment_of_model {
  lot_of_model* lot;
  void hold() {}
  void release() {}
};

/// A cell with the fields that the steps use. Its worker handles the waiting messages and releases
/// it; or ends it, when it has handled a number of messages.
class full_cell {
 public:
  using atomics = relacy_atomics;

  explicit full_cell(lot_of_model& lot, std::uint64_t number = 1)
      : environment_{&lot}, id_(number) {
    now = {};
  }

  /// Waits once if that can help, at any length of the mailbox: the worst sender.
  void wait_and_send(node& m) {
    static_cast<void>(cell_steps::wait_for_wake(*this, 1, [] {
      rl::ctx().sched();
      return false;
    }));
    send(m);
  }
  void send(node& m) {
    switch (gate_.push(&m)) {
      case push_outcome::queued: return;
      case push_outcome::woke: worker.unpark(); return;
      case push_outcome::closed: m.freed.set(1);
    }
  }
  /// Handles messages until `most` are handled, and ends then if `ends`.
  void work(int most, bool ends) {
    for (int handled = 0;;) {
      while (node* const m = reader_.next(gate_)) {
        reader_.done(m);
        if (++handled == most && ends) return cell_steps::end(*this, [this] { lose_rest(); });
      }
      switch (reader_.release(gate_, 0)) {
        case release_outcome::released:
          if (handled == most) return;
          do worker.park();
          while ((gate_.peek() & mailbox_word::idle) != 0);
          break;
        case release_outcome::unreachable: RL_ASSERT(false); break;
        case release_outcome::arrivals:
          if ((gate_.peek() & mailbox_word::waiting) != 0) cell_steps::wake_senders(*this);
      }
    }
  }

  // called by the steps
  environment_of_model& env() { return environment_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  void add_weak() {}
  void free_block() {}
  void answer_late_signals() {}

  atomics::atomic<std::uint32_t> weak_{9};
  atomics::atomic<std::uint8_t> attention_{0};
  mailbox_gate<node, atomics> gate_{false};
  mailbox_reader<node, atomics> reader_;

 private:
  void lose_rest() {
    while (reader_.peek_front() != nullptr) reader_.done(reader_.next(gate_));
  }

  environment_of_model environment_;
  std::uint64_t id_;
  parker worker;
};

/// Two senders wait for the room that the worker makes; if it `Ends` the cell, that must wake them,
/// too.
template <bool Ends>
struct room_suite : rl::test_suite<room_suite<Ends>, 3> {
  lot_of_model lot;
  full_cell cell{lot};
  std::array<envelopes<2>, 2> messages;

  void thread(unsigned index) {
    if (index == 2) return cell.work(Ends ? 2 : 4, Ends);
    for (std::size_t i = 0; i < 2; ++i) {
      messages[index][i].fill(static_cast<int>(index), static_cast<int>(i) + 1);
      cell.wait_and_send(messages[index][i]);
    }
  }
  void after() {
    for (auto& of_one : messages)
      for (node& m : of_one) RL_ASSERT(m.freed.get() == 1 || !Ends);
  }
};

/// Each of `N` actors is about to wait for the next one: at least one of them must see the circle.
/// With a gap no actor may see one, since the actors form a pipeline.
template <unsigned N, bool Gap>
struct circle_suite : rl::test_suite<circle_suite<N, Gap>, N> {
  lot_of_model lot;
  std::array<bool, N> seen{};
  relacy_atomics::atomic<unsigned> decided{0};

  void thread(unsigned index) {
    const std::uint64_t next = index + 1 < N ? index + 2 : 1;
    const detail::stacked_actor self{index + 1, nullptr};
    const lot_of_model::waiting_scope wait(lot, Gap && next == 1 ? N + 1 : next, &self);
    seen[index] = wait.closes_circle();
    // an actor that sees no circle keeps waiting: its entry stays until all have looked
    decided.fetch_add(1, relaxed);                               // order: for the test
    while (decided.load(relaxed) != N) relacy_atomics::pause();  // order: for the test
  }
  void after() {
    bool any = false;
    for (const bool one : seen) any = any || one;
    RL_ASSERT(any != Gap);
  }
};

/// The thread that queues the actor for which a worker waits: a worker, a thread outside the pool,
/// or such a thread when an old entry in the queue becomes valid again.
enum class queuer { worker, outsider, outsider_again };

/// The second thread is a worker that runs the actor `running`. It waits for the actor `queued`,
/// which the first thread queues. If the first thread is a worker, it then waits for `running`.
template <queuer By>
struct all_wait_suite : rl::test_suite<all_wait_suite<By>, 2> {
  lot_of_model lot;
  waiting_workers<relacy_atomics> waiting{By == queuer::worker ? 2 : 1};
  full_cell running{lot, 1};
  full_cell queued{lot, 2};
  run_token<relacy_atomics> token;
  relacy_atomics::atomic<int> queue{0};
  relacy_atomics::atomic<bool> is_tried{false};

  all_wait_suite() {
    waiting.listen([](void* all) noexcept { static_cast<lot_of_model*>(all)->wake_claimers(); },
                   &lot);
    if (By != queuer::outsider_again) return;
    RL_ASSERT(token.offer());
    queue.store(1, relaxed);  // order: before the threads
    RL_ASSERT(token.claim());
  }
  void thread(unsigned index) {
    if (index == 0) {
      while (!is_tried.load(acquire)) relacy_atomics::pause();  // order: for the test
      if (token.offer()) queue.store(1, relaxed);               // order: the weakest queue
      if (By == queuer::worker)
        wait(running, [] { return false; });
      else
        waiting.queued();
      return;
    }
    const auto claim = [this] { return token.claim(); };
    RL_ASSERT(!claim());
    is_tried.store(true, release);  // order: for the test
    RL_ASSERT(wait(queued, claim) == wait_end::claimed);
    queued.work(0, false);
    running.work(0, false);
  }
  template <class Claim>
  wait_end wait(full_cell& receiver, Claim claim) {
    const lot_of_model::claimer may_claim(lot, receiver.id());
    waiting.begin([this] { return queue.load(relaxed) != 0; });  // order: as above
    wait_end end = wait_end::woken;
    while (end == wait_end::woken) end = cell_steps::wait_for_wake(receiver, 1, claim);
    waiting.end();
    return end;
  }
};

}  // namespace

TEST_CASE("a sender that waits for room is woken when there is some, or when the receiver ends") {
  CHECK(explore<room_suite<false>>(thorough) == "");
  CHECK(explore<room_suite<true>>(thorough) == "");
}
TEST_CASE("of the waits that form a circle one sees it, and a pipeline is none") {
  CHECK(explore<circle_suite<2, false>>(thorough) == "");
  CHECK(explore<circle_suite<3, false>>(thorough) == "");
  CHECK(explore<circle_suite<3, true>>(thorough) == "");
}

TEST_CASE("while all workers wait, one of them claims the receiver that waits in a queue") {
  for (const fences kind : {fences::symmetric, fences::asymmetric}) {
    CHECK(explore<all_wait_suite<queuer::worker>>(thorough, {}, kind) == "");
    CHECK(explore<all_wait_suite<queuer::outsider>>(thorough, {}, kind) == "");
    CHECK(explore<all_wait_suite<queuer::outsider_again>>(thorough, {}, kind) == "");
  }
}
TEST_CASE(
    "the last worker sees the queued actors, or the thread that queues sees the last worker") {
  CHECK(needs<all_wait_suite<queuer::worker>>(waiting_order::begin, release, enough_to_fail));
  CHECK(explore<all_wait_suite<queuer::outsider>>(enough_to_fail, {no_light_fence}) != "");
  CHECK(explore<all_wait_suite<queuer::outsider>>(enough_to_fail, {no_heavy_fence}) != "");
}

// Beyond this checker are the orders of the epoch, which keep the steps of a wait and of a wake-up
// as they are written: the checker executes each thread's operations in program order.
TEST_CASE("a circle is seen because both sides are sequentially consistent") {
  CHECK(needs<circle_suite<2, false>>(lot_order::enter, seq_cst, enough_to_fail));
  CHECK(needs<circle_suite<2, false>>(lot_order::see_waiter, seq_cst, enough_to_fail));
}
