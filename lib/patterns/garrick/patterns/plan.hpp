// The structure of a pattern: a tree of its parts, for people.
//
//   std::puts(print(pipeline(lines, farm(count).by_key(&word::text), store)).c_str());
//
//   pipeline
//   ├─ lines
//   ├─ farm, by_key
//   │  └─ count
//   └─ store
//
// Thread safety: plans are plain values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace garrick::patterns {

/// A part of a pattern, and its parts.
struct plan {
  /// "stage", "pipeline", "farm", "parallel", "feedback", "zip" or "join"
  std::string what{};
  std::string name{};         ///< a stage's, or a join's
  std::string policy{};       ///< how a farm or a parallel distributes
  std::size_t replicas = 0;   ///< of a farm; 0: as many as there are workers
  bool is_source = false;     ///< a stage takes no tuples
  bool own_thread = false;    ///< a stage has a thread of its own
  bool cheap = false;         ///< a stage may be one node with a neighbour
  bool may_be_fused = true;   ///< a stage may be one node with a cheap neighbour
  bool emitter = true;        ///< a farm or parallel distributes by a node of its own
  bool ordered = false;       ///< a farm keeps the order
  std::vector<plan> parts{};  ///< its parts, in their order

  /// Returns a drawing of the plan, a line for each part.
  [[nodiscard]] std::string to_string() const;
};

namespace detail {

template <class P>
[[nodiscard]] plan describe_itself(const void* pattern) {
  return static_cast<const P*>(pattern)->describe();
}
/// Returns a drawing of the plan that `describe` gives of a pattern. Out of line, since a plan's
/// destructor is long.
[[nodiscard]] std::string drawn(const void* pattern, plan (*describe)(const void* pattern));

}  // namespace detail

/// Returns a drawing of the structure of a pattern as it was written, a line for each part.
template <class P>
[[nodiscard]] std::string print(const P& pattern) {
  return detail::drawn(&pattern, &detail::describe_itself<P>);
}

}  // namespace garrick::patterns
