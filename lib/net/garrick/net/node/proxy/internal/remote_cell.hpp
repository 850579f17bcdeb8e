// The proxy of one actor of a peer, and the cell that answers a peer's requests.
//
// A message to a proxy visits the link on the sender's thread; the link encodes it and sends it off
// (link_port.hpp). If another thread is in the link, the sender encodes the message, and leaves the
// frame for the link (mail_slot.hpp). The giver of an answer does the same, and the sender of a
// large message does so even while the link is free. If the visit cannot be made, because the link
// is over or too many wait, the message becomes a dead letter, or the request is answered with an
// error.
//
// Thread safety: that of proxy_cell, except for the part that is for the thread in the link.
#pragma once

#include <garrick/core/seam/handles.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/net/node/node_settings.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/node/proxy/internal/byte_credit.hpp>
#include <garrick/net/node/proxy/internal/mail_slot.hpp>
#include <garrick/net/node/proxy/internal/wanted_requests.hpp>
#include <garrick/net/transport/hosted.hpp>
#include <garrick/net/wire/frame.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace garrick::net::internal {

/// The largest encoded content that the link may encode, in bytes. A larger one would hold up other
/// senders, and incoming messages, for milliseconds.
inline constexpr std::size_t most_encoded_inside = std::size_t{256} << 10;

/// Two types of content from earlier messages: the last one that only the link can encode, since it
/// has handles, and the last one that was large. Any thread.
class encoding_hints {
 public:
  /// Returns true if only the link can encode such content, as far as is known.
  [[nodiscard]] bool needs_link(const base::message_type* content) const noexcept {
    return needs_link_.load(std::memory_order_relaxed) == content;  // order: a hint
  }
  void set_needs_link(const base::message_type* content) noexcept {
    needs_link_.store(content, std::memory_order_relaxed);  // order: as above
  }
  /// Returns true if content of this type is encoded outside of the link, until a small one is
  /// noted.
  [[nodiscard]] bool is_large(const base::message_type* content) const noexcept {
    return large_.load(std::memory_order_relaxed) == content;  // order: as above
  }
  /// Notes that such content is large, or by null that no content is.
  void set_large(const base::message_type* content) noexcept {
    large_.store(content, std::memory_order_relaxed);  // order: as above
  }
  /// Notes the size of an encoded content.
  void note_size(const base::message_type* content, std::size_t bytes) noexcept {
    if (const bool is = bytes > most_encoded_inside; is != is_large(content))
      set_large(is ? content : nullptr);
  }

 private:
  std::atomic<const base::message_type*> needs_link_{nullptr};
  std::atomic<const base::message_type*> large_{nullptr};
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN

/// The asker of all requests of a peer, for the actors here. An answer to it becomes a frame, and
/// it knows which requests are still wanted. It also has the parts that all proxies of the link
/// share: its credit, and the slot for waiting entries.
class answering_cell final : public core::proxy_cell {
 public:
  /// The facts that a sender needs to encode a message for a link.
  struct encoding {
    std::size_t headers = 0;  ///< the layers' room in front of a frame
    std::uint64_t salt = 0;   ///< a secret that hides the numbers of senders
    /// Returns the number of a sender for its frames: it decides the lane, and hides the actor's
    /// own number from the peer.
    [[nodiscard]] actor_id sender(std::uint64_t local) const noexcept {
      return {(local + 1) * 0x9e3779b97f4a7c15u ^ salt, 1};
    }
  };
  /// Starts with one strong handle, which is the caller's.
  answering_cell(core::environment& env, connection link, const encoding& how,
                 const node_settings& s);
  std::string_view type_name() const noexcept override { return "asker in another node"; }
  /// Takes credit for one message; waits for it where that is allowed. Returns false if the message
  /// must be lost: too much is under way, or waits, and the sender cannot pause. The room of a
  /// message that passes is not checked again, though other threads may take it meanwhile: each
  /// thread may exceed the limit by one message. A message with credit passes without a check: all
  /// credit together is at most half of the room.
  [[nodiscard]] bool take_credit() noexcept;
  /// Takes credit for one message if only large messages have used the credit up: the message need
  /// not wait for them unless it is large itself (`pause`). Returns false, and takes nothing, if
  /// there is credit, if other messages have used it up, too, or if the slot has no room.
  [[nodiscard]] bool pass_large_ones() noexcept;
  /// Handles a message that passed large ones and proved large itself: its sender waits now, or
  /// pauses after its handler.
  void pause() noexcept;
  /// Returns the number of messages that one of this size counts as.
  [[nodiscard]] std::uint32_t weight_of(std::size_t bytes) const noexcept {
    // Most are too small for a division.
    return bytes < bytes_a_credit_ ? 1 : 1 + static_cast<std::uint32_t>(bytes / bytes_a_credit_);
  }
  /// Counts a message, which counted as `counted_as` messages so far, as `weight` messages.
  void weigh(std::uint32_t weight, std::uint32_t counted_as = 1) noexcept {
    if (weight == counted_as) return;
    owe(weight - counted_as);
    if (is_large(weight)) count_large(weight - (is_large(counted_as) ? counted_as : 0));
  }
  /// Returns true if a message that counts as so many is a large one.
  [[nodiscard]] bool is_large(std::uint32_t weight) const noexcept {
    return weight > 1 + large_message / bytes_a_credit_;
  }
  /// Gives back the credit of a message that did not get under way.
  void give_back(std::uint32_t weight) noexcept {
    if (is_large(weight)) count_large(-std::int64_t{weight});
    grant(weight);
  }
  /// Gives back the credit of confirmed messages, of which large messages have taken `large`.
  void confirm(std::uint32_t messages, std::uint32_t large) noexcept {
    if (large != 0) count_large(-std::int64_t{large});
    // Senders read this cache line, so it is written to only if the value changes.
    if (waits_in_vain_.load(std::memory_order_relaxed))        // order: a hint
      waits_in_vain_.store(false, std::memory_order_relaxed);  // order: as above
    grant(messages);
  }
  /// Returns the limits and withdrawals of the peer's requests.
  [[nodiscard]] wanted_requests& wanted() noexcept { return wanted_; }
  [[nodiscard]] base::instant wanted_until(std::uint64_t request) const noexcept override {
    return wanted_.until(request);
  }
  [[nodiscard]] mail_slot& slot() noexcept { return slot_; }
  /// Returns the hints for answers.
  [[nodiscard]] encoding_hints& hints() noexcept { return hints_; }
  /// Notes how the answer to a request is encoded, for its giver. Called by the thread in the link
  /// before the request is delivered.
  void learn(const content_codec& answer) noexcept {
    std::atomic<const content_codec*>& known = answers_[place_of(answer.content)];
    // order: relaxed; only the thread in the link writes here
    const content_codec* const last = known.load(std::memory_order_relaxed);
    // order: release, pairs with `codec_of`: it is a constant, once it is made
    if (last == nullptr || last->content != answer.content)
      known.store(&answer, std::memory_order_release);
  }
  /// Returns the number of the actor that decides the lane of a message or a request; 0 for threads
  /// and for senders in other nodes. Must run on the sending thread.
  [[nodiscard]] static std::uint64_t whose_lane(const core::envelope& e) noexcept;
  [[nodiscard]] const encoding& how() const noexcept { return how_; }
  /// Calls `f(link_port&)` after the waiting entries were sent. Returns false if another thread is
  /// in the link, or if the link is over.
  template <class F>
  [[nodiscard]] bool let_in(F f) noexcept;
  /// Lets the link take the waiting entries by a visit in line; loses them if that is impossible.
  void bring_visit() noexcept;
  /// Ensures that the link takes the first entry that was left. If perhaps no thread is in the
  /// link, tries to enter it before it brings a visit.
  void get_taken(bool may_be_free) noexcept;
  /// Leaves an entry other than a message for the link, however much waits. Returns false, with the
  /// envelope as it was, if there is no memory.
  [[nodiscard]] bool leave(core::cell& to, core::envelope_ptr& e, mail_slot::kind as) noexcept;
  void lose_waiting() noexcept;

 private:
  ~answering_cell() = default;
  void forward(core::envelope_ptr e, base::instant) noexcept override;
  void forward_signal(core::envelope_ptr e) noexcept override;
  void free_self() noexcept override { delete this; }

  /// Returns an answer's codec, or null if it is unknown, or displaced by another type's.
  [[nodiscard]] const content_codec* codec_of(const core::envelope& answer) const noexcept;
  /// Leaves an answer for the link, encoded if there is a codec; then the envelope stays the
  /// caller's. Returns true if the caller has to bring a visit.
  [[nodiscard]] bool leave_answer(core::envelope_ptr& e, const content_codec* how) noexcept;
  static std::size_t place_of(const base::message_type* content) noexcept {
    const std::uint64_t spread = reinterpret_cast<std::uintptr_t>(content) * 0x9e3779b97f4a7c15u;
    return spread >> 60;
  }

  void count_large(std::int64_t more) noexcept {
    large_.fetch_add(more, std::memory_order_relaxed);  // order: a count
  }

  const connection link_;
  const std::uint32_t most_under_way_;
  const std::size_t bytes_a_credit_;  // all credit together is half of the bytes that may wait
  const encoding how_;
  // Senders and the link's thread write here for each message. Fields that they only read lie in
  // other cache lines.
  alignas(64) mail_slot slot_;
  // True if an actor has waited in vain since the last confirmation:
  std::atomic<bool> waits_in_vain_{false};
  std::atomic<std::int64_t> large_{0};  // the credit that large messages have taken
  wanted_requests wanted_;
  encoding_hints hints_;
  std::array<std::atomic<const content_codec*>, 16> answers_{};  // for the answers expected last
};

/// The proxy of one actor of a peer.
class remote_cell final : public core::proxy_cell {
 public:
  /// Starts with one strong handle, which is the caller's. Holds `link_credit`.
  remote_cell(connection link, answering_cell& link_credit, const actor_id& id,
              base::duration patience);
  std::string_view type_name() const noexcept override { return "actor of another node"; }
  core::understanding understands(const base::message_type* message,
                                  const base::message_type* answer) noexcept override;

  [[nodiscard]] const actor_id& id() const noexcept { return id_; }
  /// Returns this process' number of the actor.
  [[nodiscard]] std::uint64_t local_id() const noexcept { return cell::id(); }
  [[nodiscard]] const connection& link() const noexcept { return link_; }

  // ---- the link's ---------------------------------------------------------------------------

  std::uint64_t received = 0;  ///< handles that have come, and were not released
  /// Notes that a handle came with this protocol. Throws std::bad_alloc.
  void seen_as(const protocol_table& t);
  /// Returns the signature for an outgoing message, or null if no protocol of the proxy has it.
  [[nodiscard]] const signature_codec* by_content(const base::message_type* m) const noexcept;
  /// Returns the signature of a message that was sent, by its number, or null as above.
  [[nodiscard]] const signature_codec* by_type(std::uint64_t type) const noexcept;
  void grant_credit(std::uint32_t messages) noexcept { grant(messages); }
  /// Adds bytes that the peer has granted.
  void grant_bytes(std::uint64_t bytes) noexcept {
    waits_in_vain_.store(false, std::memory_order_relaxed);  // order: a hint
    bytes_.give(bytes, [this](std::uint32_t block) { grant(block); });
  }
  /// Takes the bytes of a payload, if it is large. Returns false, and takes nothing, if the message
  /// must be lost, with `too_many_bytes`. Any thread.
  [[nodiscard]] bool take_bytes(std::size_t payload) noexcept {
    return !byte_credit::counts(payload) ||
           bytes_.take(payload, [this](std::uint32_t block) { owe(block); });
  }
  /// Gives the bytes of a message back that did not get under way. Any thread.
  void give_bytes_back(std::size_t payload) noexcept {
    if (byte_credit::counts(payload))
      bytes_.give(payload, [this](std::uint32_t block) { grant(block); });
  }
  /// Returns the bytes of large messages that may be sent; a negative number is a debt. Any thread.
  [[nodiscard]] std::int64_t bytes_left() const noexcept { return bytes_.left(); }
  [[nodiscard]] encoding_hints& hints() noexcept { return hints_; }
  /// Loses a message that counts as `weight` messages, and did not get under way: gives back the
  /// credit that it has taken.
  void lost(core::envelope_ptr e, base::error why, std::uint32_t weight = 1) noexcept {
    link_credit_.give_back(weight);
    grant(1);
    lose(std::move(e), std::move(why));
  }
  /// Returns the error of a message for which there is no room.
  [[nodiscard]] base::error too_much_waits() const;
  /// Returns the error of a message whose receiver does not keep up with so many bytes.
  [[nodiscard]] base::error too_many_bytes() const;
  /// Does the same as `lost` for a request after its time, and answers it with a time-out.
  void overdue(const core::envelope_ptr& e, std::uint32_t weight) noexcept;
  /// Does the same as `lost` for a message without its envelope.
  void lost(const base::message_type* type, std::uint64_t sender, std::uint32_t weight,
            const base::error& why) noexcept;
  /// Loses an entry of any kind.
  static void lose_entry(mail_slot::entry& e) noexcept;
  /// Loses a signal that did not get under way.
  void lost_signal(const core::envelope_ptr& e, const base::exit_reason& why) noexcept;
  /// Leaves a message that has credit for the link, and sets `weight` to the number of messages
  /// that it counts as. Returns true if nothing waited before: then the caller brings a visit. Any
  /// thread.
  [[nodiscard]] bool leave_waiting(core::envelope_ptr e, base::instant until,
                                   std::uint32_t& weight) noexcept;
  /// Returns the proxy's own address.
  [[nodiscard]] core::address address() noexcept { return core::handle_access::make_address(this); }
  using proxy_cell::tell_down;
  using proxy_cell::tell_exit;

 private:
  ~remote_cell() { link_credit_.drop_strong(); }
  void forward(core::envelope_ptr e, base::instant until) noexcept override;
  void forward_signal(core::envelope_ptr e) noexcept override;
  void nobody_holds_it() noexcept override;
  void free_self() noexcept override { delete this; }
  /// Waits until the bytes suffice for a large message, as a thread waits for credit.
  void wait_for_bytes() noexcept;
  [[nodiscard]] bool leave_encoded(core::envelope_ptr& e, base::instant until, bool& first,
                                   std::uint32_t& weight);
  [[nodiscard]] bool leave_encoded(core::envelope_ptr& e, base::instant until, packet payload,
                                   const content_codec& how, std::uint32_t& weight);
  [[nodiscard]] std::size_t encoded_size(const core::envelope& e) const;

  const connection link_;
  answering_cell& link_credit_;
  const actor_id id_;
  std::vector<const protocol_table*> tables_;  // the link's; a mutex guards reads of other threads
  std::atomic<const protocol_table*> first_table_{nullptr};  // of tables_, for senders
  encoding_hints hints_;
  byte_credit bytes_;
  // True if a sender has waited for bytes in vain since the peer granted some:
  std::atomic<bool> waits_in_vain_{false};
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace garrick::net::internal
