#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/spawn.hpp>

#include <exception>

namespace garrick::core::detail {

void* allocate_cell_at(const environment& env, base::locality_hint hint, std::size_t bytes) {
  const std::int32_t node = env.workers != nullptr ? env.workers->memory_node(hint) : -1;
  void* const block =
      node >= 0 ? base::node_memory::allocate(static_cast<std::uint32_t>(node), bytes) : nullptr;
  return block != nullptr ? block : base::block_pool::allocate(bytes);
}

constructing_scope::constructing_scope(cell& c) noexcept : outer(here.constructing) {
  here.constructing = &c;
}
constructing_scope::~constructing_scope() { here.constructing = outer; }

namespace {

constexpr std::uint32_t most_messages = 32768;

/// What is wrong with the options; null: nothing.
const char* complaint(const spawn_options& o, cell_kind kind, const settings& system) noexcept {
  if (o.lazy && kind != cell_kind::event)
    return "spawn_options.lazy: an actor with a thread of its own starts at once";
  const bool bounded = o.policy != mailbox_policy::unbounded;
  if (bounded && (o.bound == 0 || o.bound > most_messages))
    return "spawn_options.bound: a bounded mailbox holds 1 to 32768 messages";
  if (!bounded && o.bound != 0)
    return "spawn_options.bound: needs a policy; without one the mailbox is unbounded";
  if (o.soft_limit > most_messages)
    return "spawn_options.soft_limit: must be 1 to 32768 messages, or 0 for the system's";
  const std::uint32_t soft = bounded             ? o.bound
                             : o.soft_limit != 0 ? o.soft_limit
                                                 : system.soft_limit;
  const std::uint32_t hard = o.hard_limit != 0 ? o.hard_limit : system.hard_limit;
  if (hard < soft)
    return "spawn_options.hard_limit: must not be below the soft limit or the bound (messages)";
  return nullptr;
}

void apply(cell& c, const spawn_options& o) {
  cell_extension* const x =
      !o.name.empty() || o.hard_limit != 0 || o.quantum != 0 || o.hidden ? &c.ext() : nullptr;
  if (x != nullptr) {
    x->name = o.name;
    x->hard_limit = o.hard_limit;
    x->quantum = o.quantum;
    x->hidden = o.hidden;
    cell_access::optional(c) = true;
  }
  if (o.soft_limit != 0) cell_access::soft_limit(c) = o.soft_limit;
  if (o.policy != mailbox_policy::unbounded) {
    cell_access::policy(c) = o.policy;
    cell_access::soft_limit(c) = o.bound;
    c.set_watched(true);
  }
  cell_access::in_place(c) = o.in_place;
  c.place.set(o.hint);
}

}  // namespace

void refuse_cell(cell& c, base::exit_reason why) noexcept {
  c.quit(std::move(why));
  // nobody else knows the cell yet
  static_cast<void>(cell_access::reader(c).claim_idle(cell_access::gate(c)));
  lifecycle::conclude(c);
}

bool prepare_cell(cell& c, environment& env, const spawn_options* o, cell*) {
  if (o != nullptr) {
    if (const char* const wrong = complaint(*o, c.kind(), env.limits); wrong != nullptr) {
      const std::string_view name = o->name.empty() ? c.name() : std::string_view(o->name);
      refuse_cell(c, base::exit_reason(base::make_error(base::errc::spawn_failed, name, wrong)));
      return false;
    }
    apply(c, *o);
  }
  if (c.kind() == cell_kind::event) return true;
  waiting_executor* const ex = env.detached_executor(c.kind() == cell_kind::blocking);
  if (ex == nullptr) {
    refuse_cell(
        c, base::exit_reason(base::make_error(
               base::errc::spawn_failed, c.name(),
               "no thread for a detached actor: the pool is at its bound or the system stops")));
    return false;
  }
  c.ext().executor = ex;
  cell_access::own_executor(c) = true;
  return true;
}

base::error spawn_error(const cell& c) {
  if (!c.has_ended()) return {};
  const base::error why = c.end_reason().as_error();
  return why == base::errc::spawn_failed || why == base::errc::shutting_down ? why : base::error();
}

bool list_cell(cell& c) noexcept {
  environment& env = c.env();
  if (!env.joined(c)) {
    refuse_cell(c, base::exit_reason(base::make_error(base::errc::shutting_down, c.name(),
                                                      "spawned after the system began to stop")));
    return false;
  }
  if (env.probe != nullptr) env.probe->on_actor_spawned(c.id(), c.name());
  return true;
}

void launch_cell(cell& c, const spawn_options* o, cell* spawner) noexcept {
  const bool idle = cell_access::born_idle(c);  // before anybody else can know the cell
  if (!list_cell(c)) return;
  if (o != nullptr && spawner != nullptr) {
    const address child = handle_access::make_address(&c);
    if (o->linked) link_cells(*spawner, child);
    if (o->monitored) monitor_cell(*spawner, child, nullptr);
  }
  if (!idle) c.home_executor().schedule(c);
}

void abort_cell(cell& c, const std::exception_ptr& why) noexcept {
  refuse_cell(c, base::exit_reason(base::make_error(base::errc::spawn_failed, c.name(),
                                                    lifecycle::text_of(why))));
}

void rebuild_with_factory(cell& self, void* storage) {
  cell_extension& x = self.ext();
  const constructing_scope scope(self);
  x.parent->factory->build(storage);
}

}  // namespace garrick::core::detail
