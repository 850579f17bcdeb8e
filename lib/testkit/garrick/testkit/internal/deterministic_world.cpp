// The construction of a world, its systems, and its end.
#include <garrick/core/seam/running.hpp>
#include <garrick/testkit/internal/deterministic_world.hpp>

namespace garrick::testkit::internal {

deterministic_world::deterministic_world(std::uint64_t seed)
    : seed_(seed),
      clock_(std::make_unique<base::virtual_clock>()),
      scheduler_(seed, *clock_, past_) {}

deterministic_world::~deterministic_world() {
  for (core::environment* const system : systems_) {
    system->clock = &base::real_clock();
    system->timers = nullptr;
  }
  clock_.reset();  // before the systems: an armed timer holds actors of a system
  for (core::environment* const system : systems_) system->release();
}

void deterministic_world::enter(core::environment& system) {
  systems_.push_back(&system);
  system.hold();
  if (alive_++ != 0) return;
  auto& here = core::detail::here;
  saved_next_id_ = here.next_id;
  saved_last_id_ = here.last_id;
  here.next_id = scheduler_.next_id;
  here.last_id = ~std::uint64_t{0};
}

void deterministic_world::leave() noexcept {
  if (--alive_ != 0) return;
  auto& here = core::detail::here;
  scheduler_.next_id = here.next_id;
  here.next_id = saved_next_id_;
  here.last_id = saved_last_id_;
}

}  // namespace garrick::testkit::internal
