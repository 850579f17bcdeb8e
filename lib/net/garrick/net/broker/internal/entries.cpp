#include "garrick/net/broker/internal/entries.hpp"

namespace garrick::net::internal {

std::uint64_t next_socket_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // order: numbers that differ
}

bool broker_core::add(const std::shared_ptr<socket_entry>& e, core::any_ref hold) {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  sockets_.emplace(e->id, known{e, std::move(hold)});
  return true;
}

bool broker_core::remove(std::uint64_t socket) {
  known last;
  const std::lock_guard lock(mutex_);
  const auto found = sockets_.find(socket);
  if (found == sockets_.end()) return false;
  last = std::move(found->second);
  sockets_.erase(found);
  return true;
}

core::any_ref broker_core::holder(std::uint64_t socket) {
  const std::lock_guard lock(mutex_);
  const auto found = sockets_.find(socket);
  return found == sockets_.end() ? core::any_ref() : found->second.hold;
}

void broker_core::end() noexcept {
  std::map<std::uint64_t, known> all;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    all.swap(sockets_);
  }
  for (auto& [id_of, socket] : all) socket.entry->close();
}

}  // namespace garrick::net::internal
