#include <garrick/core/behavior.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/supervision/nursery.hpp>

#include <algorithm>
#include <stdexcept>

namespace garrick::core {

namespace {

using access = cell_access;

cell& cell_of(const any_ref& h) noexcept { return *handle_access::get(h); }

template <class Signal, class... Args>
void order(const any_ref& to, Args&&... args) {
  cell_of(to).signal(detail::make_envelope<Signal>(std::forward<Args>(args)...));
}

constexpr std::uint64_t nobody = 0;

}  // namespace

cell_extension::cell_extension() = default;
cell_extension::~cell_extension() = default;

nursery::nursery(cell& self, const supervision& how)
    : random_(how.seed != 0 ? how.seed : self.id()) {
  configure(how);
}
nursery::~nursery() = default;

std::string nursery::complaint(const supervision& how) {
  if (how.window.count() <= 0)
    return "supervision.window: must be above zero, and is " + how.window.to_string();
  if (how.stop_within.count() < 0)
    return "supervision.stop_within: must not be negative, and is " + how.stop_within.to_string();
  if (how.delay.first.count() < 0 || how.delay.longest.count() < 0)
    return "supervision.delay: neither first nor longest may be negative";
  if (!(how.delay.factor >= 1.0))
    return "supervision.delay.factor: must be at least 1, and is " +
           std::to_string(how.delay.factor);
  if (!(how.delay.jitter >= 0.0 && how.delay.jitter <= 1.0))
    return "supervision.delay.jitter: must be 0 to 1, and is " + std::to_string(how.delay.jitter);
  return {};
}

void nursery::configure(const supervision& how) {
  if (const std::string wrong = complaint(how); !wrong.empty())
    throw std::invalid_argument("garrick: " + wrong);
  how_ = how;
  if (how.seed != 0) random_ = base::random_source(how.seed);
}

nursery& nursery::of(cell& self) {
  cell_extension& x = self.ext();
  if (x.nursery == nullptr) x.nursery = std::make_unique<nursery>(self, supervision{});
  return *x.nursery;
}

// ---- signals ------------------------------------------------------------------------------------

void nursery::admit(cell& supervisor, bool on_its_turn, adoption a) {
  if (on_its_turn)
    of(supervisor).adopt(supervisor, a);
  else
    // before anything that the child will tell
    supervisor.signal(detail::make_envelope<adoption>(std::move(a)));
}

bool nursery::takes(const base::message_type* type) noexcept {
  return type == &base::message_type_of<signals::child_failed> ||
         type == &base::message_type_of<signals::child_up> ||
         type == &base::message_type_of<adoption> ||
         type == &base::message_type_of<signals::nursery_alarm>;
}

void nursery::on_signal(cell& self, envelope* e) {
  cell_extension* const x = self.ext_if();
  if (e->type == &base::message_type_of<adoption>) {
    auto& a = *static_cast<adoption*>(e->raw());
    if (self.phase() == life::suspended && (x == nullptr || x->nursery == nullptr))
      return turn_away(a);  // there is nobody who could supervise
    return of(self).adopt(self, a);
  }
  if (x == nullptr || x->nursery == nullptr) return;  // from a child that was let go
  if (e->type == &base::message_type_of<signals::child_failed>) {
    x->nursery->on_child(self, *static_cast<signals::child_failed*>(e->raw()));
    static_cast<void>(access::dispatch_system(self, e));  // for those who want to know
  } else if (e->type == &base::message_type_of<signals::child_up>) {
    x->nursery->on_up(self, static_cast<signals::child_up*>(e->raw())->child);
  } else {
    x->nursery->on_alarm(self, *static_cast<signals::nursery_alarm*>(e->raw()));
  }
}

void nursery::turn_away(const adoption& a, base::exit_reason reason) noexcept {
  order<signals::stop>(a.child, std::move(reason));
}

void nursery::adopt(cell& self, adoption& a) {
  if (a.named && has(a.name))
    return turn_away(
        a, base::exit_reason(base::make_error(base::errc::spawn_failed, a.name,
                                              "its supervisor has another child of this name")));
  child c;
  c.actor = std::move(a.child);
  c.name = std::move(a.name);
  c.restart = a.restart;
  c.stop_within = a.stop_within.count() > 0 ? a.stop_within : how_.stop_within;
  places_.emplace(c.actor.id(), ++last_place_);
  child& added = children_.emplace_hint(children_.end(), last_place_, std::move(c))->second;
  names_.emplace(added.name, last_place_);
  if (now_ == activity::stopping) tell_to_stop(self, added);
  if (now_ == activity::halting) reached_ = last_place_;
}

std::uint64_t nursery::place_of(std::uint64_t id) const noexcept {
  const auto known = places_.find(id);
  return known != places_.end() ? known->second : nobody;
}

void nursery::on_child(cell& self, const signals::child_failed& f) {
  const std::uint64_t i = place_of(f.child.id());
  if (i == nobody) return;
  if (f.suspended)
    on_suspended(self, i, f.reason);
  else
    on_gone(self, i);
}

void nursery::on_gone(cell& self, std::uint64_t i) {
  std::vector<response_promise<>> waiting = std::move(children_.at(i).when_ended);
  children_.at(i).deadline.cancel();
  const bool awaited = children_.at(i).asked || children_.at(i).stopping;
  const bool starting = children_.at(i).state == child_state::starting;
  places_.erase(children_.at(i).actor.id());
  names_.erase({children_.at(i).name, i});
  children_.erase(i);
  for (auto& p : waiting) p.deliver();
  if (now_ == activity::stopping && (awaited || children_.empty())) go_on_stopping(self);
  if (now_ == activity::halting && awaited) go_on_halting(self);
  if (now_ == activity::starting && starting) go_on_starting(self);
}

void nursery::on_suspended(cell& self, std::uint64_t i, const base::exit_reason& reason) {
  child& c = children_.at(i);
  const bool asked = std::exchange(c.asked, false);
  c.state = child_state::suspended;
  if (!c.stopping) c.deadline.cancel();
  if (c.stopping) return;                  // the order to end is on its way
  if (now_ == activity::stopping) return;  // its turn comes
  if (asked) {
    if (now_ == activity::halting) go_on_halting(self);
    return;
  }
  if (too_many(self)) return give_up(self, c, reason);
  const base::duration delay = delay_for(c);
  if (how_.strategy != restart_strategy::one_for_one)
    return halt_group(self, how_.strategy == restart_strategy::one_for_all ? 0 : i, delay);
  if (delay.count() > 0)
    c.alarm = set_alarm(self, delay, i);
  else
    start_child(self, c, true);
}

void nursery::on_up(cell& self, const address& who) {
  const std::uint64_t i = place_of(who.id());
  if (i == nobody || children_.at(i).state != child_state::starting) return;
  child& c = children_.at(i);
  c.state = child_state::up;
  if (!c.asked && !c.stopping) c.deadline.cancel();  // else the deadline is for another answer
  if (now_ == activity::starting) go_on_starting(self);
}

void nursery::on_alarm(cell& self, const signals::nursery_alarm& a) {
  if (now_ == activity::waiting && a.serial == group_alarm_) return begin_starting(self);
  const auto found = children_.find(a.place);
  if (found == children_.end() || found->second.alarm != a.serial) return;
  const std::uint64_t i = found->first;
  child* const at = &found->second;
  at->alarm = 0;
  if (at->asked && !at->stopping) {
    if (now_ == activity::halting) give_up_waiting(self, i, "suspending ", "handler");
    return;  // if all are stopped meanwhile, its turn comes, with a deadline of its own
  }
  if (!at->stopping) {
    if (at->state == child_state::suspended && now_ == activity::none) start_child(self, *at, true);
    if (at->state == child_state::starting && now_ == activity::starting)
      give_up_waiting(self, i, "restarting ", "constructor");
    return;
  }
  name_and_let_go(self, *at, "stopping ");
  on_gone(self, i);
}

// Its time is over: it is named, and left to end when its handler returns.
void nursery::name_and_let_go(cell& self, child& c, const char* meanwhile) {
  late_.push_back(c.name + "#" + std::to_string(c.actor.id()));
  self.env().failed(self, base::make_error(base::errc::timeout, meanwhile + late_.back(),
                                           "still alive after " + c.stop_within.to_string()));
  order<signals::kill>(c.actor, base::exit_reason(base::exit_code::kill), true);
}

// ---- restarting ---------------------------------------------------------------------------------

bool nursery::too_many(cell& self) {
  const base::instant now = self.env().clock->now();
  while (!failures_.empty() && now - failures_.front() > how_.window) failures_.pop_front();
  failures_.push_back(now);
  return failures_.size() > how_.max_restarts;
}

base::duration nursery::delay_for(child& c) {
  const bool quiet = c.restarts != 0 && failures_.size() <= 1;
  c.in_a_row = quiet ? 0 : c.in_a_row;
  double ns = static_cast<double>(how_.delay.first.count());
  for (std::uint32_t i = 0; i < c.in_a_row && ns < static_cast<double>(how_.delay.longest.count());
       ++i)
    ns *= how_.delay.factor;
  ++c.in_a_row;
  ns = std::min(ns, static_cast<double>(how_.delay.longest.count()));
  ns *= 1.0 + how_.delay.jitter * (2.0 * random_.unit() - 1.0);
  constexpr double largest = 9.2e18;  // of what a duration holds
  return base::duration::nanoseconds(static_cast<std::int64_t>(std::min(ns, largest)));
}

void nursery::give_up(cell& self, const child& c, const base::exit_reason& reason) {
  self.quit(base::exit_reason(
      base::make_error(base::errc::receiver_failed, self.name(),
                       "gave up after more than " + std::to_string(how_.max_restarts) +
                           " failures within " + how_.window.to_string() +
                           "; the last one was of " + c.name + ": " + reason.to_string())));
}

// A group cannot be restarted around a child that still runs: two incarnations of one design would
// meet.
void nursery::give_up_waiting(cell& self, std::uint64_t i, const char* meanwhile,
                              const char* what) {
  child& c = children_.at(i);
  name_and_let_go(self, c, meanwhile);
  base::error why = base::make_error(base::errc::timeout, self.name(),
                                     "gave up: " + late_.back() +
                                         " was to be restarted with its group, and its " + what +
                                         " had not returned after " + c.stop_within.to_string());
  now_ = activity::none;
  on_gone(self, i);
  self.quit(base::exit_reason(std::move(why)));
}

void nursery::start_child(cell& self, child& c, bool keep_mail) {
  c.state = child_state::starting;
  ++c.restarts;
  if (now_ == activity::starting) set_deadline(self, c);  // the others of its group wait for it
  order<signals::restart>(c.actor, keep_mail);
}

void nursery::halt_group(cell& self, std::uint64_t first, base::duration delay) {
  group_ = now_ == activity::none ? first : std::min(group_, first);
  group_delay_ = delay;
  now_ = activity::halting;
  reached_ = last_place_;
  for (const auto& [place, c] : children_)
    if (c.asked) return;  // goes on when that one has answered
  go_on_halting(self);
}

void nursery::go_on_halting(cell& self) {
  for (auto at = children_.upper_bound(reached_);
       at != children_.begin() && (--at)->first >= group_;) {
    child& c = at->second;
    reached_ = at->first;
    if (c.state == child_state::suspended || c.stopping) continue;
    c.asked = true;
    set_deadline(self, c);
    if (c.restart == restart_policy::temporary)
      order<signals::stop>(c.actor, base::exit_reason(base::exit_code::user_shutdown));
    else
      order<signals::suspend>(c.actor);
    return;
  }
  if (group_delay_.count() > 0) {
    now_ = activity::waiting;
    group_alarm_ = set_alarm(self, group_delay_, nobody);
    return;
  }
  begin_starting(self);
}

void nursery::begin_starting(cell& self) {
  now_ = activity::starting;
  reached_ = group_;
  go_on_starting(self);
}

void nursery::go_on_starting(cell& self) {
  for (auto at = children_.lower_bound(reached_); at != children_.end(); ++at) {
    child& c = at->second;
    reached_ = at->first;
    if (c.state == child_state::starting) return;
    if (c.state != child_state::suspended || c.stopping) continue;
    return start_child(self, c, how_.keep_mail);
  }
  now_ = activity::none;
}

std::uint64_t nursery::set_alarm(cell& self, base::duration delay, std::uint64_t place,
                                 timer* handle) {
  const std::uint64_t serial = next_serial_++;
  envelope* const e = detail::make_envelope<signals::nursery_alarm>(serial, place);
  e->set(envelope_flag::system);
  timer_record* const r = timer_record::arm_once(self.env(), self, e, delay);
  if (handle != nullptr) {
    r->add_holder();
    *handle = timer(r);
  }
  list_timer(self, r);
  return serial;
}

// Cancelled when the child answers: an alarm that is set keeps the supervisor alive.
void nursery::set_deadline(cell& self, child& c) {
  c.deadline.cancel();
  c.alarm = set_alarm(self, c.stop_within, place_of(c.actor.id()), &c.deadline);
}

// ---- stopping -----------------------------------------------------------------------------------

void nursery::tell_to_stop(cell& self, child& c) {
  if (c.stopping) return;
  c.stopping = true;
  order<signals::stop>(c.actor, base::exit_reason(base::exit_code::user_shutdown));
  set_deadline(self, c);
}

bool nursery::stop(cell& self, std::uint64_t id, response_promise<> when_ended) {
  const std::uint64_t i = place_of(id);
  if (i == nobody) return false;
  children_.at(i).when_ended.push_back(std::move(when_ended));
  tell_to_stop(self, children_.at(i));
  return true;
}

void nursery::begin_stopping(cell& self) {
  now_ = activity::stopping;
  go_on_stopping(self);
}

void nursery::go_on_stopping(cell& self) {
  if (children_.empty()) return all_stopped(self);
  tell_to_stop(self, children_.rbegin()->second);
}

void nursery::all_stopped(cell& self) {
  now_ = activity::none;
  stop_report report{std::move(late_)};
  late_.clear();
  std::vector<response_promise<stop_report>> waiting = std::move(when_stopped_);
  for (auto& p : waiting) p.deliver(report);
  if (ends_actor_) access::phase(self) = life::ending;
}

void nursery::stop_all(cell& self, response_promise<stop_report> when_ended) {
  when_stopped_.push_back(std::move(when_ended));
  if (now_ != activity::stopping) begin_stopping(self);
}

bool nursery::wound_down(cell& self) {
  if (children_.empty()) {
    self_hold_ = {};
    return true;
  }
  if (!ends_actor_) {
    ends_actor_ = true;
    // the children's reports must find this actor even if nobody else holds it
    self.add_strong_from_self();
    self_hold_ = handle_access::adopt<any_protocol>(&self);
  }
  access::phase(self) = life::suspended;
  access::reader(self).set_stalled(access::gate(self), true);
  if (now_ != activity::stopping) begin_stopping(self);
  return children_.empty();
}

void nursery::abandon() noexcept {
  const std::map<std::uint64_t, child> gone = std::exchange(children_, {});
  places_.clear();
  names_.clear();
  for (const auto& [place, c] : gone)
    order<signals::kill>(c.actor, base::exit_reason(base::exit_code::kill), true);
}

// ---- looking ------------------------------------------------------------------------------------

std::vector<child_info> nursery::list() const {
  std::vector<child_info> all;
  for (const auto& [place, c] : children_)
    all.push_back({c.name, c.actor.id(), c.restarts, c.state == child_state::up && !c.stopping});
  return all;
}

bool nursery::has(std::string_view name) const noexcept {
  const auto first = names_.lower_bound({name, nobody});
  return first != names_.end() && first->first == name;
}

any_ref nursery::find(std::string_view name) const {
  return has(name) ? children_.at(names_.lower_bound({name, nobody})->second).actor : any_ref();
}

}  // namespace garrick::core
