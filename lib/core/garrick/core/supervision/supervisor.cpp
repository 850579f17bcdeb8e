// Starts supervised children, and implements `supervisor`, an actor that only supervises.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/supervision/internal/children.hpp>
#include <garrick/core/supervision/supervisor.hpp>

#include <stdexcept>

namespace garrick::core {

namespace detail {

namespace {

/// Returns the reason why the child cannot be started; null if it can.
const char* complaint(cell& supervisor, bool on_its_turn, const child_options& o) {
  if (on_its_turn && !o.name.empty() && children::of(supervisor).has(o.name))
    return "its supervisor has another child of this name";
  if (o.restart > restart_policy::temporary) return "child_options.restart: is no restart_policy";
  if (o.stop_within.count() < 0) return "child_options.stop_within: must not be negative";
  if (o.spawn.linked) return "child_options.spawn.linked: a child ends with its supervisor anyway";
  if (o.spawn.monitored)
    return "child_options.spawn.monitored: a supervisor hears of its children by child_failed";
  return nullptr;
}

}  // namespace

bool prepare_child(cell& c, cell& supervisor, bool on_its_turn, const child_options& o,
                   std::shared_ptr<object_factory> factory) {
  if (const char* const wrong = complaint(supervisor, on_its_turn, o); wrong != nullptr) {
    const std::string_view name = o.name.empty() ? c.name() : std::string_view(o.name);
    refuse_cell(c, base::exit_reason(base::make_error(base::errc::spawn_failed, name, wrong)));
    return false;
  }
  spawn_options options = o.spawn;
  options.name = o.name;
  options.detached = o.detached;
  cell_extension& extension = c.spawn_constants();
  extension.parent = std::make_unique<supervised>();
  extension.parent->supervisor = handle_access::make_address(&supervisor);
  extension.parent->factory = std::move(factory);
  extension.parent->restarts_after_failure = o.restart != restart_policy::temporary;
  extension.parent->restarts_after_quit = o.restart == restart_policy::permanent;
  extension.parent->restartable = false;  // until its first object is built
  return prepare_cell(c, supervisor.env(), &options, &supervisor);
}

void launch_child(cell& c, cell& supervisor, bool on_its_turn, const child_options& o) noexcept {
  try {
    c.rebuild_object();
  } catch (...) { return abort_cell(c, std::current_exception()); }
  c.ext().parent->restartable = true;
  if (!list_cell(c)) return;  // before its supervisor knows it and may tell it to end
  c.add_strong();
  children::admit(supervisor, on_its_turn,
                  {handle_access::adopt<any_protocol>(&c), std::string(c.name()), o.restart,
                   o.stop_within, !o.name.empty()});
  if (!c.lies_idle()) c.home_executor().schedule(c);
}

}  // namespace detail

void actor_base::set_supervision(const struct supervision& how) {
  children::of(*cell_).configure(how);
}

const supervision& supervisor::checked(const supervision& how) {
  if (const std::string wrong = children::complaint(how); !wrong.empty())
    throw std::invalid_argument(wrong);
  return how;
}

void supervisor::on_start() {
  set_supervision(how_);
  for (const child_spec& s : specs_) {
    const any_ref c = s.start(this_cell());
    cell& started = *handle_access::get(c);
    if (started.has_ended())
      throw std::runtime_error("child " + c.to_string() +
                               " could not be started: " + started.end_reason().to_string());
  }
}

std::vector<child_info> supervisor::on(list_children) { return children::of(this_cell()).list(); }

result<any_ref> supervisor::on(const find_child& f) {
  any_ref found = children::of(this_cell()).find(f.name);
  if (!found)
    return base::make_error(base::errc::not_found, f.name, "this supervisor has no such child");
  return found;
}

result<void> supervisor::on(const stop_child& s) {
  children& mine = children::of(this_cell());
  const any_ref found = mine.find(s.name);
  if (!found)
    return base::make_error(base::errc::not_found, s.name, "this supervisor has no such child");
  mine.stop(this_cell(), found.id(), make_promise<>());
  return delegated<>{};
}

result<stop_report> supervisor::on(stop_children) {
  children::of(this_cell()).stop_all(this_cell(), make_promise<stop_report>());
  return delegated<stop_report>{};
}

}  // namespace garrick::core
