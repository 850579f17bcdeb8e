// The decision about a newcomer: an accept policy.
//
// A listener asks its policy about each new connection, and about each datagram from an unknown
// address. The policy may start a link for it, refuse it, ask for more of the first bytes, or hand
// a stream over to a link that has lost its own connection (a resumed session). The link then
// receives the inspected bytes as if they had just come.
//
// A connection belongs to no I/O thread before the policy has decided: only the descriptor and the
// first bytes move to the link's thread. A resumed link may therefore live on any thread.
//
// Invariants:
//   A1  For each newcomer `look` returns "more" until it returns another verdict, and it is not
//       called after that. After "start" `claim` is called once, and `make` only if `claim` has
//       returned the fresh link. For a datagram, "start" is a refusal if the listener has no place
//       for its link; `claim` is not called then.
//   A2  `look` sees at most `wants()` bytes, and `accept_limits::admission` limits the time. At a
//       full door a newcomer that waits may be dropped before that (`accept_limits`).
//   A3  A closed listener leaves its links alone. Newcomers that wait for a verdict are refused
//       when more of their bytes come, or when their time has passed.
//
// Thread safety: `look` and `claim` are called on the listener's I/O thread, `make` on that of the
// new link, so they may run at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/transport/endpoint.hpp"
#include "garrick/net/transport/hosted.hpp"

namespace garrick::net {

/// A newcomer.
struct arrival {
  endpoint remote;  ///< the other end's address; of a Unix domain socket the listener's
  endpoint local;   ///< the listener's address
  std::span<const std::byte> bytes;  ///< bytes so far, at most `accept_policy::wants()`
  base::instant now{};               ///< the time of the listener
};

/// The decision of a policy.
class verdict {
 public:
  /// The kinds of decisions.
  enum class kind : std::uint8_t {
    refuse,  ///< the newcomer is refused
    start,   ///< a link is made
    more,    ///< the policy is asked again
    join,    ///< an existing link gets the connection
  };

  /// Returns the verdict that closes the connection, or ignores the datagram. The newcomer first
  /// gets `words`, if there are any: as the next bytes of the stream, or as a datagram. A datagram
  /// of words should be at most three times as long as the newcomer's datagram, whose source
  /// address may be false, unless the policy has proved that address. The words may be lost.
  [[nodiscard]] static verdict refuse(packet words = {}) noexcept {
    verdict v(kind::refuse);
    v.words_ = std::move(words);
    return v;
  }
  /// Returns the verdict that makes a link on this I/O thread; none: on the thread that the
  /// listener's settings choose. Datagrams stay on the listener's thread.
  [[nodiscard]] static verdict start(std::optional<std::size_t> thread = {}) noexcept {
    verdict v(kind::start);
    v.thread_ = thread;
    return v;
  }
  /// Returns the verdict that waits for more bytes. At the limits, and for datagrams, it counts as
  /// a refusal. The sender of a datagram first gets `words`. If there are any, the datagram is not
  /// counted as refused: a newcomer that is at its address may send another one.
  [[nodiscard]] static verdict more(packet words = {}) noexcept {
    verdict v(kind::more);
    v.words_ = std::move(words);
    return v;
  }
  /// Returns the verdict that lets the stream carry this link's bytes from now on, as after
  /// `carrier::reopen`. It counts as a refusal if the link has ended or is not a stream's. A
  /// connection that the link still has is closed.
  [[nodiscard]] static verdict join(connection to) noexcept {
    verdict v(kind::join);
    v.to_ = std::move(to);
    return v;
  }

  /// Returns the kind of decision.
  [[nodiscard]] kind what() const noexcept { return what_; }
  /// Returns the thread given to `start`.
  [[nodiscard]] std::optional<std::size_t> thread() const noexcept { return thread_; }
  /// Returns the link given to `join`.
  [[nodiscard]] const connection& to() const noexcept { return to_; }
  /// Returns the bytes given to `refuse` or `more`.
  [[nodiscard]] packet take_words() noexcept { return std::move(words_); }

 private:
  explicit verdict(kind what) noexcept : what_(what) {}
  kind what_;
  std::optional<std::size_t> thread_;
  connection to_;
  packet words_;
};

/// Decides about newcomers. An extension point: derive from it.
///
/// An exception from any of its functions refuses the newcomer.
class accept_policy {
 public:
  virtual ~accept_policy() = default;
  accept_policy(const accept_policy&) = delete;
  accept_policy& operator=(const accept_policy&) = delete;

  /// Returns the most first bytes of a stream that `look` wants to see; 0: it decides at once.
  [[nodiscard]] virtual std::size_t wants() const { return 0; }
  /// Returns false if no newcomer's datagram begins like this one, which is then dropped before all
  /// else, and counted as refused. Called for each datagram from an unknown address.
  [[nodiscard]] virtual bool may_begin(std::span<const std::byte>) const noexcept { return true; }
  /// Returns the verdict on a newcomer. The default starts a link for each.
  [[nodiscard]] virtual verdict look(const arrival&) { return verdict::start(); }
  /// Called after `look` has returned "start"; `fresh` is a new link without an object. Returns the
  /// link that gets the newcomer: usually `fresh`. Another link takes it as by `verdict::join`; an
  /// empty connection refuses it. A policy that records the owners of links does it here: the next
  /// newcomer may be looked at before `make` has made the object.
  [[nodiscard]] virtual connection claim(const arrival&, const connection& fresh) { return fresh; }
  /// Returns the object of a link; called on its I/O thread. The carrier outlives it. Null refuses
  /// the newcomer.
  [[nodiscard]] virtual std::unique_ptr<hosted> make(const arrival& from, carrier& below,
                                                     const connection& self) = 0;
  /// Called once, on the listener's thread, when the listener has ended by `listener::close` or
  /// with its I/O thread. No newcomer is looked at any more; links that were started before may
  /// still be made.
  virtual void closed() noexcept {}

 protected:
  accept_policy() = default;
};

/// Returns a policy that starts a link for each newcomer, by `std::unique_ptr<hosted> f(const
/// arrival&, carrier&, const connection&)`. Several threads may call `f` at once. Over datagrams a
/// stranger with false addresses can make it start links, up to the listener's limits; but no
/// session of such a link opens (session.hpp).
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
