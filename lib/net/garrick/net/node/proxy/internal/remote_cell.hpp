// The proxy of one actor of a peer, and the cell that answers a peer's requests.
//
// What is sent to a proxy visits the link on the sender's thread; the link encodes it and puts it
// on its way (link_port.hpp). If somebody else is in, the sender encodes it, and leaves the frame
// there (mail_slot.hpp). The giver of an answer does the same, and the sender of a large
// message does so also while the link is free. If the visit cannot be made, because the link is
// over or too many wait, the message is lost in the proper way: a dead letter, an answer to the
// request.
//
// Thread safety: as proxy_cell, but for what is said to belong to the link.
#pragma once

#include <garrick/core/seam/handles.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/net/node/node_settings.hpp>
#include <garrick/net/node/protocol_table.hpp>
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

/// A message or an answer of more bytes is not encoded in the link, where it would hold up other
/// senders, and incoming messages, for milliseconds.
inline constexpr std::size_t most_encoded_inside = std::size_t{256} << 10;

/// Two types of content that were encoded before: the last one that only the link can encode, since
/// it has handles, and the last one that was large. Any thread.
class encoding_hints {
 public:
  /// Returns true if only the link can encode such content, as far as is known.
  [[nodiscard]] bool needs_link(const base::message_type* content) const noexcept {
    return needs_link_.load(std::memory_order_relaxed) == content;  // order: a hint
  }
  void set_needs_link(const base::message_type* content) noexcept {
    needs_link_.store(content, std::memory_order_relaxed);  // order: as above
  }
  /// Returns true if such content is encoded outside of the link, which ends with a small one.
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

/// Who has asked, for the actors here: one for all requests of a peer. An answer to it becomes a
/// frame, and it knows which of them are still wanted. It also has what all proxies of the link
/// share: its credit, and what waits for it.
class answering_cell final : public core::proxy_cell {
 public:
  /// What a sender has to know to encode a message for a link.
  struct encoding {
    std::size_t headers = 0;  ///< of the layers
    std::uint64_t salt = 0;   ///< of the numbers of senders
    /// Chooses the lane, and tells the peer no number of ours.
    [[nodiscard]] actor_id sender(std::uint64_t local) const noexcept {
      return {(local + 1) * 0x9e3779b97f4a7c15u ^ salt, 1};
    }
  };
  /// One strong handle, which is the caller's.
  answering_cell(core::environment& env, connection link, const encoding& how,
                 const node_settings& s);
  std::string_view type_name() const noexcept override { return "asker in another node"; }
  /// Waits, where that is allowed, until something more may be under way. False: so much is, or
  /// waits, that the message is to be lost: its sender has no credit, and does not pause for it.
  /// What passes here is not looked at again, for others may take the room meanwhile. So each
  /// thread may exceed the limit by a message. What has credit passes without a look at the room:
  /// that is half of it at most.
  [[nodiscard]] bool take_credit() noexcept;
  /// As `take_credit`, where only large messages have used up the credit: the next message need not
  /// wait for them unless it is large itself (`pause`). Returns false, and takes nothing, if there
  /// is credit, or if other messages owe it, too.
  [[nodiscard]] bool pass_large_ones() noexcept;
  /// The message that has passed is large, too: its sender waits now, or pauses after its handler.
  void pause() noexcept;
  /// How many messages one of this size counts as.
  [[nodiscard]] std::uint32_t weight_of(std::size_t bytes) const noexcept {
    // Most are too small for a division.
    return bytes < bytes_a_credit_ ? 1 : 1 + static_cast<std::uint32_t>(bytes / bytes_a_credit_);
  }
  /// A message that was counted as `counted_as` is as large as `weight` messages.
  void weigh(std::uint32_t weight, std::uint32_t counted_as = 1) noexcept {
    if (weight == counted_as) return;
    owe(weight - counted_as);
    if (is_large(weight)) count_large(weight - (is_large(counted_as) ? counted_as : 0));
  }
  /// Returns true if a message that counts as so many is a large one.
  [[nodiscard]] bool is_large(std::uint32_t weight) const noexcept {
    return weight > 1 + large_message / bytes_a_credit_;
  }
  /// A message that counts as so many did not get under way.
  void give_back(std::uint32_t weight) noexcept {
    if (is_large(weight)) count_large(-std::int64_t{weight});
    grant(weight);
  }
  /// So many are not under way any more, of which `large` were counted for large ones: the peer
  /// goes on.
  void confirm(std::uint32_t messages, std::uint32_t large) noexcept {
    if (large != 0) count_large(-std::int64_t{large});
    // A line of the cache that senders read is not written to for nothing.
    if (waits_in_vain_.load(std::memory_order_relaxed))        // order: a hint
      waits_in_vain_.store(false, std::memory_order_relaxed);  // order: as above
    grant(messages);
  }
  /// What the link knows of the peer's requests.
  [[nodiscard]] wanted_requests& wanted() noexcept { return wanted_; }
  [[nodiscard]] base::instant wanted_until(std::uint64_t request) const noexcept override {
    return wanted_.until(request);
  }
  [[nodiscard]] mail_slot& slot() noexcept { return slot_; }
  /// The hints for answers.
  [[nodiscard]] encoding_hints& hints() noexcept { return hints_; }
  /// Notes how the answer to a request is encoded, so that its giver can do so. The thread in the
  /// link calls it before the request is delivered.
  void learn(const content_codec& answer) noexcept {
    std::atomic<const content_codec*>& known = answers_[place_of(answer.content)];
    // order: relaxed; only the thread in the link writes here
    const content_codec* const last = known.load(std::memory_order_relaxed);
    // order: release, pairs with `codec_of`: it is a constant, once it is made
    if (last == nullptr || last->content != answer.content)
      known.store(&answer, std::memory_order_release);
  }
  /// Whose lane a message or a request goes in: the number of an actor here, or 0 for threads and
  /// for who asks or sends from another node. On the thread that sends it.
  [[nodiscard]] static std::uint64_t whose_lane(const core::envelope& e) noexcept;
  [[nodiscard]] const encoding& how() const noexcept { return how_; }
  /// Calls `f(link_port&)` behind what waits. False: somebody else is in the link, or it is over.
  template <class F>
  [[nodiscard]] bool let_in(F f) noexcept;
  /// Lets the link take what waits; if that cannot be, it is lost.
  void bring_visit() noexcept;
  /// The same for the first message that was left. If perhaps no thread is in the link, this one
  /// goes in before it brings a visit.
  void get_taken(bool may_be_free) noexcept;
  /// Leaves something that is no message for the link, however much waits. False: there is no
  /// memory, and the envelope is as it was.
  [[nodiscard]] bool leave(core::cell& to, core::envelope_ptr& e, mail_slot::kind as) noexcept;
  void lose_waiting() noexcept;

 private:
  ~answering_cell() = default;
  void forward(core::envelope_ptr e, base::instant) noexcept override;
  void forward_signal(core::envelope_ptr e) noexcept override;
  void free_self() noexcept override { delete this; }

  /// Returns an answer's codec, or null if it is not known, or another type's is in its place.
  [[nodiscard]] const content_codec* codec_of(const core::envelope& answer) const noexcept;
  /// Leaves an answer for the link: encoded if there is a codec, and then the envelope stays the
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
  const std::size_t bytes_a_credit_;  // half of the bytes that may wait are all credit
  const encoding how_;
  // Senders and the link's thread write here for each message. What they only read for each lies in
  // other cache lines.
  alignas(64) mail_slot slot_;
  std::atomic<bool> waits_in_vain_{false};  // an actor has, for room, and nothing was confirmed
  std::atomic<std::int64_t> large_{0};      // the credit that large messages have taken
  wanted_requests wanted_;
  encoding_hints hints_;
  std::array<std::atomic<const content_codec*>, 16> answers_{};  // of the contents last asked for
};

/// An actor of a peer.
class remote_cell final : public core::proxy_cell {
 public:
  /// One strong handle, which is the caller's. Holds `link_credit`.
  remote_cell(connection link, answering_cell& link_credit, const actor_id& id,
              base::duration patience);
  std::string_view type_name() const noexcept override { return "actor of another node"; }
  core::understanding understands(const base::message_type* message,
                                  const base::message_type* answer) noexcept override;

  [[nodiscard]] const actor_id& id() const noexcept { return id_; }
  /// This process' number for it.
  [[nodiscard]] std::uint64_t local_id() const noexcept { return cell::id(); }
  [[nodiscard]] const connection& link() const noexcept { return link_; }

  // ---- the link's ---------------------------------------------------------------------------

  std::uint64_t received = 0;  ///< handles that have come, and were not released
  /// It was seen with this protocol. Throws std::bad_alloc.
  void seen_as(const protocol_table& t);
  /// The signature of what is to be sent; null: it was never seen with such a one.
  [[nodiscard]] const signature_codec* by_content(const base::message_type* m) const noexcept;
  /// The signature of what was sent, by its number; null: as above.
  [[nodiscard]] const signature_codec* by_type(std::uint64_t type) const noexcept;
  void grant_credit(std::uint32_t messages) noexcept { grant(messages); }
  [[nodiscard]] encoding_hints& hints() noexcept { return hints_; }
  /// The message, which counts as `weight` messages, did not get on its way: the credit that it has
  /// taken is given back.
  void lost(core::envelope_ptr e, base::error why, std::uint32_t weight = 1) noexcept {
    link_credit_.give_back(weight);
    grant(1);
    lose(std::move(e), std::move(why));
  }
  /// What a message ends with for which there is no room.
  [[nodiscard]] base::error too_much_waits() const;
  /// As above, of a request whose time was over: it is answered so.
  void overdue(const core::envelope_ptr& e, std::uint32_t weight) noexcept;
  /// As above, of a message whose envelope is gone.
  void lost(const base::message_type* type, std::uint64_t sender, std::uint32_t weight,
            const base::error& why) noexcept;
  /// As above, whatever it was.
  static void lose_entry(mail_slot::entry& e) noexcept;
  /// A signal that did not get on its way.
  void lost_signal(const core::envelope_ptr& e, const base::exit_reason& why) noexcept;
  /// Leaves a message that has credit for the link, and sets `weight` to the number of messages
  /// that it counts as. Returns true if nothing waited before: then the caller brings a visit. Any
  /// thread.
  [[nodiscard]] bool leave_waiting(core::envelope_ptr e, base::instant until,
                                   std::uint32_t& weight) noexcept;
  /// Itself, by its identity.
  [[nodiscard]] core::address address() noexcept { return core::handle_access::make_address(this); }
  using proxy_cell::tell_down;
  using proxy_cell::tell_exit;

 private:
  ~remote_cell() { link_credit_.drop_strong(); }
  void forward(core::envelope_ptr e, base::instant until) noexcept override;
  void forward_signal(core::envelope_ptr e) noexcept override;
  void nobody_holds_it() noexcept override;
  void free_self() noexcept override { delete this; }
  [[nodiscard]] bool leave_encoded(core::envelope_ptr& e, base::instant until, bool& first,
                                   std::uint32_t& weight);
  [[nodiscard]] std::size_t encoded_size(const core::envelope& e) const;

  const connection link_;
  answering_cell& link_credit_;
  const actor_id id_;
  std::vector<const protocol_table*> tables_;  // the link's; written and asked under a mutex
  std::atomic<const protocol_table*> first_table_{nullptr};  // of tables_, for senders
  encoding_hints hints_;
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace garrick::net::internal
