// The part of a spawn after the compiler's checks: options, the list, the start.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/spawn.hpp>
#include <garrick/core/turn/internal/lifecycle.hpp>
#include <garrick/core/turn/internal/turn_frame.hpp>

#include <exception>
#include <new>

namespace garrick::core::detail {

namespace {

/// Returns the complaint about the limits that the mailbox would have; an empty text if there is
/// none.
std::string complaint_of_limits(const spawn_options& o, const mailbox_settings& system) {
  const bool bounded = o.policy != mailbox_policy::unbounded;
  const bool own_soft = bounded || o.soft_limit != 0;
  const std::uint32_t soft = bounded ? o.bound : own_soft ? o.soft_limit : system.soft_limit;
  const std::uint32_t hard = o.hard_limit != 0 ? o.hard_limit : system.hard_limit;
  if (hard > most_messages_at_all)
    return "spawn_options.hard_limit: must be at most " + std::to_string(most_messages_at_all) +
           " messages, or 0 for the system's";
  if (hard >= soft) return {};
  const std::string_view keys = own_soft ? "spawn_options." : "mailbox.";
  return std::string(o.hard_limit != 0 ? "spawn_options" : "mailbox") +
         ".hard_limit: must not be below " + std::string(keys) +
         (bounded ? "bound" : "soft_limit") + ", which is " + std::to_string(soft) +
         " messages; it is " + std::to_string(hard);
}

/// Returns the complaint about the options; an empty text if there is none.
std::string complaint(const spawn_options& o, cell_kind kind, const mailbox_settings& system) {
  const auto at_most = [](const char* what, const char* otherwise) {
    return what + std::to_string(most_messages) + " messages" + otherwise;
  };
  if (o.lazy && kind != cell_kind::event)
    return "spawn_options.lazy: an actor with a thread of its own starts at once";
  if (!o.affinity.empty() && kind == cell_kind::event)
    return "spawn_options.affinity: is for an actor with a thread of its own; spawn_options.hint "
           "says where one runs that the workers run";
  if (o.executor != nullptr && kind != cell_kind::event)
    return "spawn_options.executor: an actor with a thread of its own runs there";
  if (o.policy > mailbox_policy::wait) return "spawn_options.policy: is no mailbox_policy";
  if (o.policy == mailbox_policy::drop_oldest)
    return "spawn_options.policy: there is no drop_oldest any more; an actor is sent its newest "
           "value through a garrick::latest<T>";
  const bool bounded = o.policy != mailbox_policy::unbounded;
  if (bounded && (o.bound == 0 || o.bound > most_messages))
    return at_most("spawn_options.bound: a bounded mailbox holds 1 to ", "");
  if (!bounded && o.bound != 0)
    return "spawn_options.bound: needs a policy; without one the mailbox is unbounded";
  if (o.soft_limit > most_messages)
    return at_most("spawn_options.soft_limit: must be 1 to ", ", or 0 for the system's");
  return complaint_of_limits(o, system);
}

void apply(cell& c, const spawn_options& o) {
  cell_extension* const extension =
      !o.name.empty() || o.hard_limit != 0 || o.quantum != 0 || o.hidden ? &c.spawn_constants()
                                                                         : nullptr;
  if (extension != nullptr) {
    extension->name = o.name;
    extension->hard_limit = o.hard_limit;
    extension->quantum = o.quantum;
    extension->hidden = o.hidden;
  }
  if (o.soft_limit != 0) c.set_soft_limit(o.soft_limit);
  if (o.policy != mailbox_policy::unbounded) c.set_bound(o.policy, o.bound);
  c.set_in_place(o.in_place);
  c.place.set(o.hint);
  if (o.executor != nullptr) c.set_executor(*o.executor);
}

/// Runs the first turn on this thread, without messages. Returns false if the actor has ended in
/// it; `why` is set if the reason is a failure.
bool start_here(cell& c, base::error& why) noexcept {
  const turn_frame turn(c, turn_frame::kind::borrowed);
  lifecycle::begin(c);
  if (c.phase() < life::ending) return true;
  if (const base::exit_reason reason = c.end_reason(); reason.is_failure())
    why = lost_mail::told_of_end(base::errc::spawn_failed, c, reason);
  return !lifecycle::reach_end(c);
}

}  // namespace

void refuse_cell(cell& c, base::exit_reason why) noexcept {
  c.quit(std::move(why));
  // no other thread knows the cell yet
  static_cast<void>(c.reader().claim_idle(c.gate()));
  lifecycle::conclude(c);
}

bool prepare_cell(cell& c, environment& env, const spawn_options* o, cell*) {
  if (o != nullptr) {
    if (const std::string wrong = complaint(*o, c.kind(), env.mailbox); !wrong.empty()) {
      const std::string_view name = o->name.empty() ? c.name() : std::string_view(o->name);
      refuse_cell(c, base::exit_reason(base::make_error(base::errc::spawn_failed, name, wrong)));
      return false;
    }
    apply(c, *o);
  }
  if (c.kind() == cell_kind::event) return true;
  // The extension is made first: if it failed later, the thread would have to be given back.
  static_cast<void>(c.ext());
  const auto thread =
      env.detached_executor(c.kind() == cell_kind::blocking, o != nullptr ? o->affinity : "");
  if (!thread) {
    refuse_cell(c, base::exit_reason(thread.error().at(c.name())));
    return false;
  }
  c.set_executor(**thread);
  return true;
}

base::error spawn_error(const cell& c) { return c.end_reason().as_error(); }

bool list_cell(cell& c) noexcept {
  environment& env = c.env();
  if (env.is_copy()) {
    refuse_cell(c, base::exit_reason(base::make_error(
                       base::errc::spawn_failed, c.name(),
                       "this process is a fork of the one that made the system, whose threads are "
                       "not here")));
    return false;
  }
  if (!env.joined(c)) {
    refuse_cell(c, base::exit_reason(base::make_error(base::errc::shutting_down, c.name(),
                                                      "spawned after the system began to stop")));
    return false;
  }
  if (env.probe != nullptr)
    env.probe->on_actor_spawned(
        {c.id(), c.name(), c.type_name(), c.kind(), running_id(), c.supervisor_id()});
  return true;
}

void launch_cell(cell& c, const spawn_options* o, cell* spawner, base::error* why) noexcept {
  if (!list_cell(c)) {
    if (why != nullptr) *why = spawn_error(c);
    return;
  }
  if (o != nullptr && spawner != nullptr) {
    const address child = handle_access::make_address(&c);
    try {
      if (o->linked) link_cells(*spawner, child);
      if (o->monitored) monitor_cell(*spawner, child, nullptr);
    } catch (const std::bad_alloc&) {
      kill_cell(child, base::exit_reason(base::make_error(base::errc::spawn_failed, c.name(),
                                                          "no memory for its link or monitor")));
    }
  }
  if (c.starts_lazily()) {
    if (!c.lies_idle()) c.home_executor().schedule(c);
    return;
  }
  if (why != nullptr && c.kind() == cell_kind::event && !start_here(c, *why)) return;
  c.home_executor().schedule(c);
}

void abort_cell(cell& c, const std::exception_ptr& why) noexcept {
  refuse_cell(c, base::exit_reason(base::make_error(base::errc::spawn_failed, c.name(),
                                                    lost_mail::text_of(why))));
}

}  // namespace garrick::core::detail
