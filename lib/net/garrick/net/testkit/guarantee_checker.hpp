// Checks the guarantees of links: compares sent messages with arrived ones and with the reports.
//
// Each sending end begins a *flow*: numbered messages, a row of numbers in each lane. Flow, lane
// and number determine a message's bytes, so a receiver can tell whether the message was sent and
// is whole. The checker records all messages of both ends of all links, and compares:
//
//   promise       | condition
//   (always)      | messages that arrive were sent, unchanged
//   once          | no message arrives twice
//   lanes         | messages arrive in the lane in which they were sent
//   ordered       | messages of a lane arrive in order
//   gapless       | and none is left out, unless an end has got `disconnected` or is new
//   sessions      | a link gets messages of one flow, and a flow goes to one link
//   to_mailbox    | a message is reported once: as delivered when it is in a mailbox and never
//                 | before, as unknown only if the link went down; otherwise all are delivered
//
// The checker knows only links and their owners, so it works over every stack, and over sockets,
// too. It throws nothing, since layers are on the stack: `violation()` names the first fault.
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

/// The guarantees of a stack: see the table above.
struct promise {
  bool once = false;        ///< no message arrives twice
  bool lanes = false;       ///< messages arrive in their lanes
  bool ordered = false;     ///< each lane is in order
  bool gapless = false;     ///< no message is left out while the connection lasts
  bool sessions = false;    ///< a link talks to one incarnation of one peer
  bool to_mailbox = false;  ///< exactly once and reported, while both ends and the session live
};
/// Messages that arrive were sent; no other guarantee.
inline constexpr promise intact{};
/// Messages that arrive at most once.
inline constexpr promise at_most_once{.once = true, .lanes = true, .sessions = true};
/// Messages that arrive at most once, in order.
inline constexpr promise in_order{.once = true, .lanes = true, .ordered = true, .sessions = true};
/// The guarantees of nodes.
inline constexpr promise to_mailbox{.once = true,
                                    .lanes = true,
                                    .ordered = true,
                                    .gapless = true,
                                    .sessions = true,
                                    .to_mailbox = true};

/// Checks any number of links, which are all of one kind.
class guarantee_checker {
 public:
  /// Makes a checker of these guarantees.
  explicit guarantee_checker(promise p) noexcept : promise_(p) {}
  guarantee_checker(const guarantee_checker&) = delete;
  guarantee_checker& operator=(const guarantee_checker&) = delete;

  /// Returns the guarantees of the links.
  [[nodiscard]] const promise& promised() const noexcept { return promise_; }
  /// Returns the first broken guarantee, or an empty text.
  [[nodiscard]] const std::string& violation() const noexcept { return violation_; }
  /// Checks the guarantees that hold only when no message is under way any more: all ways must be
  /// whole, and enough time must have passed.
  void finish();
  /// Returns the number of messages that were sent.
  [[nodiscard]] std::size_t sent() const noexcept { return sent_; }
  /// Returns the number of messages that are in a mailbox.
  [[nodiscard]] std::size_t received() const noexcept { return received_; }
  /// Returns the number of messages that were reported as unknown.
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
  /// The messages of one sending end.
  struct flow {
    std::string sender;
    std::deque<message> messages;  ///< the report number of a message is its index plus 1
    std::map<lane_number, std::vector<std::size_t>> lanes;
    std::uint32_t receiver = 0;  ///< the end that gets them; 0: not known yet
    std::uint32_t breaks = 0;    ///< how often the sender was told `disconnected`
    bool over = false;           ///< the sender's link went down
    bool vanished = false;       ///< the sender was destroyed before, so its reports are lost
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
  /// Returns true if a message is in its mailbox at once. After false, `into_mailbox` must be
  /// called later, once for each such message; later messages of its lane are not there at once
  /// either.
  using mailbox = std::function<bool(lane_number)>;

  /// Begins a flow, which has this name in a violation's text.
  checked_end(guarantee_checker& checker, std::string name);
  ~checked_end();

  /// Takes the link, of which this is the owner.
  void hold(std::unique_ptr<any_link> l) noexcept { link_ = std::move(l); }
  /// Returns the link.
  [[nodiscard]] any_link& below() noexcept { return *link_; }
  /// Returns true if messages may be sent: the transport or the session is open, and the link has
  /// room.
  [[nodiscard]] bool can_send() const;
  /// Returns true after `down`.
  [[nodiscard]] bool is_down() const;
  /// Sends the next message of a lane, of `size` bytes or a few more. Returns false if the link
  /// refused it. Requires `can_send()`, or the system lane.
  bool send(lane_number lane, std::size_t size, base::instant now);
  /// Reports that the oldest message of this lane that was not in its mailbox at once is there now.
  void into_mailbox(lane_number lane, base::instant now);
  /// Sets the decision for each message; without it all are in their mailboxes at once.
  void set_mailbox(mailbox m) { mailbox_ = std::move(m); }
  /// Sets a function that gets each event.
  void set_listener(std::function<void(const link_event&)> f) { listener_ = std::move(f); }

  bool on_message(const incoming& m) override;
  void on_event(const link_event& e) override;

 private:
  /// The received messages of one lane of a flow.
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
  const std::size_t own_;  ///< the flow's index
  std::unique_ptr<any_link> link_;
  mailbox mailbox_;
  std::function<void(const link_event&)> listener_;
  bool connected_ = false;
  std::uint32_t breaks_ = 0;
  std::size_t from_ = 0;  ///< the index, plus 1, of the flow that arrives here; 0: none yet
  std::map<std::pair<std::size_t, lane_number>, received> lanes_;
  std::map<lane_number, std::deque<message*>> waiting_;
};

}  // namespace garrick::net::testkit
