// A listener's limits and counts, which outlive it while its links live.
//
// Thread safety: any thread; a ticket is its holder's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/transport/listener.hpp"
#include "garrick/net/transport/transport_settings.hpp"

namespace garrick::net::internal {

struct gate {
  explicit gate(const accept_limits& l) : limits(l) {}
  const accept_limits limits;
  // All of these are counts that nothing else depends on.
  std::atomic<std::size_t> connections{0};
  std::atomic<std::size_t> pending{0};
  std::atomic<std::uint64_t> started{0};
  std::atomic<std::uint64_t> joined{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> too_late{0};

  [[nodiscard]] listener_counters counters() const noexcept {
    return {started, joined, refused, too_late, connections, pending};
  }
};

/// A connection's place among those that a listener takes.
class ticket {
 public:
  /// Returns a new ticket, or null if a limit is reached.
  [[nodiscard]] static std::unique_ptr<ticket> take(std::shared_ptr<gate> from, base::instant now) {
    // Only the listener's thread takes tickets, so the limits hold.
    if (from->connections >= from->limits.connections || from->pending >= from->limits.pending)
      return nullptr;
    return std::unique_ptr<ticket>(new ticket(std::move(from), now));
  }
  ~ticket() {
    admit();
    --gate_->connections;
  }
  ticket(const ticket&) = delete;
  ticket& operator=(const ticket&) = delete;

  /// Admits the link, because its other end has shown its identity.
  void admit() noexcept {
    if (std::exchange(pending_, false)) --gate_->pending;
  }
  [[nodiscard]] bool is_pending() const noexcept { return pending_; }
  /// Returns the time by which the link must be admitted; `never()` if it is.
  [[nodiscard]] base::instant deadline() const noexcept {
    return pending_ ? deadline_ : base::instant::never();
  }
  [[nodiscard]] gate& of() const noexcept { return *gate_; }

 private:
  ticket(std::shared_ptr<gate> from, base::instant now)
      : gate_(std::move(from)), deadline_(now + gate_->limits.admission) {
    ++gate_->connections;
    ++gate_->pending;
  }
  std::shared_ptr<gate> gate_;
  base::instant deadline_;
  bool pending_ = true;
};

}  // namespace garrick::net::internal
