// Work stealing without threads: what becomes of a runnable that was claimed where it waited.
#include <garrick/sched/policies/work_stealing.hpp>

#include <doctest/doctest.h>

using namespace garrick;
using namespace garrick::sched;

namespace {

struct item final : base::runnable {
  base::run_outcome run(std::uint32_t& budget) noexcept override {
    --budget;
    return base::run_outcome::released;
  }
};

}  // namespace

TEST_CASE("work stealing: what a queue still names waits there again, and not in the next slot") {
  work_stealing<> policy(policy_options{.workers = 1, .quantum = 64, .idle_spin_ns = 0});
  auto& self = policy.worker(0);
  item claimed;
  item next;
  policy.external_enqueue(self, claimed);
  REQUIRE(policy.claim(self, claimed));  // its entry stays in the inbox
  policy.internal_enqueue(self, next);
  policy.internal_enqueue(self, claimed);
  CHECK(policy.claim_next(self, &next));
  CHECK_FALSE(policy.claim_next(self, &claimed));
  CHECK(claimed.is_queued());
  REQUIRE(policy.dequeue(self) == &claimed);
  CHECK(claimed.take());
  CHECK(policy.drain_one() == nullptr);
}
