// Reads machines with hwloc. Without it, in the minimal build, both functions say why they cannot.
#include <garrick/sched/places/machine_reader.hpp>

#if defined(GARRICK_MINIMAL)

namespace garrick::sched {

namespace {
base::error not_here() {
  return base::make_error(base::errc::invalid_setting, "topology",
                          "this build has no hwloc, so the machine counts as flat");
}
}  // namespace

base::result<machine_units> read_machine(std::span<const std::int32_t>) { return not_here(); }
base::result<machine_units> read_synthetic(const std::string&) { return not_here(); }

}  // namespace garrick::sched

#else

#include <hwloc.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

namespace garrick::sched {

namespace {

base::error wrong(const std::string& what) {
  return base::make_error(base::errc::invalid_setting, "topology", what);
}

struct destroy {
  void operator()(hwloc_topology_t t) const noexcept { hwloc_topology_destroy(t); }
};
using handle = std::unique_ptr<hwloc_topology, destroy>;

constexpr std::uint64_t most_units = 1024;

/// Returns the number of units of a described machine, or `most_units` + 1 if there are more.
/// Counts before hwloc makes the units, which would take for ever for millions of them.
std::uint64_t units_of(std::string_view description) {
  std::uint64_t units = 1;
  int inside = 0;  // texts in brackets make no units
  const char* const begin = description.data();
  const char* const end = begin + description.size();
  for (const char* c = begin; c != end; ++c) {
    if (*c == '(' || *c == '[') ++inside;
    if (*c == ')' || *c == ']') --inside;
    const bool counts = inside == 0 && (c == begin || c[-1] == ':' || c[-1] <= ' ');
    if (!counts || *c < '0' || *c > '9') continue;
    std::uint64_t n = 0;
    if (std::from_chars(c, end, n).ec != std::errc()) n = most_units + 1;
    units = std::min(units * std::clamp<std::uint64_t>(n, 1, most_units + 1), most_units + 1);
  }
  return units;
}

handle make() {
  hwloc_topology_t t = nullptr;
  return hwloc_topology_init(&t) == 0 ? handle(t) : nullptr;
}

/// Returns the first memory node that has this unit; null if there is none.
hwloc_obj_t node_of(hwloc_topology_t t, hwloc_obj_t unit) {
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node)) != nullptr)
    if (node->cpuset != nullptr && hwloc_bitmap_isset(node->cpuset, unit->os_index) != 0)
      return node;
  return nullptr;
}

/// Returns a number for `o` that no other object of its kind has: the lowest unit below it, within
/// `node` unless that is null.
std::uint32_t number_of(hwloc_obj_t o, hwloc_obj_t node = nullptr) {
  int n = hwloc_bitmap_first(o->cpuset);
  while (node != nullptr && hwloc_bitmap_isset(node->cpuset, static_cast<unsigned>(n)) == 0)
    n = hwloc_bitmap_next(o->cpuset, n);
  return static_cast<std::uint32_t>(n);
}

hwloc_obj_t core_of(hwloc_topology_t t, hwloc_obj_t unit) {
  const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, unit);
  return core != nullptr ? core : unit;
}

/// Returns the largest cache above `unit`; it may span several nodes. If there is no cache, returns
/// the unit's core, or the unit itself.
hwloc_obj_t cache_of(hwloc_topology_t t, hwloc_obj_t unit) {
  hwloc_obj_t best = core_of(t, unit);
  for (hwloc_obj_t o = unit->parent; o != nullptr; o = o->parent)
    if (hwloc_obj_type_is_dcache(o->type) != 0) best = o;
  return best;
}

processing_unit describe(hwloc_topology_t t, hwloc_obj_t unit, bool real) {
  const hwloc_obj_t node = node_of(t, unit);
  const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, unit);
  return {.os_index = static_cast<std::int32_t>(unit->os_index),
          .core = number_of(core_of(t, unit)),
          .cache = number_of(cache_of(t, unit), node),
          .node = node != nullptr ? node->logical_index : 0,
          .package = package != nullptr ? package->logical_index : 0,
          .memory = real && node != nullptr ? static_cast<std::int32_t>(node->os_index) : -1};
}

std::vector<std::uint32_t> distances_of(hwloc_topology_t topology) {
  std::vector<std::uint32_t> all;
  unsigned count = 1;
  hwloc_distances_s* matrix = nullptr;
  if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &matrix,
                                  HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
      count == 0)
    return all;
  const auto nodes = static_cast<unsigned>(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
  if (matrix->nbobjs == nodes) {
    all.resize(std::size_t{nodes} * nodes);
    for (unsigned a = 0; a < nodes; ++a)
      for (unsigned b = 0; b < nodes; ++b)
        all[matrix->objs[a]->logical_index * nodes + matrix->objs[b]->logical_index] =
            static_cast<std::uint32_t>(matrix->values[a * nodes + b]);
  }
  hwloc_distances_release(topology, matrix);
  return all;
}

/// Reads all units of a loaded machine, or the `usable` ones. A null `usable` is for a machine that
/// does not exist.
base::result<machine_units> read(hwloc_topology_t topology,
                                 const std::span<const std::int32_t>* usable) {
  if (hwloc_topology_load(topology) != 0) return wrong("hwloc cannot read the machine");
  machine_units found;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
    const auto number = static_cast<std::int32_t>(unit->os_index);
    if (usable != nullptr && !usable->empty() &&
        std::find(usable->begin(), usable->end(), number) == usable->end())
      continue;
    found.units.push_back(describe(topology, unit, usable != nullptr));
  }
  if (found.units.empty())
    return wrong("hwloc knows none of the processors that this process may use");
  // The matrix has a row for every node, also for one with processors that the process may not
  // use.
  found.node_distances = distances_of(topology);
  std::uint32_t nodes = 0;
  for (const processing_unit& u : found.units) nodes = std::max(nodes, u.node + 1);
  const auto known =
      static_cast<std::uint32_t>(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
  if (!found.node_distances.empty() && nodes < known) {
    std::vector<std::uint32_t> part;
    for (std::uint32_t a = 0; a < nodes; ++a)
      for (std::uint32_t b = 0; b < nodes; ++b) part.push_back(found.node_distances[a * known + b]);
    found.node_distances = std::move(part);
  }
  return found;
}

}  // namespace

base::result<machine_units> read_machine(std::span<const std::int32_t> usable) {
  const handle t = make();
  if (t == nullptr) return wrong("hwloc could not start");
  return read(t.get(), &usable);
}

base::result<machine_units> read_synthetic(const std::string& description) {
  if (units_of(description) > most_units)
    return wrong("\"" + description + "\" has more than " + std::to_string(most_units) + " units");
  const handle t = make();
  if (t == nullptr) return wrong("hwloc could not start");
  if (hwloc_topology_set_synthetic(t.get(), description.c_str()) != 0)
    return wrong("\"" + description +
                 "\" is not a synthetic machine; one is \"pack:2 numa:2 l3:1 core:8 pu:1\"");
  return read(t.get(), nullptr);
}

}  // namespace garrick::sched

#endif
