#include <garrick/machine/pool.hpp>
#include <garrick/machine/traits.hpp>
#include <garrick/sched/policies/comparison/polling.hpp>
#include <garrick/sched/policies/locality_guided.hpp>
#include <garrick/sched/policies/work_sharing.hpp>
#include <garrick/sched/policies/work_stealing.hpp>

namespace garrick::machine {

namespace {

/// The same phases with other traits.
template <class Policy>
struct on_machine;
template <class Name, class Aggressive, class Moderate, class Relaxed, class Traits>
struct on_machine<sched::polling<Name, Aggressive, Moderate, Relaxed, Traits>> {
  using type = sched::polling<Name, Aggressive, Moderate, Relaxed, machine_traits>;
};

template <class Policy>
bool make_if(std::string_view name, std::unique_ptr<pool>& made, engine& machine,
             const sched::policy_options& options) {
  if (Policy::name != name) return false;
  made = std::make_unique<simulated_pool<Policy>>(machine, options);
  return true;
}

template <class... Policies>
std::unique_ptr<pool> make_one_of(std::string_view name, engine& machine,
                                  const sched::policy_options& options) {
  std::unique_ptr<pool> made;
  static_cast<void>((make_if<Policies>(name, made, machine, options) || ...));
  return made;
}

}  // namespace

std::unique_ptr<pool> make_pool(std::string_view policy, engine& machine,
                                const sched::policy_options& options) {
  return make_one_of<sched::work_stealing<machine_traits>, sched::locality_guided<machine_traits>,
                     sched::work_sharing<machine_traits>, on_machine<sched::polling_default>::type,
                     on_machine<sched::polling_custom>::type,
                     on_machine<sched::polling_aggressive>::type,
                     on_machine<sched::polling_new>::type>(policy, machine, options);
}

}  // namespace garrick::machine
