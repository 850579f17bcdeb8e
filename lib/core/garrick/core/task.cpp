// Lists the frames of coroutine handlers with their actor, and ends an actor whose coroutine fails.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/life/internal/no_reentry.hpp>
#include <garrick/core/task.hpp>
#include <garrick/core/turn/internal/lifecycle.hpp>

namespace garrick::core::detail {

bool interleaves(cell& self) noexcept {
  return self.ext_if() != nullptr && self.ext_if()->interleave;
}

void link_frame(cell& self, suspended_frame& f) noexcept {
  cell_extension& x = self.ext();
  f.next_frame = x.frames;
  f.slot_of_me = &x.frames;
  if (x.frames != nullptr) x.frames->slot_of_me = &f.next_frame;
  x.frames = &f;
}

void unlink_frame(suspended_frame& f) noexcept {
  if (f.slot_of_me == nullptr) return;
  *f.slot_of_me = f.next_frame;
  if (f.next_frame != nullptr) f.next_frame->slot_of_me = f.slot_of_me;
  f.slot_of_me = nullptr;
}

void frame_failed(cell& self, const handled_message& message, pending_request request,
                  const std::exception_ptr& what, std::coroutine_handle<> frame) noexcept {
  const base::error why =
      base::make_error(base::errc::receiver_failed, self.name(), lost_mail::text_of(what));
  {
    // before the failure takes the actor's state: parameters and captures may refer to it
    const no_reentry guard(why);
    frame.destroy();
  }
  if (message.type == nullptr) return lifecycle::on_exception(self, nullptr, what);
  undelivered lost;
  lost.sender = message.sender;
  lost.receiver = self.id();
  lost.type = message.type->name;
  lost.descriptor = message.type;
  lost.reason = why;
  self.env().dead_letter(lost);
  respond_error(request, why);
  lifecycle::on_exception(self, nullptr, what);
}

}  // namespace garrick::core::detail
