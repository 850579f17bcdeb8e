// Reads the record of two processes (record.hpp), and holds it against the promises of their
// stacks: by the checker of the simulated programs, to which it shows the same calls in the same
// order.
//
// The checker wants bytes of its own making. So a recorded message is sent here, too, by a link
// that only keeps it. When the other process records that the message has come, the kept bytes come
// here, and they are incomplete here if they were so there.
//
// The witness itself checks the facts that the checker does not know:
//   processed    a question ends once; an answer is right, and the question has been handled
//   unknown      the reason is "perhaps" or "never sent", and a message never sent does not come
//
// Thread safety: one thread.
#pragma once

#include <garrick/net/testkit/guarantee_checker.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "net/guarantees/record.hpp"

namespace garrick::tests {

/// A link that keeps its messages, for `witness`.
class kept_link final : public net::any_link {
 public:
  [[nodiscard]] base::error send(net::outgoing&& m, base::instant) override {
    const auto bytes = m.bytes.bytes();
    last.assign(bytes.begin(), bytes.end());
    return {};
  }
  [[nodiscard]] bool writable() const override { return true; }
  void delivered(net::lane_number, base::instant) override {}
  [[nodiscard]] std::size_t header_size() const override { return 0; }
  void leave(base::instant) override {}
  void connected(base::instant) override {}
  void disconnected(const base::error&, base::instant) override {}
  void receive(std::span<const std::byte>, base::instant) override {}
  void carrier_writable(base::instant) override {}
  void path_changed(std::size_t, base::instant) override {}
  [[nodiscard]] base::instant deadline() const override { return base::instant::never(); }
  void advance(base::instant) override {}

  std::vector<std::byte> last;
};

class witness {
 public:
  /// The counts of one role in all its lives.
  struct figures {
    std::size_t sent = 0, received = 0;
    std::size_t held = 0;  ///< sent while the stream was lost
    std::size_t opened = 0, resumed = 0, downs = 0;
    std::size_t since_opened = 0;  ///< received since the newest session was opened
    std::size_t perhaps = 0, never_sent = 0;
    std::size_t asked = 0, right_answers = 0;
    std::size_t gaps = 0, late = 0;  ///< arrivals that were not the next of their lane
    std::uint32_t process = 0;       ///< the life that runs; 0: none
    std::int64_t pid = 0;
    bool listening = false, idle = false;
  };

  explicit witness(net::testkit::promise p) : checker_(p) {}

  void take(const record_entry& e) {
    write_down(e);
    figures& f = roles_[role_of(e.process)];
    switch (e.what) {
      case what::started: return start(e, f);
      case what::listening: f.listening = true; return;
      case what::idle: f.idle = true; return;
      case what::fell: return wrong("a process has ended by itself", e);
      default: break;
    }
    if (e.what == what::began) return begin(e);
    const auto found = ends_.find(e.end);
    if (found == ends_.end()) return wrong("an end that has never begun", e);
    end& own = found->second;
    if (!own.checked) return wrong("an end that is gone", e);
    switch (e.what) {
      case what::sending: return send(e, own, f);
      case what::came: return come(e, own, f);
      case what::in_mailbox: return own.checked->into_mailbox(e.lane, {});
      case what::happened: return happen(e, own, f);
      case what::refused: return wrong("a link that was writable has refused a message", e);
      case what::ended: own.checked.reset(); return;
      default: return talk(e, own, f);
    }
  }

  /// Returns the first broken promise, or an empty text.
  [[nodiscard]] std::string violation() const {
    return violation_.empty() ? checker_.violation() : violation_;
  }
  [[nodiscard]] const figures& of(std::uint32_t role) const { return roles_[role]; }
  [[nodiscard]] const net::testkit::promise& promised() const { return checker_.promised(); }
  [[nodiscard]] std::size_t sent() const { return checker_.sent(); }
  [[nodiscard]] std::size_t received() const { return checker_.received(); }
  /// Returns the number of links of living processes that were opened and are not down.
  [[nodiscard]] std::size_t open_links() const {
    return count([](const end& e) { return e.opened && !e.checked->is_down(); });
  }
  /// Returns true if one of the role's open links suspects its peer.
  [[nodiscard]] bool suspects(std::uint32_t role) const {
    return count([role](const end& e) {
             return e.role == role && e.suspects && !e.checked->is_down();
           }) != 0;
  }
  /// Returns true if nothing is due any more: both know that it is enough, no question is open, and
  /// all due reports were made.
  [[nodiscard]] bool settled() const {
    const bool waits =
        count([this](const end& e) {
          return e.open_questions != 0 || (promised().to_mailbox && e.sent != e.reported);
        }) != 0;
    return roles_[0].idle && roles_[1].idle && !waits;
  }
  /// Makes the checks that are possible only at the end.
  void finish() {
    checker_.finish();
    for (const auto& [number, e] : ends_)
      if (e.checked && e.was_perhaps && !e.checked->is_down())
        found("a question was given up, and the link lives");
  }
  /// Returns the newest entries, for people.
  [[nodiscard]] std::string history() const {
    std::string all;
    for (const std::string& line : history_) all += "  " + line + '\n';
    return all;
  }

 private:
  using what = record_entry::kind;
  struct end {
    std::uint32_t role = 0, process = 0;
    std::unique_ptr<net::testkit::checked_end> checked;  ///< null: gone
    kept_link* link = nullptr;                           ///< of `checked`
    bool at_once = true;
    bool opened = false, lost = false, suspects = false, was_perhaps = false;
    std::size_t sent = 0, reported = 0, open_questions = 0;
    std::map<net::lane_number, std::uint32_t> next_sent, next_come;
    std::vector<std::pair<net::lane_number, std::uint32_t>> reports;  ///< by number, less 1
    std::uint32_t last_handled = 0;
  };
  struct message {
    std::vector<std::byte> bytes;
    bool has_come = false, never_sent = false;
  };
  struct question {
    bool was_handled = false, is_over = false;
  };

  template <class P>
  [[nodiscard]] std::size_t count(P p) const {
    return static_cast<std::size_t>(std::count_if(ends_.begin(), ends_.end(), [&](const auto& e) {
      return e.second.checked && p(e.second);
    }));
  }
  void found(std::string text) {
    if (violation().empty()) violation_ = std::move(text);
  }
  void wrong(const std::string& text, const record_entry& e) { found(text + ": " + text_of(e)); }
  [[nodiscard]] static std::string text_of(const record_entry& e) {
    static constexpr const char* names[] = {"started",  "listening",  "began", "sending", "refused",
                                            "came",     "in_mailbox", "event", "asked",   "handled",
                                            "answered", "ended",      "idle",  "fell"};
    return "process " + std::to_string(e.process) + " end " + std::to_string(e.end & 0xffff) + ' ' +
           names[static_cast<std::size_t>(e.what)] + " lane " + std::to_string(e.lane) +
           " number " + std::to_string(e.number) + " from " + std::to_string(e.from >> 16) + '.' +
           std::to_string(e.from & 0xffff) + " size " + std::to_string(e.size) + " detail " +
           std::to_string(e.detail) + " flag " + std::to_string(e.flag);
  }
  void write_down(const record_entry& e) {
    history_.push_back(text_of(e));
    if (history_.size() > 40) history_.pop_front();
  }

  void start(const record_entry& e, figures& f) {
    // The process before it has been killed, and all its entries were read.
    for (auto& [number, one] : ends_)
      if (one.process == f.process) one.checked.reset();
    f.process = e.process;
    f.pid = e.pid;
    f.listening = f.idle = false;
  }
  void begin(const record_entry& e) {
    end& own = ends_[e.end];
    own.role = role_of(e.process);
    own.process = e.process;
    own.checked = std::make_unique<net::testkit::checked_end>(
        checker_,
        "process " + std::to_string(e.process) + " end " + std::to_string(e.end & 0xffff));
    auto link = std::make_unique<kept_link>();
    own.link = link.get();
    own.checked->hold(std::move(link));
    own.checked->set_mailbox([&own](net::lane_number) { return own.at_once; });
  }
  void send(const record_entry& e, end& own, figures& f) {
    if (e.number != own.next_sent[e.lane]++) return wrong("it has left out a number", e);
    own.checked->send(e.lane, e.size, {});
    messages_[{e.end, e.lane, e.number}].bytes = own.link->last;
    own.reports.emplace_back(e.lane, e.number);
    ++own.sent;
    ++f.sent;
    f.held += own.lost;
  }
  void come(const record_entry& e, end& own, figures& f) {
    std::vector<std::byte> bytes;
    const auto sent = messages_.find({e.from, e.sent_in, e.number});
    if (sent != messages_.end()) {
      bytes = sent->second.bytes;
      if (e.flag == 0 && e.size == bytes.size()) bytes.back() ^= std::byte{1};
      bytes.resize(e.size);
      if (sent->second.never_sent) wrong("it was reported as never sent, and comes", e);
      sent->second.has_come = true;
    }
    own.at_once = e.detail != 0;
    own.checked->on_message({bytes, e.lane});
    std::uint32_t& next = own.next_come[e.lane];
    f.gaps += e.number > next;
    f.late += e.number < next;
    next = std::max(next, e.number + 1);
    ++f.received;
    ++f.since_opened;
  }
  void happen(const record_entry& e, end& own, figures& f) {
    using kind = net::link_event::kind;
    const auto k = static_cast<kind>(e.detail);
    if (k == kind::opened) {
      own.opened = true;
      ++f.opened;
      f.since_opened = 0;
    }
    if (k == kind::disconnected) own.lost = own.opened;
    if (k == kind::resumed) own.lost = false, ++f.resumed;
    if (k == kind::suspected) own.suspects = true;
    if (k == kind::trusted) own.suspects = false;
    if (k == kind::down && own.opened) ++f.downs;
    if (k == kind::down && own.open_questions != 0) wrong("a question has no answer", e);
    if (k == kind::delivered || k == kind::unknown) ++own.reported;
    if (k == kind::unknown) doubt_message(e, own, f);
    own.checked->on_event({k, e.number, {}});
  }
  void doubt_message(const record_entry& e, end& own, figures& f) {
    if (e.number == 0 || e.number > own.reports.size()) return;  // the checker reports it
    const auto [lane, number] = own.reports[e.number - 1];
    message& m = messages_[{e.end, lane, number}];
    const auto why = static_cast<doubt>(e.flag);
    if (why == doubt::perhaps) {
      ++f.perhaps;
    } else if (why == doubt::never_sent) {
      ++f.never_sent;
      m.never_sent = true;
      if (m.has_come) wrong("it was reported as never sent, and has come", e);
    } else {
      wrong("it is unknown for another reason", e);
    }
  }
  void talk(const record_entry& e, end& own, figures& f) {
    if (e.what == what::asked) {
      ++own.open_questions;
      ++f.asked;
      questions_[{e.end, e.number}];
      return;
    }
    const auto asked = questions_.find({e.what == what::handled ? e.from : e.end, e.number});
    if (asked == questions_.end()) return wrong("a question that was not asked", e);
    question& q = asked->second;
    if (e.what == what::handled) {
      if (std::exchange(q.was_handled, true)) wrong("a question came twice", e);
      if (promised().ordered && e.number <= own.last_handled)
        wrong("a question came after a later one", e);
      own.last_handled = e.number;
      return;
    }
    const auto how = static_cast<answer>(e.detail);
    --own.open_questions;
    if (std::exchange(q.is_over, true)) wrong("a question was answered twice", e);
    if (how == answer::right && !q.was_handled)
      wrong("an answer to a question that was not handled", e);
    if (how == answer::wrong || how == answer::other) wrong("a wrong answer", e);
    if (how == answer::timeout && promised().to_mailbox) wrong("a question was lost", e);
    if (how == answer::perhaps) own.was_perhaps = true;
    f.right_answers += how == answer::right;
  }

  net::testkit::guarantee_checker checker_;
  std::string violation_;
  figures roles_[2];
  std::map<std::uint32_t, end> ends_;
  std::map<std::tuple<std::uint32_t, net::lane_number, std::uint32_t>, message> messages_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, question> questions_;
  std::deque<std::string> history_;
};

}  // namespace garrick::tests
