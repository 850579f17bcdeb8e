// A list of the incarnations that are refused, as many of each node as a process can remember.
//
// Thread safety: none; the object that holds the list guards it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

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

/// Incarnations in quarantine: the last ones of each node, so that lives which one node invents do
/// not displace those of another. Ids can be invented, too, so the number of nodes has a limit.
class quarantine_list {
 public:
  /// The most incarnations of one node; one more makes the list forget the oldest of this node.
  static constexpr std::size_t most_of_a_node = 64;
  /// The most nodes; one more makes the list forget the node that was added to longest ago.
  static constexpr std::size_t most_nodes = 65536;

  /// Adds an incarnation. Throws std::bad_alloc, and then it is not added.
  void add(const peer_identity& who) {
    const auto known = places_.find(who.node);
    if (known == places_.end()) return add_node(who);
    std::vector<std::uint64_t>& lives = known->second->lives;
    if (std::find(lives.begin(), lives.end(), who.incarnation) != lives.end()) return;
    lives.push_back(who.incarnation);
    if (lives.size() > most_of_a_node) lives.erase(lives.begin());
    in_turn_.splice(in_turn_.end(), in_turn_, known->second);
  }
  /// Returns true if this incarnation was added and is remembered.
  [[nodiscard]] bool contains(const peer_identity& who) const {
    const auto known = places_.find(who.node);
    if (known == places_.end()) return false;
    const std::vector<std::uint64_t>& lives = known->second->lives;
    return std::find(lives.begin(), lives.end(), who.incarnation) != lives.end();
  }

 private:
  struct node {
    node_id id;
    std::vector<std::uint64_t> lives;  // the oldest first
  };

  void add_node(const peer_identity& who) {
    std::list<node> fresh;
    fresh.push_back({who.node, {who.incarnation}});
    places_.emplace(who.node, fresh.begin());
    in_turn_.splice(in_turn_.end(), fresh);
    if (in_turn_.size() <= most_nodes) return;
    places_.erase(in_turn_.front().id);
    in_turn_.pop_front();
  }

  std::list<node> in_turn_;  // the node that was added to longest ago first
  std::map<node_id, std::list<node>::iterator> places_;
};

}  // namespace garrick::net
