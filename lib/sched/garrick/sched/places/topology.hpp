// What the machine looks like to a scheduler: which processing units there are, and how far apart
// two of them are.
//
// A unit is what a thread can be bound to (a core or a hardware thread). Units share caches, memory
// nodes and packages; the nearest that two of them share is their distance. A machine that cannot
// be read is *flat*: all its units are equally near, and every policy falls back on what it does
// without places (paper 002 §3.1).
//
// Thread safety: immutable after construction.
#pragma once

#include <garrick/base/values/result.hpp>
#include <garrick/sched/places/processing_unit.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace garrick::sched {

class topology {
 public:
  /// Distances up to here are named; nodes with a matrix of distances of their own may be farther
  /// apart.
  static constexpr std::uint32_t same_cache = 0;
  static constexpr std::uint32_t same_node = 1;
  static constexpr std::uint32_t same_package = 2;
  static constexpr std::uint32_t elsewhere = 3;

  /// `units` units that are equally near. `reason`: why nothing better is known; empty if that is
  /// what the machine is like.
  [[nodiscard]] static topology flat(std::uint32_t units, std::string reason = {});

  /// The units of this machine that the process may use. Never fails: flat, with the reason, where
  /// the machine cannot be read.
  [[nodiscard]] static topology of_this_machine();

  /// A machine that does not exist, in hwloc's synthetic form: "pack:2 numa:2 l3:1 core:8 pu:1".
  /// Error `config_invalid`: the text, more than 1024 units, or no hwloc in this build.
  [[nodiscard]] static base::result<topology> synthetic(const std::string& description);

  /// Any machine. `node_distances` (row by row, nodes × nodes) may be empty. Error
  /// `config_invalid`: no unit, a unit twice, a core at two caches or a cache in two nodes, a node
  /// and a package that overlap, a matrix of the wrong size.
  [[nodiscard]] static base::result<topology> of(std::vector<processing_unit> units,
                                                 std::vector<std::uint32_t> node_distances = {});

  [[nodiscard]] std::span<const processing_unit> units() const noexcept { return units_; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(units_.size());
  }
  [[nodiscard]] std::uint32_t node_count() const noexcept { return nodes_; }

  /// 0: same shared cache; 1: same memory node; 2: same package; 3: elsewhere. With a matrix, what
  /// is beyond one node goes by its rank among the matrix' distances: 2 for the nearest.
  [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const noexcept;

  /// Are all units on one memory node and equally near: all at one cache, or each at one of its
  /// own?
  [[nodiscard]] bool is_flat() const noexcept;
  [[nodiscard]] const std::string& flat_reason() const noexcept { return reason_; }

  /// "2 packages, 4 memory nodes, 4 shared caches, 32 cores, 32 units"
  [[nodiscard]] std::string describe() const;

 private:
  topology() = default;

  std::vector<processing_unit> units_;
  std::uint32_t nodes_ = 1;
  std::vector<std::uint32_t> node_rank_;  ///< nodes × nodes; empty: by package
  std::string reason_;
};

}  // namespace garrick::sched
