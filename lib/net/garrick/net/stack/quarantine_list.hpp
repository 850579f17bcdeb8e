// A list of the incarnations that are refused, as many as a process can afford to remember.
//
// Thread safety: none; the object that holds the list guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>

#include "garrick/net/peer_identity.hpp"

namespace garrick::net {

/// The incarnations that may come back after a session has gone down.
///
/// With either value the session that went down has ended for good: none of its messages is
/// delivered any more, and all state that was bound to it is dead. The setting decides whether the
/// same process may begin another one.
///
///     net::node_settings s;
///     s.after_down = net::peer_return::new_life_only;
enum class peer_return : std::uint8_t {
  /// The same incarnation may come back: a partition separates two processes no longer than it
  /// lasts. The processes have to repeat their earlier agreements.
  same_life,
  /// Only a new incarnation may come back; the old one is in quarantine. An incarnation that is
  /// "down" stays down, and a partition longer than `down_after` ends when one of the two processes
  /// is started again.
  new_life_only,
};

/// Incarnations in quarantine.
class quarantine_list {
 public:
  /// The most entries; one more makes the list forget the oldest.
  static constexpr std::size_t most = 65536;

  /// Adds an incarnation. Throws std::bad_alloc, and then it is not added.
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
  /// Returns true if this incarnation was added and is remembered.
  [[nodiscard]] bool contains(const peer_identity& who) const { return all_.contains(who); }

 private:
  std::set<peer_identity> all_;
  std::deque<peer_identity> in_turn_;  // those of all_, the oldest first
};

}  // namespace garrick::net
