// each: member inner number
// expect: it_takes_settings_and_in_braces_their_members
// An actor system with settings that it does not have.
#include <garrick/garrick.hpp>

#include <type_traits>

using garrick::actor_system;

/// A program's own settings.
struct program_settings {
  operator garrick::system::settings() const { return {}; }
};
class own_system : public actor_system {
  using actor_system::actor_system;
};

void test() {
#if defined(GARRICK_WITHOUT_member)
  actor_system system({.wrong = 4});
#elif defined(GARRICK_WITHOUT_inner)
  actor_system system({.scheduler = {.wrong = 4}});
#elif defined(GARRICK_WITHOUT_number)
  actor_system system(4);
#else
  actor_system system({.scheduler = {.workers = 4}});
  const actor_system as_the_environment_says;
  const actor_system again{};
  const actor_system of_the_program(program_settings{});
  const actor_system in_braces{program_settings()};
  const own_system own(program_settings{});
#endif
}
static_assert(!std::is_constructible_v<actor_system, int>);
static_assert(std::is_constructible_v<actor_system, program_settings&>);
static_assert(!std::is_convertible_v<program_settings, actor_system>);
static_assert(!std::is_copy_constructible_v<actor_system>);
