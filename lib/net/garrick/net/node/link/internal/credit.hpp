// What a link has under way: the credit that each message has taken, until it is given back.
//
// A sender takes the link's credit before it turns to the link, and it is not looked at again
// (`answering_cell::take_credit`). Here is the other half of that account. Each message and request
// that goes to the stack has an entry, whose number the stack reports when the message is in the
// peer's mailbox, or is lost. What was settled while one read passes is given back together, since
// senders write to the account, too.
//
// Lanes overtake each other, so a frame that has to come behind all that was sent before it, in
// whatever lane, waits here as well: a release, with which the peer may lose an actor. The receiver
// must not be gone when a message to it, or one with its handle, comes.
//
// Invariants
// C1 The credit of an entry is given back once: when it is settled, or by `end`. A receiver's
//    credit is not counted here: the peer grants it.
// C2 The numbers of entries go up by one, and an entry is erased only behind all that have a
//    smaller number. So a number that is reported twice, or was never given, changes nothing.
// C3 A release leaves when everything that was sent before it is settled, in the order of
//    `release`.
//
// Thread safety: for the thread in the link. Senders use the account in `answering_cell`.
#pragma once

#include <garrick/base/types/message_type.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/net/layer/internal/pooled.hpp>
#include <garrick/net/node/proxy/internal/remote_cell.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace garrick::net::internal {

/// See above.
class credit {
 public:
  /// Of the times that the peer has sent `who`, `number` are done with.
  struct release_order {
    actor_id who;
    std::uint64_t number = 0;
  };

  /// `senders` has the account, and outlives this.
  explicit credit(answering_cell& senders) noexcept : senders_(senders) {}
  credit(const credit&) = delete;
  credit& operator=(const credit&) = delete;

  /// A message that has taken `weight` of the credit is posted now. Returns the number for its
  /// report. `type` null: nobody is told if it is lost. The entry is made where it stays: copied,
  /// it would be read in wider pieces than it was just written in, for which a processor waits.
  [[nodiscard]] std::uint64_t begin(std::uint64_t receiver, const base::message_type* type,
                                    std::uint64_t sender, std::uint32_t weight) {
    under_way_.emplace_back(receiver, type, sender, weight);
    return first_ + under_way_.size() - 1;
  }
  /// The same for a frame without credit that releases are to wait for.
  [[nodiscard]] std::uint64_t begin_frame() { return begin(0, nullptr, 0, 0); }

  /// The message with this number is in the mailbox, or `why` it is lost or may be. Returns false
  /// if it was settled before, or was never under way. Its credit comes back with `give_back`.
  bool settle(std::uint64_t number, const base::error& why) {
    if (number < first_ || number - first_ >= under_way_.size()) return false;
    entry& e = under_way_[number - first_];
    if (std::exchange(e.is_settled, true)) return false;
    if (why && e.type != nullptr) lost(e, why);
    settled_ += e.weight;
    if (senders_.is_large(e.weight)) settled_large_ += e.weight;
    while (!under_way_.empty() && under_way_.front().is_settled) {
      under_way_.pop_front();
      ++first_;
    }
    return true;
  }
  /// Gives the credit of what was settled to the senders.
  void give_back() noexcept {
    const std::uint32_t large = std::exchange(settled_large_, 0);
    if (const std::uint32_t n = std::exchange(settled_, 0); n != 0) senders_.confirm(n, large);
  }

  /// The peer's handles to `who` are released, behind all that was sent before.
  void release(const actor_id& who, std::uint64_t number) {
    releases_.push_back({first_ + under_way_.size(), {who, number}});
  }
  /// Returns the next release that may leave.
  [[nodiscard]] std::optional<release_order> next_release() {
    if (releases_.empty() || releases_.front().behind > first_) return std::nullopt;
    const release_order next = releases_.front().what;
    releases_.pop_front();
    return next;
  }

  /// The link is over: all that is under way is lost, and all credit is given back. No release
  /// leaves any more.
  void end(const base::error& why);

  /// Messages and frames that are not settled.
  [[nodiscard]] std::size_t under_way() const noexcept { return under_way_.size(); }

 private:
  struct entry {
    std::uint64_t receiver = 0;
    const base::message_type* type = nullptr;
    std::uint64_t sender = 0;
    std::uint32_t weight = 0;
    bool is_settled = false;
    entry(std::uint64_t r, const base::message_type* t, std::uint64_t s, std::uint32_t w) noexcept
        : receiver(r), type(t), sender(s), weight(w) {}
  };
  struct waiting_release {
    std::uint64_t behind = 0;  ///< the number from which on entries do not matter to it
    release_order what;
  };
  void lost(const entry& e, const base::error& why) const;

  answering_cell& senders_;
  pooled_deque<entry> under_way_;
  std::uint64_t first_ = 1;  // the number of under_way_.front()
  std::deque<waiting_release> releases_;
  std::uint32_t settled_ = 0;        // to be given back
  std::uint32_t settled_large_ = 0;  // of that, the credit of large messages
};

}  // namespace garrick::net::internal
