// The messages of a lane that came before an earlier one: taken out by number, the smallest first,
// and looked at by age.
//
// A peer chooses the order in which its messages come. So each step costs at most the logarithm of
// the number of messages, in any order: a peer that sends a window in falling order costs no more
// than another one.
//
// Private: installed because `ordering` has such members.
//
// Invariants
// E1 All numbers lie within half the range, so that their order is that of their distances.
// E2 The list from `oldest_` on has all messages, in the order of `add`.
//
// Thread safety: none; `ordering`'s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "garrick/base/time/clock.hpp"

namespace garrick::net::detail {

/// Returns true if `a` comes before `b`, round the end of the range. Requires E1.
struct comes_before {
  [[nodiscard]] bool operator()(std::uint16_t a, std::uint16_t b) const noexcept {
    return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b)) < 0;
  }
};

/// Messages, each with a number and the time of its coming. Tests count the steps by T and Before.
template <class T, class Before = comes_before>
class early_messages {
 public:
  early_messages() = default;
  early_messages(early_messages&& other) noexcept
      : all_(std::move(other.all_)),
        oldest_(std::exchange(other.oldest_, nullptr)),
        newest_(std::exchange(other.newest_, nullptr)) {
    other.all_.clear();
  }
  early_messages& operator=(early_messages&& other) noexcept {
    all_ = std::move(other.all_);
    other.all_.clear();
    oldest_ = std::exchange(other.oldest_, nullptr);
    newest_ = std::exchange(other.newest_, nullptr);
    return *this;
  }
  early_messages(const early_messages&) = delete;
  early_messages& operator=(const early_messages&) = delete;
  ~early_messages() = default;

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] bool contains(std::uint16_t number) const noexcept {
    return all_.find(number) != all_.end();
  }
  /// Returns the smallest number. Requires that there is a message.
  [[nodiscard]] std::uint16_t first() const noexcept { return all_.begin()->first; }
  /// Returns the time of the message that came first; never if there is none.
  [[nodiscard]] base::instant oldest() const noexcept {
    return oldest_ != nullptr ? oldest_->since : base::instant::never();
  }
  /// Adds a message. Requires that it is not there, and that `since` does not fall from call to
  /// call. Throws std::bad_alloc, and then nothing has changed.
  void add(std::uint16_t number, T what, base::instant since) {
    // The hint is right if the messages come in order.
    const auto at =
        all_.try_emplace(all_.end(), number, entry{std::move(what), since, newest_, nullptr});
    (newest_ != nullptr ? newest_->next : oldest_) = &at->second;
    newest_ = &at->second;
  }
  /// Takes out the message with the smallest number, and returns it. Requires that there is one.
  [[nodiscard]] T take_first() noexcept {
    const auto at = all_.begin();
    entry& e = at->second;
    (e.last != nullptr ? e.last->next : oldest_) = e.next;
    (e.next != nullptr ? e.next->last : newest_) = e.last;
    T what = std::move(e.what);
    all_.erase(at);
    return what;
  }

 private:
  struct entry {
    T what;
    base::instant since;
    entry* last;  ///< the message that came before this one; null: none
    entry* next;
  };

  std::map<std::uint16_t, entry, Before> all_;
  entry* oldest_ = nullptr;
  entry* newest_ = nullptr;
};

}  // namespace garrick::net::detail
