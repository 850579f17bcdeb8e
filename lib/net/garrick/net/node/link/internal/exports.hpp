// The actors that one peer knows of, by the numbers that it was told.
//
// A number is random, belongs to one link, and names one actor: so a peer can name nobody else, and
// has one proxy for each actor. Whom the peer has a handle to is held; who only watches or is told
// something is known by its address.
//
// For each of its actors the peer may send so many messages ahead, and is granted more when half of
// them was taken and the mailbox is short. An actor that keeps up is sent twice as many ahead the
// next time, and one that does not, half as many. So nothing is granted that a mailbox has no room
// for, and a fast actor does not wait for grants.
//
// Invariants
// E1 An entry holds its actor exactly while it was sent more often than it was released.
// E2 The peer is granted no more than what was taken since the last grant, and once as much as its
//    window when that doubles. So it is never more than a window ahead.
// E3 A grant that was due while the mailbox was long is owed, once, until `take_owed` returns the
//    number of its actor.
//
// Thread safety: one link's.
#pragma once

#include <garrick/base/values/random.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/net/node/internal/unguessable_numbers.hpp>
#include <garrick/net/node/node_settings.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace garrick::net::internal {

/// See above.
class exports {
 public:
  struct entry {
    core::address who;
    bool held = false;                          ///< a strong reference
    bool is_spawned = false;                    ///< for the peer, which holds it
    std::uint64_t sent = 0;                     ///< handles that the peer may have, in all
    std::uint32_t uses = 0;                     ///< watches in which the peer was told this number
    std::uint32_t taken = 0;                    ///< messages since the last grant
    std::uint64_t taken_bytes = 0;              ///< and their payloads
    std::uint32_t window = first_credit;        ///< messages that the peer may send ahead, at most
    std::uint32_t due = first_credit / 2;       ///< of them taken, and the next grant is due
    bool is_owed = false;                       ///< a grant (E3)
    std::vector<const protocol_table*> tables;  ///< what the peer may say to it
    const signature_codec* last = nullptr;      ///< what `by_type` has found last

    [[nodiscard]] const signature_codec* by_type(std::uint64_t type) noexcept {
      // Messages of one type come in rows.
      if (last == nullptr || last->message.type != type) last = look_up(type);
      return last;
    }
    [[nodiscard]] const signature_codec* look_up(std::uint64_t type) const noexcept;
    /// The content of one of its answers; null: none is of this type.
    [[nodiscard]] const content_codec* answer_by_type(std::uint64_t type) const noexcept;
    /// A signature of `as` with which the peer was never given the actor; null: there is none.
    [[nodiscard]] const signature_codec* lacks(const protocol_table& as) const noexcept;
  };

  /// Numbers from the system's randomness, or from a seed other than 0.
  explicit exports(std::uint64_t seed);
  ~exports() { clear(); }
  exports(const exports&) = delete;
  exports& operator=(const exports&) = delete;

  /// One more handle is on its way to the peer. Requires that the caller holds the actor. Throws
  /// std::bad_alloc, and then nothing has changed.
  [[nodiscard]] actor_id hold(core::cell& who, const protocol_table& as);
  /// The same for an actor that was spawned for the peer.
  [[nodiscard]] actor_id hold_spawned(core::cell& who, const protocol_table& as);
  /// The actor is named, without a handle, until as many calls of `forget`. Throws as above.
  [[nodiscard]] actor_id name(const core::address& who);
  void forget(const actor_id& id) noexcept;
  /// Who has this number; null: nobody any more.
  [[nodiscard]] entry* find(const actor_id& id) noexcept {
    // Messages to one actor come in rows.
    if (last_ == nullptr || last_id_ != id) {
      const auto at = by_id_.find(id);
      if (at == by_id_.end()) return nullptr;
      last_id_ = id;
      last_ = &at->second;
    }
    return last_;
  }
  /// The same, but null also for a number that the peer was only told in a watch.
  [[nodiscard]] entry* find_given(const actor_id& id) noexcept {
    entry* const x = find(id);
    return x != nullptr && x->held ? x : nullptr;
  }
  /// The number of an actor that has one.
  [[nodiscard]] std::optional<actor_id> number_of(const core::address& who) const;
  /// The peer is done with `n` of its handles. False if it never had so many.
  [[nodiscard]] bool release(const actor_id& id, std::uint64_t n) noexcept;
  /// The same, if the peer says so: it is not believed if it never had so many. Returns the entry
  /// if it is still there, or null.
  ///
  /// A peer that has released some handles, and not all that were sent, may have forgotten the
  /// actor, and begins with the first credit when the next handle comes. Then its next grant must
  /// not be due after more messages than it can send. But it may have been refused a message with a
  /// handle, and have another: so the most that it may send ahead is what it was before.
  [[nodiscard]] entry* released_by_peer(const actor_id& id, std::uint64_t n) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }
  /// Actors that were spawned for the peer, and that it holds.
  [[nodiscard]] std::size_t spawned() const noexcept { return spawned_; }
  /// Nobody is held or known any more.
  void clear() noexcept;

  // ---- what the peer may send ahead -------------------------------------------------------------

  /// A message for it has come: whatever becomes of it, its sender has taken the credit.
  static void took(entry& x, std::size_t bytes) noexcept {
    ++x.taken;
    x.taken_bytes += bytes;
  }
  /// Returns true if a grant is due, and none is owed.
  [[nodiscard]] static bool is_due(const entry& x) noexcept {
    return x.taken >= x.due && !x.is_owed;
  }
  /// Returns true if its mailbox is short, or was before the `fresh()` messages that have just come
  /// for it. Of who was never seen to read anything, the latter says nothing.
  template <class Fresh>
  [[nodiscard]] static bool keeps_up(const entry& x, Fresh fresh) noexcept {
    const core::cell* const who = core::handle_access::get(x.who);
    // What is passed on goes beyond the credit there is, since nobody waits here.
    if (who->is_elsewhere()) return static_cast<const core::proxy_cell*>(who)->credit() >= 0;
    const std::uint32_t length = who->mailbox_length();
    if (who->has_ended() || length < short_mailbox(*who, x.window)) return true;
    return x.window > first_credit && length < x.window / 4 + static_cast<std::uint64_t>(fresh());
  }
  /// Returns the messages that a due grant is for; 0: it is owed from now on.
  [[nodiscard]] std::uint32_t grant(const actor_id& id, entry& x, bool keeps_up);
  /// Returns the messages to grant although the mailbox is long, or 0.
  ///
  /// Two nodes may flood each other from handlers that hold all workers at both ends. Then each end
  /// waits for grants which only the other's workers could cause. So if all workers here wait, a
  /// few messages more may come, as a local sender goes on after a wait in vain.
  [[nodiscard]] static std::uint32_t grant_to_stuck(entry& x, bool keeps_up) noexcept;
  /// Returns true if a grant is owed.
  [[nodiscard]] bool owes() const noexcept { return !owed_.empty(); }
  /// Returns the actors whose grant is owed, none of which is owed any more; some may be gone.
  [[nodiscard]] std::vector<actor_id> take_owed();

 private:
  [[nodiscard]] static std::uint32_t short_mailbox(const core::cell& who,
                                                   std::uint32_t window) noexcept;
  using entries = std::unordered_map<actor_id, entry>;
  [[nodiscard]] entries::iterator find_or_add(const core::address& who);
  [[nodiscard]] std::uint64_t draw();
  void erase_if_unused(entries::iterator at) noexcept;

  entries by_id_;
  actor_id last_id_;       // whom `find` has found last
  entry* last_ = nullptr;  // null, or in by_id_
  std::unordered_map<core::address, actor_id> by_actor_;
  std::size_t spawned_ = 0;
  std::vector<actor_id> owed_;
  std::optional<base::random_source> seeded_;  ///< for tests
  unguessable_numbers unguessable_;
};

}  // namespace garrick::net::internal
