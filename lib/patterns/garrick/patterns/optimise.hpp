// The rewriting of a pattern when it is spawned, which decides how the stream runs.
//
//   std::puts(print(optimise(pattern)).c_str());
//
// A farm's emitter is left out, so each producer chooses among the replicas itself: two farms in a
// row are connected replica by replica. Neighbours in a pipeline of which all but one are cheap
// become one node. Neither rewriting alters the results of a stream. Without an emitter, each
// producer applies round_robin, random_member or least_loaded to its own tuples alone, so a tuple
// may reach another replica.
//
// Thread safety: plans are plain values.
#pragma once

#include <garrick/patterns/plan.hpp>
#include <garrick/patterns/stream_options.hpp>

#include <string>

namespace garrick::patterns {

/// Returns the plan as `spawn` runs it with these options.
[[nodiscard]] plan rewritten(plan p, const stream_options& o);

/// Returns the structure of a pattern as it is run with these options.
template <class P>
[[nodiscard]] plan optimise(const P& pattern, const stream_options& o = {}) {
  return rewritten(pattern.describe(), o);
}
/// Returns a drawing of a plan, a line for each part.
[[nodiscard]] inline std::string print(const plan& p) { return p.to_string(); }

}  // namespace garrick::patterns
