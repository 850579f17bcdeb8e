// The top of a stack that carries the actor protocol: each question has exactly one answer (paper
// 004, §4.1: "processing confirmation").
//
// The layers below move bytes from end to end; what they say about actors is in frames
// (wire/frame.hpp). This layer looks at those that ask something (request, resolve, spawn) on their
// way down, and at their answers on the way up. An answer that nobody has asked for, asked somebody
// else for, or has stopped waiting for, is counted and dropped. When the answer to a question can
// not come any more, because its time is over or because the link is down, the owner gets an error
// frame instead, as if the other end had sent it. So a question ends once, by a frame with its
// number, over every stack. That is the guarantee `processed`; `at_most_once` and `to_mailbox` are
// those of the layers below.
//
// A frame's lane follows from its pair of actors, so what one actor sends to another stays in
// order. What is said about lives (link, monitor, down, exit, kill) goes in the lane of the system.
//
// Invariants:
//   A1  A question is in questions_ from `send` until exactly one answer was passed up.
//   A2  by_time_ has an entry for each question with a deadline, and no other.
//   A3  A peer's bytes never end the process: what is no frame is counted, dropped, and told to the
//       peer by a decode_error to nobody, unless what is below is full.
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

/// The lane of a frame of this kind between these actors.
[[nodiscard]] lane_number lane_of(const frame& f) noexcept;

/// A frame that is ready to be sent: its header is put in front of `payload`, which has room for
/// it (`frame_room`) and for the layers, and its lane is chosen.
///
///     base::result<packet> p = encode(order, {.front = frame_room + link.header_size()});
///     link.send(to_outgoing({.kind = frame_kind::message, .receiver = to}, std::move(*p)), now);
[[nodiscard]] outgoing to_outgoing(const frame& f, packet payload);
/// The same for a message without extensions.
[[nodiscard]] outgoing message_to(const actor_id& receiver, const actor_id& sender,
                                  std::uint64_t type, packet payload);

/// The answer to a question that could not be handled, or to a message that could not be decoded:
/// an `error` or a `decode_error` with `why`. `front` is the room that the layers want.
[[nodiscard]] outgoing refusal_of(const frame& f, const base::error& why, std::size_t front);

/// The error in an `error` or `decode_error`; `net_errc::decode_failed` if its payload is none.
[[nodiscard]] base::error error_of(const frame& f);

/// What `actor_protocol` can be told.
struct actor_protocol_settings {
  std::uint32_t most_questions = 1u << 16;  ///< without an answer, at least 1; with as many
                                            ///< it is not writable
};

/// What `actor_protocol` has seen.
struct actor_protocol_counters {
  std::uint64_t questions = 0;   ///< that were asked
  std::uint64_t timeouts = 0;    ///< questions whose time was over
  std::uint64_t unanswered = 0;  ///< questions that the end of the link has ended
  std::uint64_t cancelled = 0;   ///< questions that were taken back
  std::uint64_t unasked = 0;     ///< answers that belong to no question
  std::uint64_t malformed = 0;   ///< messages that are no frames, dropped

  /// See layer/layer.hpp.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"questions", questions},   layer_count{"timeouts", timeouts},
                      layer_count{"unanswered", unanswered}, layer_count{"cancelled", cancelled},
                      layer_count{"unasked", unasked},       layer_count{"malformed", malformed}};
  }
};

/// One answer for each question.
class actor_protocol : public layer_defaults {
 public:
  /// See layer/layer.hpp.
  static constexpr std::string_view wire_name = "actor_protocol";
  /// See layer_defaults.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    return below.messages ? misfit::none : misfit::needs_messages_as_framing_makes_them;
  }
  /// What is wrong with the settings: `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const actor_protocol_settings& s);

  /// No question is open.
  explicit actor_protocol(actor_protocol_settings s = {}) noexcept : settings_(s) {}

  /// Takes a frame, as `to_outgoing` makes it. A question is remembered; its number must not be
  /// that of another one that is open, and the time it has counts from now. A `cancel` closes its
  /// question: an answer is not passed up any more.
  void send(outgoing&& m, layer_context& c);
  /// Passes up every frame, decoded (`incoming::decoded`), but answers that are not due. Of those
  /// it passes up the ones with handles (`incoming::is_late`).
  void receive(const incoming& m, layer_context& c);
  /// At `down` every open question ends with `net_errc::perhaps_delivered`.
  void notice(const link_event& e, layer_context& c);
  /// Ends the questions whose time is over with `errc::timeout`, and tells the other end.
  void advance(layer_context& c);
  /// As at `down`.
  void leave(layer_context& c);
  /// When the first of them is.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// True if another question may be asked.
  [[nodiscard]] bool writable(const layer_context& c) const {
    return questions_.size() < settings_.most_questions && c.below_is_writable();
  }

  /// What has happened so far.
  [[nodiscard]] const actor_protocol_counters& counters() const noexcept { return counters_; }
  /// Questions without an answer.
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
  /// Takes a question out of the table.
  [[nodiscard]] std::pair<std::uint64_t, question> close(questions::iterator at);
  void cancel(std::uint64_t number, layer_context& c);
  /// Passes up an error as the answer.
  void answer(std::uint64_t number, const question& q, const base::error& why, layer_context& c);
  void answer_all(const base::error& why, layer_context& c);
  [[nodiscard]] bool was_asked_for(const frame& f, layer_context& c);

  actor_protocol_settings settings_;
  // What most messages are decoded into, so that its many fields are not cleared for each; another
  // is made for who comes while this one is lent.
  frame plain_;
  bool is_lent_ = false;
  questions questions_;
  std::set<std::pair<base::instant, std::uint64_t>> by_time_;
  actor_protocol_counters counters_;
};

}  // namespace garrick::net
