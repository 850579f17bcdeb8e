#include <garrick/base/concurrency/parker.hpp>
#include <garrick/core/blocking.hpp>
#include <garrick/core/cell/bounded_mailbox.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/spawn.hpp>

#include <stdexcept>

namespace garrick::core {

namespace detail {

namespace {

using access = cell_access;

/// While an actor waits for a time it holds a handle to itself: what the time can still wake is not
/// unreachable, and can be told to end.
class self_handle {
 public:
  self_handle(cell& self, bool wanted) noexcept : self_(wanted ? &self : nullptr) {
    if (wanted) self.add_strong_from_self();
  }
  ~self_handle() {
    if (self_ != nullptr) self_->drop_strong();
  }
  self_handle(const self_handle&) = delete;
  self_handle& operator=(const self_handle&) = delete;

 private:
  cell* self_;
};

/// Waits for mail with the run right given up. False: the time is over. On return the caller holds
/// the run right again.
bool sleep_until_mail(cell& self, std::int64_t limit_ns) noexcept {
  const self_handle keep(self, limit_ns >= 0);
  auto& gate = access::gate(self);
  auto& reader = access::reader(self);
  auto& ex = static_cast<waiting_executor&>(self.home_executor());
  switch (reader.release(gate, access::stalled(self) ? mailbox_word::stalled : 0)) {
    case release_outcome::arrivals: access::after_batch(self); return true;
    // no handle is left, and this thread waits for ever: nothing can come any more
    case release_outcome::unreachable: access::become_unreachable(self); return true;
    case release_outcome::released: break;
  }
  if (ex.wait(limit_ns)) return true;
  if (reader.claim_idle(gate)) return false;
  while (!ex.wait(-1)) {}  // a pusher was quicker: its schedule() is on its way
  return true;
}

void check_end(cell& self) {
  // order: a hint; attend acquires
  if (access::attention(self).load(std::memory_order_relaxed) != 0) access::attend(self);
  if (self.phase() >= life::ending) throw blocking_actor_ends{};
}

/// The next message, or null, after the signals that came before it. Throws if the actor is told to
/// end.
envelope* next_message(cell& self) {
  for (;;) {
    check_end(self);
    envelope* const e = access::pick(self);
    // order: as in cell::run_loop
    if (e == nullptr || access::attention(self).load(std::memory_order_relaxed) == 0) return e;
    access::put_back(self, e);
  }
}

/// Handles one response, or offers one message to the cases. True if a case took it.
bool offer(cell& self, behavior_impl& cases, envelope* e) {
  if (e->is(envelope_flag::response)) {
    access::process(self, e);
    return false;
  }
  if (access::watched(self) && !bounded_mailbox::before_message(self, e)) {
    destroy_payload(e);
    access::reader(self).done(e);
    return false;
  }
  access::current(self) = e;
  // a scoped actor's thread is not one of the system's
  const sending_as me(self.id());
  // order: a sample for a diagnosis
  base::this_thread.handling.store(e->type, std::memory_order_relaxed);
  struct leave {
    cell& self;
    ~leave() { access::current(self) = nullptr; }
  } const guard{self};
  bool taken = false;
  try {
    taken = cases.invoke(self, e);
  } catch (...) {
    const base::error why = base::make_error(base::errc::receiver_failed, self.name(),
                                             lifecycle::text_of(std::current_exception()));
    lifecycle::report_lost(self, e, why);
    respond_error(e, why);
    destroy_payload(e);
    access::reader(self).done(e);
    throw;
  }
  if (!taken) {
    cell_extension& x = self.ext();
    x.skipped.push_back(e);
    ++x.skipped_count;
    return false;
  }
  respond_error(e, base::make_error(base::errc::unexpected_message, self.name(), e->type->name));
  destroy_payload(e);
  access::reader(self).done(e);
  return true;
}

}  // namespace

base::error may_not_wait(const cell& self, std::string_view what) {
  if (base::this_thread.worker_of == nullptr) return {};
  if (static_cast<const waiting_executor&>(self.home_executor()).runs_others()) return {};
  return base::make_error(
      base::errc::would_block, what,
      "this is a worker thread: use .then, .await or co_await in an actor, or spawn it detached");
}

bool receive_one(cell& self, behavior_impl& cases) {
  if (const base::error why = may_not_wait(self, "receive()"))
    throw std::logic_error(why.to_string());
  lifecycle::retry_skipped(self);
  const base::clock& clock = *self.env().clock;
  const std::int64_t timeout_ns = cases.timeout_ns();
  const base::instant deadline = timeout_ns != 0
                                     ? clock.now() + base::duration::nanoseconds(timeout_ns)
                                     : base::instant::never();
  for (;;) {
    if (envelope* const e = next_message(self)) {
      if (offer(self, cases, e)) return true;
      continue;
    }
    std::int64_t left = -1;
    if (timeout_ns != 0) {
      left = (deadline - clock.now()).count();
      if (left <= 0) {
        cases.timed_out();
        return false;
      }
    }
    static_cast<void>(sleep_until_mail(self, left));
  }
}

void wait_for_response(cell& self, const bool& done) {
  struct nothing final : behavior_impl {
    bool invoke(cell&, envelope*) override { return false; }
  } none;
  while (!done) {
    if (envelope* const e = next_message(self))
      static_cast<void>(offer(self, none, e));
    else
      static_cast<void>(sleep_until_mail(self, -1));
  }
  lifecycle::retry_skipped(self);
}

}  // namespace detail

// ---- scoped actors ------------------------------------------------------------------------------

namespace {

class scoped_self final : public blocking_actor {};

class parked_thread final : public waiting_executor {
 public:
  void schedule(base::runnable&) noexcept override { parker_.unpark(); }
  bool wait(std::int64_t limit_ns) noexcept override {
    if (limit_ns >= 0) return parker_.park_for(static_cast<std::uint64_t>(limit_ns));
    parker_.park();
    return true;
  }
  void actor_ended() noexcept override {}

 private:
  base::parker parker_;
};

}  // namespace

struct scoped_actor::state {
  parked_thread thread;
  actor_cell<scoped_self>* cell = nullptr;
  ref<any_protocol> handle;
};

scoped_actor::scoped_actor(environment& env) : state_(new state) {
  state& s = *state_;
  s.cell = ::new (base::block_pool::allocate(sizeof(actor_cell<scoped_self>)))
      actor_cell<scoped_self>(env, cell_kind::blocking, false);
  s.handle = handle_access::adopt<any_protocol>(s.cell);
  waiting_executor* const own = env.executor_of_scoped(*s.cell);
  s.cell->ext().executor = own != nullptr ? own : &s.thread;
  s.cell->ext().hidden = true;
  s.cell->ext().name = "scoped actor";
  cell_access::own_executor(*s.cell) = true;
  {
    const detail::constructing_scope scope(*s.cell);
    s.cell->build();
  }
  cell_access::phase(*s.cell) = life::running;
  self_ = &s.cell->object();
}

scoped_actor::~scoped_actor() {
  state_->cell->quit({});
  lifecycle::conclude(*state_->cell);
  state_->handle = {};
  delete state_;
}

}  // namespace garrick::core
