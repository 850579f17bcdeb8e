// The whole work-stealing policy under the model checker: two workers, the ticker and an outside thread. A stranded runnable is found as a
// deadlock, one that runs twice or unordered as a failed assertion or a data race.
#include <garrick/sched/work_stealing.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>

#include <garrick/base/internal/relacy_atomics.hpp>

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

/// Processors that nobody knows.
struct model_place {
  struct thread {
    static constexpr std::int32_t unknown = -1;
    [[nodiscard]] std::int32_t processor() const noexcept { return unknown; }
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

/// A runnable of the model: it has to run exactly once for each time that it was scheduled, and what it writes is plain memory.
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

  explicit policy_base(std::uint32_t actors) : left(actors) {
    model_clock::now = 0;
    scheduling = std::make_unique<policy>(policy_options{.workers = 2, .quantum = 8, .idle_spin_ns = 0, .seed = 1});
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

/// From outside comes one actor that wakes three others; the first of these waits until the last one has run.
struct family_suite : rl::test_suite<family_suite, 4>, policy_base {
  std::array<actor, 4> actors;
  parker eldest;

  family_suite() : policy_base(4) {
    for (actor& a : actors) {
      a.suite = this;
      a.handler = [](void* suite, actor&, policy::worker_data&) { static_cast<family_suite*>(suite)->done(); };
    }
    actors[0].handler = [](void* suite, actor&, policy::worker_data& on) {
      auto& me = *static_cast<family_suite*>(suite);
      for (unsigned i = 1; i < 4; ++i) me.scheduling->internal_enqueue(on, me.actors[i]);
      me.eldest.park();
      me.done();
    };
    actors[3].handler = [](void* suite, actor&, policy::worker_data&) {
      auto& me = *static_cast<family_suite*>(suite);
      me.eldest.unpark();
      me.done();
    };
  }

  void thread(unsigned index) {
    if (index < 2) {
      work(index);
    } else if (index == 2) {
      scheduling->helper();
    } else {
      scheduling->central_enqueue(actors[0]);
    }
  }

  void after() {
    for (actor& a : actors) RL_ASSERT(a.state.get() == 1);
  }
};

/// Two actors come from outside, and each is busy until the other one runs too.
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

/// Two actors come from outside one after the other, each of whom wakes two others and waits until the last one has run. The second time the ticker is
/// armed ahead.
struct families_suite : rl::test_suite<families_suite, 4>, policy_base {
  std::array<std::array<actor, 3>, 2> actors;
  std::array<parker, 2> eldest;
  parker first_done;

  families_suite() : policy_base(6) {
    for (auto& family : actors) {
      for (actor& a : family) {
        a.suite = this;
        a.handler = [](void* suite, actor&, policy::worker_data&) { static_cast<families_suite*>(suite)->done(); };
      }
      family[0].handler = [](void* suite, actor& self, policy::worker_data& on) {
        static_cast<families_suite*>(suite)->run_eldest(self, on);
      };
      family[2].handler = [](void* suite, actor& self, policy::worker_data&) {
        auto& me = *static_cast<families_suite*>(suite);
        me.eldest[me.family_of(&self - 2)].unpark();
        me.done();
      };
    }
  }

  [[nodiscard]] std::size_t family_of(const actor* eldest_one) const { return eldest_one == actors[0].data() ? 0 : 1; }

  void run_eldest(actor& self, policy::worker_data& on) {
    const std::size_t family = family_of(&self);
    for (std::size_t i = 1; i < 3; ++i) scheduling->internal_enqueue(on, actors[family][i]);
    eldest[family].park();
    if (family == 0) first_done.unpark();
    done();
  }

  void thread(unsigned index) {
    if (index < 2) {
      work(index);
    } else if (index == 2) {
      scheduling->helper();
    } else {
      scheduling->central_enqueue(actors[0][0]);
      first_done.park();
      scheduling->central_enqueue(actors[1][0]);
    }
  }

  void after() {
    for (auto& family : actors)
      for (actor& a : family) RL_ASSERT(a.state.get() == 1);
  }
};

constexpr unsigned thorough = 25'000;

}  // namespace

TEST_CASE("a family of actors runs whoever takes whom, and nobody is stranded") {
  for (const fences kind : {fences::symmetric, fences::asymmetric}) CHECK(explore<family_suite>(thorough, {}, kind) == "");
}

TEST_CASE("nobody is stranded when the ticker is armed ahead") {
  for (const fences kind : {fences::symmetric, fences::asymmetric}) CHECK(explore<families_suite>(thorough, {}, kind) == "");
}

TEST_CASE("two actors that need two workers get them") {
  for (const fences kind : {fences::symmetric, fences::asymmetric}) CHECK(explore<meeting_suite>(thorough, {}, kind) == "");
}

TEST_CASE("without the fences, actors are stranded") {
  CHECK(explore<family_suite>(thorough, {weakening::light_fence, {}}) != "");
  CHECK(explore<family_suite>(thorough, {weakening::heavy_fence, {}}) != "");
}
