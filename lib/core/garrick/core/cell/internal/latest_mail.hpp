// The mail of an actor that keeps its newest messages (`mailbox_policy::drop_oldest`).
//
// Problem: only the runner may take from the mailbox. While a handler runs, while the actor waits
// for a worker, and while it awaits a response, nobody else could drop the oldest message. So the
// messages of such an actor wait here, under a lock, and a sender that passes the bound takes the
// oldest one out itself. What lies in the mailbox instead are tokens. A token wakes the actor, and
// keeps the place of its messages among the responses; one is enough until a response comes.
//
// Every message that a user sends to such an actor comes through `add`, since its soft limit is 0.
// Responses and the system lane go their ordinary way and have no bound.
//
// Thread safety: `add` and `length` are for any thread that holds a strong handle; the others are
// for the runner. Messages that a function gives back belong to the caller.
//
// Invariants
// N1 At most `bound` messages are kept, those set aside included. The one that is handled counts no
//    more.
// N2 Each lane numbers its messages. A token stands for all messages of its lane below its end, and
//    an open token has no end yet. Each message that waits has a token in the mailbox.
// N3 A message joins the open token only if nothing but tokens was pushed since. So it passes no
//    response that came before it.
// N4 The mailbox's word has never named a message that waits here, so whoever takes it may free it.
#pragma once

#include <garrick/base/concurrency/spin_lock.hpp>
#include <garrick/core/cell/envelope_chain.hpp>
#include <garrick/core/cell/mailbox.hpp>

#include <cstdint>
#include <mutex>

namespace garrick::core {

/// The messages that wait for one actor: the newest ones, and no more than its bound.
class latest_mail {
 public:
  explicit latest_mail(std::uint32_t bound) noexcept : bound_(bound) {}
  ~latest_mail();
  latest_mail(const latest_mail&) = delete;
  latest_mail& operator=(const latest_mail&) = delete;

  /// What became of a message.
  enum class outcome : std::uint8_t {
    kept,       ///< it waits
    woke,       ///< it waits, and the caller must schedule the actor
    closed,     ///< the actor has ended: the message is still the caller's
    no_memory,  ///< for the token: the message is still the caller's
  };
  /// What `add` did, and the message that is dropped for it, if any.
  struct addition {
    outcome what;
    envelope* dropped = nullptr;
  };
  /// Puts `e` behind the others of its priority. Locks; may allocate; never waits.
  [[nodiscard]] addition add(mailbox_gate<envelope>& gate, envelope* e) noexcept;

  /// Messages that wait, and those set aside.
  [[nodiscard]] std::uint32_t length() const noexcept;
  [[nodiscard]] std::uint32_t bound() const noexcept { return bound_; }

  /// Is `e` a token and no message?
  [[nodiscard]] static bool is_token(const envelope* e) noexcept;
  /// The oldest message of the token; null: the token is spent.
  [[nodiscard]] envelope* take(const envelope* token) noexcept;
  /// No message joins the token any more: what comes later gets one of its own.
  void close(envelope* token) noexcept;
  /// What `take` will return, if the runner makes it first.
  [[nodiscard]] const envelope* peek(const envelope* token) const noexcept;
  /// Undoes the last `take`. Returns what is dropped because newer messages came meanwhile, or
  /// null.
  [[nodiscard]] envelope* put_back(envelope* e) noexcept;
  /// Sets a message aside until `retry`. It is the oldest from then on, with those set aside before
  /// it, and urgent no more. Returns what is dropped for it, or null; without memory for the token
  /// that `retry` will need, that is the message itself.
  [[nodiscard]] envelope* set_aside(envelope* e) noexcept;
  /// How many messages are set aside.
  [[nodiscard]] std::uint32_t aside() const noexcept;
  /// The oldest message that is set aside, or null.
  [[nodiscard]] envelope* take_aside() noexcept;
  /// Messages that are set aside wait again, before all others of normal priority.
  void retry(mailbox_reader<envelope>& reader) noexcept;
  /// Calls `f` with what waits in the token's lane, oldest first, until it returns false. Under the
  /// lock: `f` must not allocate.
  template <class F>
  void list(const envelope* token, F f) const {
    const std::lock_guard guard(lock_);
    for (const envelope* e = lane_of(token).messages.front; e != nullptr; e = e->next)
      if (!f(e)) return;
  }

 private:
  /// The messages of one priority that wait.
  struct lane {
    envelope_chain messages;
    std::int64_t first = 0;    ///< number of the oldest
    std::int64_t behind = 0;   ///< number of the next one to come
    envelope* open = nullptr;  ///< the token that it may join
  };
  [[nodiscard]] lane& lane_of(const envelope* e) noexcept {
    return envelope::is_urgent(e) ? urgent_ : normal_;
  }
  [[nodiscard]] const lane& lane_of(const envelope* e) const noexcept {
    return envelope::is_urgent(e) ? urgent_ : normal_;
  }
  [[nodiscard]] envelope* take_oldest(lane& from) noexcept;
  [[nodiscard]] envelope* drop_over_bound() noexcept;

  const std::uint32_t bound_;
  /// the runner's: there if a message is set aside, so that `retry` cannot fail
  envelope* retry_token_ = nullptr;
  mutable base::spin_lock lock_;
  // under `lock_`
  lane normal_;
  lane urgent_;
  /// pushes to the mailbox when the newest token had come, unless others came in between
  std::uint32_t pushes_ = 0;
  std::uint32_t length_ = 0;
  envelope_chain aside_;
  std::uint32_t aside_count_ = 0;
};

}  // namespace garrick::core
