// The machine as a scheduler sees it: its processing units, and the distances between them.
//
// A thread can be bound to a unit (a core or a hardware thread). Units share caches, memory nodes
// and packages; the nearest that two of them share is their distance. A machine that cannot be read
// is *flat*: all its units are equally near, and every policy behaves as without places (paper 002
// §3.1).
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

/// The processing units of a machine, and how far apart they are.
class topology {
 public:
  // The distances that have names. If the machine has a matrix of the distances between its nodes,
  // two nodes may be farther apart.
  static constexpr std::uint32_t same_cache = 0;    ///< of units at one shared cache
  static constexpr std::uint32_t same_node = 1;     ///< of units on one memory node
  static constexpr std::uint32_t same_package = 2;  ///< of units in one package
  static constexpr std::uint32_t elsewhere = 3;     ///< of units in two packages

  /// Returns a machine with `units` equally near units; 0 counts as 1. `reason` tells why the real
  /// machine is not known; empty if the machine is really flat.
  [[nodiscard]] static topology flat(std::uint32_t units, std::string reason = {});

  /// Returns this machine, with the units that the process may use. Takes milliseconds. Never
  /// fails: if the machine cannot be read it is flat, with the reason.
  [[nodiscard]] static topology of_this_machine();

  /// Returns an imaginary machine, in hwloc's synthetic form: "pack:2 numa:2 l3:1 core:8 pu:1".
  ///
  /// Error `invalid_setting`: the text is wrong, the machine has more than 1024 units, or this
  /// build has no hwloc.
  [[nodiscard]] static base::result<topology> synthetic(const std::string& description);

  /// Returns the machine of these units. `node_distances` has a row for each node; it may be empty.
  ///
  /// Error `invalid_setting`: there is no unit, a unit is listed twice, a core is at two caches or
  /// a cache in two nodes, a node and a package overlap, or the matrix has the wrong size.
  [[nodiscard]] static base::result<topology> of(std::vector<processing_unit> units,
                                                 std::vector<std::uint32_t> node_distances = {});

  /// Returns all units. A unit's place in here is its index in the functions below.
  [[nodiscard]] std::span<const processing_unit> units() const noexcept { return units_; }
  /// Returns the number of units, at least one.
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(units_.size());
  }
  /// Returns the number of memory nodes, at least one.
  [[nodiscard]] std::uint32_t node_count() const noexcept { return nodes_; }

  /// Returns the distance of the units with these indices: one of the distances above. With a
  /// matrix, the distance of two nodes is their rank in the matrix: 2 is the nearest.
  [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const noexcept;

  /// Returns true if all units are on one memory node and equally near: all at one cache, or each
  /// at a cache of its own.
  [[nodiscard]] bool is_flat() const noexcept;
  /// Returns the reason why a flat machine is not known better; empty if it is really flat.
  [[nodiscard]] const std::string& flat_reason() const noexcept { return reason_; }

  /// Returns the machine in words: "2 packages, 4 memory nodes, 4 shared caches, 32 cores, 32
  /// units".
  [[nodiscard]] std::string describe() const;

 private:
  topology() = default;

  std::vector<processing_unit> units_;
  std::uint32_t nodes_ = 1;
  std::vector<std::uint32_t> node_rank_;  ///< nodes × nodes; empty: by package
  std::string reason_;
};

}  // namespace garrick::sched
