// The actors of a peer that have a proxy here, by the numbers that the peer gave them.
//
// Invariants
// P1 The table holds its proxies weakly. The proxy of each of its numbers either can be locked, or
//    has no handle left, and its `released` has yet to come.
// P2 A proxy that was replaced is not in the table; its release counts all the same.
//
// Thread safety: for the thread in the link.
#pragma once

#include <garrick/core/ref.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/net/node/proxy/internal/peer_hash.hpp>
#include <garrick/net/node/proxy/internal/remote_cell.hpp>
#include <garrick/net/transport/hosted.hpp>

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace garrick::net::internal {

/// The proxies of one link.
class proxies {
 public:
  using table = std::unordered_map<actor_id, remote_cell*, peer_hash>;

  /// Makes an empty table, for proxies of the link `self` with the credit of `senders`.
  proxies(const connection& self, answering_cell& senders, const peer_hash& hash,
          base::duration patience)
      : self_(self), senders_(senders), patience_(patience), by_id_(0, hash) {}
  proxies(const proxies&) = delete;
  proxies& operator=(const proxies&) = delete;

  /// Returns the proxy of this actor, with a strong reference that is the caller's. Throws
  /// std::bad_alloc, and then nothing has changed.
  [[nodiscard]] remote_cell& of(const actor_id& id) {
    const auto at = by_id_.find(id);
    if (at != by_id_.end() && at->second->lock()) return *at->second;
    // If there is no memory for the table's entry, the proxy ends with this handle.
    auto held = core::handle_access::adopt<core::any_protocol>(
        new remote_cell(self_, senders_, id, patience_));
    auto* const made = static_cast<remote_cell*>(core::handle_access::get(held));
    if (at != by_id_.end())
      std::exchange(at->second, made)->drop_weak();
    else
      by_id_.emplace(id, made);
    made->add_weak();
    static_cast<void>(core::handle_access::release(held));
    return *made;
  }
  /// Counts a handle that the peer has sent, and notes the protocol of the read handle. Returns
  /// the proxy, with a strong reference that is the caller's. Throws std::bad_alloc, and then the
  /// handle does not count and no proxy is held for it.
  [[nodiscard]] remote_cell* receive(const actor_id& id, const protocol_table& as) {
    remote_cell& proxy = of(id);
    auto held = core::handle_access::adopt<core::any_protocol>(&proxy);
    proxy.seen_as(as);
    ++proxy.received;
    static_cast<void>(core::handle_access::release(held));
    return &proxy;
  }
  /// Returns the known proxy of this actor, perhaps without any handle left, or null.
  [[nodiscard]] remote_cell* find(const actor_id& id) const {
    const auto at = by_id_.find(id);
    return at != by_id_.end() ? at->second : nullptr;
  }
  /// Returns `who` as a proxy if it stands for an actor of this link's peer, else null.
  [[nodiscard]] const remote_cell* as_peers(const core::cell& who) const noexcept {
    if (!who.is_elsewhere()) return nullptr;
    const auto* const proxy = dynamic_cast<const remote_cell*>(&who);
    return proxy != nullptr && proxy->link() == self_ ? proxy : nullptr;
  }
  /// Removes a proxy that has no handle left. The caller holds it weakly.
  void forget(remote_cell& who) noexcept {
    const auto at = by_id_.find(who.id());
    if (at == by_id_.end() || at->second != &who) return;
    by_id_.erase(at);
    who.drop_weak();
  }

  [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }
  [[nodiscard]] table::const_iterator begin() const noexcept { return by_id_.begin(); }
  [[nodiscard]] table::const_iterator end() const noexcept { return by_id_.end(); }
  /// Removes all proxies.
  void clear() noexcept {
    for (const auto& [id, proxy] : std::exchange(by_id_, {})) proxy->drop_weak();
  }

 private:
  const connection& self_;
  answering_cell& senders_;
  const base::duration patience_;
  table by_id_;
};

}  // namespace garrick::net::internal
