// Timers: armed, fired, cancelled, and listed with their owner.
#include <garrick/base/platform/assert.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/turn/internal/timer_steps.hpp>
#include <garrick/core/turn/timer_record.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

namespace garrick::core {

namespace {
// The most beats that may wait for a late receiver, unless its soft limit is higher.
constexpr std::uint32_t most_beats_behind = 1000;
}  // namespace

timer_record* timer_record::arm(environment& env, cell& target, envelope* e, base::duration delay,
                                std::int64_t period_ns) {
  envelope_ptr mine(e);  // until the record has it
  auto* const record = ::new (base::block_pool::allocate(sizeof(timer_record)))
      timer_record(env, target, mine.release(), period_ns);
  target.add_strong_from_self();
  const base::instant due = env.clock->now() + delay;
  record->due_.store(due, std::memory_order_relaxed);  // order: no other thread knows the record
  try {
    // In a forked child the service is a copy that no thread runs, and its lock may be held for
    // ever.
    if (!due.is_never() && !env.is_copy()) {
      timer_steps::hand_to_service(*record);
      return record;
    }
  } catch (...) {
    record->give_up();
    record->drop_holder();
    throw;
  }
  record->give_up();
  return record;
}

void timer_record::give_up() noexcept {
  state_.store(over, std::memory_order_relaxed);  // order: the service does not know the record
  finish();
  drop_holder();
}

timer_record* timer_record::arm_once(environment& env, cell& target, envelope* e,
                                     base::duration delay) {
  return arm(env, target, e, delay, 0);
}

timer_record* timer_record::arm_periodic(environment& env, cell& target, envelope* prototype,
                                         base::duration period) {
  GARRICK_ASSERT(period.count() > 0, "a periodic timer needs a period");
  GARRICK_ASSERT(prototype->is(envelope_flag::shared) || detail::is_never_shared(*prototype->type),
                 "copying a periodic message must not run a user's code");
  return arm(env, target, prototype, period, period.count());
}

bool timer_record::cancel() noexcept { return timer_steps::cancel(*this); }

bool timer_record::cancel_at_service(std::uint64_t id) noexcept {
  // in a forked child the service is a copy that no thread runs, and its lock may be held for ever
  if (env_->is_copy()) return false;
  return env_->timers->cancel(
      {static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32)});
}

std::uint64_t timer_record::arm_at_service() {
  const base::timer_id id = env_->timers->arm(
      // order: own value, or that of the thread that armed it before
      due_.load(std::memory_order_relaxed),
      {.fire = [](void* self, std::uint64_t) { static_cast<timer_record*>(self)->fire(); },
       .context = this,
       .drop = [](void* self,
                  std::uint64_t) { static_cast<timer_record*>(self)->service_ended(); }});
  return (std::uint64_t{id.generation} << 32) | id.index;
}

void timer_record::service_ended() noexcept {
  timer_steps::fire_once(*this, [] {});
}

void timer_record::fire() noexcept {
  if (period_ns_ == 0)
    timer_steps::fire_once(*this, [this] { push(std::exchange(envelope_, nullptr)); });
  else
    timer_steps::fire_again(*this, [this] { push_copy(); }, [this] { hand_to_service_again(); });
}

void timer_record::hand_to_service_again() noexcept {
  // order: relaxed, both: only this thread writes it now; other threads only read it
  due_.store(due_.load(std::memory_order_relaxed) + base::duration::nanoseconds(period_ns_),
             std::memory_order_relaxed);
  try {
    timer_steps::hand_to_service_again(*this);
  } catch (const std::exception&) {
    base::out_of_memory("a periodic message cannot be sent again");
  }
}

void timer_record::push(envelope* e) noexcept {
  const bool by_user = !e->is(envelope_flag::system) && !e->is(envelope_flag::response);
  // order: a hint; one more message does no harm
  if (by_user && env_->draining.load(std::memory_order_relaxed)) {
    const envelope_ptr undone(e);
    return;
  }
  if (env_->probe != nullptr) env_->probe->on_timer_fired(target_id_, type_);
  if (e->is(envelope_flag::system)) return target_->signal(e);
  if (e->is(envelope_flag::response)) return target_->deliver_answer(e);
  // the clock's thread never waits for a receiver, but bounds and the hard limit still hold
  ++base::this_thread.no_wait;
  target_->deliver(e);
  --base::this_thread.no_wait;
}

bool timer_record::receiver_is_late() noexcept {
  const std::uint32_t limit = std::max(most_beats_behind, target_->soft_limit());
  if (target_->mailbox_length() < limit) return false;
  lost_mail::report(*target_, envelope_,
                    base::make_error(base::errc::overload, target_->name(),
                                     "a periodic message, left out while " + std::to_string(limit) +
                                         " messages wait"));
  return true;
}

void timer_record::push_copy() noexcept {
  if (receiver_is_late()) return;
  const bool shared = envelope_->is(envelope_flag::shared);
  const std::size_t payload = shared ? sizeof(shared_block*) : envelope_->type->size;
  const std::size_t bytes = detail::block_bytes(payload);
  envelope* copy = nullptr;
  try {
    copy = static_cast<envelope*>(base::block_pool::allocate(bytes));
  } catch (...) {
    // This beat is lost, the next may succeed.
    return lost_mail::report(*target_, envelope_,
                             base::make_error(base::errc::user, "no memory for a periodic message",
                                              lost_mail::text_of(std::current_exception())));
  }
  *copy = *envelope_;
  copy->set_block_size(bytes);
  std::memcpy(copy->raw(), envelope_->raw(), payload);
  if (shared)
    // order: relaxed: the prototype holds one
    (*static_cast<shared_block**>(copy->raw()))->holders.fetch_add(1, std::memory_order_relaxed);
  push(copy);
}

void timer_record::finish() noexcept {
  envelope_ptr(std::exchange(envelope_, nullptr)).reset();
  target_->drop_strong();
  target_ = nullptr;
}

void timer_record::drop_holder() noexcept { timer_steps::drop_holder(*this); }

void timer_record::free_self() noexcept {
  this->~timer_record();
  base::block_pool::deallocate(this, sizeof(timer_record));
}

void list_timer(cell& self, timer_record* r) {
  r->owner = &self;
  self.ext().timers.add(*r, [](timer_record& over) { over.drop_holder(); });
}

bool timer_record::cancel_and_unlist() noexcept {
  const bool was_armed = cancel();
  if (!listed() || detail::here.running != owner) return was_armed;
  owner->ext_if()->timers.remove(*this);
  drop_holder();  // the list's; the caller has its own
  return was_armed;
}

pending_timer timer_record::facts() const noexcept {
  // order: relaxed; for diagnosis
  return {target_id_, type_, due_.load(std::memory_order_relaxed),
          base::duration::nanoseconds(period_ns_)};
}

std::vector<pending_timer> list_timers(cell& self, std::size_t most) {
  std::vector<pending_timer> all;
  const cell_extension* const extension = self.ext_if();
  if (extension == nullptr || most == 0) return all;
  if (const timer_record* const r = extension->idle_timer; r != nullptr && r->active())
    all.push_back(r->facts());
  std::size_t looks = 4 * most;
  for (const timer_record* r = extension->timers.first();
       r != nullptr && all.size() < most && looks-- != 0; r = r->next_listed())
    if (r->active()) all.push_back(r->facts());
  return all;
}

void cancel_all_timers(cell& self) noexcept {
  cell_extension* const extension = self.ext_if();
  if (extension == nullptr) return;
  if (extension->idle_timer != nullptr)
    std::exchange(extension->idle_timer, nullptr)->cancel_and_drop();
  extension->silence_limit = {};
  while (timer_record* const r = extension->timers.first()) {
    extension->timers.remove(*r);
    r->cancel_and_drop();
  }
}

}  // namespace garrick::core
