// The frames that a link is about to send: in one outbox, each with its class and its place.
//
// Problem: frames wait for different reasons, and each class of them has a limit of its own.
// Senders that find the link busy leave their frames. The stack may have no room. Signals must not
// wait for the room of messages, but the stack takes only some of them before it confirms any.
//
// The places of a frame, in order:
//
//   slot     left by any thread while another one is in the link, encoded or not (mail_slot.hpp)
//   taken    removed from the slot by the thread in the link, in the slot's order
//   ready    encoded, while the stack has no room
//   signals  encoded, in the system's lane, while as many as allowed are not confirmed
//   (sent)   the stack has it
//
// A frame that the thread in the link posts goes to the stack, or becomes ready. A signal goes to
// the stack, or into the queue of signals, also while other frames are ready.
//
// | class    | frames                                  | counted in | beyond the limit            |
// |----------|-----------------------------------------|------------|-----------------------------|
// | mail     | messages, requests, cancels, names      | bytes      | senders wait (`has_room`)   |
// | answers  | values that actors answer               | frames     | requests are refused        |
// | refusals | errors, resolved names, decode errors   | bytes      | the link ends (`is_unread`) |
// | ends     | downs and exits                         | frames     | the link ends               |
// | grants   | releases and credit                     | frames     | the link ends               |
//
// A peer causes refusals, ends and grants at no cost, and they cannot be refused. An honest peer
// reads while it waits for them, so their number is bounded by its open requests, watches and
// handles. The values that actors answer have no limit of their own in bytes, since a few of them
// may be larger than any limit.
//
// Invariants
// O1 Frames of one place leave it in the order in which they came. No entry is taken out of the
//    slot while a frame is ready or the stack has no room, except the entries in front of a signal,
//    and the signal.
// O2 A posted frame is sent once, given up once by the owner, or returned by `close`. A signal that
//    still waits at `close` is dropped: links and monitors end with this link anyway.
// O3 At most `limits::signals` signals are in the stack and not confirmed.
// O4 A frame counts in its class from when it begins to wait behind the stack until it is sent,
//    given up or returned. Ready frames also count as bytes in front of the slot.
//
// Thread safety: for the thread in the link. Any thread may add to the slot.
#pragma once

#include <garrick/net/node/proxy/internal/mail_slot.hpp>
#include <garrick/net/stack/any_link.hpp>
#include <garrick/net/wire/frame.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace garrick::net::internal {

/// The frames of one link that are about to be sent.
class outbox {
 public:
  /// The owner decides on frames that are not sent as they are.
  class owner {
   public:
    /// Gives up a frame that the stack does not take.
    virtual void give_up(outgoing& m, const base::error& why) = 0;
    /// Decides whether a frame that has waited is still to be sent, and may change it. Returns
    /// false if it is not wanted any more; then it was given up.
    virtual bool may_leave(outgoing& m) = 0;

   protected:
    owner() = default;
    ~owner() = default;
    owner(const owner&) = default;
    owner& operator=(const owner&) = default;
  };
  enum class frame_class : std::uint8_t { mail, answers, refusals, ends, grants };
  /// Limits of the frames that wait for a peer which does not read.
  struct limits {
    std::int64_t refused_bytes = 0;
    std::int64_t ends = 0;
    std::int64_t grants = 0;
    std::uint32_t signals = 1;  ///< in the stack, and not confirmed
  };
  /// The report number of every signal; messages count from 1.
  static constexpr std::uint64_t signal_report = ~std::uint64_t{0};

  /// `lose`: called for each entry that was taken and not sent when the outbox is destroyed.
  outbox(mail_slot& slot, any_link& stack, owner& of, const limits& most,
         void (*lose)(mail_slot::entry&) noexcept) noexcept
      : slot_(slot), stack_(stack), owner_(of), most_(most), taken_(lose) {}
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  /// Sends the frame, or lets it wait. Requires that no entry of the slot has to go before it.
  void post(outgoing m, base::instant at) {
    if (m.lane == system_lane) return post_signal(std::move(m), at);
    if (!ready_.empty() || !stack_.writable()) return wait(std::move(m));
    if (const base::error no = stack_.send(std::move(m), at)) owner_.give_up(m, no);
  }
  /// Sends ready frames, as far as the stack has room. Returns true if none is left.
  [[nodiscard]] bool flush(base::instant at);
  /// Makes `flush` ask the owner (`may_leave`), as a ready request has a limit or was withdrawn.
  void look_before_leaving() noexcept { may_be_stale_ = !ready_.empty(); }

  /// Returns true if entries wait in the slot, or were taken out of it and not sent.
  [[nodiscard]] bool is_behind() const noexcept { return !taken_.empty() || slot_.any(); }
  /// Calls `send(entry&)` for entries of the slot, as far as the stack has room; after `close` for
  /// all. A nested call does nothing, since the outer one goes on.
  template <class Send>
  void take(Send send) {
    if (!is_behind() || std::exchange(takes_, true)) return;
    const end_of_taking at_end{*this};
    for (mail_slot::entry e; may_take();) {
      if (taken_.next(e))
        send(e);
      else if (!slot_.take(taken_))
        return;
    }
  }

  /// Notes that one signal is confirmed, or known to be lost.
  void signal_settled() noexcept { --signals_under_way_; }
  [[nodiscard]] bool any_signals() const noexcept { return !signals_.empty(); }
  /// Sends waiting signals, up to the limit of signals under way.
  void send_signals(base::instant at);

  /// Returns true if no frame waits, and no signal is under way.
  [[nodiscard]] bool is_idle() const noexcept {
    return !is_behind() && ready_.empty() && signals_.empty() && signals_under_way_ == 0;
  }
  /// Returns the number of answers that wait in the slot, or were taken out of it and not sent.
  [[nodiscard]] std::size_t answers_in_slot() const noexcept {
    return slot_.answers() + std::size_t{taken_.answers()};
  }
  /// Returns how much of a class waits behind the slot: in bytes for refusals, else in frames.
  [[nodiscard]] std::int64_t waiting(frame_class of) const noexcept {
    return waiting_[static_cast<std::size_t>(of)];
  }
  /// Returns true if more frames wait than could wait for an honest peer that reads.
  [[nodiscard]] bool is_unread() const noexcept {
    return waiting(frame_class::refusals) > most_.refused_bytes ||
           waiting(frame_class::ends) > most_.ends || waiting(frame_class::grants) > most_.grants;
  }
  /// Returns the ready frames, for the owner to give up. No frame is sent from now on, and `take`
  /// takes all entries.
  [[nodiscard]] std::deque<outgoing> close() noexcept;

 private:
  struct end_of_taking {
    outbox& of;
    ~end_of_taking() {
      of.takes_ = false;
      of.slot_.stand(of.is_behind());
    }
  };

  /// Returns true if an entry may be taken. Signals have room of their own, so they, and the
  /// entries in front of them, are taken also while the stack has no room for messages.
  [[nodiscard]] bool may_take() const {
    return is_closed_ || (ready_.empty() && stack_.writable()) || taken_.any_signals() ||
           slot_.any_signals();
  }
  void wait(outgoing m);
  [[nodiscard]] outgoing take_ready();
  void post_signal(outgoing m, base::instant at);
  /// Returns false if the stack has no room for more signals within one call; then the caller keeps
  /// the signal for later.
  [[nodiscard]] bool send_signal(outgoing& m, base::instant at);
  /// Counts one waiting frame more (1), or less (-1).
  void count(const outgoing& m, std::int64_t more) noexcept;

  mail_slot& slot_;
  any_link& stack_;
  owner& owner_;
  const limits most_;
  mail_slot::batch taken_;
  std::deque<outgoing> ready_;
  std::deque<outgoing> signals_;
  std::size_t ready_bytes_ = 0;
  std::array<std::int64_t, 5> waiting_{};  // by class
  std::uint32_t signals_under_way_ = 0;
  bool may_be_stale_ = false;  // see `look_before_leaving`
  bool takes_ = false;
  bool is_closed_ = false;
};

}  // namespace garrick::net::internal
