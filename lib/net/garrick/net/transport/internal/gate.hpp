// A listener's limits and counts, which outlive it while its links live, and its door: the
// connections that have yet to show their identity.
//
// Problem: a silent connection costs a stranger nothing. If a full door refused newcomers, a few
// hundred silent connections, renewed as often as their time is over, would keep every other peer
// out. So a full door drops one of the connections that wait, and lets the newcomer wait in its
// place. The dropped one is drawn at random, by a number that cannot be guessed. An honest peer
// waits for a few round trips, and is therefore seldom drawn; a stranger can neither keep its
// places nor choose the places of others.
//
// Invariants:
//   W1  waiting_ has each ticket that is neither admitted nor dropped, at the index that it knows.
//   W2  No more connections have a place than the limits say, and besides them at most
//       `most_leaving()` dropped ones that are about to end. A dropped connection has no place: its
//       place is the newcomer's.
//   W3  A dropped ticket is never admitted.
//
// Thread safety: any thread; a ticket is its holder's.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/transport/listener.hpp"
#include "garrick/net/transport/transport_settings.hpp"

namespace garrick::net::internal {

class ticket;

/// An object with a ticket: a connection at the door, a link, or a stream with last words.
class ticket_holder {
 public:
  /// Ends the connection soon and without last words, because a newcomer has got its place. Called
  /// on the listener's thread.
  virtual void give_way() noexcept = 0;

 protected:
  ~ticket_holder() = default;
};

/// Returns a number that cannot be guessed outside of this machine. May throw.
[[nodiscard]] std::uint64_t unguessable_number();

class gate {
 public:
  /// Returns the number that draws a waiting connection. May throw.
  using draw = std::uint64_t (*)();

  /// `lowered_to`: see `listener_counters`. `by` is replaced in tests.
  explicit gate(const accept_limits& l, std::size_t lowered_to = 0, draw by = &unguessable_number)
      : limits(l),
        lowered_to_(lowered_to),
        draw_(by),
        places_(l.together != nullptr ? l.together : std::make_shared<connection_count>()) {}
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  [[nodiscard]] listener_counters counters() const noexcept;

  const accept_limits limits;
  // All of these are counts that nothing else depends on.
  std::atomic<std::uint64_t> started{0};
  std::atomic<std::uint64_t> joined{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> too_late{0};

 private:
  friend class ticket;
  /// Gives the ticket a place. Returns false if there is none. If a connection must give way for
  /// it, `out` is that one's holder. On the listener's thread.
  [[nodiscard]] bool enter(ticket& who, std::shared_ptr<ticket_holder>& out);
  /// Under mutex_: takes a ticket from those that wait.
  void remove(const ticket& who) noexcept;
  /// Returns the most dropped connections that may still have a descriptor: half of the descriptors
  /// is for the connections, and these share the other half with all else.
  [[nodiscard]] std::size_t most_leaving() const noexcept {
    return std::min(limits.pending, std::max<std::size_t>(limits.connections / 2, 1));
  }

  const std::size_t lowered_to_;
  const draw draw_;
  const std::shared_ptr<connection_count> places_;  // of this and other listeners
  mutable std::mutex mutex_;
  std::vector<ticket*> waiting_;  // this and the rest under mutex_
  std::size_t connections_ = 0;
  std::size_t leaving_ = 0;  // dropped ones that still have a descriptor, or a peer's memory
  std::uint64_t dropped_ = 0;
};

/// A connection's place among those that a listener takes.
class ticket {
 public:
  /// Returns a new ticket. At a full door a waiting connection, drawn at random, gives way for it:
  /// its holder is told before this function returns. Returns null if a limit is reached and no
  /// connection waits, or if too many dropped ones have yet to end. Only on the listener's thread,
  /// which must not be in the middle of a call of a holder. May throw.
  [[nodiscard]] static std::unique_ptr<ticket> take(std::shared_ptr<gate> from, base::instant now);
  ~ticket();
  ticket(const ticket&) = delete;
  ticket& operator=(const ticket&) = delete;

  /// Names the present holder, which is told to give way. Returns false if an earlier holder was
  /// told that already.
  [[nodiscard]] bool hold(std::weak_ptr<ticket_holder> who) noexcept;
  /// Admits the link, because its other end has shown its identity. Returns false if the link gives
  /// way to a newcomer.
  [[nodiscard]] bool admit() noexcept;
  /// Counts the connection as refused, once.
  void refuse() noexcept;
  /// Returns the time by which the link must be admitted; `never()` if it is.
  [[nodiscard]] base::instant deadline() const noexcept { return deadline_; }
  [[nodiscard]] gate& of() const noexcept { return *gate_; }

 private:
  friend class gate;
  enum class state : std::uint8_t { outside, waiting, dropped, admitted };

  ticket(std::shared_ptr<gate> from, base::instant now)
      : gate_(std::move(from)), deadline_(now + gate_->limits.admission) {}

  const std::shared_ptr<gate> gate_;
  base::instant deadline_;
  // under the gate's mutex
  std::weak_ptr<ticket_holder> holder_;
  std::size_t index_ = 0;
  state state_ = state::outside;
  bool is_refused_ = false;
};

}  // namespace garrick::net::internal
