// The requests of the peer to actors here that are neither answered nor cancelled.
//
// The thread in the link learns of limits and cancels, while a request waits in a mailbox or is on
// its way to a third node. So there are two tables: this one has the requests without an answer,
// and `wanted_requests` tells any thread until when an answer is wanted.
//
// Invariants
// R1 A request is open until it is answered or cancelled. A number that is open is not taken a
//    second time, nor is a cancelled one while an answer to it may still come.
// R2 `wanted_requests` keeps a limit only for a request that is open, or that was cancelled and has
//    no answer yet. It keeps none for a cancelled request that was handed on to another node, since
//    an answer may never come.
//
// Thread safety: for the thread in the link.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/node/proxy/internal/peer_hash.hpp>
#include <garrick/net/node/proxy/internal/wanted_requests.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace garrick::net::internal {

/// The open requests of one peer.
class peer_requests {
 public:
  struct request {
    actor_id asker, asked;
    const signature_codec* signature;
    std::uint64_t giver;        ///< the identity of the actor that was asked
    core::any_ref handed_to{};  ///< the proxy of the actor of another node that is to answer
  };
  using table = std::unordered_map<std::uint64_t, request, peer_hash>;
  using place = table::iterator;

  /// `wanted` must outlive this object. `hash` has a secret, since the peer chooses the numbers.
  peer_requests(wanted_requests& wanted, const peer_hash& hash) : wanted_(wanted), open_(0, hash) {}
  peer_requests(const peer_requests&) = delete;
  peer_requests& operator=(const peer_requests&) = delete;

  /// Returns true if a request may have this number.
  [[nodiscard]] bool is_free(std::uint64_t number) const {
    return number != 0 && number <= core::envelope::id_mask && !open_.contains(number) &&
           !wanted_.knows(number);
  }
  /// Opens a request. Requires a free number. `until`: the end of its time, if it has a limit.
  void open(std::uint64_t number, request r, std::optional<base::instant> until) {
    open_.emplace(number, std::move(r));
    if (until) wanted_.limit(number, *until);
  }

  /// Returns the place of the request with this number, or a place that is not open: the request
  /// was cancelled, or the link is over.
  [[nodiscard]] place find(std::uint64_t number) { return open_.find(number); }
  [[nodiscard]] bool is_open(place at) { return at != open_.end(); }
  /// Removes a request, which the caller answers now.
  [[nodiscard]] request take(place at) {
    wanted_.forget(at->first);
    request r = std::move(at->second);
    open_.erase(at);
    return r;
  }
  /// Notes an answer to a request that is not open any more.
  void answered_late(std::uint64_t number) noexcept { wanted_.forget(number); }
  /// Cancels a request, since the peer waits no more. Returns the actor of another node to which
  /// the caller has to pass this on; or null, and then a local actor that takes the request out of
  /// its mailbox later will not handle it.
  [[nodiscard]] core::any_ref cancel(std::uint64_t number);
  /// Notes that a request was handed on to an actor of another node. Returns false if the request
  /// is not open any more: then the caller passes the cancel on to that actor.
  [[nodiscard]] bool hand_on(std::uint64_t number, core::cell& proxy);

  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
  /// Returns all open requests, and leaves none.
  [[nodiscard]] table end() noexcept { return std::exchange(open_, {}); }

 private:
  wanted_requests& wanted_;
  table open_;
};

}  // namespace garrick::net::internal
