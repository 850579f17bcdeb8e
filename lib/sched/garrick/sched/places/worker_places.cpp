// Spreads the workers over the machine, and sorts for each of them the others by distance.
#include <garrick/sched/places/worker_places.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace garrick::sched {

worker_places::worker_places(const topology& machine, std::uint32_t workers, neighbourhood near)
    : machine_(machine), near_(machine.is_flat() ? neighbourhood::system : near) {
  spread(workers);
  of_node_.resize(machine_.node_count());
  for (std::uint32_t w = 0; w < workers; ++w)
    of_node_[unit_of(w).node].push_back(static_cast<worker_index>(w));
  others_.reserve(std::size_t{workers} * (workers - 1));
  groups_.resize(workers);
  for (std::uint32_t w = 0; w < workers; ++w) sort_others(w);
}

void worker_places::spread(std::uint32_t workers) {
  // Each unit has a rank within its core, its core one within the cache, and its cache one within
  // the node: the first unit of the first core of the first cache has rank 0 three times.
  std::map<std::uint32_t, std::uint32_t> in_core, in_cache, in_node, core_rank, cache_rank;
  using key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::vector<std::pair<key, std::uint32_t>> order;
  const auto units = machine_.units();
  for (std::uint32_t i = 0; i < units.size(); ++i) {
    const processing_unit& u = units[i];
    if (!core_rank.contains(u.core)) core_rank[u.core] = in_cache[u.cache]++;
    if (!cache_rank.contains(u.cache)) cache_rank[u.cache] = in_node[u.node]++;
    order.push_back({key{in_core[u.core]++, core_rank[u.core], cache_rank[u.cache], u.node, i}, i});
  }
  std::sort(order.begin(), order.end());
  // A node with fewer units than others leaves gaps, so turns are counted within the node.
  std::map<std::uint32_t, std::uint32_t> taken;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> turns;
  for (const auto& [k, unit] : order)
    turns.push_back({taken[units[unit].node]++, units[unit].node, unit});
  std::sort(turns.begin(), turns.end());
  at_.resize(workers);
  for (std::uint32_t w = 0; w < workers; ++w) at_[w] = std::get<2>(turns[w % turns.size()]);
}

void worker_places::sort_others(std::uint32_t worker) {
  std::vector<std::pair<std::uint32_t, worker_index>> sorted;
  for (std::uint32_t w = 0; w < size(); ++w) {
    if (w == worker) continue;
    const std::uint32_t distance = machine_.distance(at_[worker], at_[w]);
    sorted.push_back(
        {near_ == neighbourhood::system ? 0 : std::max(distance, static_cast<std::uint32_t>(near_)),
         static_cast<worker_index>(w)});
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    others_.push_back(sorted[i].second);
    if (i + 1 == sorted.size() || sorted[i + 1].first != sorted[i].first)
      groups_[worker].push_back(static_cast<worker_index>(i + 1));
  }
}

std::int32_t worker_places::memory_of(base::locality_hint hint,
                                      std::uint32_t spawner) const noexcept {
  using kind = base::locality_hint::kind;
  std::uint32_t home = no_worker;
  if (hint.what() == kind::node && !of_node(hint.value()).empty())
    home = of_node(hint.value()).front();
  if (hint.what() == kind::settled && hint.value() < size()) home = hint.value();
  if (home == no_worker || (spawner != no_worker && unit_of(spawner).node == unit_of(home).node))
    return -1;
  return unit_of(home).memory;
}

std::span<const worker_index> worker_places::of_node(std::uint32_t node) const noexcept {
  if (node >= of_node_.size()) return {};
  return of_node_[node];
}

}  // namespace garrick::sched
