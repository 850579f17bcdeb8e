// A node's link to one incarnation of a peer: a stack, and tables of actors, requests and watches.
//
// A link lives on an I/O thread or in the simulated network. Senders visit it with envelopes, which
// it encodes and sends. It decodes frames from the stack and puts the messages into mailboxes. The
// tables belong to its parts, each with its own invariants (docs/internals/nodes.md).
//
// Invariants
// L1 A waiting answer counts as an open request, wherever it waits, also if it is not wanted any
//    more. An answer that its giver is still encoding counts only while it is wanted.
// L2 Each message and request that has taken the link's credit has an entry in `credit_` when it is
//    posted, since a node uses only stacks that confirm. The receiver's credit of a message is
//    given back here only if the message does not leave; otherwise the peer grants it.
// L3 No entry of the slot (mail_slot.hpp) is taken while an incoming frame is read: the reader uses
//    tables that an entry would change.
//
// Thread safety: one thread at a time, by `connection` (hosted.hpp).
#pragma once

#include <garrick/base/values/exit_reason.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/seam/answers.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/net/node/handle_codec.hpp>
#include <garrick/net/node/internal/decoding_budget.hpp>
#include <garrick/net/node/internal/link_port.hpp>
#include <garrick/net/node/link/internal/credit.hpp>
#include <garrick/net/node/link/internal/decoding.hpp>
#include <garrick/net/node/link/internal/exports.hpp>
#include <garrick/net/node/link/internal/handles.hpp>
#include <garrick/net/node/link/internal/held_lanes.hpp>
#include <garrick/net/node/link/internal/outbox.hpp>
#include <garrick/net/node/link/internal/peer_requests.hpp>
#include <garrick/net/node/link/internal/questions.hpp>
#include <garrick/net/node/link/internal/watches.hpp>
#include <garrick/net/node/name_answer.hpp>
#include <garrick/net/node/node_settings.hpp>
#include <garrick/net/node/peer_listener.hpp>
#include <garrick/net/node/proxy/internal/peer_hash.hpp>
#include <garrick/net/node/proxy/internal/proxies.hpp>
#include <garrick/net/node/proxy/internal/remote_cell.hpp>
#include <garrick/net/stack/any_link.hpp>
#include <garrick/net/transport/hosted.hpp>
#include <garrick/net/wire/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace garrick::net::internal {

class node_core;

/// A node's end of a link.
class link final : public link_port,
                   carried,
                   link_owner,
                   outbox::owner,
                   watches::names,
                   held_lanes::owner {
 public:
  /// `dialled`: the endpoint to which this end has connected; empty if the peer has connected.
  link(std::shared_ptr<node_core> node, const named_stack& kind, const link_settings& s,
       carrier& below, connection self, std::string dialled);
  ~link() override;

  // link_port
  [[nodiscard]] const peer_identity& peer() const noexcept override { return peer_; }
  [[nodiscard]] const hello* says() const noexcept override { return link_->peer(); }
  [[nodiscard]] const std::string& dialled() const noexcept override { return dialled_; }
  [[nodiscard]] std::vector<link_count> counters() const override;
  [[nodiscard]] const connection& self() const noexcept override { return self_; }
  void let_use() override;
  void finish(const base::error& why) override;
  void leave(const base::error& why) override;
  void shut(const base::error& why) override;
  [[nodiscard]] bool resolve(const std::string& name, const protocol_table& as,
                             std::unique_ptr<name_answer>& done) override;
  std::uint32_t send(remote_cell& to, core::envelope_ptr& e, base::instant until) override;
  [[nodiscard]] bool spawn(const std::string& name, const spawn_arguments& with,
                           const protocol_table& as, std::unique_ptr<name_answer>& done) override;
  void spawned(std::uint64_t number, const spawnable& what,
               base::result<core::any_ref> who) override;
  void signal(remote_cell& to, core::envelope_ptr e) override;
  void send_waiting() override;
  [[nodiscard]] const content_codec* answer(core::envelope_ptr& e) override;
  void handed_on(std::uint64_t request, core::cell& proxy) override;
  void released(remote_cell& who) override;
  void decoded() override;

  // hosted
  carried& stack() override { return *this; }
  [[nodiscard]] bool admitted() const override { return is_open_; }
  void burst(bool is) override;
  void hint(const base::error& why) override;
  void ended(const base::error& why) noexcept override;

 private:
  // carried: the stack, and the link's own deadlines
  void connected(base::instant now) override;
  void disconnected(const base::error& why, base::instant now) override;
  [[nodiscard]] packet greeting(base::instant now) override { return link_->greeting(now); }
  [[nodiscard]] beside answered(std::span<const std::byte> bytes, base::instant now) override {
    return link_->answered(bytes, now);
  }
  void receive(std::span<const std::byte> bytes, base::instant now) override;
  void carrier_writable(base::instant now) override;
  void path_changed(std::size_t largest, base::instant now) override;
  void over(const base::error& why, base::instant now) override;
  [[nodiscard]] base::instant deadline() const override;
  void advance(base::instant now) override;

  // link_owner
  bool on_message(const incoming& m) override;
  void on_event(const link_event& e) override;

  // outbox::owner
  void give_up(outgoing& m, const base::error& why) override;
  bool may_leave(outgoing& m) override;

  // watches::names
  [[nodiscard]] actor_id name(const core::address& who) override { return exports_.name(who); }
  void forget(const actor_id& id) noexcept override { exports_.forget(id); }

  // held_lanes::owner
  [[nodiscard]] const content_codec* codec_of(const frame& f) override;
  void read_held(const frame& f, bool is_late, decoding* by) override;
  void delivered(lane_number lane) override {
    if (!is_closed_) link_->delivered(lane, now());
  }

  void end_unused(base::instant now);        // the peer has not let the link be used in time
  void leave_if_done();                      // if `finish` was called, and nothing is under way
  void notice(const peer_evidence& what);    // tells the node, if it uses this link
  void not_reached(const base::error& why);  // tells the node; no error: there is a connection

  // sending
  [[nodiscard]] base::instant now() const;
  [[nodiscard]] base::instant actors_now() const;  // of the clock that limits requests
  [[nodiscard]] packet empty_payload() const;
  template <class T>
  [[nodiscard]] std::optional<packet> payload_of(const T& value) {
    base::result<packet> p = encode(value, {.front = front()});
    if (!p) return std::nullopt;
    return std::move(*p);
  }
  /// Returns the room in front of a payload.
  [[nodiscard]] std::size_t front() const { return frame_room + link_->header_size(); }
  /// Posts a frame. Requires that no waiting frame has to go before it.
  void post(outgoing m, base::instant at);
  /// Sends a message that was counted as `counted_as` messages, and returns its count from now on.
  /// With `counted_as` 0 it counts as 1, but a message above `most_encoded_inside` is left to the
  /// caller, and 0 is returned. The message goes in the lane of `by`, with this `payload` if any.
  std::uint32_t send_now(remote_cell& to, core::envelope_ptr& e, base::instant until,
                         std::uint64_t by, std::uint32_t counted_as, packet payload = {});
  void signal_now(remote_cell& to, core::envelope_ptr e);
  /// Does the same as `answer`, but no entry may wait before this answer. Leaves the answer to the
  /// caller only if `may_be_left` is true and the answer is larger than `most_encoded_inside`.
  const content_codec* answer_now(core::envelope_ptr& left, bool may_be_left);
  /// Sends an answer that its giver has encoded.
  void answer_now(std::uint64_t number, const base::message_type* type, packet payload);
  void answer_taken(mail_slot::entry& e);
  void released_now(remote_cell& who);
  void send_taken(mail_slot::entry& e, base::instant at);
  void send_signals() {
    if (outbox_.any_signals()) outbox_.send_signals(now());
  }
  void post_releases();
  void post(const frame& f, packet payload);
  void post_written(outgoing m);
  /// Calls the stack from below. Messages that it passes up are held until the call returns, or
  /// until its burst is over; then waiting frames are sent if the stack has room again.
  template <class F>
  void from_below(F call) {
    holds_ = true;  // if `call` throws, the link ends, and `close` delivers
    if (!lanes_.empty()) [[unlikely]]
      lanes_.go_on();
    call();
    if (!in_burst_) let_go();
  }
  void let_go();  // delivers the held messages, and sends the frames that waited meanwhile
  /// Returns the number of the peer's requests without an answer in the stack.
  [[nodiscard]] std::size_t unanswered() const noexcept;
  void flush();
  [[nodiscard]] std::string_view content_name(const frame& f);
  void settle(std::uint64_t report, const base::error& why);
  [[nodiscard]] actor_id sender_id(std::uint64_t local) const noexcept {
    return asker_->how().sender(local);
  }
  [[nodiscard]] std::uint64_t local_sender(const actor_id& id) const noexcept;
  [[nodiscard]] lane_number lane_of(const peer_requests::request& to) const noexcept;
  [[nodiscard]] outgoing answer_to(const peer_requests::request& to, frame f, packet payload) const;
  void send_error(const peer_requests::request& to, std::uint64_t number, const base::error& why);
  void send_wrong_type(const peer_requests::request& to, std::uint64_t number,
                       const base::message_type* type);
  void signal_withdrawn(remote_cell& to, const questions::asked_by& who);
  void signal_watch(remote_cell& to, const core::address& watcher, std::uint64_t monitor);
  void signal_unwatch(remote_cell& to, const core::address& watcher, std::uint64_t monitor);
  void signal_exit(remote_cell& to, const core::exit_signal& x);
  void signal_down(remote_cell& to, const core::address& dead, const base::exit_reason& why,
                   std::uint64_t monitor);

  // receiving
  [[nodiscard]] bool begins_use();  // before a first frame; returns false if it may not be read
  void read(const frame& f, bool is_late);
  void on_frame(const frame& f);
  void release_unread();
  void on_user_message(const frame& f);
  /// Returns true if `hand_over` is to deliver the message, false if it was refused.
  [[nodiscard]] bool take_in(const frame& f, exports::entry& x);
  void refuse(const frame& f, const base::error& why);
  [[nodiscard]] base::result<core::envelope*> read_content(const content_codec& how,
                                                           const frame& f);
  void hand_over();
  void deliver_held() noexcept;
  [[nodiscard]] bool keeps_up(const exports::entry& x) const noexcept;
  void grant(const actor_id& id, std::uint32_t number, std::uint64_t bytes);
  /// `fresh`: messages that have arrived, and are not in their mailboxes yet.
  void grant_or_owe(const actor_id& id, exports::entry& x, std::size_t fresh);
  void grant_owed();
  void on_cancel(const frame& f);
  void on_answer(const frame& f);
  void on_watch(const frame& f, std::uint64_t monitor);
  /// Answers a watch that is refused: its actor is gone, or there is no room for the watch.
  void refuse_watch(const frame& f, std::uint64_t monitor, const base::exit_reason& why);
  void on_unwatch(const frame& f, std::uint64_t monitor);
  void on_down(const frame& f);
  void on_exit(const frame& f);
  [[nodiscard]] bool lets_end() noexcept;
  void on_kill(const frame& f);
  void on_credit(const frame& f);
  void on_release(const frame& f);
  void on_resolve(const frame& f);
  void on_resolved(const frame& f);
  void resolved_here(questions::question q, const actor_id& id);
  void on_spawn(const frame& f);
  void on_spawned(const frame& f);
  void on_decode_error(const frame& f);

  void close(const base::error& why) noexcept;
  void end_watches(const base::exit_reason& reason) noexcept;

  struct held_message {  // incoming, and not in its mailbox yet
    exports::entry* to = nullptr;
    actor_id id;
    core::envelope_ptr what;
  };
  static constexpr std::size_t most_held = 1024;

  const std::shared_ptr<node_core> node_;
  const connection self_;
  const std::string dialled_;
  std::unique_ptr<any_link> link_;
  const std::uint32_t most_requests_;  // without an answer, at a time
  answering_cell* asker_;              // a strong reference
  peer_identity peer_;
  std::shared_ptr<foreign_names> names_;  // the peer's; null before it is open
  bool is_open_ = false;
  bool is_used_ = false;    // of several links to the peer, the node has chosen this
  bool is_shut_ = false;    // nothing is delivered any more
  bool is_closed_ = false;  // `close` was called
  base::error why_;
  base::error leaves_for_;  // the reason of `finish`

  exports exports_;
  const peer_hash hash_;
  proxies proxies_;
  handles handles_;
  questions questions_;
  peer_requests asked_;
  watches watches_;
  std::uint32_t spawning_ = 0;  // actors that are being made for the peer
  std::uint64_t next_number_ = 0;

  outbox outbox_;
  credit credit_{*asker_};
  bool holds_ = false;              // messages are held: a call from below, or a burst, is running
  bool in_burst_ = false;           // further calls from below follow
  bool flushes_ = false;            // `let_go` has to flush
  std::vector<held_message> held_;  // for `hand_over`
  decoding_budget budget_;
  held_lanes lanes_;
  std::size_t read_cost_ = 0;    // the memory of the content that was read last
  decoding* decoded_ = nullptr;  // has the value of the frame that is read; or null
  base::instant next_look_ = base::instant::never();
  base::instant use_by_ = base::instant::never();  // the end of the time to come into use
  std::uint64_t to_nobody_ = 0;                    // messages and requests with an unknown receiver
  std::uint64_t not_decoded_ = 0;   // messages, requests and answers with wrong bytes
  std::uint64_t not_encoded_ = 0;   // answers; their askers got an error
  std::uint64_t ends_refused_ = 0;  // exits and kills
};

}  // namespace garrick::net::internal
