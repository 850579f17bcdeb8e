// The workers of a pool on the machine: their places, and the order in which each asks the others.
//
// Worker i belongs to one processing unit. If there are fewer workers than units, the workers are
// spread: over the memory nodes first, then over each node's caches, and over the hardware threads
// of one core last. If there are more, they share the units in turn.
//
// For each worker the others are sorted by distance into groups g0 ⊆ g1 ⊆ …, each of which is the
// beginning of one array (paper 002 §3.1). The direct neighbours, g0, are those that share the
// cache or the node, as `neighbourhood` says. A group that adds no worker is left out. On a flat
// machine all workers are direct neighbours, so stealing is plain.
//
// Thread safety: immutable after construction.
#pragma once

#include <garrick/base/concurrency/locality.hpp>
#include <garrick/sched/places/home_rule.hpp>
#include <garrick/sched/places/topology.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace garrick::sched {

/// The direct neighbours of a worker.
enum class neighbourhood : std::uint8_t {
  cache,   ///< workers that share the largest cache
  node,    ///< workers that share the memory node
  system,  ///< all workers: stealing is plain
};

/// The places of a pool's workers.
class worker_places {
 public:
  /// Places 1 to 1024 workers on `machine`, of which it keeps a copy. `near` defines the direct
  /// neighbours; on a flat machine all workers are neighbours.
  worker_places(const topology& machine, std::uint32_t workers, neighbourhood near);

  /// Returns the number of workers.
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(at_.size());
  }
  /// Returns the unit of this worker.
  [[nodiscard]] const processing_unit& unit_of(std::uint32_t worker) const noexcept {
    return machine_.units()[at_[worker]];
  }
  /// Returns the index of that unit in `machine().units()`.
  [[nodiscard]] std::uint32_t index_of(std::uint32_t worker) const noexcept { return at_[worker]; }
  /// Returns the machine.
  [[nodiscard]] const topology& machine() const noexcept { return machine_; }

  /// Returns true if these workers are direct neighbours; a worker is a neighbour of itself.
  [[nodiscard]] bool are_neighbours(std::uint32_t a, std::uint32_t b) const noexcept {
    return a == b || near_ == neighbourhood::system ||
           machine_.distance(at_[a], at_[b]) <= static_cast<std::uint32_t>(near_);
  }

  /// Returns all workers but this one, the nearest first.
  [[nodiscard]] std::span<const worker_index> others(std::uint32_t worker) const noexcept {
    return {others_.data() + std::size_t{worker} * (size() - 1), size() - 1};
  }
  /// Returns the groups, each as the number of `others` that belong to it; the last one has all.
  /// Empty if there are no others.
  [[nodiscard]] std::span<const worker_index> groups(std::uint32_t worker) const noexcept {
    return groups_[worker];
  }

  /// Returns the workers on a memory node; empty if it has none, or there is no such node.
  [[nodiscard]] std::span<const worker_index> of_node(std::uint32_t node) const noexcept;

  static constexpr std::uint32_t no_worker = 0xffff'ffff;  ///< a thread of unknown place
  /// Returns the system's number of the memory node where an actor with this hint will live.
  /// Returns -1 if any node will do, because the home is not known yet, is on the node of the
  /// worker `spawner`, or is not a place to take memory from.
  [[nodiscard]] std::int32_t memory_of(base::locality_hint hint,
                                       std::uint32_t spawner) const noexcept;

 private:
  void spread(std::uint32_t workers);
  void sort_others(std::uint32_t worker);

  topology machine_;
  neighbourhood near_;
  std::vector<std::uint32_t> at_;                  ///< worker → unit
  std::vector<worker_index> others_;               ///< workers × (workers − 1)
  std::vector<std::vector<worker_index>> groups_;  ///< for each worker
  std::vector<std::vector<worker_index>> of_node_;
};

/// The search of a thief for work, which names the victims one by one. Each victim is drawn from
/// the present group. After as many attempts as the group has members the next group follows; in
/// the last one the search goes on until the thief gives up. A thief that has stolen something
/// starts again at g0.
class victim_walk {
 public:
  /// For the worker `thief`. Refers to `places`.
  victim_walk(const worker_places& places, std::uint32_t thief) noexcept
      : others_(places.others(thief)),
        groups_(places.groups(thief)),
        left_(groups_.empty() ? 0 : groups_[0]) {}

  /// Returns the next victim. Requires that there is another worker.
  template <class Random>
  [[nodiscard]] std::uint32_t next(Random& random) noexcept {
    if (left_ == 0 && group_ + 1 < groups_.size()) left_ = groups_[++group_];
    if (left_ != 0) --left_;
    return others_[random() % groups_[group_]];
  }
  /// Returns the group of the last victim.
  [[nodiscard]] std::uint32_t group() const noexcept { return group_; }
  /// Returns true if the last group has had as many attempts as it has members.
  [[nodiscard]] bool has_been_everywhere() const noexcept {
    return left_ == 0 && group_ + 1 >= groups_.size();
  }

 private:
  std::span<const worker_index> others_;
  std::span<const worker_index> groups_;
  std::uint32_t group_ = 0;
  std::uint32_t left_;  ///< attempts left in this group
};

}  // namespace garrick::sched
