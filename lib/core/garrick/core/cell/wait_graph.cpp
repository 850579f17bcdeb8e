// The edges by requester, and the walk along those that are awaited.
#include <garrick/base/concurrency/forked.hpp>
#include <garrick/core/cell/wait_graph.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace garrick::core {

namespace {

struct out_edge {
  std::uint64_t id;
  std::uint64_t receiver;
  bool awaited;
};

}  // namespace

struct wait_graph::state {
  mutable std::mutex mutex;
  const std::uint32_t made_after = base::watch_forks();
  // under the mutex
  std::unordered_map<std::uint64_t, std::vector<out_edge>> out;  ///< by requester

  /// A fork copies the mutex as some thread held it, and nobody waits for anybody there.
  [[nodiscard]] bool is_copy() const noexcept { return base::fork_count() != made_after; }

  out_edge* find(std::uint64_t requester, std::uint64_t id) {
    const auto at = out.find(requester);
    if (at == out.end()) return nullptr;
    const auto e = std::find_if(at->second.begin(), at->second.end(),
                                [&](const out_edge& x) { return x.id == id; });
    return e != at->second.end() ? &*e : nullptr;
  }

  /// Does `from` wait for `wanted`, directly or through others?
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
      for (const out_edge& e : found->second)
        if (e.awaited) open.push_back(e.receiver);
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
    state_->out[requester].push_back({id, receiver, false});
  } catch (const std::bad_alloc&) {
    // A diagnosis that finds no memory is left out: an unknown edge closes no circle.
  }
}

bool wait_graph::awaits(std::uint64_t requester, std::uint64_t id) noexcept {
  if (state_->is_copy()) return false;
  try {
    const std::lock_guard guard(state_->mutex);
    out_edge* const e = state_->find(requester, id);
    if (e == nullptr) return false;
    if (state_->reaches(e->receiver, requester)) return true;
    e->awaited = true;
    return false;
  } catch (const std::bad_alloc&) {
    return false;  // as above
  }
}

void wait_graph::handed_over(std::uint64_t requester, std::uint64_t id,
                             std::uint64_t receiver) noexcept {
  if (state_->is_copy()) return;
  const std::lock_guard guard(state_->mutex);
  if (out_edge* const e = state_->find(requester, id)) e->receiver = receiver;
}

void wait_graph::answered(std::uint64_t requester, std::uint64_t id) noexcept {
  if (state_->is_copy()) return;
  const std::lock_guard guard(state_->mutex);
  const auto at = state_->out.find(requester);
  if (at == state_->out.end()) return;
  std::erase_if(at->second, [&](const out_edge& e) { return e.id == id; });
  if (at->second.empty()) state_->out.erase(at);
}

std::vector<wait_graph::edge> wait_graph::list(std::size_t most) const {
  std::vector<edge> all;
  const std::lock_guard guard(state_->mutex);
  for (const auto& [requester, edges] : state_->out)
    for (const out_edge& e : edges) {
      if (all.size() == most) return all;
      all.push_back({requester, e.id, e.receiver, e.awaited});
    }
  return all;
}

std::size_t wait_graph::edges() const noexcept {
  const std::lock_guard guard(state_->mutex);
  std::size_t n = 0;
  for (const auto& [requester, edges] : state_->out) n += edges.size();
  return n;
}

}  // namespace garrick::core
