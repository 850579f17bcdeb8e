// The edges by requester, and the walk along the awaited edges.
#include <garrick/base/concurrency/forked.hpp>
#include <garrick/core/life/wait_graph.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace garrick::core {

namespace {

/// The edges of one requester: the answering actor of each request. An actor may have very many
/// requests out, and awaits few of them.
struct edges_out {
  std::unordered_map<std::uint64_t, std::uint64_t> asked;
  std::unordered_map<std::uint64_t, std::uint64_t> awaited;
};

}  // namespace

struct wait_graph::state {
  mutable std::mutex mutex;
  const std::uint32_t made_after = base::watch_forks();
  // under the mutex
  std::unordered_map<std::uint64_t, edges_out> out;  ///< by requester

  /// Returns true in a forked child. Another thread may have held the copied mutex, and no actor
  /// waits there.
  [[nodiscard]] bool is_copy() const noexcept { return base::fork_count() != made_after; }

  /// Returns true if `from` waits for `wanted`, directly or through others.
  bool reaches(std::uint64_t from, std::uint64_t wanted) const {
    std::vector<std::uint64_t> open{from};
    std::vector<std::uint64_t> seen;
    while (!open.empty()) {
      const std::uint64_t at = open.back();
      open.pop_back();
      if (at == wanted) return true;
      if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
      seen.push_back(at);
      const auto found = out.find(at);
      if (found == out.end()) continue;
      for (const auto& [id, receiver] : found->second.awaited) open.push_back(receiver);
    }
    return false;
  }
};

wait_graph::wait_graph() : state_(std::make_unique<state>()) {}
wait_graph::~wait_graph() = default;

void wait_graph::asked(std::uint64_t requester, std::uint64_t id, std::uint64_t receiver) noexcept {
  if (state_->is_copy()) return;
  try {
    const std::lock_guard guard(state_->mutex);
    state_->out[requester].asked.insert_or_assign(id, receiver);
  } catch (const std::bad_alloc&) {
    // Without memory the edge is left out: an unknown edge closes no circle.
  }
}

bool wait_graph::awaits(std::uint64_t requester, std::uint64_t id) noexcept {
  if (state_->is_copy()) return false;
  try {
    const std::lock_guard guard(state_->mutex);
    const auto from = state_->out.find(requester);
    if (from == state_->out.end()) return false;
    const auto e = from->second.asked.find(id);
    if (e == from->second.asked.end()) return false;
    if (state_->reaches(e->second, requester)) return true;
    from->second.awaited.insert_or_assign(id, e->second);
    from->second.asked.erase(e);
    return false;
  } catch (const std::bad_alloc&) {
    return false;  // as above
  }
}

void wait_graph::handed_over(std::uint64_t requester, std::uint64_t id,
                             std::uint64_t receiver) noexcept {
  if (state_->is_copy()) return;
  const std::lock_guard guard(state_->mutex);
  const auto from = state_->out.find(requester);
  if (from == state_->out.end()) return;
  for (auto* const edges : {&from->second.asked, &from->second.awaited})
    if (const auto e = edges->find(id); e != edges->end()) e->second = receiver;
}

void wait_graph::answered(std::uint64_t requester, std::uint64_t id) noexcept {
  if (state_->is_copy()) return;
  const std::lock_guard guard(state_->mutex);
  const auto at = state_->out.find(requester);
  if (at == state_->out.end()) return;
  edges_out& edges = at->second;
  if (edges.asked.erase(id) == 0) edges.awaited.erase(id);
  if (edges.asked.empty() && edges.awaited.empty()) state_->out.erase(at);
}

std::vector<wait_graph::edge> wait_graph::list(std::size_t most) const {
  std::vector<edge> all;
  if (state_->is_copy()) return all;
  const std::lock_guard guard(state_->mutex);
  for (const auto& [requester, edges] : state_->out)
    for (const bool awaited : {true, false})
      for (const auto& [id, receiver] : awaited ? edges.awaited : edges.asked) {
        if (all.size() == most) return all;
        all.push_back({requester, id, receiver, awaited});
      }
  return all;
}

std::size_t wait_graph::edges() const noexcept {
  if (state_->is_copy()) return 0;
  const std::lock_guard guard(state_->mutex);
  std::size_t n = 0;
  for (const auto& [requester, edges] : state_->out) n += edges.asked.size() + edges.awaited.size();
  return n;
}

}  // namespace garrick::core
