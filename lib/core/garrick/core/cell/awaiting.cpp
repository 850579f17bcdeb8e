#include <garrick/core/cell/awaiting.hpp>
#include <garrick/core/cell/bounded_mailbox.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/cell/timer_record.hpp>

#include <utility>

namespace garrick::core::awaiting {

namespace {

using access = cell_access;

/// May the runner handle `e` although the actor awaits?
struct passes {
  response_table& pending;
  bool operator()(const envelope* e) const noexcept {
    if (!e->is(envelope_flag::response)) return false;
    const std::uint64_t id = e->id();
    if (!pending.alive(id)) return true;
    const response_table::slot& s = pending.at(id);
    return s.k == nullptr || s.exclusive || s.inner;
  }
};

void let_go(cell& self, cell_extension& x) noexcept {
  access::reader(self).hold(false);
  if (std::exchange(x.answer_skipped, false)) lifecycle::retry_skipped(self);
}

}  // namespace

void begin(cell& self, std::uint64_t id) {
  cell_extension& x = self.ext();
  x.awaiting.push_back(id);
  x.pending.at(id).exclusive = true;
  auto& reader = access::reader(self);
  if (reader.is_holding()) return;
  reader.hold(true);
  const auto came_before = reader.take_out(passes{x.pending});
  if (came_before.first != nullptr) x.answers.append(came_before.first, came_before.last);
}

void changed(cell& self, cell_extension& x) noexcept {
  if (!x.awaiting.empty()) {
    response_table::slot& s = x.pending.at(x.awaiting.back());
    // it waited for those that are newer
    if (s.early != nullptr) x.answers.push_front(std::exchange(s.early, nullptr));
  } else if (access::reader(self).is_holding() && x.answers.front == nullptr) {
    let_go(self, x);
  }
}

dispatch_outcome keep(response_table::slot& s, envelope* e) noexcept {
  // the time-out on the heels of the answer, or the other way round
  if (s.early != nullptr) return dispatch_outcome::handled;
  s.early = e;
  if (s.timer != nullptr) std::exchange(s.timer, nullptr)->cancel_and_drop();
  return dispatch_outcome::kept;
}

void sort_arrivals(cell& self) noexcept {
  cell_extension& x = *self.ext_if();
  mailbox_reader<envelope>::chain apart;
  if (!access::reader(self).sort_arrivals(access::gate(self), apart, passes{x.pending})) return;
  if (apart.first != nullptr) x.answers.append(apart.first, apart.last);
  if (access::watched(self)) {
    bounded_mailbox::trim(self);
    bounded_mailbox::serve(self, 0);
  }
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
  while (envelope* const e = x.answers.pop_front()) {
    detail::destroy_payload(e);
    access::reader(self).done(e);
  }
  if (access::reader(self).is_holding()) let_go(self, x);
}

}  // namespace garrick::core::awaiting
