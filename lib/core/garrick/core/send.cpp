// The rare cases of a send: an empty handle, a sender that does not wait, an actor that is run in
// place on request, and a message that is given up.
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/overload/internal/admission.hpp>
#include <garrick/core/overload/internal/in_place.hpp>
#include <garrick/core/send.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace garrick::core::detail {

void throw_empty_handle(const char* operation) {
  throw std::logic_error(std::string("garrick: ") + operation +
                         " through an empty handle; give the handle an actor first");
}

base::error send_if_room(cell& to, envelope_ptr e) noexcept {
  e->sender_id = running_id();
  return admission(to).try_deliver(std::move(e));
}

bool run_if_it_waits(cell& c) noexcept {
  // no actor runs after its end, and a proxy, which is not a running_cell, is closed from the
  // beginning
  if ((c.gate().peek() & mailbox_word::closed) != 0) return false;
  if (base::this_thread.no_wait != 0 || !in_place::run(c, true)) return false;
  in_place::wake_overlooked();  // the caller may have other things to do than to fill it again
  return true;
}

void lose(cell& receiver, envelope_ptr e, base::error why) noexcept {
  lost_mail::lose(receiver, std::move(e), why);
}

}  // namespace garrick::core::detail
