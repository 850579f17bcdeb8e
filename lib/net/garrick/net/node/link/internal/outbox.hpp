// What a link is about to send: one outbox, in which each frame has its class and its place.
//
// Problem: frames wait for different reasons, and each class of them has another limit. Senders
// that find the link busy leave theirs; the stack may have no room; signals must not wait for the
// room of messages, and the stack takes only so many of them that are not confirmed.
//
// A frame's way:
//
//   slot     left by any thread while another one is in the link, encoded or not (mail_slot.hpp)
//   taken    what the thread in the link has taken out of the slot, in its order
//   ready    encoded, and the stack has no room
//   signals  encoded, in the system's lane, and as many are not confirmed as may be
//   (sent)   the stack has it
//
// A frame that the thread in the link posts goes to the stack, or becomes ready. A signal goes to
// the stack, or into the line of signals, whatever is ready.
//
// | class    | frames                                  | counted in | beyond the limit            |
// |----------|-----------------------------------------|------------|-----------------------------|
// | mail     | messages, requests, cancels, names      | bytes      | senders wait (`has_room`)   |
// | answers  | values that actors answer               | frames     | requests are refused        |
// | refusals | errors, resolved names, decode errors   | bytes      | the link ends (`is_unread`) |
// | ends     | downs and exits                         | frames     | the link ends               |
// | grants   | releases and credit                     | frames     | the link ends               |
//
// A peer causes refusals, ends and grants at no cost, and they cannot be refused. A peer that waits
// for them reads, so no more of them wait for it than it has open. The values that actors answer
// have no limit of their own in bytes, since a few of them may be larger than any limit.
//
// Invariants
// O1 Frames of one place leave it in the order in which they came. Nothing is taken out of the slot
//    while a frame is ready or the stack has no room, except what is in front of a signal.
// O2 A posted frame is sent once, or given up once by the owner, or is one of those that `close`
//    returns. A signal that still waits then is forgotten: what it is about ends with the link.
// O3 At most `most_signals` signals are in the stack and not confirmed.
// O4 A frame counts in its class from when it begins to wait behind the stack until it is sent,
//    given up or returned. What is ready also counts as bytes in front of the slot.
//
// Thread safety: for the thread in the link. The slot is any thread's.
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

/// See above.
class outbox {
 public:
  /// The owner's part: frames that do not go their way.
  class owner {
   public:
    /// The stack does not take the frame.
    virtual void give_up(outgoing& m, const base::error& why) = 0;
    /// Returns false if nobody wants a frame any more that has waited; then it was given up. It may
    /// change the frame.
    virtual bool may_leave(outgoing& m) = 0;

   protected:
    owner() = default;
    ~owner() = default;
    owner(const owner&) = default;
    owner& operator=(const owner&) = default;
  };
  enum class frame_class : std::uint8_t { mail, answers, refusals, ends, grants };
  /// What may wait for a peer that does not read.
  struct limits {
    std::int64_t refused_bytes = 0;
    std::int64_t ends = 0;
    std::int64_t grants = 0;
    std::uint32_t signals = 1;  ///< in the stack, not confirmed
  };
  /// The number by which the stack reports each signal; messages count from 1.
  static constexpr std::uint64_t signal_report = ~std::uint64_t{0};

  /// `lose`: for what was taken and not sent when the outbox ends.
  outbox(mail_slot& slot, any_link& stack, owner& of, const limits& most,
         void (*lose)(mail_slot::entry&) noexcept) noexcept
      : slot_(slot), stack_(stack), owner_(of), most_(most), taken_(lose) {}
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  /// Sends the frame, or lets it wait. Requires that nothing in the slot is to be sent before it.
  void post(outgoing m, base::instant at) {
    if (m.lane == system_lane) return post_signal(std::move(m), at);
    if (!ready_.empty() || !stack_.writable()) return wait(std::move(m));
    if (const base::error no = stack_.send(std::move(m), at)) owner_.give_up(m, no);
  }
  /// Sends what is ready, as far as the stack has room. Returns true if nothing is ready any more.
  [[nodiscard]] bool flush(base::instant at);
  /// A request that waits may not be wanted any more, or has less time by now: `flush` asks.
  void look_before_leaving() noexcept { may_be_stale_ = !ready_.empty(); }

  /// Something of before waits in the slot, or was taken out of it and not sent.
  [[nodiscard]] bool is_behind() const noexcept { return !taken_.empty() || slot_.any(); }
  /// Calls `send(entry&)` for what is in the slot, as far as the stack has room; after `close` for
  /// all. Within such a call it does nothing: the outer one goes on.
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

  /// One signal is confirmed, or is known to be lost.
  void signal_settled() noexcept { --signals_under_way_; }
  [[nodiscard]] bool any_signals() const noexcept { return !signals_.empty(); }
  /// Sends signals, as many as may be under way.
  void send_signals(base::instant at);

  /// Nothing waits, and no signal is under way.
  [[nodiscard]] bool is_idle() const noexcept {
    return !is_behind() && ready_.empty() && signals_.empty() && signals_under_way_ == 0;
  }
  /// Answers that wait in the slot, or were taken out of it.
  [[nodiscard]] std::size_t answers_in_slot() const noexcept {
    return slot_.answers() + std::size_t{taken_.answers()};
  }
  /// What waits of a class behind the slot: bytes of refusals, frames of others.
  [[nodiscard]] std::int64_t waiting(frame_class of) const noexcept {
    return waiting_[static_cast<std::size_t>(of)];
  }
  /// Returns true if more waits for the peer than could if it read what comes.
  [[nodiscard]] bool is_unread() const noexcept {
    return waiting(frame_class::refusals) > most_.refused_bytes ||
           waiting(frame_class::ends) > most_.ends || waiting(frame_class::grants) > most_.grants;
  }
  /// Returns what is ready, for the owner to give up. Nothing is sent from now on, and `take` takes
  /// all.
  [[nodiscard]] std::deque<outgoing> close() noexcept;

 private:
  struct end_of_taking {
    outbox& of;
    ~end_of_taking() {
      of.takes_ = false;
      of.slot_.stand(of.is_behind());
    }
  };

  /// Signals have room of their own, and what comes before them has to be out of their way.
  [[nodiscard]] bool may_take() const {
    return is_closed_ || (ready_.empty() && stack_.writable()) || taken_.any_signals() ||
           slot_.any_signals();
  }
  void wait(outgoing m);
  [[nodiscard]] outgoing take_ready();
  void post_signal(outgoing m, base::instant at);
  /// Returns false if the stack has no room for more within one call, and takes it later.
  [[nodiscard]] bool send_signal(outgoing& m, base::instant at);
  /// One more, or less (-1), waits.
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
  bool may_be_stale_ = false;  // a request that is ready may not be wanted any more
  bool takes_ = false;
  bool is_closed_ = false;
};

}  // namespace garrick::net::internal
