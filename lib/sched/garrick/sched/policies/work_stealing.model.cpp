// The whole work-stealing policy under the model checker: two workers, the ticker and an outside
// thread. A stranded runnable is found as a deadlock. A runnable that runs twice, or without order
// between its runs, is found as a failed assertion or a data race.
#include <garrick/sched/policies/work_stealing.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick;
using namespace garrick::sched;
using namespace garrick::base::model;

namespace {

/// Time passes in long steps, so that the ticker soon goes back to sleep.
struct model_clock {
  static inline std::uint64_t now = 0;
  static std::uint64_t now_ns() { return now += 400'000; }
  static std::uint64_t thread_cpu_ns() { return 0; }
  static void sleep_ns(std::uint64_t) { rl::yield(1, here()); }
};

/// A machine that does not say which processor a thread runs on.
struct model_place {
  struct thread {
    static constexpr std::int32_t unknown = -1;
    [[nodiscard]] std::int32_t processor() const noexcept { return unknown; }
    [[nodiscard]] std::optional<base::platform::processor_times> times() const noexcept {
      return {};
    }
  };
  static thread of_this_thread() noexcept { return {}; }
  static bool leave(std::span<const std::int32_t>) noexcept { return false; }
};

struct model_traits {
  using atomics = relacy_atomics;
  using parker = base::model::parker;
  using clock = model_clock;
  using place = model_place;
  using random = xorshift;
};

using policy = work_stealing<model_traits>;

/// A runnable of the model. It must run exactly once for each time that it was scheduled. It writes
/// plain memory, so that two simultaneous runs are found.
struct actor : base::runnable {
  relacy_atomics::cell<int> state{0};
  void (*handler)(void* suite, actor& self, policy::worker_data& on) = nullptr;
  void* suite = nullptr;
  policy::worker_data* on = nullptr;  ///< the worker that runs it now

  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    state.set(state.get() + 1);
    handler(suite, *this, *on);
    return base::run_outcome::released;
  }
};

struct policy_base {
  std::unique_ptr<policy> scheduling;
  relacy_atomics::atomic<std::uint32_t> left;

  explicit policy_base(std::uint32_t actors, std::uint32_t quantum = 8,
                       std::uint32_t look_interval = default_look_interval)
      : left(actors) {
    model_clock::now = 0;
    scheduling = std::make_unique<policy>(policy_options{.workers = 2,
                                                         .quantum = quantum,
                                                         .idle_spin_ns = 0,
                                                         .seed = 1,
                                                         .look_interval = look_interval});
  }

  void done() {
    // order: acq_rel, the last of all
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) scheduling->request_stop();
  }

  void work(unsigned index) {
    auto& me = scheduling->worker(index);
    while (base::runnable* r = scheduling->dequeue(me)) {
      if (!r->take()) continue;
      std::uint32_t budget = scheduling->before_resume(me, *r);
      static_cast<actor*>(r)->on = &me;
      if (r->run(budget) == base::run_outcome::more) scheduling->resume_later(me, *r);
      scheduling->after_resume(me, 1);
    }
  }
};

/// An outside thread schedules the eldest of a family of actors. The eldest schedules the others
/// and waits until the last one has run. Then the eldest of the next family is scheduled. From the
/// second family on the ticker is armed ahead.
template <std::size_t Families, std::size_t Size>
struct family_suite : rl::test_suite<family_suite<Families, Size>, 4>, policy_base {
  struct family {
    std::array<actor, Size> actors;
    parker eldest;
    parker done;
  };
  std::array<family, Families> families;

  family_suite() : policy_base(Families * Size) {
    for (family& f : families) {
      for (actor& a : f.actors) {
        a.suite = this;
        a.handler = [](void* suite, actor& self, policy::worker_data& on) {
          static_cast<family_suite*>(suite)->run(self, on);
        };
      }
    }
  }

  void run(actor& self, policy::worker_data& on) {
    for (family& f : families) {
      if (&self == &f.actors.front()) {
        for (std::size_t i = 1; i < Size; ++i) scheduling->internal_enqueue(on, f.actors[i]);
        f.eldest.park();
        f.done.unpark();
      }
      if (&self == &f.actors.back()) f.eldest.unpark();
    }
    done();
  }

  void thread(unsigned index) {
    if (index < 2) {
      work(index);
    } else if (index == 2) {
      scheduling->helper();
    } else {
      for (family& f : families) {
        scheduling->central_enqueue(f.actors.front());
        if (&f != &families.back()) f.done.park();
      }
    }
  }

  void after() {
    for (family& f : families)
      for (actor& a : f.actors) RL_ASSERT(a.state.get() == 1);
  }
};

/// An outside thread schedules two actors, and each stays busy until the other one runs too.
struct meeting_suite : rl::test_suite<meeting_suite, 4>, policy_base {
  std::array<actor, 2> actors;
  std::array<parker, 2> met;

  meeting_suite() : policy_base(2) {
    for (actor& a : actors) {
      a.suite = this;
      a.handler = [](void* suite, actor& self, policy::worker_data&) {
        auto& me = *static_cast<meeting_suite*>(suite);
        const unsigned index = &self == &me.actors[0] ? 0 : 1;
        me.met[1 - index].unpark();
        me.met[index].park();
        me.done();
      };
    }
  }

  void thread(unsigned index) {
    if (index < 2) {
      work(index);
    } else if (index == 2) {
      scheduling->helper();
    } else {
      scheduling->central_enqueue(actors[0]);
      scheduling->central_enqueue(actors[1]);
    }
  }

  void after() {
    for (actor& a : actors) RL_ASSERT(a.state.get() == 1);
  }
};

/// One handler makes work for the next slot, the deque and, from outside, the inbox. Then it waits
/// until all of this work has run, while two other actors keep the second worker busy for as long.
template <bool LooksAbout>
struct stalled_suite : rl::test_suite<stalled_suite<LooksAbout>, 3>, policy_base {
  static constexpr std::uint32_t made = 3;
  actor blocker;
  std::array<actor, 2> balls;
  std::array<actor, made> others;
  parker started, all_ran;
  relacy_atomics::atomic<std::uint32_t> to_run{made};

  // with one message in a round, each round begins with a look
  stalled_suite() : policy_base(2 + made, 4, LooksAbout ? 1 : 1'000'000) {
    const auto handle_with = [this](actor& a, auto handler) {
      a.suite = this;
      a.handler = handler;
    };
    using worker = policy::worker_data;
    handle_with(blocker, [](void* suite, actor&, worker& on) {
      static_cast<stalled_suite*>(suite)->block(on);
    });
    for (actor& a : balls)
      handle_with(a, [](void* suite, actor& self, worker& on) {
        static_cast<stalled_suite*>(suite)->play(self, on);
      });
    for (actor& a : others)
      handle_with(a,
                  [](void* suite, actor&, worker&) { static_cast<stalled_suite*>(suite)->ran(); });
  }

  void block(policy::worker_data& on) {
    scheduling->internal_enqueue(on, others[0]);
    scheduling->internal_enqueue(on, others[1]);
    started.unpark();
    all_ran.park();
    done();
  }
  void play(actor& self, policy::worker_data& on) {
    // order: acquire; a thread that sees the end sees the actions before it
    if (to_run.load(std::memory_order_acquire) != 0)
      scheduling->internal_enqueue(on, &self == &balls[0] ? balls[1] : balls[0]);
    else
      done();
  }
  void ran() {
    // order: acq_rel, the last of all
    if (to_run.fetch_sub(1, std::memory_order_acq_rel) == 1) all_ran.unpark();
    done();
  }

  void thread(unsigned index) {
    if (index < 2) {
      work(index);
    } else {
      scheduling->central_enqueue(balls[0]);
      scheduling->central_enqueue(blocker);
      started.park();
      scheduling->central_enqueue(others[2]);
    }
  }

  void after() {
    for (actor& a : others) RL_ASSERT(a.state.get() == 1);
  }
};

constexpr unsigned thorough = 25'000;

/// A worker takes two actors out of its inbox at once. The older one waits until the younger one
/// has run, so the younger one must not lie in the deque while the second worker goes to sleep
/// (W1).
struct batch_suite : rl::test_suite<batch_suite, 3>, policy_base {
  std::array<actor, 2> actors;
  parker younger_ran;

  batch_suite() : policy_base(2) {
    for (actor& a : actors) {
      a.suite = this;
      a.handler = [](void* suite, actor& self, policy::worker_data&) {
        static_cast<batch_suite*>(suite)->run(self);
      };
    }
  }
  void run(const actor& self) {
    if (&self == &actors[0])
      younger_ran.park();
    else
      younger_ran.unpark();
    done();
  }
  void thread(unsigned index) {
    if (index < 2) return work(index);
    for (actor& a : actors) scheduling->external_enqueue(scheduling->worker(0), a);
  }
  void after() {
    for (actor& a : actors) RL_ASSERT(a.state.get() == 1);
  }
};

/// A worker that has work of its own takes the older of two actors out of its inbox. The older
/// actor waits until the younger has run. The second worker must find the younger actor, even if it
/// goes to sleep while the first worker holds the line.
struct line_suite : rl::test_suite<line_suite, 2>, policy_base {
  std::array<actor, 2> arrivals;
  actor own;
  parker younger_ran;

  line_suite() : policy_base(3) {
    const auto handle_with = [this](actor& a, auto handler) {
      a.suite = this;
      a.handler = handler;
    };
    for (actor& a : arrivals)
      handle_with(a, [](void* suite, actor& self, policy::worker_data&) {
        static_cast<line_suite*>(suite)->run(self);
      });
    handle_with(own, [](void* suite, actor&, policy::worker_data&) {
      static_cast<line_suite*>(suite)->done();
    });
  }
  void run(const actor& self) {
    if (&self == &arrivals[0])
      younger_ran.park();
    else
      younger_ran.unpark();
    done();
  }
  void thread(unsigned index) {
    if (index == 0) {
      auto& me = scheduling->worker(0);
      scheduling->internal_enqueue(me, own);
      for (actor& a : arrivals) scheduling->external_enqueue(me, a);
    }
    work(index);
  }
  void after() {
    for (actor& a : arrivals) RL_ASSERT(a.state.get() == 1);
    RL_ASSERT(own.state.get() == 1);
  }
};

/// An outside thread schedules an actor when the actor before it runs, and there is no ticker. So
/// a thread that leaves an actor to a worker that was awake must wake a worker if all sleep by now.
struct left_suite : rl::test_suite<left_suite, 3>, policy_base {
  std::array<actor, 3> actors;
  parker runs;

  left_suite() : policy_base(3) {
    for (actor& a : actors) {
      a.suite = this;
      a.handler = [](void* suite, actor&, policy::worker_data&) {
        static_cast<left_suite*>(suite)->runs.unpark();
        static_cast<left_suite*>(suite)->done();
      };
    }
  }
  void thread(unsigned index) {
    if (index < 2) return work(index);
    for (actor& a : actors) {
      scheduling->central_enqueue(a);
      runs.park();
    }
  }
  void after() {
    for (actor& a : actors) RL_ASSERT(a.state.get() == 1);
  }
};

}  // namespace

TEST_CASE("a family of actors runs however they are taken, and no runnable is stranded") {
  for (const fences kind : {fences::symmetric, fences::asymmetric})
    CHECK(explore<family_suite<1, 4>>(thorough, {}, kind) == "");
}

TEST_CASE("no runnable is stranded when the ticker is armed ahead") {
  for (const fences kind : {fences::symmetric, fences::asymmetric})
    CHECK(explore<family_suite<2, 3>>(thorough, {}, kind) == "");
}

TEST_CASE("two actors that need two workers get them") {
  for (const fences kind : {fences::symmetric, fences::asymmetric})
    CHECK(explore<meeting_suite>(thorough, {}, kind) == "");
}

TEST_CASE("work that waits at a worker that stands still is run by one that is busy") {
  for (const fences kind : {fences::symmetric, fences::asymmetric})
    CHECK(explore<stalled_suite<true>>(thorough, {}, kind) == "");
  CHECK(explore<stalled_suite<false>>(100) != "");  // the two others never end
}

TEST_CASE("without the fences, actors are stranded") {
  CHECK(explore<family_suite<1, 4>>(thorough, {no_light_fence}) != "");
  CHECK(explore<family_suite<1, 4>>(thorough, {no_heavy_fence}) != "");
}

TEST_CASE("the rest of a batch that a worker takes out of its inbox is announced") {
  for (const fences kind : {fences::symmetric, fences::asymmetric})
    CHECK(explore<batch_suite>(10'000, {}, kind) == "");
}

TEST_CASE("work that a worker leaves in its inbox is announced") {
  for (const fences kind : {fences::symmetric, fences::asymmetric})
    CHECK(explore<line_suite>(10'000, {}, kind) == "");
}

TEST_CASE("work left to a worker that is awake is not stranded if all sleep by then") {
  for (const fences kind : {fences::symmetric, fences::asymmetric})
    CHECK(explore<left_suite>(10'000, {}, kind) == "");
}
