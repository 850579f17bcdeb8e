// Checks and numbers the units of a machine, and says how far apart they are.
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/places/machine_reader.hpp>
#include <garrick/sched/places/topology.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace garrick::sched {

namespace {

base::error wrong_topology(const std::string& what) {
  return base::make_error(base::errc::invalid_setting, "topology", what);
}

/// Renumbers `field` from 0 without gaps, in the order of the old numbers. Returns their count.
template <class Field>
std::uint32_t number_anew(std::vector<processing_unit>& units, Field field) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (const processing_unit& u : units) numbers.emplace(u.*field, 0);
  std::uint32_t next = 0;
  for (auto& [old, now] : numbers) now = next++;
  for (processing_unit& u : units) u.*field = numbers[u.*field];
  return next;
}

template <class Inner, class Outer>
bool in_one_place(const std::vector<processing_unit>& units, Inner inner, Outer outer) {
  std::map<std::uint32_t, std::uint32_t> where;
  return std::all_of(units.begin(), units.end(), [&](const processing_unit& u) {
    return where.emplace(u.*inner, u.*outer).first->second == u.*outer;
  });
}

template <class Field>
std::size_t count(std::span<const processing_unit> units, Field field) {
  std::set<std::uint32_t> seen;
  for (const processing_unit& u : units) seen.insert(u.*field);
  return seen.size();
}

std::string counted(std::size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// Returns the distances beyond one node by rank: 2 for the nearest, 3 for the next, …
std::vector<std::uint32_t> ranks(const std::vector<std::uint32_t>& distances, std::uint32_t nodes) {
  std::set<std::uint32_t> different;
  for (std::uint32_t a = 0; a < nodes; ++a)
    for (std::uint32_t b = 0; b < nodes; ++b)
      if (a != b) different.insert(distances[a * nodes + b]);
  std::vector<std::uint32_t> result(distances.size(), topology::same_node);
  for (std::uint32_t a = 0; a < nodes; ++a)
    for (std::uint32_t b = 0; b < nodes; ++b)
      if (a != b)
        result[a * nodes + b] =
            2 + static_cast<std::uint32_t>(
                    std::distance(different.begin(), different.find(distances[a * nodes + b])));
  return result;
}

}  // namespace

topology topology::flat(std::uint32_t units, std::string reason) {
  topology made;
  const std::vector<std::int32_t> usable = base::platform::usable_processors();
  for (std::uint32_t i = 0; i < std::max(1U, units); ++i)
    made.units_.push_back(
        {.os_index = i < usable.size() ? usable[i] : static_cast<std::int32_t>(i), .core = i});
  made.reason_ = std::move(reason);
  return made;
}

base::result<topology> topology::of(std::vector<processing_unit> units,
                                    std::vector<std::uint32_t> node_distances) {
  if (units.empty()) return wrong_topology("a machine has at least one unit");
  std::set<std::int32_t> seen;
  for (const processing_unit& u : units)
    if (!seen.insert(u.os_index).second)
      return wrong_topology("unit " + std::to_string(u.os_index) + " is there twice");
  if (!in_one_place(units, &processing_unit::core, &processing_unit::cache))
    return wrong_topology("a core is at two caches");
  if (!in_one_place(units, &processing_unit::cache, &processing_unit::node))
    return wrong_topology("a cache is in two memory nodes");
  // A virtual machine may have one node for several packages.
  if (!in_one_place(units, &processing_unit::node, &processing_unit::package) &&
      !in_one_place(units, &processing_unit::package, &processing_unit::node))
    return wrong_topology("a memory node and a package overlap");
  topology made;
  for (const auto field :
       {&processing_unit::core, &processing_unit::cache, &processing_unit::package})
    number_anew(units, field);
  if (node_distances.empty()) {
    made.nodes_ = number_anew(units, &processing_unit::node);
  } else {
    std::uint32_t nodes = 0;
    for (const processing_unit& u : units) nodes = std::max(nodes, u.node + 1);
    if (node_distances.size() != std::size_t{nodes} * nodes)
      return wrong_topology("a matrix for " + std::to_string(nodes) + " memory nodes has " +
                            std::to_string(nodes * nodes) + " distances, not " +
                            std::to_string(node_distances.size()));
    made.nodes_ = nodes;
    made.node_rank_ = ranks(node_distances, nodes);
  }
  made.units_ = std::move(units);
  return made;
}

topology topology::of_this_machine() {
  const std::vector<std::int32_t> usable = base::platform::usable_processors();
  const auto unknown = [&usable](const base::error& why) {
    // Counts all processors that may be used, even if a quota allows fewer at a time: threads are
    // bound to some of these.
    return flat(
        usable.empty() ? base::platform::usable_cores() : static_cast<std::uint32_t>(usable.size()),
        why.to_string());
  };
  auto machine = read_machine(usable);
  if (!machine) return unknown(machine.error());
  auto t = of(std::move(machine->units), std::move(machine->node_distances));
  if (!t) return unknown(t.error());
  return std::move(*t);
}

base::result<topology> topology::synthetic(const std::string& description) {
  auto machine = read_synthetic(description);
#if !defined(GARRICK_MINIMAL)  // the minimal build can read no machine
  if (machine) return of(std::move(machine->units), std::move(machine->node_distances));
#endif
  return machine.error();
}

std::uint32_t topology::distance(std::uint32_t a, std::uint32_t b) const noexcept {
  const processing_unit& x = units_[a];
  const processing_unit& y = units_[b];
  if (x.cache == y.cache) return same_cache;
  if (x.node == y.node) return same_node;
  if (!node_rank_.empty()) return node_rank_[x.node * nodes_ + y.node];
  return x.package == y.package ? same_package : elsewhere;
}

bool topology::is_flat() const noexcept {
  const auto same_as_first = [this](auto field) {
    return std::count_if(units_.begin(), units_.end(), [&](const processing_unit& u) {
      return u.*field == units_.front().*field;
    });
  };
  const auto near = same_as_first(&processing_unit::cache);
  if (same_as_first(&processing_unit::node) != std::ssize(units_)) return false;
  return near == std::ssize(units_) || count(units_, &processing_unit::cache) == units_.size();
}

std::string topology::describe() const {
  return counted(count(units_, &processing_unit::package), "package") + ", " +
         counted(count(units_, &processing_unit::node), "memory node") + ", " +
         counted(count(units_, &processing_unit::cache), "shared cache") + ", " +
         counted(count(units_, &processing_unit::core), "core") + ", " +
         counted(units_.size(), "unit");
}

}  // namespace garrick::sched
