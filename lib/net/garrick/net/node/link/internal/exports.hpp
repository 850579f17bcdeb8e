// The local actors that one peer knows, by the numbers that it was told.
//
// A number is random, belongs to one link, and names one actor. So a peer can name no other actors,
// and has one proxy for each. An actor to which the peer has a handle is held. An actor that only
// takes part in a watch is known by its address.
//
// The peer may send each actor a window of messages ahead. The peer is granted more when half of
// the window was taken and the mailbox is short. For an actor that keeps up the window doubles,
// else it is halved. So no more messages are granted than a mailbox has room for, and senders of a
// fast actor do not wait for grants.
//
// Invariants
// E1 An entry holds its actor exactly while its number was sent more often than it was released.
// E2 A grant is at most the number of messages taken since the last grant, plus the window when the
//    window doubles. So the peer is never more than a window ahead.
// E3 A grant, of messages or of bytes, that was due while the mailbox was long is owed, once, until
//    `take_owed` returns the number of its actor.
//
// Thread safety: for the thread in the link.
#pragma once

#include <garrick/base/values/random.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/net/node/internal/large_mail.hpp>
#include <garrick/net/node/internal/unguessable_numbers.hpp>
#include <garrick/net/node/node_settings.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace garrick::net::internal {

/// The local actors that one peer knows.
class exports {
 public:
  struct entry {
    core::address who;
    bool held = false;                          ///< by a strong reference
    bool is_spawned = false;                    ///< for the peer, which holds it
    std::uint64_t sent = 0;                     ///< handles that the peer may have, in all
    std::uint32_t uses = 0;                     ///< calls of `name` without `forget`
    std::uint32_t taken = 0;                    ///< messages that have arrived since the last grant
    std::uint64_t taken_bytes = 0;              ///< the bytes of their payloads
    std::uint32_t window = first_credit;        ///< messages that the peer may send ahead, at most
    std::uint32_t due = first_credit / 2;       ///< the value of `taken` for the next grant
    bool is_owed = false;                       ///< a grant is owed (E3)
    std::vector<const protocol_table*> tables;  ///< the protocols that the peer may use
    const signature_codec* last = nullptr;      ///< the last result of `by_type`
    std::unique_ptr<large_mail> large{};        ///< null: no large message has come yet

    [[nodiscard]] const signature_codec* by_type(std::uint64_t type) noexcept {
      // Consecutive messages often have the same type.
      if (last == nullptr || last->message.type != type) last = look_up(type);
      return last;
    }
    [[nodiscard]] const signature_codec* look_up(std::uint64_t type) const noexcept;
    /// Returns the codec of the actor's answers of this type, or null if it has none.
    [[nodiscard]] const content_codec* answer_by_type(std::uint64_t type) const noexcept;
    /// Returns a signature of `as` with which the peer was never given the actor, or null.
    [[nodiscard]] const signature_codec* lacks(const protocol_table& as) const noexcept;
  };

  /// Draws numbers from the system's randomness, or from the seed if it is not 0.
  explicit exports(std::uint64_t seed);
  ~exports() { clear(); }
  exports(const exports&) = delete;
  exports& operator=(const exports&) = delete;

  /// Counts one more handle on its way to the peer, and returns the actor's number. Requires that
  /// the caller holds the actor. Throws std::bad_alloc, and then nothing has changed.
  [[nodiscard]] actor_id hold(core::cell& who, const protocol_table& as);
  /// The same for an actor that was spawned for the peer.
  [[nodiscard]] actor_id hold_spawned(core::cell& who, const protocol_table& as);
  /// Returns the actor's number without a handle. The number lasts until `forget` was called as
  /// often. Throws std::bad_alloc, and then nothing has changed.
  [[nodiscard]] actor_id name(const core::address& who);
  void forget(const actor_id& id) noexcept;
  /// Returns the entry with this number, or null if there is none any more.
  [[nodiscard]] entry* find(const actor_id& id) noexcept {
    // Consecutive messages often go to the same actor.
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
  /// Returns true if a peer that may know `most` actors may get this one: it knows fewer, or has
  /// this one already.
  [[nodiscard]] bool has_room_for(core::cell& who, std::size_t most) const {
    return by_id_.size() < most || number_of(core::handle_access::make_address(&who)).has_value();
  }
  /// Returns the number of an actor, if it has one.
  [[nodiscard]] std::optional<actor_id> number_of(const core::address& who) const;
  /// Releases `n` of the peer's handles. Returns false, and does nothing, if it never had so many.
  [[nodiscard]] bool release(const actor_id& id, std::uint64_t n) noexcept;
  /// The same by the peer's order, which is ignored if the peer never had so many. Returns the
  /// entry if it is still there, or null.
  ///
  /// A peer that has released some handles, and not all that were sent, may have forgotten the
  /// actor, and then begins with the first credit when the next handle arrives. So the next grant
  /// must become due within the messages that the peer can send. But the peer may also hold another
  /// handle, so its window stays as it was.
  [[nodiscard]] entry* released_by_peer(const actor_id& id, std::uint64_t n) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }
  /// Returns the number of actors that were spawned for the peer, and that it holds.
  [[nodiscard]] std::size_t spawned() const noexcept { return spawned_; }
  /// Removes all entries, and drops their references.
  void clear() noexcept;

  // ---- the messages that the peer may send ahead ------------------------------------------------

  /// Counts a message to the actor, also one that is refused: its sender has taken the credit.
  /// Returns false if the peer has sent too many bytes ahead. Throws std::bad_alloc.
  [[nodiscard]] static bool took(entry& x, std::size_t bytes) {
    ++x.taken;
    x.taken_bytes += bytes;
    return bytes < least_counted || took_large(x, bytes);
  }
  /// Counts a message that goes into the actor's mailbox. `bytes`: of its payload; `memory`: its
  /// size when decoded.
  static void delivers(entry& x, std::size_t bytes, std::size_t memory, bool is_urgent) {
    if (x.large == nullptr) return;
    if (!is_urgent) x.large->delivers();
    if (bytes >= least_counted) x.large->holds(bytes, memory);
  }
  /// Returns true if a grant of messages is due, and none is owed.
  [[nodiscard]] static bool is_due(const entry& x) noexcept {
    return x.taken >= x.due && !x.is_owed;
  }
  /// The same for bytes.
  [[nodiscard]] static bool are_bytes_due(const entry& x) noexcept {
    return x.large != nullptr && x.large->is_due();
  }
  /// Returns true if the actor's mailbox is short, or if the actor has ended. A window that has
  /// grown shows that the actor has read before: then the mailbox counts as short, too, if it was
  /// below a quarter of the window before the `fresh()` messages that have just arrived.
  template <class Fresh>
  [[nodiscard]] static bool keeps_up(const entry& x, Fresh fresh) noexcept {
    const core::cell* const who = core::handle_access::get(x.who);
    // This thread never waits, so messages that are passed on may exceed the proxy's credit.
    if (who->is_elsewhere()) return static_cast<const core::proxy_cell*>(who)->credit() >= 0;
    const std::uint32_t length = who->mailbox_length();
    if (who->has_ended() || length < short_mailbox(*who, x.window)) return true;
    return x.window > first_credit && length < x.window / 4 + static_cast<std::uint64_t>(fresh());
  }
  /// Returns the number of messages of a grant that is due, or 0 if it is owed from now on.
  [[nodiscard]] std::uint32_t grant(const actor_id& id, entry& x, bool keeps_up);
  /// Returns the bytes of a grant that is due, or 0 if it is owed from now on, or not due yet.
  /// `fresh`: messages that have arrived, and are not in the mailbox.
  [[nodiscard]] std::uint64_t grant_bytes(const actor_id& id, entry& x, std::size_t fresh);
  /// Returns the number of messages to grant although the mailbox is long, or 0.
  ///
  /// Two nodes may flood each other from handlers that hold all workers at both ends. Then each end
  /// waits for grants that only the other end's workers could cause. So if all workers here wait,
  /// the peer may send a few messages more, as a local sender may after its patience.
  [[nodiscard]] static std::uint32_t grant_to_stuck(entry& x, bool keeps_up) noexcept;
  /// The same for bytes.
  [[nodiscard]] static std::uint64_t grant_bytes_to_stuck(entry& x) noexcept;
  /// Returns true if a grant is owed.
  [[nodiscard]] bool owes() const noexcept { return !owed_.empty(); }
  /// Returns the actors with an owed grant, some of which may be gone, and empties the list.
  [[nodiscard]] std::vector<actor_id> take_owed();

 private:
  [[nodiscard]] static bool took_large(entry& x, std::size_t bytes);
  void owe(const actor_id& id, const entry& x);
  [[nodiscard]] static bool is_stuck(const core::cell& who) noexcept;
  [[nodiscard]] static std::uint32_t short_mailbox(const core::cell& who,
                                                   std::uint32_t window) noexcept;
  using entries = std::unordered_map<actor_id, entry>;
  [[nodiscard]] entries::iterator find_or_add(const core::address& who);
  [[nodiscard]] std::uint64_t draw();
  void erase_if_unused(entries::iterator at) noexcept;

  entries by_id_;
  actor_id last_id_;       // the last number that `find` has found
  entry* last_ = nullptr;  // its entry in by_id_, or null
  std::unordered_map<core::address, actor_id> by_actor_;
  std::size_t spawned_ = 0;
  std::vector<actor_id> owed_;
  std::optional<base::random_source> seeded_;  ///< for tests
  unguessable_numbers unguessable_;
};

}  // namespace garrick::net::internal
