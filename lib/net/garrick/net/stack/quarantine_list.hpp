// Incarnations that are not talked to any more, as many as a process can afford to remember.
//
// Thread safety: none; whoever has one guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>

#include "garrick/net/peer_identity.hpp"

namespace garrick::net {

/// Who may come back after his session has gone down.
///
/// In both cases that session is over for good: nothing of it is delivered any more, and what was
/// bound to it is dead. The question is whether the same process may begin another one.
enum class peer_return : std::uint8_t {
  /// The same incarnation: a partition parts two processes no longer than it lasts. What they had
  /// agreed on before has to be agreed on again.
  same_life,
  /// A new incarnation only; the old one is in quarantine. So "down" is said of it once and for
  /// ever, and a partition longer than `down_after` ends when one of the two is started again.
  new_life_only,
};

/// Incarnations in quarantine.
class quarantine_list {
 public:
  /// With one more, the one that was added first is forgotten.
  static constexpr std::size_t most = 65536;

  /// Adds one. Throws std::bad_alloc, and then it is not added.
  void add(const peer_identity& who) {
    if (const auto [at, is_new] = all_.insert(who); is_new) try {
        in_turn_.push_back(who);
      } catch (...) {
        all_.erase(at);
        throw;
      }
    if (in_turn_.size() <= most) return;
    all_.erase(in_turn_.front());
    in_turn_.pop_front();
  }
  /// True if it was added, and is remembered.
  [[nodiscard]] bool contains(const peer_identity& who) const { return all_.contains(who); }

 private:
  std::set<peer_identity> all_;
  std::deque<peer_identity> in_turn_;  // those of all_, the first first
};

}  // namespace garrick::net
