// Taking credit, owing it, and granting it.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/overload/internal/credit.hpp>
#include <garrick/core/overload/internal/in_place.hpp>
#include <garrick/core/overload/internal/room_wait.hpp>
#include <garrick/core/overload/internal/sender_credit.hpp>

#include <utility>

namespace garrick::core::credit {

namespace {

// The most credits that a handler may owe before it waits: for one message, the receiver's and that
// of the link to its node.
constexpr std::uint8_t most_owed = 2;

sender_credit& of_senders(const cell& of) noexcept {
  return static_cast<sender_credit&>(*of.room_elsewhere());
}

// Lets the handler of an actor on a worker send without credit; its actor pauses afterwards.
// Returns false if this is not such a handler, or if the handler owes the most already; then the
// handler waits here.
bool owe_and_pause(cell& of) noexcept {
  auto& here = detail::here;
  if (here.running == nullptr || base::this_thread.worker_of == nullptr || here.owed == most_owed ||
      of_senders(of).patience().count() == 0)
    return false;
  ++here.owed;
  if (here.owes_to != nullptr) return true;
  of.add_weak();
  here.owes_to = &of;
  in_place::begin_count();
  here.batch_over = true;  // its run ends after this message
  return true;
}

}  // namespace

void need(cell& of, std::uint32_t messages, base::duration patience) {
  of.set_room_elsewhere(new sender_credit(messages, patience));
}

bool is_needed(const cell& of) noexcept { return of.room_elsewhere() != nullptr; }

bool take_or_owe(cell& of, bool may_pause) noexcept {
  sender_credit& credit = of_senders(of);
  auto& here = detail::here;
  if (credit.take()) return true;
  const detail::stacked_actor inner{detail::running_id(), here.below};
  const detail::stacked_actor* const top = here.running != nullptr ? &inner : nullptr;
  // if no sender may wait for room, as in a simulation, none waits for credit
  const bool may_wait = base::this_thread.no_wait == 0 && of.env().mailbox.full_wait.count() != 0;
  if (may_wait && !detail::is_on_stack(top, of.id())) {
    if (may_pause && owe_and_pause(of)) return credit.owe(), true;
    const drain_lot::waiting_scope waits(*of.env().lot, of.id(), top);
    if (!waits.closes_circle()) {
      in_place::hand_over();
      const observed_wait told(of);
      const counted_wait counted;
      if (credit.wait(*of.env().lot, of.id(), [&of] { return of.has_ended(); })) return true;
    }
  }
  credit.owe();
  return false;
}

void grant(cell& of, std::uint32_t messages) noexcept {
  of_senders(of).grant(*of.env().lot, of.id(), messages);
}

void owe(cell& of, std::uint32_t messages) noexcept { of_senders(of).owe(messages); }

std::int64_t left(const cell& of) noexcept { return of_senders(of).left(); }

void end_pauses(cell& of) noexcept {
  if (is_needed(of)) of_senders(of).end_pauses();
}

bool is_owed() noexcept { return detail::here.owes_to != nullptr; }

bool pause(cell& self) noexcept {
  auto& here = detail::here;
  cell* const of = std::exchange(here.owes_to, nullptr);
  here.owed = 0;
  base::clock_service* const clock = self.env().timers;
  const bool pauses =
      self.phase() < life::ending && clock != nullptr &&
      of_senders(*of).pause(self, self.home_executor(), *clock, [of] { return of->has_ended(); });
  of->drop_weak();
  return pauses;
}

// Drops a debt that was made while no message was handled, as by a start hook. Such a debt does not
// make the actor pause.
void forget_debt() noexcept {
  auto& here = detail::here;
  here.owed = 0;
  if (cell* const to = std::exchange(here.owes_to, nullptr)) to->drop_weak();
}

}  // namespace garrick::core::credit
