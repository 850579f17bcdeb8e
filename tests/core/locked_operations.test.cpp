// The budget of the hot path: at most four locked read-modify-write operations a message
// (docs/decisions/0001-hot-path.md).
//
// The shipped mailbox and the shipped work-stealing policy are instantiated with atomics that
// count, and carry a message back and forth between two actors that one worker runs: push,
// schedule, dequeue, take, release. Handles are moved along or stay where they are, so they add
// nothing.
#include <garrick/base/concurrency/parker.hpp>
#include <garrick/core/mailbox/mailbox.hpp>
#include <garrick/sched/policies/work_stealing.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace locked_operations_test {

namespace {

using namespace garrick;

/// Counts operations that lock a cache line: read-modify-writes and full fences.
struct counting_atomics {
  static inline std::uint64_t locked = 0;

  template <class T>
  class atomic {
   public:
    atomic() noexcept = default;
    atomic(T v) noexcept : v_(v) {}
    [[nodiscard]] T load(std::memory_order o) const noexcept { return v_.load(o); }
    void store(T v, std::memory_order o) noexcept {
      // order: none here: such a store is an exchange on x86, so it counts
      if (o == std::memory_order_seq_cst) ++locked;
      v_.store(v, o);
    }
    T exchange(T v, std::memory_order o) noexcept { return ++locked, v_.exchange(v, o); }
    T fetch_add(T v, std::memory_order o) noexcept { return ++locked, v_.fetch_add(v, o); }
    T fetch_sub(T v, std::memory_order o) noexcept { return ++locked, v_.fetch_sub(v, o); }
    T fetch_or(T v, std::memory_order o) noexcept { return ++locked, v_.fetch_or(v, o); }
    T fetch_and(T v, std::memory_order o) noexcept { return ++locked, v_.fetch_and(v, o); }
    bool compare_exchange_weak(T& e, T v, std::memory_order s, std::memory_order f) noexcept {
      return ++locked, v_.compare_exchange_weak(e, v, s, f);
    }
    bool compare_exchange_strong(T& e, T v, std::memory_order s, std::memory_order f) noexcept {
      return ++locked, v_.compare_exchange_strong(e, v, s, f);
    }
    [[nodiscard]] std::atomic<T>& plain() noexcept { return v_; }

   private:
    std::atomic<T> v_{};
  };

  template <class T>
  using cell = base::real_atomics::cell<T>;
  template <auto Place>
  static constexpr std::memory_order order(std::memory_order as_written) noexcept {
    return as_written;
  }
  static void full_fence() noexcept {
    ++locked;
    base::real_atomics::full_fence();
  }
  static void light_fence() noexcept {
    base::real_atomics::light_fence();
  }  // costs nothing where the system has a process-wide barrier
  static void heavy_fence() noexcept {
    ++locked;
    base::real_atomics::heavy_fence();
  }
  static void wait(atomic<std::uint32_t>& w, std::uint32_t e) noexcept {
    base::platform::futex_wait(w.plain(), e);
  }
  static bool wait_for(atomic<std::uint32_t>& w, std::uint32_t e, std::uint64_t ns) noexcept {
    return base::platform::futex_wait_for(w.plain(), e, ns);
  }
  static void wake_one(atomic<std::uint32_t>& w) noexcept {
    base::platform::futex_wake_one(w.plain());
  }
  static void pause() noexcept {}
};

struct counting_traits {
  using atomics = counting_atomics;
  using parker = base::basic_parker<counting_atomics>;
  using clock = sched::real_clock;
  using place = sched::real_place;
  using random = sched::xorshift;
  using mutex = std::mutex;
};

struct alignas(64) node {
  node* next = nullptr;
  static bool is_urgent(const node*) noexcept { return false; }
  static bool is_answer(const node*) noexcept { return false; }
  static void retire(node* n) noexcept { free_list = n; }
  static inline node* free_list = nullptr;
};

using policy = sched::work_stealing<counting_traits>;

/// A mailbox that a policy can run: one message in, one message out to the other.
struct player final : base::runnable {
  core::mailbox_gate<node, counting_atomics> gate{true};
  core::mailbox_reader<node, counting_atomics> reader;
  player* other = nullptr;
  policy* scheduling = nullptr;
  policy::worker_data* worker = nullptr;
  std::uint64_t handled = 0;

  void send_to(player& to, node* n) {
    if (to.gate.push(n) == core::push_outcome::woke) scheduling->internal_enqueue(*worker, to);
  }

  base::run_outcome run(std::uint32_t& budget) noexcept override {
    while (node* const n = reader.next(gate)) {
      --budget;
      ++handled;
      node* const answer = node::free_list != nullptr ? node::free_list : &spare;
      node::free_list = nullptr;
      send_to(*other, answer);
      reader.done(n);
    }
    REQUIRE(reader.release(gate, 0) == core::release_outcome::released);
    return base::run_outcome::released;
  }
  node spare;
};

}  // namespace

TEST_CASE("a ping-pong message costs two locked operations, of the four allowed") {
  static_cast<void>(base::platform::enable_process_barrier());
  policy scheduling({.workers = 2});
  auto& worker = scheduling.worker(0);
  std::array<player, 2> players;
  for (std::size_t i = 0; i < 2; ++i) {
    players[i].other = &players[1 - i];
    players[i].scheduling = &scheduling;
    players[i].worker = &worker;
  }
  node first;
  players[0].send_to(players[1], &first);

  constexpr std::uint64_t messages = 10'000;
  const std::uint64_t before = counting_atomics::locked;
  for (std::uint64_t i = 0; i < messages; ++i) {
    base::runnable* const r = scheduling.dequeue(worker);
    REQUIRE(r != nullptr);
    REQUIRE(r->take());
    std::uint32_t budget = scheduling.before_resume(worker, *r);
    const std::uint32_t granted = budget;
    static_cast<void>(r->run(budget));
    scheduling.after_resume(worker, granted - budget);
  }
  const std::uint64_t locked = counting_atomics::locked - before;
  MESSAGE("locked operations a message: " << static_cast<double>(locked) / messages);
  CHECK(players[0].handled + players[1].handled == messages);
  CHECK(locked == 2 * messages);
}

}  // namespace locked_operations_test
