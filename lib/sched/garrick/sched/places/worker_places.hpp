// The workers of a pool on the machine: where each stands, and whom it asks for work first.
//
// Worker i stands on one processing unit. If there are fewer workers than units, they are spread:
// over the memory nodes first, then over each node's caches, and over the hardware threads of one
// core last. If there are more, they share the units in turn.
//
// For each worker the others are sorted by distance into groups g0 ⊆ g1 ⊆ …, each of which is the
// beginning of one array (paper 002 §3.1). The direct neighbours, g0, are those that share the
// cache or the node, as `neighbourhood` says. A group that adds nobody is left out. On a flat
// machine everybody is a direct neighbour, so stealing is plain.
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

/// Who is a direct neighbour.
enum class neighbourhood : std::uint8_t {
  cache,   ///< who shares the largest cache
  node,    ///< who shares the memory node
  system,  ///< everybody: stealing is plain
};

/// The places of a pool's workers.
class worker_places {
 public:
  /// Places 1 to 1024 workers on `machine`, of which it keeps a copy. `near` says who is a direct
  /// neighbour; on a flat machine everybody is.
  worker_places(const topology& machine, std::uint32_t workers, neighbourhood near);

  /// How many workers there are.
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(at_.size());
  }
  /// The unit where this worker stands.
  [[nodiscard]] const processing_unit& unit_of(std::uint32_t worker) const noexcept {
    return machine_.units()[at_[worker]];
  }
  /// The index of that unit in `machine().units()`.
  [[nodiscard]] std::uint32_t index_of(std::uint32_t worker) const noexcept { return at_[worker]; }
  /// The machine.
  [[nodiscard]] const topology& machine() const noexcept { return machine_; }

  /// Whether these workers are direct neighbours; a worker is its own.
  [[nodiscard]] bool are_neighbours(std::uint32_t a, std::uint32_t b) const noexcept {
    return a == b || near_ == neighbourhood::system ||
           machine_.distance(at_[a], at_[b]) <= static_cast<std::uint32_t>(near_);
  }

  /// All workers but this one, the nearest first.
  [[nodiscard]] std::span<const worker_index> others(std::uint32_t worker) const noexcept {
    return {others_.data() + std::size_t{worker} * (size() - 1), size() - 1};
  }
  /// The groups, each as the number of `others` that belong to it; the last one has all. Empty:
  /// there are no others.
  [[nodiscard]] std::span<const worker_index> groups(std::uint32_t worker) const noexcept {
    return groups_[worker];
  }

  /// The workers on a memory node; empty: it has none, or there is no such node.
  [[nodiscard]] std::span<const worker_index> of_node(std::uint32_t node) const noexcept;

  static constexpr std::uint32_t no_worker = 0xffff'ffff;  ///< a thread of unknown place
  /// The system's number of the memory node where an actor with this hint will live. -1: any will
  /// do, because its home is not known yet, is on the node of the worker `spawner`, or is no place
  /// to take memory from.
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

/// One thief's search for work, which names the victims one by one. Each is drawn from the present
/// group. After as many attempts as the group has members the next group follows; in the last one
/// the search goes on until the thief gives up. Who has stolen something starts anew, at g0.
class victim_walk {
 public:
  /// For the worker `thief`. Refers to `places`.
  victim_walk(const worker_places& places, std::uint32_t thief) noexcept
      : others_(places.others(thief)),
        groups_(places.groups(thief)),
        left_(groups_.empty() ? 0 : groups_[0]) {}

  /// The next victim. Requires that there is another worker.
  template <class Random>
  [[nodiscard]] std::uint32_t next(Random& random) noexcept {
    if (left_ == 0 && group_ + 1 < groups_.size()) left_ = groups_[++group_];
    if (left_ != 0) --left_;
    return others_[random() % groups_[group_]];
  }
  /// The group of the last victim.
  [[nodiscard]] std::uint32_t group() const noexcept { return group_; }
  /// Whether the last group has had as many attempts as it has members.
  [[nodiscard]] bool has_been_everywhere() const noexcept {
    return left_ == 0 && group_ + 1 >= groups_.size();
  }

 private:
  std::span<const worker_index> others_;
  std::span<const worker_index> groups_;
  std::uint32_t group_ = 0;
  std::uint32_t left_;  ///< attempts in this group
};

}  // namespace garrick::sched
