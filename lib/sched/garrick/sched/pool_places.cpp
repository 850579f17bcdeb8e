// The places of one pool's threads: reads the machine if needed, and binds threads.
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/pool_places.hpp>

namespace garrick::sched {

namespace {

#if defined(GARRICK_MINIMAL)
// In a minimal build no policy needs places, and every machine counts as flat: all that is left is
// to pin each worker to a processor.
constexpr bool knows_machines = false;
#else
constexpr bool knows_machines = true;
#endif

topology machine_of(const scheduler_settings& settings) {
  if (settings.machine.empty()) return topology::of_this_machine();
  auto t = topology::synthetic(settings.machine);
  return t ? std::move(*t) : topology::flat(base::platform::usable_cores(), t.error().to_string());
}

neighbourhood neighbourhood_of(const scheduler_settings& settings) noexcept {
  if (settings.neighbours == "system") return neighbourhood::system;
  return settings.neighbours == "node" ? neighbourhood::node : neighbourhood::cache;
}

}  // namespace

pool_places::pin pool_places::pin_of(const scheduler_settings& settings, bool for_policy) noexcept {
  if (!settings.machine.empty() || settings.pin == "system") return pin::system;
  if (settings.pin == "unit") return pin::unit;
  if (settings.pin == "cache") return pin::cache;
  if (settings.pin == "node") return pin::node;
  return for_policy ? pin::node : pin::system;
}

pool_places::pool_places(const scheduler_settings& settings, bool for_policy)
    : pin_(pin_of(settings, for_policy)) {
  if (auto a = affinity::parse(settings.affinity, base::platform::usable_processors()))
    affinity_ = std::move(*a);
  if (knows_machines && (for_policy || pin_ != pin::system))
    places_.emplace(machine_of(settings), settings.workers, neighbourhood_of(settings));
}

std::string pool_places::warning(std::string_view policy) const {
  if constexpr (!knows_machines)
    return pin_ == pin::system ? "" : "this build knows nothing of caches and memory nodes";
  if (!places_ || !places_->machine().is_flat()) return {};
  const topology& machine = places_->machine();
  const bool known = machine.flat_reason().empty();
  if (policy.empty())
    return known ? ""
                 : "workers are pinned as on a flat machine, without caches and memory nodes: " +
                       machine.flat_reason();
  return std::string(policy) + " works as work_stealing, since the machine " +
         (known ? "is flat: " + machine.describe() : "counts as flat: " + machine.flat_reason());
}

base::error pool_places::bind_worker(std::uint32_t index) {
  if (affinity_.empty() && pin_ == pin::system) return {};
  const affinity::processors where = affinity_.empty() ? group_of(index) : affinity_.of(index);
  if (!where.empty() && base::platform::bind_this_thread(where)) return {};
  const std::string there = where.empty() ? "a chosen processor: none is known here"
                                          : "processor " + std::to_string(where.front()) +
                                                (where.size() == 1 ? "" : " and its group");
  return base::make_error(
      base::errc::invalid_setting, affinity_.empty() ? "scheduler.pin" : "scheduler.affinity",
      "the system does not let worker " + std::to_string(index) + " run on " + there);
}

affinity::processors pool_places::group_of(std::uint32_t index) const {
  if constexpr (!knows_machines) {
    affinity::processors all = base::platform::usable_processors();
    if (pin_ == pin::unit && !all.empty()) all = {all[index % all.size()]};
    return all;
  }
  const processing_unit& mine = places_->unit_of(index);
  affinity::processors all;
  for (const processing_unit& u : places_->machine().units())
    if (pin_ == pin::unit    ? u.os_index == mine.os_index
        : pin_ == pin::cache ? u.cache == mine.cache
                             : u.node == mine.node)
      all.push_back(u.os_index);
  return all;
}

}  // namespace garrick::sched
