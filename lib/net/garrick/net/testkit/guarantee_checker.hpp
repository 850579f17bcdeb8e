// What links promise, checked: who has sent what, what has arrived where, what was reported.
//
// Each end that sends begins a *flow*: numbered messages, a row of numbers in each lane, whose
// bytes follow from flow, lane and number. So whoever receives one knows whether it was sent, and
// whether it is whole. The checker writes everything down for both ends of all links, and compares:
//
//   promise       | what must hold
//   (always)      | what arrives was sent, as it was sent
//   once          | nothing arrives twice
//   lanes         | it arrives in the lane in which it was sent
//   ordered       | what arrives of a lane is in order
//   gapless       | and nothing is left out, but where an end has heard `disconnected` or is new
//   sessions      | a link gets messages of one flow, and a flow goes to one link
//   to_mailbox    | a message is reported once: as delivered when it is in a mailbox and never
//                 | before, as unknown only if the link went down; without that all are delivered
//
// It knows links and their owners only, so it works over every stack, and over sockets, too. It
// throws nothing, since layers are on the stack: `violation()` says what was found first.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/stack/any_link.hpp"

namespace garrick::net::testkit {

/// What a stack's user may rely on: see the table above.
struct promise {
  bool once = false;        ///< nothing arrives twice
  bool lanes = false;       ///< lanes travel
  bool ordered = false;     ///< each lane is in order
  bool gapless = false;     ///< nothing is left out while the connection stands
  bool sessions = false;    ///< a link talks to one incarnation of one peer
  bool to_mailbox = false;  ///< exactly once and reported, while both ends and the session live
};
/// What arrives was sent; nothing else.
inline constexpr promise intact{};
/// Fire and forget.
inline constexpr promise at_most_once{.once = true, .lanes = true, .sessions = true};
/// The same, in order.
inline constexpr promise in_order{.once = true, .lanes = true, .ordered = true, .sessions = true};
/// The default of nodes.
inline constexpr promise to_mailbox{.once = true,
                                    .lanes = true,
                                    .ordered = true,
                                    .gapless = true,
                                    .sessions = true,
                                    .to_mailbox = true};

/// Watches any number of links, which are all of one kind.
class guarantee_checker {
 public:
  /// Holds them to this.
  explicit guarantee_checker(promise p) noexcept : promise_(p) {}
  guarantee_checker(const guarantee_checker&) = delete;
  guarantee_checker& operator=(const guarantee_checker&) = delete;

  /// What the links promise.
  [[nodiscard]] const promise& promised() const noexcept { return promise_; }
  /// What was broken first, or nothing.
  [[nodiscard]] const std::string& violation() const noexcept { return violation_; }
  /// Checks what can only be said when nothing is under way any more: the ways are whole, and there
  /// was time enough.
  void finish();
  /// How many messages were sent.
  [[nodiscard]] std::size_t sent() const noexcept { return sent_; }
  /// How many of them are in a mailbox.
  [[nodiscard]] std::size_t received() const noexcept { return received_; }
  /// How many were reported as unknown.
  [[nodiscard]] std::size_t unknown() const noexcept { return unknown_; }

 private:
  friend class checked_end;
  enum class outcome : std::uint8_t { none, delivered, unknown };
  struct message {
    lane_number lane;
    std::uint32_t number;
    std::size_t size;
    std::uint32_t arrivals = 0;
    bool in_mailbox = false;
    outcome reported = outcome::none;
  };
  /// What one end sends.
  struct flow {
    std::string sender;
    std::deque<message> messages;  ///< the report of one is its place, and 1
    std::map<lane_number, std::vector<std::size_t>> lanes;
    std::uint32_t receiver = 0;  ///< the end that gets them; 0: none yet
    std::uint32_t breaks = 0;    ///< how often the sender has heard `disconnected`
    bool over = false;           ///< the sender's link went down
    bool vanished = false;       ///< the sender was destroyed before: nobody hears its reports
  };
  void found(std::string text);
  [[nodiscard]] std::string name_of(const flow& f, const message& m) const;
  void check_reports(const flow& f);

  promise promise_;
  std::string violation_;
  std::deque<flow> flows_;
  std::uint32_t ends_ = 0;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  std::size_t unknown_ = 0;
};

/// An end of a link that is checked: its owner. It holds the link.
class checked_end final : public link_owner {
 public:
  /// Who decides whether a message is in its mailbox at once. `false`: `into_mailbox` is called
  /// later, once for each; those behind it in its lane are not there at once either.
  using mailbox = std::function<bool(lane_number)>;

  /// Begins a flow, called by this name in a violation's text.
  checked_end(guarantee_checker& checker, std::string name);
  ~checked_end();

  /// Takes the link, whose owner this is.
  void hold(std::unique_ptr<any_link> l) noexcept { link_ = std::move(l); }
  /// The link.
  [[nodiscard]] any_link& below() noexcept { return *link_; }
  /// True if messages may be sent: the transport or the session is there, and there is room.
  [[nodiscard]] bool can_send() const;
  /// True after `down`.
  [[nodiscard]] bool is_down() const;
  /// Sends the next message of a lane, of `size` bytes or a few more. Requires `can_send()`, or the
  /// system lane. False: the link refused it.
  bool send(lane_number lane, std::size_t size, base::instant now);
  /// The oldest message of this lane that was not in its mailbox at once is there now.
  void into_mailbox(lane_number lane, base::instant now);
  /// Decides for each message; without it all are in their mailboxes at once.
  void set_mailbox(mailbox m) { mailbox_ = std::move(m); }
  /// Is told each event.
  void set_listener(std::function<void(const link_event&)> f) { listener_ = std::move(f); }

  bool on_message(const incoming& m) override;
  void on_event(const link_event& e) override;

 private:
  /// What has come of one lane of a flow.
  struct received {
    std::uint32_t next = 0;
    std::uint32_t breaks = 0;
    bool any = false;
  };
  using flow = guarantee_checker::flow;
  using message = guarantee_checker::message;
  [[nodiscard]] bool check(const incoming& m, flow*& from, message*& found);
  void check_order(flow& from, const message& m);
  void check_report(const link_event& e);

  guarantee_checker& checker_;
  const std::uint32_t number_;
  const std::size_t own_;  ///< the flow's place
  std::unique_ptr<any_link> link_;
  mailbox mailbox_;
  std::function<void(const link_event&)> listener_;
  bool connected_ = false;
  std::uint32_t breaks_ = 0;
  std::size_t from_ = 0;  ///< the flow that comes here, and 1; 0: none yet
  std::map<std::pair<std::size_t, lane_number>, received> lanes_;
  std::map<lane_number, std::deque<message*>> waiting_;
};

}  // namespace garrick::net::testkit
