// A link's messages under way: the credit that each has taken, until it is given back.
//
// A sender takes the link's credit before it turns to the link, and the link does not check it
// again (`answering_cell::take_credit`). This class is the other half of that account. Each message
// and request that goes to the stack has an entry here. The stack reports the number of the entry
// when the message is in the peer's mailbox, or is lost. The credit of all entries that one read
// settles is given back together, since senders write to the account, too.
//
// Lanes overtake each other. A release, by which the peer may lose an actor, must arrive behind all
// earlier frames of every lane: the actor must not be gone when a message to it, or a message with
// its handle, arrives. So releases wait here until those frames are settled.
//
// Invariants
// C1 The credit of an entry is given back once: when the entry is settled, or by `end`. A
//    receiver's credit is not counted here: the peer grants it.
// C2 The numbers of entries go up by one, and an entry is erased only after all entries with a
//    smaller number. So a number that is reported twice, or was never given, changes nothing.
// C3 Releases leave in the order of `release`, each when all entries made before it are settled.
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

/// The messages under way of one link.
class credit {
 public:
  /// The release of `number` handles to the peer's actor `who`.
  struct release_order {
    actor_id who;
    std::uint64_t number = 0;
  };

  /// `senders` has the account, and must outlive this object.
  explicit credit(answering_cell& senders) noexcept : senders_(senders) {}
  credit(const credit&) = delete;
  credit& operator=(const credit&) = delete;

  /// Makes an entry for a message that has taken `weight` of the credit, just before it is posted.
  /// Returns the number for its report. Without a `type`, no dead letter is written if the message
  /// is lost. The entry is constructed in place: a copy would read it in wider pieces than were
  /// just written, for which a processor waits.
  [[nodiscard]] std::uint64_t begin(std::uint64_t receiver, const base::message_type* type,
                                    std::uint64_t sender, std::uint32_t weight) {
    under_way_.emplace_back(receiver, type, sender, weight);
    return first_ + under_way_.size() - 1;
  }
  /// The same for a frame that takes no credit, but that releases have to wait for.
  [[nodiscard]] std::uint64_t begin_frame() { return begin(0, nullptr, 0, 0); }

  /// Settles the message with this number: it is in the mailbox, or, with an error, it is or may be
  /// lost. Returns false if it was settled before, or was never under way. `give_back` returns its
  /// credit.
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
  /// Gives the credit of settled messages back to the senders.
  void give_back() noexcept {
    const std::uint32_t large = std::exchange(settled_large_, 0);
    if (const std::uint32_t n = std::exchange(settled_, 0); n != 0) senders_.confirm(n, large);
  }

  /// Queues the release of `number` handles to the peer's actor `who`, behind all earlier frames.
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

  /// Ends with the link: reports all messages under way as lost, gives back all credit, and drops
  /// the releases.
  void end(const base::error& why);

  /// Returns the number of messages and frames that are not settled.
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
    std::uint64_t behind = 0;  ///< it waits for all entries with smaller numbers
    release_order what;
  };
  void lost(const entry& e, const base::error& why) const;

  answering_cell& senders_;
  pooled_deque<entry> under_way_;
  std::uint64_t first_ = 1;  // the number of under_way_.front()
  std::deque<waiting_release> releases_;
  std::uint32_t settled_ = 0;        // credit for `give_back`
  std::uint32_t settled_large_ = 0;  // the part of it that large messages have taken
};

}  // namespace garrick::net::internal
