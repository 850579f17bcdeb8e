// One message on its way: a header of 32 bytes and the payload, in one pooled block that begins at
// a cache line.
//
// Problem: a message must cost one allocation from a thread-local pool and, for payloads up to 32
// bytes, one cache line. So there is no separate node, no type-erased holder and no reference
// count; the properties of a message are packed into one word of flags.
//
// Private: installed because templates need it.
//
// Thread safety: an envelope belongs to exactly one thread at a time: its sender until the push,
// then the runner of its receiver.
#pragma once

#include <garrick/base/memory/block_pool.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/core/protocol/pack.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace garrick::core {

class cell;

/// The kind of a payload and its treatment; the upper bits of `envelope::word`.
enum class envelope_flag : std::uint64_t {
  request = 1ull << 48,    ///< `requester` holds a strong reference and wants exactly one response
  response = 1ull << 49,   ///< answers the request with the id in the word
  urgent = 1ull << 50,     ///< urgent priority
  shared = 1ull << 51,     ///< the payload is a `shared_block*`: copy on write
  system = 1ull << 52,     ///< belongs to the system lane
  failure = 1ull << 53,    ///< a response that carries a `base::error`
  seen = 1ull << 54,       ///< a request that one handler has seen and handed on to another actor
  timed_out = 1ull << 54,  ///< of a response: the requester's own clock has sent it
  revocable =
      1ull << 55,  ///< a request from elsewhere: `cell::wanted_until` of its requester tells
                   ///< until when it must be handled
};

struct envelope {
  static constexpr std::size_t header_size = 32;
  static constexpr std::uint64_t id_mask = (1ull << 48) - 1;

  envelope* next;
  const base::message_type* type;  ///< of the payload's content, also when it is shared
  union {
    /// plain messages: the sender's id, 0 for a thread; an identity, not a reference
    std::uint64_t sender_id;
    cell* requester;  ///< requests: an owned strong reference to the requester
  };
  /// 48 bits of request id, then flags, then the block's size in units of 64 bytes (0: more than
  /// 255)
  std::uint64_t word;

  [[nodiscard]] bool is(envelope_flag f) const noexcept {
    return (word & static_cast<std::uint64_t>(f)) != 0;
  }
  /// Returns true if one of the flags is set. All flags lie in one byte, so this is as cheap as
  /// `is`.
  [[nodiscard]] bool is_either(envelope_flag a, envelope_flag b) const noexcept {
    const std::uint64_t both = static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b);
    return (static_cast<std::uint8_t>(word >> 48) & static_cast<std::uint8_t>(both >> 48)) != 0;
  }
  void set(envelope_flag f) noexcept { word |= static_cast<std::uint64_t>(f); }
  void clear(envelope_flag f) noexcept { word &= ~static_cast<std::uint64_t>(f); }
  [[nodiscard]] std::uint64_t id() const noexcept { return word & id_mask; }
  void set_block_size(std::size_t bytes) noexcept {
    word = (word << 8 >> 8) | (std::uint64_t{bytes / 64 <= 255 ? bytes / 64 : 0} << 56);
  }

  // for the mailbox
  static bool is_urgent(const envelope* e) noexcept { return e->is(envelope_flag::urgent); }
  static bool is_answer(const envelope* e) noexcept { return e->is(envelope_flag::response); }
  /// Frees the block. Does not destroy the payload: the runner has done that.
  static void retire(envelope* e) noexcept;

  [[nodiscard]] void* raw() noexcept { return reinterpret_cast<std::byte*>(this) + header_size; }
  [[nodiscard]] const void* raw() const noexcept {
    return reinterpret_cast<const std::byte*>(this) + header_size;
  }
};
static_assert(sizeof(envelope) == envelope::header_size);

/// The right and the duty to answer one request, taken out of its envelope.
struct pending_request {
  cell* requester = nullptr;  ///< an owned strong reference; null: there is no request
  std::uint64_t id = 0;
};

/// Content that several envelopes share (make_message, broadcast): one reference count, then the
/// value.
///
/// Thread safety: the count is atomic; the value is read-only while the count is above one.
struct shared_block {
  std::atomic<std::uint32_t> holders;
  std::uint32_t bytes;  ///< size of the whole block
  [[nodiscard]] void* value() noexcept { return reinterpret_cast<std::byte*>(this) + offset; }
  static constexpr std::size_t offset = 32;
};

namespace detail {

/// Returns true for small trivial contents, which are copied into every envelope;
/// `never_shared<Content>` is the same at compile time.
inline bool is_never_shared(const base::message_type& t) noexcept {
  return t.trivially_copyable && t.copy_construct != nullptr && t.size <= 32;
}

constexpr std::size_t block_bytes(std::size_t payload) noexcept {
  return (envelope::header_size + payload + 63) / 64 * 64;
}

/// Returns a block for a payload of `Bytes` bytes. Its header is initialised, its payload is raw.
template <std::size_t Bytes>
[[nodiscard]] inline envelope* new_envelope(const base::message_type* type) {
  constexpr std::size_t block = block_bytes(Bytes);
  constexpr std::uint64_t units = block / 64 <= 255 ? block / 64 : 0;
  auto* e = static_cast<envelope*>(base::block_pool::allocate<block>());
  e->next = nullptr;
  e->type = type;
  e->sender_id = 0;
  e->word = units << 56;
  return e;
}

/// Gives the block back. Requires that the payload has been destroyed.
inline void free_envelope_block(envelope* e) noexcept {
  const std::uint64_t units = e->word >> 56;
  base::block_pool::deallocate(e, units != 0 ? units * 64 : block_bytes(e->type->size));
}

}  // namespace detail

inline void envelope::retire(envelope* e) noexcept { detail::free_envelope_block(e); }

namespace detail {

/// Drops one reference; the last drop destroys and frees the content.
void release_shared(shared_block* b, const base::message_type* type) noexcept;

inline void destroy_payload(envelope* e) noexcept {
  if (e->is(envelope_flag::shared)) [[unlikely]]
    release_shared(*static_cast<shared_block**>(e->raw()), e->type);
  else if (e->type->destroy != nullptr)
    e->type->destroy(e->raw());
}

/// Destroys the envelope of an `envelope_ptr`.
struct envelope_end {
  void operator()(envelope* e) const noexcept {
    destroy_payload(e);
    free_envelope_block(e);
  }
};

/// Returns an envelope with a message that is built in place: `pack<Ts...>` for several arguments,
/// the value itself for one.
template <class Content, class... Args>
[[nodiscard]] envelope* make_envelope(Args&&... args) {
  static_assert(alignof(Content) <= 32,
                "garrick: a message type may be aligned to 32 bytes at most");
  envelope* made = new_envelope<sizeof(Content)>(&base::message_type_of<Content>);
  if constexpr (noexcept(Content{std::forward<Args>(args)...})) {
    ::new (made->raw()) Content{std::forward<Args>(args)...};
  } else {
    struct block {
      envelope* memory;
      ~block() {
        if (memory != nullptr) free_envelope_block(memory);
      }
    } unfilled{made};
    ::new (made->raw()) Content{std::forward<Args>(args)...};
    unfilled.memory = nullptr;
  }
  return made;
}

}  // namespace detail

/// Owns an envelope with its payload, on the rare paths. `deliver`, `push` and `process` take raw
/// pointers, because a type with a destructor is not passed in a register.
using envelope_ptr = std::unique_ptr<envelope, detail::envelope_end>;

/// Returns the content of an envelope, shared or not.
[[nodiscard]] inline void* content_pointer(envelope* e) noexcept {
  return e->is(envelope_flag::shared) ? (*static_cast<shared_block**>(e->raw()))->value()
                                      : e->raw();
}
[[nodiscard]] inline const void* content_pointer(const envelope* e) noexcept {
  return content_pointer(const_cast<envelope*>(e));
}

}  // namespace garrick::core
