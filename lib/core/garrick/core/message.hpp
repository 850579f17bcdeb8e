// A message as a value: content of any type, shared by its copies, copied only when someone changes it while others hold it.
//
//   message m = make_message(line{text}, 7);
//   for (auto& r : readers) send(r, m);        // one block, an envelope each
//
// Thread safety: copies may live on different threads; the content is read-only through `message`.
#pragma once

#include <garrick/base/sendable.hpp>
#include <garrick/core/envelope.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/send.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace garrick::core {

/// The content of an envelope, shared or not.
[[nodiscard]] inline void* content_pointer(envelope* e) noexcept {
  return e->is(envelope_flag::shared) ? (*static_cast<shared_block**>(e->raw()))->value() : e->raw();
}
[[nodiscard]] inline const void* content_pointer(const envelope* e) noexcept { return content_pointer(const_cast<envelope*>(e)); }

class message {
 public:
  using garrick_sendable = void;

  message() noexcept = default;
  message(const message& o) noexcept : block_(o.block_), type_(o.type_) {
    // order: relaxed: the source holds one
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

  [[nodiscard]] bool empty() const noexcept { return block_ == nullptr; }
  [[nodiscard]] std::string_view type_name() const noexcept { return block_ != nullptr ? type_->name : "empty"; }
  /// The content if it was made from exactly these argument types, else null.
  template <class... Ts>
  [[nodiscard]] const content_of<Ts...>* get() const noexcept {
    if (block_ == nullptr || type_ != &base::message_type_of<content_of<Ts...>>) return nullptr;
    return static_cast<const content_of<Ts...>*>(block_->value());
  }
  /// How many messages and envelopes hold the content now; an estimate while other threads work.
  [[nodiscard]] std::uint32_t holders() const noexcept {
    return block_ != nullptr ? block_->holders.load(std::memory_order_relaxed) : 0;  // order: an estimate
  }
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

/// For the framework.
struct message_access {
  template <class Content, class... Args>
  [[nodiscard]] static message make(Args&&... args) {
    static_assert(alignof(Content) <= shared_block::offset);
    constexpr std::size_t bytes = (shared_block::offset + sizeof(Content) + 63) / 64 * 64;
    auto* const b = ::new (base::block_pool::allocate(bytes)) shared_block{{1}, static_cast<std::uint32_t>(bytes)};
    ::new (b->value()) Content{std::forward<Args>(args)...};
    return {b, &base::message_type_of<Content>};
  }
  /// An envelope that shares the content.
  [[nodiscard]] static envelope* to_envelope(const message& m) {
    envelope* const e = detail::new_envelope<sizeof(shared_block*)>(m.type_);
    // order: relaxed: `m` holds one
    m.block_->holders.fetch_add(1, std::memory_order_relaxed);
    ::new (e->raw()) shared_block*(m.block_);
    e->set(envelope_flag::shared);
    return e;
  }
  /// The content of an envelope as a message; an owned content is moved into a block of its own, which the envelope then shares.
  [[nodiscard]] static message from_envelope(envelope* e);
  [[nodiscard]] static const base::message_type* type(const message& m) noexcept { return m.type_; }
};

/// Makes a message that can be sent to many receivers without a copy.
template <class... Args>
[[nodiscard]] message make_message(Args&&... args) {
  using content = typename detail::message_of<Args...>::type;
  static_assert(detail::message_of<Args...>::checked);
  if constexpr (sizeof...(Args) > 1)
    return message_access::make<content>(std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
  else
    return message_access::make<content>(std::forward<Args>(args)...);
}

/// Sends a message value to a wildcard handle.
void send(const any_ref& to, const message& m);

}  // namespace garrick::core
