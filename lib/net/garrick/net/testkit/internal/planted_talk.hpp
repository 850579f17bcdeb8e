// Bugs of a layer over `actor_protocol`, or of a layer in its place, which the questions of
// `dialogue` have to find.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/actor_protocol.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/testkit/question_checker.hpp"
#include "garrick/net/wire/codec.hpp"
#include "garrick/net/wire/frame.hpp"

namespace garrick::net::testkit::internal {

/// The bugs of a `planted_talk`, each of which affects one frame in several.
enum class misunderstanding : std::uint8_t {
  none,
  answers_twice,        ///< a response is passed up two times
  forgets_answers,      ///< the end of a question is not passed up
  mixes_answers,        ///< a response gets the content of the previous one
  mixes_refusals,       ///< an error gets the content of the previous one
  answers_itself,       ///< a request is not sent, but answered
  refuses_itself,       ///< a request is not sent, but refused
  is_impatient,         ///< a request is not sent, but ended by its time
  gives_up,             ///< a request is not sent, but perhaps delivered
  lets_others_end,      ///< an error of this end counts as one of the other end
  keeps_cancels,        ///< a cancel is not sent
  asks_twice,           ///< a request is passed up two times
  delays_questions,     ///< a request is passed up after the next one
  asks_others,          ///< a request comes to another actor
  invents_questions,    ///< a request gets another number
  invents_kinds,        ///< a request is passed up as a marker
  complains_twice,      ///< a decode error is passed up two times
  complains_otherwise,  ///< a decode error comes from another actor
  keeps_complaints,     ///< a decode error is not passed up
};

/// The top of a stack.
template <misunderstanding M>
class planted_talk : public layer_defaults {
 public:
  void send(outgoing m, layer_context& c) {
    using enum misunderstanding;
    const base::result<frame> f = decode_frame(m.bytes.bytes());
    if (!f) return c.down(std::move(m));
    if (M == keeps_cancels && f->kind == frame_kind::cancel) return;
    constexpr bool ends_them =
        M == answers_itself || M == refuses_itself || M == is_impatient || M == gives_up;
    if (ends_them && f->kind == frame_kind::request && ++requests_ % every == 0)
      return end_here(*f, c);
    c.down(std::move(m));
  }
  void receive(const incoming& given, layer_context& c) {
    using enum misunderstanding;
    frame f = *given.decoded;
    incoming m = given;
    m.decoded = &f;
    const bool ends = f.kind == frame_kind::response || f.kind == frame_kind::error;
    const bool now = ends && ++ends_ % every == 0;
    if (M == answers_twice && f.kind == frame_kind::response && now) pass(m, c);
    if (M == forgets_answers && now) return;
    if (M == mixes_answers && f.kind == frame_kind::response) return mix(m, f, c);
    if (M == mixes_refusals && f.kind == frame_kind::error && !m.made_here) return mix(m, f, c);
    if (M == lets_others_end) m.made_here = false;
    if (f.kind == frame_kind::request) {
      change(m, f, c);
      if (M == delays_questions) return delay(m, c);
    }
    if (f.kind == frame_kind::decode_error) {
      if (M == keeps_complaints) return;
      if (M == complains_twice) pass(m, c);
      if (M == complains_otherwise) ++f.sender.low;
    }
    pass(m, c);
  }

 private:
  static constexpr std::uint32_t every = 9;
  static void pass(const incoming& m, layer_context& c) { static_cast<void>(c.up(m)); }
  /// Plants the bug in an arriving question.
  void change(const incoming& m, frame& f, layer_context& c) {
    using enum misunderstanding;
    if (++requests_ % every != 0) return;
    if (M == asks_twice) pass(m, c);
    if (M == asks_others) ++f.receiver.low;
    if (M == invents_questions) f.number += 1000;
    if (M == invents_kinds) f.kind = frame_kind::marker;
  }
  void mix(const incoming& m, frame& f, layer_context& c) {
    const std::vector<std::byte> before =
        std::exchange(kept_, {f.payload.begin(), f.payload.end()});
    if (!before.empty()) f.payload = before;
    pass(m, c);
  }
  [[nodiscard]] static base::error why_of(const frame& asked) {
    if (M == misunderstanding::is_impatient) return base::errc::timeout;
    if (M == misunderstanding::gives_up) return net_errc::perhaps_delivered;
    return right_refusal(asked.payload);
  }
  void delay(const incoming& m, layer_context& c) {
    if (requests_ % every == 0) {
      kept_.assign(m.bytes.begin(), m.bytes.end());
      return;
    }
    pass(m, c);
    const std::vector<std::byte> before = std::exchange(kept_, {});
    if (before.empty()) return;
    const base::result<frame> f = decode_frame(before);
    pass({.bytes = before, .lane = m.lane, .decoded = &*f}, c);
  }
  /// Ends the question in a way that only the layer below may choose.
  static void end_here(const frame& asked, layer_context& c) {
    using enum misunderstanding;
    if (M != answers_itself) {
      const outgoing made = refusal_of(asked, why_of(asked), 0);
      const base::result<frame> f = decode_frame(made.bytes.bytes());
      return pass({.bytes = made.bytes.bytes(), .made_here = true, .decoded = &*f}, c);
    }
    const std::vector<std::byte> content = right_answer(asked.payload);
    const frame f{.kind = frame_kind::response,
                  .receiver = asked.sender,
                  .sender = asked.receiver,
                  .number = asked.number,
                  .payload = content};
    pass({.bytes = content, .decoded = &f}, c);
  }

  std::uint32_t requests_ = 0;
  std::uint32_t ends_ = 0;
  std::vector<std::byte> kept_;
};

/// In the place of `actor_protocol`: decodes frames, and tracks no questions.
class ignorant_protocol : public layer_defaults {
 public:
  void receive(const incoming& m, layer_context& c) {
    const base::result<frame> f = decode_frame(m.bytes);
    if (f) static_cast<void>(c.up({.bytes = m.bytes, .lane = m.lane, .decoded = &*f}));
  }
};

}  // namespace garrick::net::testkit::internal
