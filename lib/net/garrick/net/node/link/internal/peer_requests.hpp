// What the peer has asked actors here, until it was answered or cancelled.
//
// The thread in the link hears of limits and cancels, while a request waits in a mailbox or is on
// its way to a third node. So there are two tables: this one, of requests without an answer, and
// `wanted_requests`, which any thread may ask until when an answer is wanted.
//
// Invariants
// R1 A request is open until it is answered or cancelled. A number that is open, or whose answer
//    may still come after a cancel, is not taken a second time.
// R2 Only while a request is open, or between a cancel and the answer that comes all the same, is a
//    limit for it kept among the wanted ones. With a request that was handed on to another node and
//    cancelled it goes at once, since an answer may never come.
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

/// See above.
class peer_requests {
 public:
  struct request {
    actor_id asker, asked;
    const signature_codec* signature;
    std::uint64_t giver;        ///< of the answer: the identity of the actor that was asked
    core::any_ref handed_to{};  ///< the proxy of an actor elsewhere that is to answer
  };
  using table = std::unordered_map<std::uint64_t, request, peer_hash>;
  using place = table::iterator;

  /// `wanted` outlives this. The numbers are the peer's, hence the hash.
  peer_requests(wanted_requests& wanted, const peer_hash& hash) : wanted_(wanted), open_(0, hash) {}
  peer_requests(const peer_requests&) = delete;
  peer_requests& operator=(const peer_requests&) = delete;

  /// Returns true if a request may have this number.
  [[nodiscard]] bool is_free(std::uint64_t number) const {
    return number != 0 && number <= core::envelope::id_mask && !open_.contains(number) &&
           !wanted_.knows(number);
  }
  /// Requires a free number. `until`: when its time is over, if it has a limit.
  void open(std::uint64_t number, request r, std::optional<base::instant> until) {
    open_.emplace(number, std::move(r));
    if (until) wanted_.limit(number, *until);
  }

  /// The request with this number, if it `is_open`. Else it was cancelled, or the link is over.
  [[nodiscard]] place find(std::uint64_t number) { return open_.find(number); }
  [[nodiscard]] bool is_open(place at) { return at != open_.end(); }
  /// Closes a request, since it is answered now.
  [[nodiscard]] request take(place at) {
    wanted_.forget(at->first);
    request r = std::move(at->second);
    open_.erase(at);
    return r;
  }
  /// An answer has come to a request that is not open any more.
  void answered_late(std::uint64_t number) noexcept { wanted_.forget(number); }
  /// The peer waits no more. Returns the actor elsewhere that is to be told so; or null, and then
  /// an actor here that has yet to take the request out of its mailbox will not handle it.
  [[nodiscard]] core::any_ref cancel(std::uint64_t number);
  /// The request was handed on to an actor elsewhere. Returns false if it is not open: then that
  /// actor is to be told.
  [[nodiscard]] bool hand_on(std::uint64_t number, core::cell& proxy);

  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
  /// Returns all that is open, and nothing is any more.
  [[nodiscard]] table end() noexcept { return std::exchange(open_, {}); }

 private:
  wanted_requests& wanted_;
  table open_;
};

}  // namespace garrick::net::internal
