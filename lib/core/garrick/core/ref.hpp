// Handles: the references to an actor from outside it.
//
//   ref<P>      strong, typed by the protocol P; converts to any subset of P; one pointer
//   any_ref     strong, accepts every message (the wildcard)
//   weak_ref<P> does not keep the actor alive; lock() returns a ref or an empty one
//   address     identity only: compares, hashes, prints
//
// Guarantees: a handle may outlive its actor and its system; messages sent then are dead letters.
// All handles to one actor compare equal.
//
// Thread safety: distinct handle objects may be used from any thread; one handle object is like one
// std::shared_ptr object.
//
// Two actors that hold strong handles to each other keep both alive: use weak_ref or end one of
// them; the testkit's leak check finds such cycles.
#pragma once

#include <garrick/base/types/first_failure.hpp>
#include <garrick/core/cell/handle.hpp>
#include <garrick/core/detail/isolation.hpp>
#include <garrick/core/protocol/protocol.hpp>

#include <cstddef>
#include <utility>

namespace garrick::core {

/// A strong handle to an actor that understands at least the protocol P. The actor lives at least
/// as long as a strong handle to it exists, unless it ends by itself. It has the size of a pointer;
/// a copy is one atomic addition. A ref may be sent in messages, and may outlive its system.
///
///     ref<account> all = system.spawn<account_actor>();
///     ref<protocol<long(balance)>> read_only = all;  // any subset of the protocol
template <class P>
class ref : public handle {
  static_assert(base::detail::unless<!detail::has_mark_of_actors<P>,
                                     detail::this_is_no_protocol<P>>::reported);
  static_assert(detail::looked_at<P>);

 public:
  using protocol_type = P;  ///< the messages that it accepts

  /// Makes an empty handle; a send through it is a programming error and throws std::logic_error.
  ref() noexcept = default;

  /// Converts from a handle with more signatures. The conversion to a wildcard handle is explicit,
  /// since it gives up the compile-time check: that handle accepts every message. A message that
  /// the actor does not understand is a dead letter, and a request gets `unexpected_message`.
  // A second constructor, or a `requires`, would add lines to the error for a handle that does not
  // convert: clang lists each constructor and each condition that is not satisfied.
  template <class Q, std::enable_if_t<detail::can_become<Q, P>, int> = 0>
  explicit(detail::gives_up_check<Q, P>) ref(ref<Q> other) noexcept
      : handle(static_cast<handle&&>(other)) {}
};

/// The wildcard handle.
using any_ref = ref<any_protocol>;

/// A handle that does not keep its actor alive; it keeps the memory of the actor's block. For
/// caches, and to break cycles of strong handles. It may be sent in messages.
///
///     if (ref<account> r = weak.lock()) send(r, deposit{5});
template <class P>
class weak_ref {
  static_assert(base::detail::unless<!detail::has_mark_of_actors<P>,
                                     detail::this_is_no_protocol<P>>::reported);
  static_assert(detail::looked_at<P>);

 public:
  using garrick_sendable = void;

  weak_ref() noexcept = default;
  /// Refers to the actor behind `strong`; empty if `strong` is empty.
  weak_ref(const ref<P>& strong) noexcept : address_(strong.address()) {}
  /// Converts from a handle with more signatures, as `ref` does.
  template <class Q>
    requires detail::understands_more<Q, P>
  weak_ref(const ref<Q>& strong) noexcept : address_(strong.address()) {}
  /// Converts from a weak handle with more signatures.
  template <class Q>
    requires detail::understands_more<Q, P>
  weak_ref(const weak_ref<Q>& other) noexcept : address_(other.address()) {}

  /// Returns a strong handle; an empty one if no strong handle is left. The actor has then ended or
  /// is ending. An actor that ended by itself can still be locked as long as strong handles to it
  /// exist.
  [[nodiscard]] ref<P> lock() const noexcept {
    cell* const c = handle_access::get(address_);
    return c != nullptr && c->lock() ? handle_access::adopt<P>(c) : ref<P>{};
  }
  /// Returns the actor's address.
  [[nodiscard]] const core::address& address() const noexcept { return address_; }
  friend bool operator==(const weak_ref& a, const weak_ref& b) noexcept {
    return a.address_ == b.address_;
  }
  friend bool operator==(const weak_ref& a, const core::address& b) noexcept {
    return a.address_ == b;
  }

 private:
  core::address address_;
};

}  // namespace garrick::core

template <class P>
struct std::hash<garrick::core::weak_ref<P>> {
  std::size_t operator()(const garrick::core::weak_ref<P>& r) const noexcept {
    return std::hash<garrick::core::address>()(r.address());
  }
};
template <class P>
struct std::hash<garrick::core::ref<P>> {
  std::size_t operator()(const garrick::core::ref<P>& r) const noexcept {
    return static_cast<std::size_t>(r.id() * 0x9e3779b97f4a7c15ull);
  }
};
