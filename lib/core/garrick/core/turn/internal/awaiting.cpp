// Responses: their awaits, and the mail that may be handled meanwhile.
#include <garrick/core/cell/continuation.hpp>
#include <garrick/core/life/internal/asked_proxy.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/overload/internal/parked.hpp>
#include <garrick/core/turn/internal/awaiting.hpp>
#include <garrick/core/turn/internal/system_lane.hpp>
#include <garrick/core/turn/timer_record.hpp>

#include <utility>

namespace garrick::core::awaiting {

namespace {

/// Returns true if the runner may handle `e` although the actor awaits.
struct passes {
  response_table& pending;
  bool operator()(const envelope* e) const noexcept {
    // a `down` waits with the mail, which it must not overtake
    if (!e->is(envelope_flag::response) || e->is(envelope_flag::system)) return false;
    const std::uint64_t id = e->id();
    if (!pending.alive(id)) return true;
    const response_table::slot& s = pending.at(id);
    return s.k == nullptr || s.exclusive || s.inner;
  }
};

/// Ends the hold of the mailbox after the last await. The actor was at work, so the silence of a
/// receive time-out begins now: a time-out that came due meanwhile waits in the mailbox, and is put
/// off when it is taken.
void let_go(cell& self, cell_extension& x) noexcept {
  self.reader().hold(false);
  if (x.silence_limit.count() != 0) x.last_activity = self.env().clock->now();
  if (std::exchange(x.answer_skipped, false)) self.retry_skipped();
  self.slow_senders_again();  // for an await that has ended without a response
}

/// Ends the time limit, if any, of the request of `s`, which the response `e` decides.
void end_time_limit(const cell& self, const response_table::slot& s, const envelope* e) noexcept {
  if (s.timer != nullptr) s.timer->cancel_and_drop();
  if (!e->is(envelope_flag::timed_out)) return;
  if (base::probe* const p = self.env().probe) p->on_request_timed_out(self.id(), s.target);
}

}  // namespace

void begin(cell& self, std::uint64_t id) {
  cell_extension& extension = self.ext();
  extension.awaiting.push_back(id);
  extension.pending.at(id).exclusive = true;
  auto& reader = self.reader();
  if (reader.is_holding()) return;
  reader.hold(true);
  const auto came_before = reader.take_out(passes{extension.pending});
  if (came_before.first != nullptr) extension.answers.append(came_before.first, came_before.last);
}

void changed(cell& self, cell_extension& x) noexcept {
  if (!x.awaiting.empty()) {
    response_table::slot& slot = x.pending.at(x.awaiting.back());
    // the response waited for newer ones
    if (slot.early != nullptr) x.answers.push_front(std::exchange(slot.early, nullptr));
  } else if (self.reader().is_holding() && x.answers.front == nullptr) {
    let_go(self, x);
  }
}

dispatch_outcome keep(cell& self, response_table::slot& s, envelope* e) noexcept {
  // a time-out right after the answer, or an answer right after the time-out
  if (s.early != nullptr) return dispatch_outcome::handled;
  s.early = e;
  response_table::no_longer_due(s, self.env());
  if (s.k == nullptr)
    end_time_limit(self, s, e);
  else if (s.timer != nullptr)  // the probe is told when the response comes back from `changed`
    s.timer->cancel_and_drop();
  s.timer = nullptr;
  return dispatch_outcome::kept;
}

dispatch_outcome on_response(cell& self, envelope* e) {
  cell_extension* const extension = self.ext_if();
  const std::uint64_t id = e->id();
  if (extension == nullptr || !extension->pending.alive(id)) {
    if (e->is(envelope_flag::system)) system_lane::on_signal(self, e);  // a `down`
    return dispatch_outcome::handled;  // late: timed out, cancelled, or from before a restart
  }
  response_table::slot& slot = extension->pending.at(id);
  asked_proxy::decide(slot, self, id, !e->is(envelope_flag::timed_out));
  if (slot.k == nullptr) return keep(self, slot, e);
  if (!extension->awaiting.empty() && !slot.inner) {
    if (slot.exclusive && extension->awaiting.back() != id)
      return keep(self, slot, e);  // the newest first
    // `then` was called after the response had passed the await
    if (!slot.exclusive) {
      extension->answer_skipped = true;
      return dispatch_outcome::skipped;
    }
    extension->awaiting.pop_back();
  }
  continuation* const waiting = slot.k;
  end_time_limit(self, slot, e);
  if (self.env().waits != nullptr) detail::note_answered(self, id);
  asked_proxy::finish(extension->pending, id, self);
  struct after {
    cell& self;
    cell_extension& extension;
    ~after() { changed(self, extension); }
  } const at_the_end{self, *extension};
  auto& diagnosis = base::this_thread;
  // order: read by the watchdog as a sample
  diagnosis.in_response.store(true, std::memory_order_relaxed);
  struct leave {
    std::atomic<bool>& flag;
    // order: read by the watchdog as a sample
    ~leave() { flag.store(false, std::memory_order_relaxed); }
  } const no_longer{diagnosis.in_response};
  waiting->on_response(self, e);
  return dispatch_outcome::handled;
}

void sort_arrivals(cell& self) noexcept {
  cell_extension& x = *self.ext_if();
  mailbox_reader<envelope>::chain apart;
  if (!self.reader().sort_arrivals(self.gate(), apart, passes{x.pending})) return;
  if (apart.first != nullptr) x.answers.append(apart.first, apart.last);
  if (self.is_watched()) parked::serve(self);
}

envelope* peek(cell& self) noexcept {
  cell_extension& x = *self.ext_if();
  if (x.answers.front == nullptr && !x.awaiting.empty()) sort_arrivals(self);
  if (x.answers.front == nullptr && x.awaiting.empty()) let_go(self, x);
  return x.answers.front;
}

envelope* next(cell& self) noexcept {
  static_cast<void>(peek(self));
  return self.ext_if()->answers.pop_front();
}

void cancel(cell& self, cell_extension& x) noexcept {
  x.awaiting.clear();
  while (envelope* const e = x.answers.pop_front()) self.finish(e);
  if (self.reader().is_holding()) let_go(self, x);
}

}  // namespace garrick::core::awaiting
