// A message as a value: content of any type, which its copies share. The content is copied only
// when a receiver changes it while other holders exist.
//
//   message m = make_message(line{text}, 7);
//   for (auto& r : readers) send(r, m);        // one block, an envelope each
//
// make_message returns a message that knows the type of its content, so it may be sent to typed
// handles, too. A plain `message`, as a catch-all gets it, goes to any_ref only. Trivially copyable
// content of up to 32 bytes is copied into each envelope. A catch-all may look at content that
// cannot be copied, but not send it on.
//
// Thread safety: copies may live on different threads; the content is read-only through `message`.
#pragma once

#include <garrick/base/types/copyable.hpp>
#include <garrick/base/types/sendable.hpp>
#include <garrick/core/mailbox/envelope.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/send.hpp>

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace garrick::core {

/// A message of any content, as a value. Copies share one immutable block. It may be sent in
/// messages and, through an any_ref, be a message itself. Copies may live on different threads.
///
///     otherwise >> [&](const message& m) { log(m.to_string()); send(next, m); }
class message {
 public:
  using garrick_sendable = void;
  using garrick_message = message;  ///< `send(to, m)` sends the content of m

  message() noexcept = default;
  message(const message& o) noexcept : block_(o.block_), type_(o.type_) {
    // order: relaxed: the source is a holder
    if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  message(message&& o) noexcept : block_(std::exchange(o.block_, nullptr)), type_(o.type_) {}
  message& operator=(message o) noexcept {
    std::swap(block_, o.block_);
    std::swap(type_, o.type_);
    return *this;
  }
  ~message() {
    if (block_ != nullptr) detail::release_shared(block_, type_);
  }

  /// Returns true if the message has no content. Sending an empty message throws std::logic_error.
  [[nodiscard]] bool empty() const noexcept { return block_ == nullptr; }
  /// Returns the name of the content's type, for people; "empty" if there is none.
  [[nodiscard]] std::string_view type_name() const noexcept {
    return block_ != nullptr ? type_->name : "empty";
  }
  /// Returns the content if it was made from exactly these argument types, else null. Valid as long
  /// as this object or a copy of it.
  template <class... Ts>
  [[nodiscard]] const content_of<Ts...>* get() const noexcept {
    if (block_ == nullptr || type_ != &base::message_type_of<content_of<Ts...>>) return nullptr;
    return static_cast<const content_of<Ts...>*>(block_->value());
  }
  /// Returns the number of messages and envelopes that hold the content; an estimate while other
  /// threads work.
  [[nodiscard]] std::uint32_t holders() const noexcept {
    // order: an estimate
    return block_ != nullptr ? block_->holders.load(std::memory_order_relaxed) : 0;
  }
  /// Returns the content field by field, for people; an empty text if there is none.
  [[nodiscard]] std::string to_string() const {
    std::string out;
    if (block_ != nullptr) type_->print(block_->value(), out);
    return out;
  }

 private:
  friend struct message_access;
  message(shared_block* b, const base::message_type* t) noexcept : block_(b), type_(t) {}
  shared_block* block_ = nullptr;
  const base::message_type* type_ = nullptr;
};

/// A message with a content type that the compiler knows. It may be sent to every handle with that
/// content in its protocol.
template <class Content>
class typed_message : public message {
 public:
  using garrick_message = Content;
  typed_message(const typed_message&) noexcept = default;
  typed_message(typed_message&&) noexcept = default;
  typed_message& operator=(const typed_message&) noexcept = default;
  typed_message& operator=(typed_message&&) noexcept = default;
  ~typed_message() = default;

 private:
  friend struct message_access;
  explicit typed_message(message m) noexcept : message(std::move(m)) {}
};

/// For the framework: makes messages, and opens them.
struct message_access {
  template <class Content, class... Args>
  [[nodiscard]] static typed_message<Content> make(Args&&... args) {
    static_assert(alignof(Content) <= 32,
                  "garrick: a message type may be aligned to 32 bytes at most");
    static_assert(base::copyable_message<Content>,
                  "garrick: a message for several receivers must be copyable");
    constexpr std::size_t bytes = (shared_block::offset + sizeof(Content) + 63) / 64 * 64;
    struct block {
      void* memory = base::block_pool::allocate(bytes);
      ~block() {
        if (memory != nullptr) base::block_pool::deallocate(memory, bytes);
      }
    } raw;
    auto* const b = ::new (raw.memory) shared_block{{1}, static_cast<std::uint32_t>(bytes)};
    ::new (b->value()) Content{std::forward<Args>(args)...};
    raw.memory = nullptr;
    return typed_message<Content>(message(b, &base::message_type_of<Content>));
  }
  /// Returns the content of an envelope as a message; an owned content is moved into a block of its
  /// own, which the envelope then shares.
  [[nodiscard]] static message from_envelope(envelope* e);
  [[nodiscard]] static shared_block* block(const message& m) noexcept { return m.block_; }
  [[nodiscard]] static const base::message_type* type(const message& m) noexcept { return m.type_; }
  /// Returns the reference of `m` to its content; `m` is empty then.
  [[nodiscard]] static shared_block* release(message& m) noexcept {
    return std::exchange(m.block_, nullptr);
  }
};

/// For the framework: returns an envelope that shares the content of `m`. Throws std::logic_error
/// for an empty message, and for one that cannot be copied.
[[nodiscard]] envelope* envelope_of(const message& m);
/// For the framework: returns the same for a message that its owner gives away. The envelope takes
/// over the message's reference to the content, so the last receiver gets the content itself. `m`
/// is empty then.
[[nodiscard]] envelope* envelope_of(message&& m);

namespace detail {

/// Returns a new envelope with the content of `e`. The content is moved, or shared if `e` shares
/// it. The envelope's flags and sender are not carried over.
[[nodiscard]] envelope* forward_content(envelope* e);

}  // namespace detail

/// Returns a message that can be sent to many receivers without a copy for each. Requires copyable
/// content. The result knows its content's type, so it may be sent to every handle with that
/// content in its protocol. A message value as the only argument is returned itself. Costs one
/// block from a pool. Throws std::bad_alloc, and any exception of building the content.
///
///     auto m = make_message(headline{text});
///     for (auto& reader : readers) send(reader, m);
template <class... Args>
[[nodiscard]] auto make_message(Args&&... args) {
  using content = typename detail::checked_message<any_protocol, Args...>::type;
  if constexpr (detail::message_value<Args...>)
    return (std::remove_cvref_t<Args>(std::forward<Args>(args)), ...);
  else if constexpr (sizeof...(Args) > 1)
    return message_access::make<content>(
        std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
  else
    return message_access::make<content>(std::forward<Args>(args)...);
}

}  // namespace garrick::core
