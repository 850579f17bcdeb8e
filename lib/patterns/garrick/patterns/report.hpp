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

/// What a node has done so far. Each figure is right by itself; together they may be of slightly
/// different moments.
struct node_figures {
  std::uint64_t in = 0;         ///< tuples taken
  std::uint64_t out = 0;        ///< tuples handed on
  std::uint64_t steps = 0;      ///< batches
  std::int64_t busy_ns = 0;     ///< time in steps, without what it ran in place
  std::int64_t blocked_ns = 0;  ///< time without room in an output
  std::uint64_t failures = 0;   ///< times that the stage threw, in `on_start` and `on_stop`, too
  std::uint64_t dropped = 0;    ///< tuples that were taken or put out, and led nowhere: the stream
                                ///< was cancelled or failed, or a stage behind has enough
  std::uint64_t partial = 0;    ///< failures behind results that had been handed on already
  std::uint64_t waiting = 0;    ///< tuples in the channels before it, at the moment
  std::uint64_t late = 0;       ///< tuples that came too late for a window or a join
};

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

  /// A report with the replicas of a stage as one: its name without their numbers, and the sums of
  /// their figures.
  [[nodiscard]] stream_report by_stage() const;
  /// The node, or the stage by the average of its replicas, that has been busy for the largest part
  /// of the time: what to make faster, or to give replicas. Null if there is none.
  [[nodiscard]] const stage_report* bottleneck() const noexcept;
  /// How many tuples came too late for a window or a join, in all stages together.
  [[nodiscard]] std::uint64_t late() const noexcept;
  /// A table for people: a line for each node, or each stage and in brackets its replicas. It shows
  /// what was dropped, and what came too late, if there is anything to show.
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
