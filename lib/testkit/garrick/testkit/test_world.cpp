// The functions of a world that tests call.
#include <garrick/testkit/internal/deterministic_world.hpp>
#include <garrick/testkit/test_world.hpp>

namespace garrick::testkit {

test_world::test_world(std::uint64_t seed)
    : world_(std::make_shared<internal::deterministic_world>(seed)) {}

std::uint64_t test_world::seed() const noexcept { return world_->seed(); }
base::virtual_clock& test_world::time() const noexcept { return world_->time(); }

}  // namespace garrick::testkit
