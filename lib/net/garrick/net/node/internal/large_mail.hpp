// The large messages that a peer has sent to one actor: the bytes that it may send again, and those
// that may still be in the mailbox.
//
// The peer may have `first_bytes` bytes of large messages under way or in the mailbox: those with a
// payload of `least_counted` bytes or more. Bytes are given back when their messages have left the
// mailbox. The mailbox tells only its length. So the messages of this link are numbered as they
// arrive, and the last ones, as many as the mailbox is long, count as waiting: more than do.
//
// Some types take more memory than their payloads have bytes. Then fewer bytes are given back, so
// that the messages take no more memory than other types would.
//
// Invariants
// G1 The bytes that the peer may still send, with those of the messages that may wait, are at most
//    `first_bytes`, each counted as large as the last messages were in memory; unless the peer was
//    given more than that when their size was not known.
// G2 If no message waits, the peer may send a message, or is given bytes at the next `grant`.
//
// Thread safety: for the thread in the link.
#pragma once

#include <garrick/net/layer/internal/pooled.hpp>
#include <garrick/net/node/node_settings.hpp>

#include <cstddef>
#include <cstdint>

namespace garrick::net::internal {

/// The large messages of one peer to one actor.
class large_mail {
 public:
  /// Counts the payload of a message that has arrived, also of one that is refused.
  void took(std::size_t bytes) noexcept { taken_ += bytes; }
  /// Counts a message that goes into the mailbox behind all others. Urgent ones do not.
  void delivers() noexcept { ++delivered_; }
  /// Counts a large message that goes into the mailbox, after `delivers` unless it is urgent. It
  /// has so many bytes of payload, and takes so many in memory. Throws std::bad_alloc.
  void holds(std::size_t bytes, std::size_t memory);

  /// Returns true if `grant` may return bytes.
  [[nodiscard]] bool is_due() const noexcept { return taken_ >= due_ && !is_owed; }
  /// Returns the bytes that the peer may send again, or 0. `length`: of the mailbox.
  [[nodiscard]] std::uint64_t grant(std::size_t length) noexcept;
  /// The same for an actor of another node: its messages have been passed on. It gets no more while
  /// its proxy has no credit.
  [[nodiscard]] std::uint64_t grant_passed_on(bool has_credit) noexcept;
  /// Returns bytes for an actor that no worker runs while all workers wait in sends, or 0. There
  /// are none for an actor whose mailbox holds twice the usual number of bytes.
  [[nodiscard]] std::uint64_t grant_to_stuck(std::size_t length) noexcept;
  /// Notes that the peer may have forgotten the actor: then it begins with the first credit again.
  void begins_again() noexcept { ++again_; }
  /// Returns true if the peer has sent more than twice its credit.
  [[nodiscard]] bool exceeds() const noexcept { return taken_ > (2 + again_) * first_bytes; }
  /// Returns the memory of the messages that may be in a mailbox of this length.
  [[nodiscard]] std::uint64_t in_mailbox(std::size_t length) noexcept;
  /// Returns the same without a look at the mailbox: no less than the last time.
  [[nodiscard]] std::uint64_t held() const noexcept { return held_; }
  bool is_owed = false;  ///< a grant is owed (E3 of exports.hpp)

 private:
  struct message {
    std::uint64_t number;  ///< of all that were delivered, from 1
    std::uint64_t memory;
  };
  /// Returns the payload bytes that take this much memory, if types stay as they were.
  [[nodiscard]] std::uint64_t payload_of(std::uint64_t memory) const noexcept;
  [[nodiscard]] std::uint64_t give(std::uint64_t bytes, std::uint64_t window) noexcept;

  pooled_deque<message> messages_;
  std::uint64_t held_ = 0;               // the memory of messages_
  std::uint64_t delivered_ = 0;          // messages, small ones too, since the first large one
  std::uint64_t taken_ = 0;              // bytes of payloads that were not given back
  std::uint64_t due_ = first_bytes / 8;  // the value of `taken_` for the next look
  std::uint64_t payload_ = 1;            // bytes of recent messages ...
  std::uint64_t memory_ = 1;             // ... and in memory
  std::uint64_t again_ = 0;              // see `begins_again`
};

}  // namespace garrick::net::internal
