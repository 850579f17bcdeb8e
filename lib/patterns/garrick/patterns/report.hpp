// The work of a stream's nodes so far, and the node that holds the others up.
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

/// The work of a node so far. Each figure is right by itself; together they may be of slightly
/// different moments.
struct node_figures {
  std::uint64_t in = 0;         ///< tuples taken
  std::uint64_t out = 0;        ///< tuples handed on
  std::uint64_t steps = 0;      ///< batches
  std::int64_t busy_ns = 0;     ///< time in steps, without nodes that ran in place
  std::int64_t blocked_ns = 0;  ///< time without room in an output
  std::uint64_t failures = 0;   ///< times that the stage threw, in `on_start` and `on_stop`, too
  std::uint64_t dropped = 0;    ///< tuples that were taken or put out, and led nowhere: the stream
                                ///< was cancelled or failed, or a stage behind has enough
  std::uint64_t partial = 0;    ///< failures after some results of the tuple were handed on
  std::uint64_t waiting = 0;    ///< tuples in the channels before it, at the moment
  std::uint64_t late = 0;       ///< tuples that came too late for a window or a join
};

/// The figures of a node, or those of a stage's replicas together.
struct stage_report {
  std::string name;          ///< the node's
  node_figures figures{};    ///< its work so far
  std::size_t replicas = 1;  ///< the number of nodes with these figures together
};

/// The figures of all nodes, from the source to the sink.
///
///     const stream_report report = system.request(stream, get_report{}).get().value();
///     if (const stage_report* const busiest = report.bottleneck())
///       std::printf("the bottleneck is %s\n", busiest->name.c_str());
struct stream_report {
  std::vector<stage_report> stages;  ///< from the source to the sink
  std::uint64_t left = 0;            ///< tuples that an ended stream left in its channels
  bool ended = false;                ///< the last node has ended

  /// Returns a report with one entry for all replicas of a stage: the stage's name, without their
  /// numbers, and the sums of their figures.
  [[nodiscard]] stream_report by_stage() const;
  /// Returns the node, or the stage by the average of its replicas, that has been busy for the
  /// largest part of the time: make it faster, or give it replicas. Null if there is none.
  [[nodiscard]] const stage_report* bottleneck() const noexcept;
  /// Returns how many tuples came too late for a window or a join, in all stages together.
  [[nodiscard]] std::uint64_t late() const noexcept;
  /// Returns a table for people: a line for each node, or each stage and in brackets its replicas.
  /// Dropped and late tuples are shown if there are any.
  [[nodiscard]] std::string to_string() const;
};

/// The speed of a stage.
struct stage_rate {
  std::string name;       ///< the stage's
  double per_second = 0;  ///< tuples that it takes
};

/// Returns the number of tuples that each stage has taken a second between two reports. Sources are
/// left out: the first stage, and each other stage that has put tuples out and taken none. Ignores
/// `before` if it is of another stream.
///
///     for (const stage_rate& r : rates(before, now, duration::seconds(1)))
///       std::printf("%s %.0f\n", r.name.c_str(), r.per_second);
[[nodiscard]] std::vector<stage_rate> rates(const stream_report& before, const stream_report& now,
                                            duration between);

/// For the framework: returns the figures of all nodes, and the tuples that an ended stream has
/// left.
[[nodiscard]] stream_report report_of(const detail::graph& of, std::uint64_t left);

}  // namespace garrick::patterns
