#include <garrick/net/node/proxy/internal/mail_slot.hpp>

#include <garrick/base/platform/assert.hpp>

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace garrick::net::internal {

namespace {

constexpr std::size_t aligned(std::size_t n) noexcept { return (n + 7) / 8 * 8; }

}  // namespace

void mail_slot::chunks::push(std::unique_ptr<chunk> c) noexcept {
  chunk* const added = c.get();
  (last == nullptr ? first : last->next) = std::move(c);
  last = added;
  ++number;
}

std::unique_ptr<mail_slot::chunk> mail_slot::chunks::pop() noexcept {
  std::unique_ptr<chunk> c = std::move(first);
  first = std::move(c->next);
  if (first == nullptr) last = nullptr;
  --number;
  return c;
}

mail_slot::~mail_slot() {
  GARRICK_ASSERT(chunks_.number == 0, "an entry holds its proxy, which holds this");
}

std::byte* mail_slot::place(const about& what, form lies_as, kind as, std::size_t size) noexcept {
  const std::size_t all = sizeof(head) + aligned(size);
  chunk& c = *chunks_.last;
  const bool holds = what.to != last_;
  if (holds) what.to->add_weak();
  last_ = what.to;
  std::byte* const at = c.bytes + c.used;
  ::new (at) head{what, static_cast<std::uint32_t>(size), lies_as, as, holds};
  c.used += static_cast<std::uint32_t>(all);
  return at + sizeof(head);
}

template <class Write>
bool mail_slot::write_entry(std::size_t size, Write write) {
  const std::size_t all = sizeof(head) + aligned(size);
  for (std::unique_ptr<chunk> fresh;;) {
    {
      const std::lock_guard lock(lock_);
      bool fits = chunks_.number != 0 && chunks_.last->used + all <= chunk_size;
      std::unique_ptr<chunk>& next = fresh != nullptr ? fresh : spare_;
      if (!fits && next != nullptr) {
        chunks_.push(std::move(next));
        fits = true;
      }
      if (fits) return write();
    }
    fresh.reset(new chunk);  // its bytes stay unwritten
  }
}

void mail_slot::count(std::size_t bytes) noexcept {
  const std::size_t all = sizeof(head) + bytes;
  // order: the lock's, and as `has_room`
  bytes_.store(bytes_.load(std::memory_order_relaxed) + all, std::memory_order_relaxed);
}

/// Answers take no room, as they were requested.
void mail_slot::count(kind as, std::size_t bytes) noexcept {
  // order: the lock's, and as `answers`
  if (as == kind::answer) answers_.fetch_add(1, std::memory_order_relaxed);
  if (as == kind::message) count(bytes);
}

bool mail_slot::was_empty() noexcept {
  const bool first = !any_.load(std::memory_order_relaxed);  // order: the lock's
  if (first) any_.store(true, std::memory_order_relaxed);    // order: the lock's, and as `any`
  return first;
}

bool mail_slot::add(const about& what, packet frame, kind as) {
  const std::span<const std::byte> bytes = frame.bytes();
  const std::size_t size = bytes.size();
  if (size > largest_copied)
    return write_entry(sizeof(packet), [&] {
      ::new (place(what, form::packet, as, sizeof(packet))) packet(std::move(frame));
      count(as, size);
      return was_empty();
    });
  return write_entry(size, [&] {
    std::byte* const at = place(what, form::bytes, as, size);
    if (size != 0) std::memcpy(at, bytes.data(), size);
    count(as, size);
    return was_empty();
  });
}

bool mail_slot::add(const about& what, core::envelope_ptr& e, kind as, std::size_t bytes) {
  if (as == kind::message && e->is(core::envelope_flag::request))
    return add_request(what, e, {}, e->type->size + bytes);
  return write_entry(sizeof(core::envelope*), [&] {
    std::byte* const at = place(what, form::envelope, as, sizeof(core::envelope*));
    count(as, e != nullptr ? e->type->size + bytes : 0);
    ::new (at) core::envelope*(e.release());
    if (as != kind::signal) return was_empty();
    signals_.fetch_add(1, std::memory_order_relaxed);  // order: the lock's, and as `any_signals`
    static_cast<void>(was_empty());
    return true;
  });
}

bool mail_slot::add(const about& what, core::envelope_ptr& e, packet payload) {
  const std::size_t bytes = payload.size();
  return add_request(what, e, std::move(payload), bytes);
}

bool mail_slot::add_request(const about& what, core::envelope_ptr& e, packet payload,
                            std::size_t bytes) {
  core::outside_work answer(e->requester->env());
  return write_entry(sizeof(waiting_request), [&] {
    std::byte* const at = place(what, form::request, kind::message, sizeof(waiting_request));
    count(bytes);
    ::new (at) waiting_request{e.release(), std::move(payload), std::move(answer)};
    return was_empty();
  });
}

bool mail_slot::take(batch& to) noexcept {
  GARRICK_ASSERT(to.empty(), "messages taken before come before waiting ones");
  chunks taken;
  bool any = false;
  if (to.chunks_.number != 0) to.spent_ = to.chunks_.pop();
  to.offset_ = 0;
  if (to.spent_ != nullptr) to.spent_->used = 0;
  {
    const std::lock_guard lock(lock_);
    std::swap(taken, chunks_);
    if (spare_ == nullptr) spare_ = std::move(to.spent_);
    last_ = nullptr;
    bytes_.store(0, std::memory_order_relaxed);                     // order: as below
    to.signals_ = signals_.exchange(0, std::memory_order_relaxed);  // order: as below
    to.answers_ = answers_.exchange(0, std::memory_order_relaxed);  // order: as below
    any = any_.exchange(false, std::memory_order_relaxed);  // order: the lock's, and as `any`
  }
  std::swap(to.chunks_, taken);
  return any;
}

bool mail_slot::batch::next(entry& e) noexcept {
  e.due.done();
  if (chunks_.number != 0 && offset_ == chunks_.first->used) {
    spent_ = chunks_.pop();
    offset_ = 0;
  }
  if (chunks_.number == 0) {
    if (core::cell* const before = std::exchange(held_, nullptr)) before->drop_weak();
    return false;
  }
  std::byte* at = chunks_.first->bytes + offset_;
  const head h = *std::launder(reinterpret_cast<const head*>(at));
  at += sizeof(head);
  offset_ += sizeof(head) + aligned(h.size);
  if (h.holds)
    if (core::cell* const before = std::exchange(held_, h.what.to)) before->drop_weak();
  e.what = h.what;
  e.bytes = {};
  e.whole = {};
  e.as = h.as;
  if (h.as == kind::answer) --answers_;
  switch (h.lies_as) {
    case form::bytes: e.bytes = {at, h.size}; break;
    case form::packet: {
      auto* const p = std::launder(reinterpret_cast<packet*>(at));
      e.whole = std::move(*p);
      p->~packet();
      break;
    }
    case form::request: {
      auto* const p = std::launder(reinterpret_cast<waiting_request*>(at));
      e.envelope.reset(p->request);
      e.whole = std::move(p->payload);
      e.due = std::move(p->answer);
      p->~waiting_request();
      break;
    }
    case form::envelope:
      if (h.as == kind::signal) --signals_;
      e.envelope.reset(*std::launder(reinterpret_cast<core::envelope**>(at)));
      break;
  }
  return true;
}

mail_slot::batch::~batch() {
  for (entry e; next(e); e.envelope.reset()) lose_(e);
}

}  // namespace garrick::net::internal
