// Checks the guarantees of stacks with `actor_protocol` on top about questions (the guarantee
// `processed`): records the questions and answers of both ends, and compares them.
//
//   promise       | condition
//   (always)      | a question ends once: by its answer, an error, its time, or perhaps delivered
//                 | its answer is the one that the asked actor gave to it
//                 | its time-out is not early; it is given up only if the link goes down
//                 | an asker that has taken it back is told nothing more
//                 | a link that is down has no open question
//                 | a decode error comes only to an end that has sent bytes that are no frame
//   once          | no question is handled twice
//   ordered       | questions of a lane are handled in order
//   sessions      | a link gets questions of one flow
//   to_mailbox    | each question is answered, if it has no time limit and the link lives
//
// The ends also break the rules: they answer twice, answer without a question, answer for another
// actor, and send bytes that are not a frame. None of these messages may reach the other end's
// owner.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/stack/any_link.hpp"
#include "garrick/net/testkit/guarantee_checker.hpp"
#include "garrick/net/wire/frame.hpp"

namespace garrick::net::testkit {

/// The treatment of a handled question.
enum class reply : std::uint8_t {
  right,        ///< answers it
  refusal,      ///< answers by an error
  twice,        ///< answers it two times
  for_another,  ///< answers a request as an actor that was not asked
  unasked,      ///< sends an answer to no question
  none,         ///< never answers, unless the question has no time limit
};

/// Returns the right answer to a question with these bytes, if they are a question; for planted
/// bugs.
[[nodiscard]] std::vector<std::byte> right_answer(std::span<const std::byte> question);

/// Returns the error by which an end may refuse a question with these bytes; for planted bugs.
[[nodiscard]] base::error right_refusal(std::span<const std::byte> question);

/// Checks any number of links, which are all of one kind.
class question_checker {
 public:
  /// Makes a checker of these guarantees.
  explicit question_checker(promise p) noexcept : promise_(p) {}
  question_checker(const question_checker&) = delete;
  question_checker& operator=(const question_checker&) = delete;

  /// Returns the first broken guarantee, or an empty text.
  [[nodiscard]] const std::string& violation() const noexcept { return violation_; }
  /// Checks the guarantees that hold only when no message is under way any more.
  void finish();

  /// Numbers of questions by their ends.
  struct figures {
    std::size_t asked = 0;      ///< all of them
    std::size_t answered = 0;   ///< rightly
    std::size_t refused = 0;    ///< by an error of the asked actor
    std::size_t timeouts = 0;   ///< their time had passed
    std::size_t perhaps = 0;    ///< the link went down
    std::size_t cancelled = 0;  ///< taken back by the asker
    std::size_t no_frames = 0;  ///< decode errors that came back
  };
  /// Returns the numbers so far.
  [[nodiscard]] const figures& seen() const noexcept { return seen_; }

 private:
  friend class talking_end;
  enum class ending : std::uint8_t { none, answered, refused, timeout, perhaps, cancelled };
  struct question {
    frame_kind kind;
    actor_id asker, asked;
    base::instant due;  ///< by the asker's clock; never: no time limit
    bool handled = false;
    bool answered = false;  ///< an end has answered or refused it
    ending end = ending::none;
  };
  /// The questions of one end; the number of a question is its index plus 1.
  struct flow {
    std::string asker;
    std::deque<question> questions;
    std::size_t no_frames = 0;  ///< bytes sent that were no frame, without a decode error yet
    bool over = false;          ///< the asker's link went down
    bool vanished = false;      ///< the asker was destroyed before
  };
  void found(std::string text);
  [[nodiscard]] static std::string name_of(const flow& f, std::uint64_t number);

  promise promise_;
  std::string violation_;
  std::deque<flow> flows_;
  figures seen_;
};

/// An end of a link that asks and answers: its owner. It holds the link.
class talking_end final : public link_owner {
 public:
  /// Begins a flow, which has this name in a violation's text. `now` is the time by the clock of
  /// this end's host.
  talking_end(question_checker& checker, std::string name, std::function<base::instant()> now);
  ~talking_end();

  /// Takes the link, of which this is the owner.
  void hold(std::unique_ptr<any_link> l) noexcept { link_ = std::move(l); }
  /// Returns the link.
  [[nodiscard]] any_link& below() noexcept { return *link_; }
  /// Returns true if questions may be asked.
  [[nodiscard]] bool can_ask() const;
  /// Returns true after `down`.
  [[nodiscard]] bool is_down() const;
  /// Asks the next question, of `size` bytes or a few more, between the actors of this pair: a
  /// request, or a question of another kind. An infinite `limit` is none. Requires `can_ask()`.
  void ask(frame_kind kind, std::uint64_t pair, std::size_t size, base::duration limit);
  /// Takes back the newest request that is open, if there is one. Requires `can_ask()`.
  void cancel_one();
  /// Sends bytes that are not a frame. Requires `can_ask()`.
  void send_no_frame();
  /// Returns the number of questions that wait for an answer of this end.
  [[nodiscard]] std::size_t to_answer() const noexcept { return handled_.size(); }
  /// Answers the oldest of these questions in this way, if the link is writable. `for_another` and
  /// `unasked` send only a wrong answer, and the question stays open.
  void answer_one(reply how);
  /// Sets a function that gets each event.
  void set_listener(std::function<void(const link_event&)> f) { listener_ = std::move(f); }

  bool on_message(const incoming& m) override;
  void on_event(const link_event& e) override;

 private:
  using flow = question_checker::flow;
  using question = question_checker::question;
  using ending = question_checker::ending;
  /// A question of the other end.
  struct handled {
    std::size_t from;  ///< the flow's index
    std::uint64_t number;
  };
  void on_question(const incoming& m, const frame& f);
  void on_answer(const incoming& m, const frame& f);
  void on_error(const incoming& m, const frame& f, question& q);
  void on_decode_error(const frame& f);
  void send_answer(const handled& h, const question& q, std::uint64_t number, actor_id from);
  void send_refusal(const handled& h, const question& q);
  [[nodiscard]] std::size_t room() const;
  bool send(outgoing&& m);

  question_checker& checker_;
  const std::size_t own_;  ///< the flow's index
  std::function<base::instant()> now_;
  std::unique_ptr<any_link> link_;
  std::function<void(const link_event&)> listener_;
  bool connected_ = false;
  std::size_t from_ = 0;  ///< the index, plus 1, of the flow that asks here; 0: none yet
  std::map<lane_number, std::uint64_t> last_handled_;
  std::deque<handled> handled_;
};

}  // namespace garrick::net::testkit
