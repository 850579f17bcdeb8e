// Watches across a link: monitors of the peer's actors, monitors of actors here, and links.
//
// No watch holds an actor: both of its actors are known by their addresses. The local actor has a
// number for the peer (`names`) as long as the peer may refer to it.
//
// | table    | an entry is                                | its key                            |
// |----------|--------------------------------------------|------------------------------------|
// | watching | a local actor's monitor of a remote one    | the number told to the peer; and   |
// |          |                                            | the watcher and its own number     |
// | watched  | a remote actor's monitor of a local one    | the watcher and the peer's number  |
// | linked   | a link, which either end may have set      | the two actors                     |
//
// Invariants
// M1 A monitor or a link is in its table until it is answered or taken back, and leaves it once
//    (N2 of decision 0010). If the peer uses a number twice, the second monitor changes nothing.
// M2 An entry has named its local actor once (`names::name`), and takes that back (`forget`) when
//    it leaves. At the end of the link no name matters any more.
// M3 Both keys of a monitor in `watching` lead to the same entry, or to none.
// M4 A peer that may end no actor ends none by its links: an exit of the peer, or its loss, reaches
//    a linked actor here only if that actor has set the link, too (`set_here`).
//
// Thread safety: for the thread in the link.
#pragma once

#include <garrick/core/seam/handles.hpp>
#include <garrick/net/node/proxy/internal/peer_hash.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace garrick::net::internal {

/// The monitors and links between actors of both ends.
class watches {
 public:
  /// The numbers by which the peer knows actors here.
  class names {
   public:
    /// Returns the actor's number, and keeps it until `forget`. Throws std::bad_alloc.
    [[nodiscard]] virtual actor_id name(const core::address& who) = 0;
    /// Takes back one call of `name`.
    virtual void forget(const actor_id& id) noexcept = 0;

   protected:
    names() = default;
    ~names() = default;
    names(const names&) = default;
    names& operator=(const names&) = default;
  };
  /// A monitor across the link: the watcher or the target is a proxy of this link.
  struct monitor {
    core::address watcher, target;
    std::uint64_t number = 0;  ///< in `watching` the watcher's own, in `watched` the peer's
    actor_id watcher_id, target_id;
  };
  /// A link of two actors, which end together.
  struct pair {
    core::address here, there;
    actor_id here_id;
    bool set_here = false;  ///< by the local actor, perhaps by the other one, too
  };
  struct told {
    std::uint64_t number = 0;
    actor_id id;  ///< of the watcher
  };
  using monitors = std::unordered_map<std::uint64_t, monitor>;
  using monitors_of_peer = std::unordered_map<watch_key, monitor, peer_hash>;
  using pairs = std::unordered_map<watch_key, pair, peer_hash>;

  /// `most`: the limit of monitors and links together, for the watchers of each end.
  watches(names& of, const peer_hash& hash, std::size_t most)
      : names_(of), most_(most), numbers_(0, hash), watched_(0, hash), linked_(0, hash) {}
  watches(const watches&) = delete;
  watches& operator=(const watches&) = delete;

  // ---- from actors here -------------------------------------------------------------------------

  [[nodiscard]] bool is_full() const noexcept { return watching_.size() + linked_.size() >= most_; }
  /// Enters a local actor's monitor, with its number for the peer and the watcher's `own` number.
  /// Returns the watcher's number for the peer.
  [[nodiscard]] actor_id watch(std::uint64_t number, const core::address& watcher,
                               std::uint64_t own, const core::address& target,
                               const actor_id& target_id);
  /// Removes a monitor that its watcher takes back. Returns no value if it was answered meanwhile.
  [[nodiscard]] std::optional<told> unwatch(const core::address& watcher, std::uint64_t own);
  /// Returns true if the two are linked already. Then the local actor has set the link, too.
  [[nodiscard]] bool link_again(const actor_id& there, const core::address& here);
  /// Enters a link. Returns the local actor's number. Requires that the two are not linked.
  [[nodiscard]] actor_id link(const core::address& here, const core::address& there,
                              const actor_id& there_id);
  /// Removes the peer's monitor of a local actor that has ended. Returns the number of the dead
  /// actor, or no value if there is no such monitor.
  [[nodiscard]] std::optional<actor_id> target_ended(const actor_id& watcher, std::uint64_t number,
                                                     const core::address& dead);

  // ---- from actors of the peer ------------------------------------------------------------------

  [[nodiscard]] bool is_full_of_peers() const noexcept {
    return watched_.size() + linked_.size() >= most_;
  }
  /// Enters a monitor of a remote actor. Returns false if its number is in use already.
  [[nodiscard]] bool watched_by(const monitor& m);
  /// Enters a link that a remote actor has set. Returns the link, and true if it is new.
  [[nodiscard]] std::pair<pair, bool> linked_by(const actor_id& there, const pair& p);
  /// Removes a monitor that the peer takes back, or that its target cannot accept. Returns no value
  /// if there is no such monitor of this target.
  [[nodiscard]] std::optional<monitor> unwatched_by(const actor_id& watcher, std::uint64_t number,
                                                    const actor_id& target);
  /// Removes a local actor's monitor, since the peer has reported the end of its target. Returns no
  /// value if this watcher has no such monitor.
  [[nodiscard]] std::optional<monitor> answered(std::uint64_t number, const actor_id& watcher);

  // ---- from either ------------------------------------------------------------------------------

  /// Removes the link between the two actors. Returns no value if there is none.
  [[nodiscard]] std::optional<pair> unlink(const actor_id& there, const core::address& here);

  [[nodiscard]] std::size_t count_monitors() const noexcept {
    return watching_.size() + watched_.size();
  }
  [[nodiscard]] std::size_t count_links() const noexcept { return linked_.size(); }

  // ---- the end of the link: each function empties a table, and returns its content --------------

  [[nodiscard]] pairs end_links() noexcept { return std::exchange(linked_, {}); }
  [[nodiscard]] monitors end_watching() noexcept {
    numbers_.clear();
    return std::exchange(watching_, {});
  }
  [[nodiscard]] monitors_of_peer end_watched() noexcept { return std::exchange(watched_, {}); }

 private:
  names& names_;
  const std::size_t most_;
  monitors watching_;
  std::unordered_map<watch_key, std::uint64_t, peer_hash> numbers_;  // of watching_, by watcher
  monitors_of_peer watched_;
  pairs linked_;
};

}  // namespace garrick::net::internal
