// The top of a stack that carries the actor protocol: each question has exactly one answer (paper
// 004, §4.1: "processing confirmation").
//
// The layers below move bytes from end to end; frames are about actors (wire/frame.hpp). This layer
// tracks the frames that ask (request, resolve, spawn) on their way down, and their answers on the
// way up. An answer that was never asked for, comes from an actor that was not asked, or comes
// after the asker stopped waiting, is counted and dropped. If the answer to a question cannot come
// any more, because its deadline is over or because the link is down, the owner gets an error frame
// instead, as if the other end had sent it. So a question ends once, by a frame with its number,
// over every stack. This is the guarantee `processed`; the layers below give `at_most_once` and
// `to_mailbox`.
//
// A frame's lane follows from its pair of actors, so messages from one actor to another stay in
// order. Frames about lifetimes (link, monitor, down, exit, kill) go in the lane of the system.
//
// Invariants:
//   A1  A question is in questions_ from `send` until its one answer comes or a `cancel` is sent.
//   A2  by_time_ has an entry for each question with a deadline, and no other.
//   A3  A peer's bytes never end the process. Bytes that are not a frame are counted, dropped, and
//       reported to the peer by a decode_error without receiver, unless the layer below is full or
//       the bytes are a broken decode_error.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/wire/frame.hpp"

namespace garrick::net {

class foreign_names;  // wire/known_codecs.hpp

/// Returns the lane of a frame, which follows from its kind, its sender and its receiver.
[[nodiscard]] lane_number lane_of(const frame& f) noexcept;

/// Returns a frame ready to be sent: puts its header in front of `payload`, which has room for it
/// (`frame_room`) and for the layers, and chooses its lane.
///
///     base::result<packet> p = encode(order, {.front = frame_room + link.header_size()});
///     link.send(to_outgoing({.kind = frame_kind::message, .receiver = to}, std::move(*p)), now);
[[nodiscard]] outgoing to_outgoing(const frame& f, packet payload);
/// Returns the frame of a message without extensions, ready to be sent.
[[nodiscard]] outgoing message_to(const actor_id& receiver, const actor_id& sender,
                                  std::uint64_t type, packet payload);

/// Returns the answer to a question that could not be handled, or to a message that could not be
/// decoded: an `error` or a `decode_error` with `why`. `front` is the room that the layers want.
[[nodiscard]] outgoing refusal_of(const frame& f, const base::error& why, std::size_t front);

/// Returns the error in an `error` or `decode_error`; `net_errc::decode_failed` if its payload is
/// no error. `names`: as in `decode_limits`.
[[nodiscard]] base::error error_of(const frame& f, foreign_names* names = nullptr);

/// Settings of `actor_protocol`.
struct actor_protocol_settings {
  std::uint32_t most_questions = 1u << 16;  ///< open questions, at least 1; with as many the layer
                                            ///< is not writable
};

/// Counters of `actor_protocol`.
struct actor_protocol_counters {
  std::uint64_t questions = 0;   ///< questions asked
  std::uint64_t timeouts = 0;    ///< questions that ended by their deadline
  std::uint64_t unanswered = 0;  ///< questions that ended with the link
  std::uint64_t cancelled = 0;   ///< questions that were taken back
  std::uint64_t unasked = 0;     ///< answers that belong to no question
  std::uint64_t malformed = 0;   ///< messages that were not frames: dropped

  /// Returns all counters with their names.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"questions", questions},   layer_count{"timeouts", timeouts},
                      layer_count{"unanswered", unanswered}, layer_count{"cancelled", cancelled},
                      layer_count{"unasked", unasked},       layer_count{"malformed", malformed}};
  }
};

/// Gives each question exactly one answer.
class actor_protocol : public layer_defaults {
 public:
  /// The layer's name on the wire; see layer/layer.hpp.
  static constexpr std::string_view wire_name = "actor_protocol";
  /// Returns the reason why the layer does not fit on `below`, or `none`.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    return below.messages ? misfit::none : misfit::needs_messages_as_framing_makes_them;
  }
  /// Checks the settings. Returns `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const actor_protocol_settings& s);

  /// Makes a layer without open questions.
  explicit actor_protocol(actor_protocol_settings s = {}) noexcept : settings_(s) {}

  /// Sends a frame that `to_outgoing` made. Records a question; its number must not be that of
  /// another open question, and its time counts from now. A `cancel` closes its question: no answer
  /// is passed up any more.
  void send(outgoing&& m, layer_context& c);
  /// Passes up every frame, decoded (`incoming::decoded`), except answers that are not due. An
  /// answer with handles is passed up even so (`incoming::is_late`).
  void receive(const incoming& m, layer_context& c);
  /// Ends all open questions at `down` with `net_errc::perhaps_delivered`.
  void notice(const link_event& e, layer_context& c);
  /// Ends overdue questions with `errc::timeout`, and sends a `cancel` after an overdue request.
  void advance(layer_context& c);
  /// Ends all open questions, as at `down`.
  void leave(layer_context& c);
  /// Returns the earliest deadline of an open question.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// Returns true if another question may be asked.
  [[nodiscard]] bool writable(const layer_context& c) const {
    return questions_.size() < settings_.most_questions && c.below_is_writable();
  }

  /// Returns the counters so far.
  [[nodiscard]] const actor_protocol_counters& counters() const noexcept { return counters_; }
  /// Returns the number of open questions.
  [[nodiscard]] std::size_t open_questions() const noexcept { return questions_.size(); }

 private:
  struct question {
    frame_kind kind;
    actor_id asker;
    actor_id asked;
    base::instant deadline;
  };
  using questions = std::unordered_map<std::uint64_t, question>;

  void receive_other(const incoming& m, layer_context& c);
  /// Takes a question out of the table and returns it.
  [[nodiscard]] std::pair<std::uint64_t, question> close(questions::iterator at);
  void cancel(std::uint64_t number, layer_context& c);
  /// Passes up an error as the answer.
  void answer(std::uint64_t number, const question& q, const base::error& why, layer_context& c);
  void answer_all(const base::error& why, layer_context& c);
  [[nodiscard]] bool was_asked_for(const frame& f, layer_context& c);

  actor_protocol_settings settings_;
  // Most messages are decoded into this frame, so its many fields are not cleared for each. While
  // it is lent, a further message is decoded into a new one.
  frame plain_;
  bool is_lent_ = false;
  questions questions_;
  std::set<std::pair<base::instant, std::uint64_t>> by_time_;
  actor_protocol_counters counters_;
};

}  // namespace garrick::net
