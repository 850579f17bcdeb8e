// Who watches whom across a link: monitors of actors there, monitors of actors here, and links.
//
// None of them holds an actor: both ends are known by their addresses. The end that is here has a
// name for the peer as long as the peer may say something of it.
//
// | table    | an entry is                                | its key                            |
// |----------|--------------------------------------------|------------------------------------|
// | watching | a monitor of an actor here, of one there   | the number told to the peer; and   |
// |          |                                            | the watcher and its own number     |
// | watched  | a monitor of an actor there, of one here   | the watcher and the peer's number  |
// | linked   | a link, which either end may have set      | the two actors                     |
//
// Invariants
// M1 A monitor or a link is in its table until it is answered or taken back, and leaves it once
//    (N2 of decision 0010). A number of the peer that is there twice is a lie and changes nothing.
// M2 An entry has named its actor here once to the peer, and takes that back when it leaves. At the
//    end of the link no name matters any more.
// M3 Both ways of finding a monitor of this end lead to the same entry, or to none.
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

/// See above.
class watches {
 public:
  /// The numbers by which the peer knows actors here.
  class names {
   public:
    /// The actor is named. Throws std::bad_alloc.
    [[nodiscard]] virtual actor_id name(const core::address& who) = 0;
    /// It need not be named any more, for as often as it was.
    virtual void forget(const actor_id& id) noexcept = 0;

   protected:
    names() = default;
    ~names() = default;
    names(const names&) = default;
    names& operator=(const names&) = default;
  };
  /// An actor of one node monitors one of the other: one of the two is a proxy of this link.
  struct monitor {
    core::address watcher, target;
    std::uint64_t number = 0;  ///< the watcher's
    actor_id watcher_id, target_id;
  };
  /// Two actors end together.
  struct pair {
    core::address here, there;
    actor_id here_id;
  };
  struct told {
    std::uint64_t number = 0;
    actor_id id;  ///< of the watcher
  };
  using monitors = std::unordered_map<std::uint64_t, monitor>;
  using monitors_of_peer = std::unordered_map<watch_key, monitor, peer_hash>;
  using pairs = std::unordered_map<watch_key, pair, peer_hash>;

  /// Of each end there may be `most` monitors and links.
  watches(names& of, const peer_hash& hash, std::size_t most)
      : names_(of), most_(most), numbers_(0, hash), watched_(0, hash), linked_(0, hash) {}
  watches(const watches&) = delete;
  watches& operator=(const watches&) = delete;

  // ---- from actors here -------------------------------------------------------------------------

  [[nodiscard]] bool is_full() const noexcept { return watching_.size() + linked_.size() >= most_; }
  /// An actor here monitors one there, by this number for the peer. Returns the watcher's name.
  [[nodiscard]] actor_id watch(std::uint64_t number, const core::address& watcher,
                               std::uint64_t own, const core::address& target,
                               const actor_id& target_id);
  /// The monitor is taken back. Nothing: it was answered meanwhile.
  [[nodiscard]] std::optional<told> unwatch(const core::address& watcher, std::uint64_t own);
  [[nodiscard]] bool is_linked(const actor_id& there, const core::address& here) const;
  /// Returns the name of the actor here. Requires that the two are not linked.
  [[nodiscard]] actor_id link(const core::address& here, const core::address& there,
                              const actor_id& there_id);
  /// The actor here has ended, and the peer's monitor of it with it. Returns the dead actor's name;
  /// nothing if there is no such monitor.
  [[nodiscard]] std::optional<actor_id> target_ended(const actor_id& watcher, std::uint64_t number,
                                                     const core::address& dead);

  // ---- from actors of the peer ------------------------------------------------------------------

  [[nodiscard]] bool is_full_of_peers() const noexcept {
    return watched_.size() + linked_.size() >= most_;
  }
  /// An actor of the peer monitors one here. Returns false if the number is there already.
  [[nodiscard]] bool watched_by(const monitor& m);
  /// An actor of the peer is linked with one here. Returns the link, and whether it is new.
  [[nodiscard]] std::pair<pair, bool> linked_by(const actor_id& there, const pair& p);
  /// The peer takes its monitor back, or it cannot be. Nothing: there is none of this target.
  [[nodiscard]] std::optional<monitor> unwatched_by(const actor_id& watcher, std::uint64_t number,
                                                    const actor_id& target);
  /// The peer says that an actor of it has ended. Nothing: no such watcher monitors it.
  [[nodiscard]] std::optional<monitor> answered(std::uint64_t number, const actor_id& watcher);

  // ---- from either ------------------------------------------------------------------------------

  /// The link between these two is over. Nothing: there is none.
  [[nodiscard]] std::optional<pair> unlink(const actor_id& there, const core::address& here);

  [[nodiscard]] std::size_t count_monitors() const noexcept {
    return watching_.size() + watched_.size();
  }
  [[nodiscard]] std::size_t count_links() const noexcept { return linked_.size(); }

  // ---- the end of the link: each returns what there is, and then it is there no more ------------

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
  std::unordered_map<watch_key, std::uint64_t, peer_hash> numbers_;  // of those, by watcher
  monitors_of_peer watched_;
  pairs linked_;
};

}  // namespace garrick::net::internal
