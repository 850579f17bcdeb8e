// The decisions of a supervisor about failed children, and the stopping of children.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/internal/last_words.hpp>
#include <garrick/core/supervision/internal/children.hpp>
#include <garrick/core/turn/timer_record.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace garrick::core {

namespace {

cell& cell_of(const any_ref& h) noexcept { return *handle_access::get(h); }

template <class Signal, class... Args>
void tell_child(const any_ref& to, Args&&... args) noexcept {
  cell_of(to).signal(
      last_words<Signal>("a child cannot be told by its supervisor", std::forward<Args>(args)...));
}

constexpr std::uint64_t nobody = 0;
constexpr base::duration longest_delay_by_default = base::duration::seconds(30);

}  // namespace

children::children(cell& self, const supervision& how)
    : random_(how.seed != 0 ? how.seed : self.id()) {
  configure(how);
}
children::~children() { asked_->set({}); }

std::string children::complaint(const supervision& how) {
  if (how.strategy > restart_strategy::rest_for_one)
    return "supervision.strategy: is no restart_strategy";
  if (how.window.count() <= 0)
    return "supervision.window: must be above zero, and is " + how.window.to_string();
  if (how.stop_within.count() < 0)
    return "supervision.stop_within: must not be negative, and is " + how.stop_within.to_string();
  if (how.delay.first.count() < 0 || how.delay.longest.count() < 0)
    return "supervision.delay: neither first nor longest may be negative";
  if (how.delay.first == base::duration::infinite())
    return "supervision.delay.first: must not be infinite";
  if (how.delay.longest.count() != 0 && how.delay.longest < how.delay.first)
    return "supervision.delay.longest: must not be below first, which is " +
           how.delay.first.to_string() + "; it is " + how.delay.longest.to_string();
  if (!(how.delay.factor >= 1.0 && std::isfinite(how.delay.factor)))
    return "supervision.delay.factor: must be at least 1 and finite, and is " +
           std::to_string(how.delay.factor);
  if (!(how.delay.jitter >= 0.0 && how.delay.jitter <= 1.0))
    return "supervision.delay.jitter: must be 0 to 1, and is " + std::to_string(how.delay.jitter);
  return {};
}

void children::configure(const supervision& how) {
  if (const std::string wrong = complaint(how); !wrong.empty())
    throw std::invalid_argument("garrick: " + wrong);
  how_ = how;
  if (how.seed != 0) random_ = base::random_source(how.seed);
}

children& children::of(cell& self) {
  cell_extension& x = self.ext();
  if (x.dependents == nullptr) x.dependents = std::make_unique<children>(self, supervision{});
  return static_cast<children&>(*x.dependents);
}

// ---- signals ------------------------------------------------------------------------------------

namespace {

/// A child that another thread started, on the way to its supervisor's turn.
class adoption_errand final : public errand {
 public:
  explicit adoption_errand(adoption arrival) noexcept : arrival_(std::move(arrival)) {}
  void run(cell& self) override {
    const cell_extension* const x = self.ext_if();
    if (self.phase() == life::suspended && (x == nullptr || x->dependents == nullptr))
      return turned_away();  // no object that could supervise exists
    children::of(self).adopt(self, arrival_);
  }
  void turned_away() noexcept override { children::turn_away(arrival_); }

 private:
  adoption arrival_;
};

}  // namespace

void children::admit(cell& supervisor, bool on_its_turn, adoption arrival) {
  if (on_its_turn)
    of(supervisor).adopt(supervisor, arrival);
  else
    // before any report of the child
    supervisor.signal(detail::make_envelope<signals::run_errand>(
        std::make_unique<adoption_errand>(std::move(arrival))));
}

void children::on_signal(cell& self, envelope* e) {
  if (e->type == &base::message_type_of<signals::child_failed>) {
    on_child(self, *static_cast<signals::child_failed*>(e->raw()));
    static_cast<void>(self.dispatch_system(e));  // for a handler of the supervisor's own
  } else if (e->type == &base::message_type_of<signals::child_up>) {
    on_up(self, static_cast<signals::child_up*>(e->raw())->child);
  } else {
    on_alarm(self, *static_cast<signals::child_alarm*>(e->raw()));
  }
}

void children::turn_away(const adoption& refused, base::exit_reason reason) noexcept {
  tell_child<signals::stop>(refused.child, std::move(reason));
}

void children::adopt(cell& self, adoption& arrival) {
  if (arrival.named && has(arrival.name))
    return turn_away(arrival, base::exit_reason(base::make_error(
                                  base::errc::spawn_failed, arrival.name,
                                  "its supervisor has another child of this name")));
  if (supervised& known = *cell_of(arrival.child).ext().parent; known.keeps_asked == nullptr) {
    known.keeps_asked = asked_;
    // order: release: the block; pairs with room_wait::wanted_for_restart
    known.asked.store(asked_.get(), std::memory_order_release);
  }
  child made;
  made.actor = std::move(arrival.child);
  made.name = std::move(arrival.name);
  made.restart = arrival.restart;
  made.stop_within = arrival.stop_within.count() > 0 ? arrival.stop_within : how_.stop_within;
  made.up_since = self.env().clock->now();
  places_.emplace(made.actor.id(), ++last_place_);
  child& added = children_.emplace_hint(children_.end(), last_place_, std::move(made))->second;
  names_.emplace(added.name, last_place_);
  if (now_ == activity::stopping) tell_to_stop(self, added);
  if (now_ == activity::halting) reached_ = last_place_;
}

std::uint64_t children::place_of(std::uint64_t id) const noexcept {
  const auto known = places_.find(id);
  return known != places_.end() ? known->second : nobody;
}

void children::on_child(cell& self, const signals::child_failed& report) {
  const std::uint64_t place = place_of(report.child.id());
  if (place == nobody) return;
  if (report.suspended)
    on_suspended(self, place, report.reason);
  else
    on_gone(self, place);
}

void children::on_gone(cell& self, std::uint64_t place) {
  std::vector<response_promise<>> waiting = std::move(children_.at(place).when_ended);
  children_.at(place).deadline.cancel();
  const bool awaited = children_.at(place).asked || children_.at(place).stopping;
  const bool starting = children_.at(place).state == child_state::starting;
  asked_->clear(children_.at(place).actor.id());
  places_.erase(children_.at(place).actor.id());
  names_.erase({children_.at(place).name, place});
  children_.erase(place);
  for (auto& p : waiting) p.deliver();
  if (now_ == activity::stopping && (awaited || children_.empty())) go_on_stopping(self);
  if (now_ == activity::halting && awaited) go_on_halting(self);
  if (now_ == activity::starting && starting) go_on_starting(self);
}

void children::on_suspended(cell& self, std::uint64_t place, const base::exit_reason& reason) {
  child& failed = children_.at(place);
  const bool asked = std::exchange(failed.asked, false);
  failed.state = child_state::suspended;
  if (!failed.stopping) asked_->clear(failed.actor.id());
  // A delay before a restart does not count as time without failures. Failures of other children
  // do not lengthen this child's delay.
  if (!failed.up_since.is_never() && self.env().clock->now() - failed.up_since > how_.window)
    failed.in_a_row = 0;
  if (!failed.stopping) failed.deadline.cancel();
  if (failed.stopping) return;             // the order to end is on its way
  if (now_ == activity::stopping) return;  // its turn comes
  if (asked) {
    if (now_ == activity::halting) go_on_halting(self);
    return;
  }
  if (too_many(self)) return give_up(self, failed, reason);
  const base::duration delay = delay_for(failed);
  if (how_.strategy != restart_strategy::one_for_one)
    return halt_group(self, how_.strategy == restart_strategy::one_for_all ? 0 : place, delay);
  if (delay.count() > 0)
    failed.alarm = set_alarm(self, delay, place);
  else
    start_child(self, failed, true);
}

void children::on_up(cell& self, const address& who) {
  const std::uint64_t place = place_of(who.id());
  if (place == nobody || children_.at(place).state != child_state::starting) return;
  child& failed = children_.at(place);
  failed.state = child_state::up;
  failed.up_since = self.env().clock->now();
  if (!failed.asked && !failed.stopping) {  // else another answer is due
    failed.deadline.cancel();
    asked_->clear(who.id());
  }
  if (now_ == activity::starting) go_on_starting(self);
}

void children::on_alarm(cell& self, const signals::child_alarm& alarm) {
  if (now_ == activity::waiting && alarm.serial == group_alarm_) return begin_starting(self);
  const auto found = children_.find(alarm.place);
  if (found == children_.end() || found->second.alarm != alarm.serial) return;
  const std::uint64_t place = found->first;
  child* const at = &found->second;
  if (at->asked && !at->stopping) {
    if (now_ == activity::halting) give_up_waiting(self, place, "suspending ", "handler");
    return;  // if all are stopped meanwhile, its turn comes, with a deadline of its own
  }
  if (!at->stopping) {
    if (at->state == child_state::suspended && now_ == activity::none) start_child(self, *at, true);
    if (at->state == child_state::starting && now_ == activity::starting)
      give_up_waiting(self, place, "restarting ", "constructor");
    return;
  }
  name_and_let_go(self, *at, "stopping ");
  on_gone(self, place);
}

// Reports a child that has not answered in time, and kills it: it ends when its handler returns.
void children::name_and_let_go(cell& self, child& c, const char* meanwhile) {
  late_.push_back(c.name + "#" + std::to_string(c.actor.id()));
  self.env().failed(self, base::make_error(base::errc::timeout, meanwhile + late_.back(),
                                           "still alive after " + c.stop_within.to_string()));
  tell_child<signals::kill>(c.actor, base::exit_reason(base::exit_code::kill), true);
}

// ---- restarting ---------------------------------------------------------------------------------

bool children::too_many(cell& self) {
  const base::instant now = self.env().clock->now();
  while (!failures_.empty() && now - failures_.front() > how_.window) failures_.pop_front();
  failures_.push_back(now);
  return failures_.size() > how_.max_restarts;
}

base::duration children::delay_for(child& c) {
  const base::duration first = how_.delay.first;
  const base::duration longest = how_.delay.longest.count() != 0
                                     ? how_.delay.longest
                                     : std::max(first, longest_delay_by_default);
  double ns = static_cast<double>(first.count());
  const auto most = static_cast<double>(longest.count());
  for (std::uint32_t i = 0; i < c.in_a_row && ns < most; ++i) ns *= how_.delay.factor;
  ++c.in_a_row;
  ns = std::min(ns, most);
  ns *= 1.0 + how_.delay.jitter * (2.0 * random_.unit() - 1.0);
  constexpr double largest = 9.2e18;  // below the most that a duration holds
  return base::duration::nanoseconds(static_cast<std::int64_t>(std::min(ns, largest)));
}

void children::give_up(cell& self, const child& c, const base::exit_reason& reason) {
  self.quit(base::exit_reason(
      base::make_error(base::errc::receiver_failed, self.name(),
                       "gave up after more than " + std::to_string(how_.max_restarts) +
                           " failures within " + how_.window.to_string() +
                           "; the last one was of " + c.name + ": " + reason.to_string())));
}

// Gives up on a group with a child that still runs: if the others were restarted, that child would
// run on among their new incarnations.
void children::give_up_waiting(cell& self, std::uint64_t place, const char* meanwhile,
                               const char* what) {
  child& failed = children_.at(place);
  name_and_let_go(self, failed, meanwhile);
  base::error why = base::make_error(
      base::errc::timeout, self.name(),
      "gave up: " + late_.back() + " was to be restarted with its group, and its " + what +
          " had not returned after " + failed.stop_within.to_string());
  now_ = activity::none;
  on_gone(self, place);
  self.quit(base::exit_reason(std::move(why)));
}

void children::start_child(cell& self, child& c, bool keep_mail) {
  c.state = child_state::starting;
  c.up_since = base::instant::never();
  ++c.restarts;
  if (now_ == activity::starting) {  // the others of its group wait for it
    set_deadline(self, c);
    wait_for_answer_of(c);
  }
  tell_child<signals::restart>(c.actor, keep_mail);
}

void children::halt_group(cell& self, std::uint64_t first, base::duration delay) {
  group_ = now_ == activity::none ? first : std::min(group_, first);
  group_delay_ = delay;
  now_ = activity::halting;
  reached_ = last_place_;
  for (const auto& [place, c] : children_)
    if (c.asked) return;  // that child's answer continues the work
  go_on_halting(self);
}

void children::go_on_halting(cell& self) {
  for (auto at = children_.upper_bound(reached_);
       at != children_.begin() && (--at)->first >= group_;) {
    child& younger = at->second;
    reached_ = at->first;
    if (younger.state == child_state::suspended || younger.stopping) continue;
    younger.asked = true;
    set_deadline(self, younger);
    wait_for_answer_of(younger);
    if (younger.restart == restart_policy::temporary)
      tell_child<signals::stop>(younger.actor, base::exit_reason(base::exit_code::user_shutdown));
    else
      tell_child<signals::suspend>(younger.actor);
    return;
  }
  if (group_delay_.count() > 0) {
    now_ = activity::waiting;
    group_alarm_ = set_alarm(self, group_delay_, nobody);
    return;
  }
  begin_starting(self);
}

void children::begin_starting(cell& self) {
  now_ = activity::starting;
  reached_ = group_;
  go_on_starting(self);
}

void children::go_on_starting(cell& self) {
  for (auto at = children_.lower_bound(reached_); at != children_.end(); ++at) {
    child& c = at->second;
    reached_ = at->first;
    if (c.state == child_state::starting) return;
    if (c.state != child_state::suspended || c.stopping) continue;
    return start_child(self, c, how_.keep_mail);
  }
  now_ = activity::none;
}

std::uint64_t children::set_alarm(cell& self, base::duration delay, std::uint64_t place,
                                  timer* handle) {
  const std::uint64_t serial = next_serial_++;
  envelope* const e = detail::make_envelope<signals::child_alarm>(serial, place);
  e->set(envelope_flag::system);
  timer_record* const r = timer_record::arm_once(self.env(), self, e, delay);
  if (handle != nullptr) {
    r->add_holder();
    *handle = timer(r);
  }
  list_timer(self, r);
  return serial;
}

// Limits the time for the child's answer. The answer cancels the alarm, since an alarm that is set
// keeps the supervisor alive.
void children::set_deadline(cell& self, child& c) {
  c.deadline.cancel();
  c.alarm = set_alarm(self, c.stop_within, place_of(c.actor.id()), &c.deadline);
}

// Called before the child is sent its signal: a sender that has to wait for the restart finds in
// `asked_` the child that it may have to run.
void children::wait_for_answer_of(const child& c) noexcept { asked_->set(c.actor.address()); }

// ---- stopping -----------------------------------------------------------------------------------

void children::tell_to_stop(cell& self, child& c) {
  if (c.stopping) return;
  c.stopping = true;
  tell_child<signals::stop>(c.actor, base::exit_reason(base::exit_code::user_shutdown));
  set_deadline(self, c);
}

bool children::stop(cell& self, std::uint64_t id, response_promise<> when_ended) {
  const std::uint64_t place = place_of(id);
  if (place == nobody) return false;
  children_.at(place).when_ended.push_back(std::move(when_ended));
  tell_to_stop(self, children_.at(place));
  return true;
}

void children::begin_stopping(cell& self) {
  now_ = activity::stopping;
  go_on_stopping(self);
}

void children::go_on_stopping(cell& self) {
  if (children_.empty()) return all_stopped(self);
  wait_for_answer_of(children_.rbegin()->second);
  tell_to_stop(self, children_.rbegin()->second);
}

void children::all_stopped(cell& self) {
  now_ = activity::none;
  stop_report report{std::move(late_)};
  late_.clear();
  std::vector<response_promise<stop_report>> waiting = std::move(when_stopped_);
  for (auto& p : waiting) p.deliver(report);
  if (ends_actor_) self.set_phase(life::ending);
}

void children::stop_all(cell& self, response_promise<stop_report> when_ended) {
  when_stopped_.push_back(std::move(when_ended));
  if (now_ != activity::stopping) begin_stopping(self);
}

bool children::wound_down(cell& self) {
  if (children_.empty()) {
    self_hold_ = {};
    return true;
  }
  if (!ends_actor_) {
    ends_actor_ = true;
    // the children's reports must find this actor even if no other handle to it is left
    self.add_strong_from_self();
    self_hold_ = handle_access::adopt<any_protocol>(&self);
  }
  self.set_phase(life::suspended);
  self.set_stalled(true);
  if (now_ != activity::stopping) begin_stopping(self);
  return children_.empty();
}

void children::abandon() noexcept {
  const std::map<std::uint64_t, child> gone = std::exchange(children_, {});
  asked_->set({});
  places_.clear();
  names_.clear();
  for (const auto& [place, c] : gone)
    tell_child<signals::kill>(c.actor, base::exit_reason(base::exit_code::kill), true);
}

// ---- looking ------------------------------------------------------------------------------------

std::vector<child_info> children::list() const {
  std::vector<child_info> all;
  for (const auto& [place, c] : children_)
    all.push_back({c.name, c.actor.id(), c.restarts, c.state == child_state::up && !c.stopping});
  return all;
}

bool children::has(std::string_view name) const noexcept {
  const auto first = names_.lower_bound({name, nobody});
  return first != names_.end() && first->first == name;
}

any_ref children::find(std::string_view name) const {
  return has(name) ? children_.at(names_.lower_bound({name, nobody})->second).actor : any_ref();
}

}  // namespace garrick::core
