// Finds a shipped policy by its name and makes its workers on the simulated machine.
#include <garrick/machine/pool.hpp>
#include <garrick/machine/traits.hpp>
#include <garrick/sched/policy_list.hpp>

#include <tuple>

namespace garrick::machine {

std::unique_ptr<pool> make_pool(std::string_view policy, engine& machine,
                                const sched::policy_options& options) {
  std::unique_ptr<pool> made;
  const auto make_if_named =
      [&]<class Policy, sched::policy_builds Builds>(sched::policy_line<Policy, Builds>) {
        if (Policy::name == policy)
          made = std::make_unique<simulated_pool<Policy>>(machine, options);
      };
  std::apply([&](auto... lines) { (make_if_named(lines), ...); },
             sched::shipped_policy_list<machine_traits>());
  return made;
}

}  // namespace garrick::machine
