// The base of all handles, without their protocol: a counted pointer to a cell; and an actor's
// identity.
//
// Private: installed because templates need it.
//
// Guarantees: all handles to one actor compare equal, of any type. Thread safety: distinct objects
// may be used from any thread; one object is like one std::shared_ptr object.
#pragma once

#include <garrick/core/cell/cell.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace garrick::core {

template <class P>
class ref;

/// The identity of an actor. It can be compared, hashed, printed, linked and monitored, but not
/// sent to. It keeps the actor's block in memory, but not the actor alive. It may be sent in
/// messages.
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
  /// Returns a number that is unique in this process; 0 for an empty address.
  [[nodiscard]] std::uint64_t id() const noexcept { return cell_ != nullptr ? cell_->id() : 0; }
  /// Returns "name#id", for people; `"nobody"` for an empty address.
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

/// The common base of all strong handles; `ref` derives from it.
class handle {
 public:
  using garrick_sendable = void;

  [[nodiscard]] explicit operator bool() const noexcept { return cell_ != nullptr; }
  /// Returns the actor's number: unique in the process; 0 for an empty handle.
  [[nodiscard]] std::uint64_t id() const noexcept { return cell_ != nullptr ? cell_->id() : 0; }
  /// Returns the actor's address; an empty one for an empty handle.
  [[nodiscard]] core::address address() const noexcept;
  /// Returns "name#id", for people; `"nobody"` for an empty handle.
  [[nodiscard]] std::string to_string() const;
  /// Returns the number of messages that wait in the actor's mailbox, without the current one.
  /// Accurate to within a millisecond, however long a handler takes; the read stops no thread. 0 if
  /// the actor has ended, or for an empty handle. Any thread.
  [[nodiscard]] std::uint32_t mailbox_length() const noexcept {
    return cell_ != nullptr && !cell_->has_ended() ? cell_->mailbox_length() : 0;
  }

  friend bool operator==(const handle& a, const handle& b) noexcept { return a.cell_ == b.cell_; }
  friend bool operator==(const handle& a, const core::address& b) noexcept {
    return a.id() == b.id();
  }
  /// Compares by id: the same order for handles of every type and for addresses.
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

  friend struct handle_access;
  cell* cell_ = nullptr;  ///< for the framework: a strong reference; null: empty
};

/// For the framework: handles from and to cells.
struct handle_access {
  [[nodiscard]] static cell* get(const handle& h) noexcept { return h.cell_; }
  [[nodiscard]] static cell* get(const address& a) noexcept { return a.cell_; }
  [[nodiscard]] static cell* release(handle& h) noexcept { return std::exchange(h.cell_, nullptr); }
  [[nodiscard]] static address make_address(cell* c) noexcept { return address(c); }
  /// Takes over one strong count, and returns its handle.
  template <class P>
  [[nodiscard]] static ref<P> adopt(cell* c) noexcept {
    ref<P> r;
    static_cast<handle&>(r).cell_ = c;
    return r;
  }
};

inline address handle::address() const noexcept { return handle_access::make_address(cell_); }

}  // namespace garrick::core

template <>
struct std::hash<garrick::core::address> {
  std::size_t operator()(const garrick::core::address& a) const noexcept {
    return static_cast<std::size_t>(a.id() * 0x9e3779b97f4a7c15ull);
  }
};
