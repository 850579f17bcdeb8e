// The whole job over several processes of this machine: `word_count --nodes 3`.
//
// Thread safety: `run_over_nodes` blocks the calling thread, which must not be a worker.
#pragma once

#include "../job.hpp"

#include <cstdint>
#include <string>

namespace word_count {

/// Runs the job over `nodes` processes. `program` is a file that runs as a node with the right
/// arguments (counting_node.hpp). With `what.chaos_every` one of the processes is killed.
[[nodiscard]] outcome run_over_nodes(const job& what, std::uint32_t nodes,
                                     const std::string& program);

}  // namespace word_count
