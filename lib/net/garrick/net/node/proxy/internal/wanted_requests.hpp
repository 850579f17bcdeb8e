// The requests of a peer that still want an answer: checked when a request leaves a mailbox.
//
// The link's thread receives limits and cancels; a request waits in the mailbox of an actor, and
// the actor's runner asks here. Most requests have neither a limit nor a cancel, and no entry.
// While the table is empty, the runner's question costs a load.
//
// Invariants
// W1 An entry is made for a request that has no answer yet. It is removed with the one answer that
//    each request gets, or when an answer may never come: a cancelled request was handed on to
//    another node. Both happen on the link's thread. So no entry is left behind.
// W2 There are never more entries than were allowed. A request without room for its entry is
//    handled as if it were wanted.
//
// Thread safety: `until` for any thread, everything else for the thread in the link.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/net/node/proxy/internal/peer_hash.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace garrick::net::internal {

/// The limits and withdrawals of a peer's requests.
class wanted_requests {
 public:
  /// Has room for `most` entries. The peer chooses the numbers, hence the hash.
  wanted_requests(std::size_t most, const peer_hash& hash) : most_(most), until_(0, hash) {}

  /// Notes that the answer is wanted until this time. Called before the request is delivered.
  /// Throws std::bad_alloc.
  void limit(std::uint64_t request, base::instant until) { set(request, until); }
  /// Notes that the answer is not wanted any more. Throws std::bad_alloc.
  void withdraw(std::uint64_t request) { set(request, long_ago); }
  /// Removes the entry of a request that was answered, or will get no answer from here.
  void forget(std::uint64_t request) noexcept;

  /// Returns the time until which the answer is wanted; `never` if it has no limit. May miss a
  /// simultaneous withdrawal.
  [[nodiscard]] base::instant until(std::uint64_t request) const noexcept;

  /// Returns true if a request of this number has a limit, or was withdrawn, and has no answer yet.
  [[nodiscard]] bool knows(std::uint64_t request) const noexcept;

  /// Returns the number of entries.
  [[nodiscard]] std::size_t size() const noexcept {
    return size_.load(std::memory_order_relaxed);  // order: see `until`
  }

 private:
  static constexpr base::instant long_ago = base::instant::at(-base::duration::infinite());

  void set(std::uint64_t request, base::instant until);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, base::instant, peer_hash> until_;  // under the mutex
  std::atomic<std::size_t> size_{0};  // of until_, written under the mutex
};

}  // namespace garrick::net::internal
