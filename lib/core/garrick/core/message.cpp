// Makes a message of an envelope's content, and envelopes that share or take over a message's
// content.
#include <garrick/core/message.hpp>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace garrick::core {

namespace {

/// Returns an envelope for `type` with room for the content, which is not constructed yet.
envelope* raw_envelope(const base::message_type* type) {
  const std::size_t bytes = detail::block_bytes(type->size);
  auto* const e = static_cast<envelope*>(base::block_pool::allocate(bytes));
  e->next = nullptr;
  e->type = type;
  e->sender_id = 0;
  e->word = std::uint64_t{bytes / 64 <= 255 ? bytes / 64 : 0} << 56;
  return e;
}

/// Returns an envelope that takes over a reference to the block.
envelope* holding_envelope(shared_block* b, const base::message_type* type) {
  envelope* const e = detail::new_envelope<sizeof(shared_block*)>(type);
  ::new (e->raw()) shared_block*(b);
  e->set(envelope_flag::shared);
  return e;
}

envelope* sharing_envelope(shared_block* b, const base::message_type* type) {
  envelope* const e = holding_envelope(b, type);
  // order: relaxed: the caller's message or envelope is a holder
  b->holders.fetch_add(1, std::memory_order_relaxed);
  return e;
}

}  // namespace

message message_access::from_envelope(envelope* e) {
  if (!e->is(envelope_flag::shared)) {
    const std::size_t bytes = (shared_block::offset + e->type->size + 63) / 64 * 64;
    struct block {
      void* memory;
      std::size_t size;
      ~block() {
        if (memory != nullptr) base::block_pool::deallocate(memory, size);
      }
    } unfilled{base::block_pool::allocate(bytes), bytes};
    auto* const b = ::new (unfilled.memory) shared_block{{1}, static_cast<std::uint32_t>(bytes)};
    e->type->move_construct(b->value(), e->raw());
    unfilled.memory = nullptr;
    if (e->type->destroy != nullptr) e->type->destroy(e->raw());
    ::new (e->raw()) shared_block*(b);
    e->set(envelope_flag::shared);
  }
  auto* const b = *static_cast<shared_block**>(e->raw());
  b->holders.fetch_add(1, std::memory_order_relaxed);  // order: the envelope is a holder
  return {b, e->type};
}

envelope* envelope_of(const message& m) {
  shared_block* const block = message_access::block(m);
  const base::message_type* const type = message_access::type(m);
  if (block == nullptr)
    throw std::logic_error("garrick: an empty message cannot be sent; make one with make_message");
  if (detail::is_never_shared(*type)) {
    envelope* const e = raw_envelope(type);
    std::memcpy(e->raw(), block->value(), type->size);
    return e;
  }
  if (type->copy_construct == nullptr)
    throw std::logic_error(
        "garrick: a message of type " + std::string(type->name) +
        " cannot be copied, so it cannot be sent on while its envelope still holds it");
  return sharing_envelope(block, type);
}

envelope* envelope_of(message&& m) {
  shared_block* const block = message_access::block(m);
  const base::message_type* const type = message_access::type(m);
  if (block == nullptr || detail::is_never_shared(*type)) {
    envelope* const e = envelope_of(std::as_const(m));
    m = message();
    return e;
  }
  // order: acquire pairs with the release of earlier holders: the receiver may change the content
  if (type->copy_construct == nullptr && block->holders.load(std::memory_order_acquire) != 1)
    return envelope_of(std::as_const(m));  // throws with the reason
  envelope* const e = holding_envelope(block, type);
  static_cast<void>(message_access::release(m));
  return e;
}

namespace detail {

envelope* forward_content(envelope* e) {
  if (e->is(envelope_flag::shared)) {
    auto* const b = *static_cast<shared_block**>(e->raw());
    if (!is_never_shared(*e->type)) return sharing_envelope(b, e->type);
    envelope* const copy = raw_envelope(e->type);
    std::memcpy(copy->raw(), b->value(), e->type->size);
    return copy;
  }
  struct block {
    envelope* memory;
    ~block() {
      if (memory != nullptr) free_envelope_block(memory);
    }
  } unfilled{raw_envelope(e->type)};
  e->type->move_construct(unfilled.memory->raw(), e->raw());
  return std::exchange(unfilled.memory, nullptr);
}

}  // namespace detail
}  // namespace garrick::core
