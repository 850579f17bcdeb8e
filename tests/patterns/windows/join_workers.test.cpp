// Two streams joined by the workers of a real system.
#include <doctest/doctest.h>
#include <patterns/windows/joins_reference.hpp>

#include <algorithm>
#include <cstdint>

namespace join_workers_test {

using namespace garrick;
using namespace garrick::patterns;
using namespace garrick::tests;

TEST_CASE("a real system's workers find the same pairs") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const times t{6, 4, 8};
    const events left = disordered(seed, 700, 30, 6);
    const events right = disordered(seed + 10, 700, 30, 6);
    settings workers;
    workers.scheduler.workers = 3;
    actor_system system(workers);
    const auto h =
        spawn(system, pipeline(from(left), any_join(join_of(from(right), t).with(pair_of)),
                               into_vector<ids_of_pair>()));
    auto got = system.request(h, patterns::join{}).get();
    REQUIRE(got.has_value());
    std::sort(got.value().begin(), got.value().end());
    CHECK(got.value() == expected_pairs(left, right, t));
  }
}

}  // namespace join_workers_test
