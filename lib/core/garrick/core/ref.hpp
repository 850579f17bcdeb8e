// Handles: how anything outside an actor names it.
//
//   ref<P>      strong, typed by the protocol P; converts to any subset of P; one pointer
//   any_ref     strong, accepts every message (the wildcard)
//   weak_ref<P> does not keep the actor alive; lock() gives a ref or an empty one
//   address     identity only: compares, hashes, prints
//
// Requires: nothing. Guarantees: a handle may outlive its actor and its system; what is sent then
// is a dead letter. All handles to one actor compare equal. Thread safety: distinct handle objects
// may be used from any thread; one handle object is like one std::shared_ptr object. Reference
// cycles (two actors that hold strong handles to each other) keep both alive: use weak_ref or end
// one of them; the testkit's leak check finds them.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/protocol/protocol.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace garrick::core {

template <class P>
class ref;
template <class P>
class weak_ref;

/// Who an actor is, and nothing more: it can be compared, hashed, printed, monitored, but not sent
/// to. Keeps the actor's block (not the actor) in memory.
class address {
 public:
  using garrick_sendable = void;

  address() noexcept = default;
  address(const address& o) noexcept : cell_(o.cell_) {
    if (cell_ != nullptr) cell_->add_weak();
  }
  address(address&& o) noexcept : cell_(std::exchange(o.cell_, nullptr)) {}
  address& operator=(address o) noexcept {
    std::swap(cell_, o.cell_);
    return *this;
  }
  ~address() {
    if (cell_ != nullptr) cell_->drop_weak();
  }

  [[nodiscard]] explicit operator bool() const noexcept { return cell_ != nullptr; }
  /// Unique in this process; 0 for an empty address.
  [[nodiscard]] std::uint64_t id() const noexcept { return cell_ != nullptr ? cell_->id() : 0; }
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const address& a, const address& b) noexcept { return a.cell_ == b.cell_; }
  friend std::strong_ordering operator<=>(const address& a, const address& b) noexcept {
    return a.id() <=> b.id();
  }

 private:
  friend struct handle_access;
  explicit address(cell* c) noexcept : cell_(c) {
    if (c != nullptr) c->add_weak();
  }
  cell* cell_ = nullptr;
};

/// What all strong handles share; not for users.
class handle {
 public:
  using garrick_sendable = void;

  [[nodiscard]] explicit operator bool() const noexcept { return cell_ != nullptr; }
  [[nodiscard]] std::uint64_t id() const noexcept { return cell_ != nullptr ? cell_->id() : 0; }
  [[nodiscard]] core::address address() const noexcept;
  [[nodiscard]] std::string to_string() const;
  /// Messages in the actor's mailbox now: an estimate, read without stopping anyone. 0 if it has
  /// ended, or for an empty handle.
  [[nodiscard]] std::uint32_t mailbox_length() const noexcept {
    return cell_ != nullptr && !cell_->has_ended() ? cell_->mailbox_length() : 0;
  }

  friend bool operator==(const handle& a, const handle& b) noexcept { return a.cell_ == b.cell_; }
  friend bool operator==(const handle& a, const core::address& b) noexcept {
    return a.id() == b.id();
  }
  /// By id: the same order for handles of every type and for addresses.
  friend std::strong_ordering operator<=>(const handle& a, const handle& b) noexcept {
    return a.id() <=> b.id();
  }

 protected:
  handle() noexcept = default;
  handle(const handle& o) noexcept : cell_(o.cell_) {
    if (cell_ != nullptr) cell_->add_strong();
  }
  handle(handle&& o) noexcept : cell_(std::exchange(o.cell_, nullptr)) {}
  handle& operator=(const handle& o) noexcept {
    handle copy(o);
    std::swap(cell_, copy.cell_);
    return *this;
  }
  handle& operator=(handle&& o) noexcept {
    std::swap(cell_, o.cell_);
    return *this;
  }
  ~handle() {
    if (cell_ != nullptr) cell_->drop_strong();
  }
  explicit handle(cell* adopted) noexcept : cell_(adopted) {}

  friend struct handle_access;
  cell* cell_ = nullptr;
};

/// For the framework: handles from and to cells.
struct handle_access {
  [[nodiscard]] static cell* get(const handle& h) noexcept { return h.cell_; }
  [[nodiscard]] static cell* get(const address& a) noexcept { return a.cell_; }
  [[nodiscard]] static cell* release(handle& h) noexcept { return std::exchange(h.cell_, nullptr); }
  [[nodiscard]] static address make_address(cell* c) noexcept { return address(c); }
  /// Takes over one strong count.
  template <class P>
  [[nodiscard]] static ref<P> adopt(cell* c) noexcept {
    return ref<P>(c);
  }
};

inline address handle::address() const noexcept { return handle_access::make_address(cell_); }

/// A strong handle to an actor that understands at least the protocol P.
template <class P>
class ref : public handle {
 public:
  using protocol_type = P;

  /// An empty handle; a send through it is a programming error and throws std::logic_error.
  ref() noexcept = default;

  /// From a handle with more signatures; copies (or moves) one pointer.
  template <class Q>
    requires(!std::is_same_v<P, Q> && subset_of<P, Q>)
  ref(const ref<Q>& other) noexcept : handle(static_cast<const handle&>(other)) {}
  template <class Q>
    requires(!std::is_same_v<P, Q> && subset_of<P, Q>)
  ref(ref<Q>&& other) noexcept : handle(static_cast<handle&&>(other)) {}

  /// Gives up the compile-time check: the wildcard accepts every message, and what the actor does
  /// not understand is its `unexpected_message`.
  template <class Q>
    requires(std::is_same_v<P, any_protocol> && !std::is_same_v<Q, any_protocol>)
  explicit ref(const ref<Q>& typed) noexcept : handle(static_cast<const handle&>(typed)) {}

 private:
  friend struct handle_access;
  explicit ref(cell* adopted) noexcept : handle(adopted) {}
};

/// The wildcard handle.
using any_ref = ref<any_protocol>;

/// A handle that does not keep its actor alive.
template <class P>
class weak_ref {
 public:
  using garrick_sendable = void;

  weak_ref() noexcept = default;
  weak_ref(const ref<P>& strong) noexcept : address_(strong.address()) {}
  /// From a handle with more signatures, as `ref` does.
  template <class Q>
    requires(!std::is_same_v<P, Q> && subset_of<P, Q>)
  weak_ref(const ref<Q>& strong) noexcept : address_(strong.address()) {}
  template <class Q>
    requires(!std::is_same_v<P, Q> && subset_of<P, Q>)
  weak_ref(const weak_ref<Q>& other) noexcept : address_(other.address()) {}

  /// A strong handle; empty if no strong handle is left, so that the actor is gone or going. An
  /// actor that ended by itself has one as long as others hold it.
  [[nodiscard]] ref<P> lock() const noexcept {
    cell* const c = handle_access::get(address_);
    return c != nullptr && c->lock() ? handle_access::adopt<P>(c) : ref<P>{};
  }
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

template <>
struct std::hash<garrick::core::address> {
  std::size_t operator()(const garrick::core::address& a) const noexcept {
    return static_cast<std::size_t>(a.id() * 0x9e3779b97f4a7c15ull);
  }
};
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
