// The choice of the memory node for the block of a cell.
#include <garrick/core/cell/cell_memory.hpp>
#include <garrick/core/cell/environment.hpp>

namespace garrick::core::detail {

void* allocate_cell_at(const environment& env, base::locality_hint hint, std::size_t bytes) {
  const std::int32_t node = env.workers != nullptr ? env.workers->memory_node(hint) : -1;
  void* const block =
      node >= 0 ? base::node_memory::allocate(static_cast<std::uint32_t>(node), bytes) : nullptr;
  return block != nullptr ? block : base::block_pool::allocate(bytes);
}

}  // namespace garrick::core::detail
