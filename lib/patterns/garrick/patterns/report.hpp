// What the nodes of a stream have done so far, and which of them holds the others up.
//
// Thread safety: reports are plain values.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/node/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace garrick::patterns {

/// One node's figures, or those of a stage's replicas together.
struct stage_report {
  std::string name;          ///< the node's
  node_figures figures{};    ///< what it has done
  std::size_t replicas = 1;  ///< nodes whose figures these are
};

/// The figures of all nodes, from the source to the sink.
struct stream_report {
  std::vector<stage_report> stages;  ///< from the source to the sink
  std::uint64_t left = 0;            ///< tuples that an ended stream left in its channels
  bool ended = false;                ///< the last node has ended

  /// The same with the replicas of a stage as one: its name without their numbers, and the sums of
  /// their figures.
  [[nodiscard]] stream_report by_stage() const;
  /// The node, or the stage by the average of its replicas, that has been busy for the largest part
  /// of the time: what to make faster, or to give replicas. Null if there is none.
  [[nodiscard]] const stage_report* bottleneck() const noexcept;
  /// A table for people: a line for each node, or each stage and in brackets its replicas.
  [[nodiscard]] std::string to_string() const;
};

/// How fast a stage is.
struct stage_rate {
  std::string name;       ///< the stage's
  double per_second = 0;  ///< tuples that it takes
};

/// What each stage has taken a second between two looks. Sources are left out: the first stage, and
/// each other one that has put tuples out and taken none. If `before` is of another stream it
/// counts for nothing.
[[nodiscard]] std::vector<stage_rate> rates(const stream_report& before, const stream_report& now,
                                            duration between);

/// For the framework: the figures of all nodes, and what an ended stream has left.
[[nodiscard]] stream_report report_of(const detail::graph& of, std::uint64_t left);

}  // namespace garrick::patterns
