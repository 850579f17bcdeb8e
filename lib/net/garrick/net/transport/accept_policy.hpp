// What becomes of somebody who knocks: an accept policy.
//
// A listener asks its policy about each new connection, or about a datagram from an address that it
// does not know. The policy may start a link for it, refuse it, ask for more of the first bytes, or
// hand a stream over to a link that has lost its own connection (a session that is resumed). The
// first bytes that it has looked at are passed to the link as if they had just come.
//
// A connection belongs to no I/O thread before the policy has decided: what moves to the link's
// thread is the descriptor and the first bytes. So links that are resumed may live on any thread.
//
// Invariants:
//   A1  For each newcomer `look` says "more" until it says anything else, and nothing after that.
//       After "start" `claim` is called once, and `make` only if that has said so.
//   A2  The bytes that `look` may see are at most `wants()`, and the time is limited by
//       `accept_limits::admission`.
//   A3  A listener that is closed leaves its links alone. Who waits at its door is refused when
//       more of his bytes come, or the time is over.
//
// Thread safety: `look` and `claim` are called on the listener's I/O thread, `make` on that of the
// new link, so also at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "garrick/net/packet.hpp"
#include "garrick/net/transport/endpoint.hpp"
#include "garrick/net/transport/hosted.hpp"

namespace garrick::net {

/// Who knocks.
struct arrival {
  endpoint
      remote;      ///< from where; of a Unix domain socket, which has no name there, the listener's
  endpoint local;  ///< the listener's
  std::span<const std::byte> bytes;  ///< what has come so far, at most `accept_policy::wants()`
};

/// What a policy has decided.
class verdict {
 public:
  /// What is to happen.
  enum class kind : std::uint8_t {
    refuse,  ///< nothing comes of it
    start,   ///< a link is made
    more,    ///< it is asked again
    join,    ///< a link gets the connection
  };

  /// The connection is closed, a datagram ignored. The newcomer gets these bytes before, if there
  /// are any: as the next ones of the stream, or as a datagram, which should be no longer than his,
  /// since the address that it came from may be false. They may be lost.
  [[nodiscard]] static verdict refuse(packet words = {}) noexcept {
    verdict v(kind::refuse);
    v.words_ = std::move(words);
    return v;
  }
  /// A link is made on this I/O thread; none: as the listener's settings say. Datagrams stay on the
  /// listener's thread.
  [[nodiscard]] static verdict start(std::optional<std::size_t> thread = {}) noexcept {
    verdict v(kind::start);
    v.thread_ = thread;
    return v;
  }
  /// Asks again with more bytes. At the limits it is a refusal, and for datagrams at once.
  [[nodiscard]] static verdict more() noexcept { return verdict(kind::more); }
  /// The stream carries this link's bytes from now on, as after `carrier::reopen`. If the link has
  /// ended, or is no stream's, it is a refusal. A connection that the link still has is closed.
  [[nodiscard]] static verdict join(connection to) noexcept {
    verdict v(kind::join);
    v.to_ = std::move(to);
    return v;
  }

  /// What is to happen.
  [[nodiscard]] kind what() const noexcept { return what_; }
  /// The thread that `start` was given.
  [[nodiscard]] std::optional<std::size_t> thread() const noexcept { return thread_; }
  /// The link that `join` was given.
  [[nodiscard]] const connection& to() const noexcept { return to_; }
  /// The bytes that `refuse` was given.
  [[nodiscard]] packet take_words() noexcept { return std::move(words_); }

 private:
  explicit verdict(kind what) noexcept : what_(what) {}
  kind what_;
  std::optional<std::size_t> thread_;
  connection to_;
  packet words_;
};

/// What a new endpoint becomes. An extension point: derive from it.
///
/// A function that throws refuses the newcomer.
class accept_policy {
 public:
  virtual ~accept_policy() = default;
  accept_policy(const accept_policy&) = delete;
  accept_policy& operator=(const accept_policy&) = delete;

  /// Of a stream, how many of the first bytes `look` wants to see at most. 0: it decides at once.
  [[nodiscard]] virtual std::size_t wants() const { return 0; }
  /// What becomes of a newcomer. The default starts a link for each.
  [[nodiscard]] virtual verdict look(const arrival&) { return verdict::start(); }
  /// A link is there for a newcomer to whom `look` said "start", but nothing has been done with it.
  /// Returns who gets the newcomer: this link, usually, or another one, as by `verdict::join`; no
  /// link refuses. So a policy that knows whose a link is takes note of it before the next newcomer
  /// is looked at, however long it takes until the link is made.
  [[nodiscard]] virtual connection claim(const arrival&, const connection& fresh) { return fresh; }
  /// Makes what a link is, on its I/O thread. The carrier outlives it. Null refuses.
  [[nodiscard]] virtual std::unique_ptr<hosted> make(const arrival& from, carrier& below,
                                                     const connection& self) = 0;
  /// The listener has ended, by `listener::close` or with its I/O thread: nobody is looked at any
  /// more. Called once, on its thread. Links that were started before may still be made.
  virtual void closed() noexcept {}

 protected:
  accept_policy() = default;
};

/// A policy that starts a link for each newcomer, by
/// `std::unique_ptr<hosted> f(const arrival&, carrier&, const connection&)`, which is called on
/// several threads at once.
template <class F>
  requires std::is_invocable_v<F&, const arrival&, carrier&, const connection&>
[[nodiscard]] std::shared_ptr<accept_policy> accept_each(F f) {
  struct each final : accept_policy {
    explicit each(F g) : f_(std::move(g)) {}
    std::unique_ptr<hosted> make(const arrival& from, carrier& below,
                                 const connection& self) override {
      return f_(from, below, self);
    }
    F f_;
  };
  return std::make_shared<each>(std::move(f));
}

}  // namespace garrick::net
