#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/message.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/testkit/internal/deterministic_core.hpp>

#include <algorithm>
#include <array>

namespace garrick::testkit::internal {

namespace {

using access = core::cell_access;

constexpr std::size_t turns_remembered = 24;
constexpr std::uint32_t letters_waiting = 10'000;

core::cell& cell_of(base::runnable& r) noexcept { return static_cast<core::cell&>(r); }

std::uint64_t sender_of(const core::envelope* e) noexcept {
  if (e->is(core::envelope_flag::request)) return e->requester != nullptr ? e->requester->id() : 0;
  return e->sender_id;
}

/// While it lives, this thread is a worker of the system.
class worker_scope {
 public:
  explicit worker_scope(base::executor* as) noexcept
      : before_(std::exchange(base::this_thread.worker_of, as)) {}
  ~worker_scope() { base::this_thread.worker_of = before_; }
  worker_scope(const worker_scope&) = delete;
  worker_scope& operator=(const worker_scope&) = delete;

 private:
  base::executor* before_;
};

}  // namespace

deterministic_core::deterministic_core(const options& o)
    : options_(o),
      random_(o.seed),
      clock_(std::make_unique<base::virtual_clock>()),
      worker_(*this),
      letters_(letters_waiting) {
  limits = o.limits;
  workers = &worker_;
  probe = o.probe;
  clock = clock_.get();
  timers = clock_.get();
  lot = &drain_lot_;
  if (limits.detect_request_cycles) waits = &wait_graph_;
}

void deterministic_core::stop() noexcept {
  letters_.close();
  directory_.close();
  threads_.clear();
  clock = &base::real_clock();
  timers = nullptr;
  clock_.reset();
}

// ---- core::environment --------------------------------------------------------------------------

void deterministic_core::dead_letter(const core::undelivered& what) noexcept {
  if (probe != nullptr)
    probe->on_dead_letter(what.receiver, what.sender, what.descriptor, what.reason);
  lost_message& m = lost_.emplace_back();
  m.sender = what.sender;
  m.receiver = what.receiver;
  m.type = what.type;
  m.content = core::print_content(what);
  m.reason = what.reason;
  letters_.take(what);
}

bool deterministic_core::joined(core::cell& who) noexcept {
  if (closed_) return false;
  access::shard(who) = 0;
  access::list_prev(who) = nullptr;
  access::list_next(who) = first_;
  if (first_ != nullptr) access::list_prev(*first_) = &who;
  first_ = &who;
  names_.emplace(who.id(), std::string(who.name()));
  return true;
}

void deterministic_core::left(core::cell& who) noexcept {
  if (probe != nullptr) probe->on_actor_ended(who.id(), who.end_reason());
  core::cell* const prev = access::list_prev(who);
  core::cell* const next = access::list_next(who);
  (prev != nullptr ? access::list_next(*prev) : first_) = next;
  if (next != nullptr) access::list_prev(*next) = prev;
}

void deterministic_core::failed(const core::cell& who, const base::error& why) noexcept {
  // order: own thread's value
  const base::message_type* const handling =
      base::this_thread.handling.load(std::memory_order_relaxed);
  if (probe != nullptr) probe->on_actor_failed(who.id(), handling, why);
  failures_.push_back(name_of(who.id()) + ": " + why.to_string());
}

core::waiting_executor* deterministic_core::detached_executor(bool) noexcept {
  for (const auto& t : threads_) {
    if (!t->is_free()) continue;
    t->reuse();
    return t.get();
  }
  if (threads_.size() >= options_.threads) return nullptr;
  try {
    return threads_.emplace_back(std::make_unique<baton_thread>(*this)).get();
  } catch (const std::exception&) {
    return nullptr;  // no thread: the spawn fails with that reason
  }
}

core::waiting_executor* deterministic_core::executor_of_scoped(core::cell& who) noexcept {
  std::erase_if(waits_, [](const auto& w) { return w->over; });
  return waits_.emplace_back(std::make_unique<driving_wait>(*this, who)).get();
}

// ---- who can run --------------------------------------------------------------------------------

bool deterministic_core::worker::claim(base::runnable& r) noexcept {
  if (base::this_thread.worker_of != this) return false;
  return std::erase_if(kit_.runnable_, [&](const candidate& c) { return c.event_actor == &r; }) !=
         0;
}

const candidate* deterministic_core::find(const core::cell& who) const noexcept {
  const auto at = std::find_if(runnable_.begin(), runnable_.end(),
                               [&](const candidate& c) { return c.actor() == &who; });
  return at != runnable_.end() ? &*at : nullptr;
}

std::uint32_t deterministic_core::random_quantum() noexcept {
  // Mostly single messages, so that orders mix; now and then a long run, so that one actor gets far
  // ahead of the others.
  constexpr std::array<std::uint32_t, 8> quanta{1, 1, 1, 1, 2, 3, 8, 1000};
  return quanta[random_.below(quanta.size())];
}

bool deterministic_core::turn(std::uint32_t messages) {
  const std::size_t n = random_.below(static_cast<std::uint32_t>(runnable_.size()));
  const candidate chosen = runnable_[n];
  runnable_[n] = runnable_.back();
  runnable_.pop_back();
  return run_candidate(chosen, messages);
}

bool deterministic_core::turn_of(core::cell& who) {
  const core::address keep = core::handle_access::make_address(&who);
  const bool handled = run_only(who);
  // A message that ended its actor: the end itself is due on the actor's next turn, which nothing
  // else may precede here.
  if (!who.has_ended() && who.phase() == core::life::ending && find(who) != nullptr) run_only(who);
  return handled;
}

bool deterministic_core::run_only(const core::cell& who) {
  const auto at = std::find_if(runnable_.begin(), runnable_.end(),
                               [&](const candidate& c) { return c.actor() == &who; });
  const candidate chosen = *at;
  runnable_.erase(at);
  return run_candidate(chosen, 1);
}

core::envelope* deterministic_core::next_of(const core::cell& who) const noexcept {
  const candidate* const c = find(who);
  return c != nullptr ? access::peek_next(cell_of(*c->actor())) : nullptr;
}

std::vector<const core::envelope*> deterministic_core::waiting_for(const core::cell& who) const {
  std::vector<const core::envelope*> all;
  const candidate* const c = find(who);
  if (c == nullptr) return all;
  core::cell& self = cell_of(*c->actor());
  static_cast<void>(access::peek_next(self));  // takes what has arrived into the local queues
  const auto& reader = access::reader(self);
  if (reader.is_holding())
    for (const core::envelope* e = self.ext_if()->answers.front; e != nullptr; e = e->next)
      all.push_back(e);
  if (const core::envelope* const first = reader.peek_urgent()) {
    const core::envelope* e = first;
    do {
      all.push_back(e);
      e = e->next;
    } while (e != first);
  }
  for (const core::envelope* e = reader.peek_front(); e != nullptr; e = e->next) all.push_back(e);
  return all;
}

bool deterministic_core::signals_wait_for(core::cell& who) const noexcept {
  return (access::gate(who).peek() & core::mailbox_word::signal) != 0 ||
         access::attention(who).load(std::memory_order_relaxed) != 0;  // order: one thread
}

bool deterministic_core::run_candidate(candidate c, std::uint32_t messages) {
  if (c.thread == nullptr) return run_event_actor(cell_of(*c.event_actor), messages);
  const std::optional<turn_record> next =
      c.actor() != nullptr ? record_of(cell_of(*c.actor())) : std::nullopt;
  c.thread->queued = false;
  c.thread->go();
  if (next) remember(*next);
  return next.has_value();
}

bool deterministic_core::run_event_actor(core::cell& c, std::uint32_t messages) {
  const worker_scope scope(&worker_);
  bool any = false;
  for (std::uint32_t i = 0; i < messages; ++i) {
    const std::optional<turn_record> next = record_of(c);
    std::uint32_t budget = 1;
    const bool released = c.run(budget) == base::run_outcome::released;
    if (budget == 0) {
      any = true;
      if (next) remember(*next);
    }
    if (released) return any;
  }
  add({&c, nullptr});
  return any;
}

std::optional<turn_record> deterministic_core::record_of(core::cell& c) const {
  const core::envelope* const e =
      c.phase() != core::life::suspended ? access::peek_next(c) : nullptr;
  if (e == nullptr) return std::nullopt;
  return turn_record{c.id(), sender_of(e), e->type, e->is(core::envelope_flag::response)};
}

void deterministic_core::remember(const turn_record& t) {
  ++handled_;
  turns_.push_back(t);
  if (turns_.size() > turns_remembered) turns_.pop_front();
}

drive_outcome deterministic_core::drive(base::instant deadline) {
  if (!runnable_.empty()) {
    turn();
    return drive_outcome::progress;
  }
  const base::instant next = clock_->next_deadline();
  if (!next.is_never() && next <= deadline) {
    clock_->advance_to(next);
    return drive_outcome::progress;
  }
  if (deadline.is_never()) return drive_outcome::stuck;
  clock_->advance_to(deadline);
  return drive_outcome::time_over;
}

// ---- what has happened --------------------------------------------------------------------------

std::string deterministic_core::name_of(std::uint64_t id) const {
  if (id == 0) return "the test";
  const auto at = names_.find(id);
  return (at != names_.end() ? at->second : std::string("a scoped actor")) + "#" +
         std::to_string(id);
}

std::string deterministic_core::history() const {
  std::string out;
  if (!turns_.empty()) out += "\n  the last messages, newest last:";
  for (const turn_record& t : turns_)
    out += "\n    " + name_of(t.actor) + (t.response ? " got the response " : " handled ") +
           std::string(t.type->name) + " from " + name_of(t.sender);
  if (!failures_.empty()) out += "\n  actors that failed:";
  for (const std::string& f : failures_) out += "\n    " + f;
  return out;
}

std::vector<core::cell*> deterministic_core::living() const {
  std::vector<core::cell*> all;
  for (core::cell* c = first_; c != nullptr; c = access::list_next(*c)) all.push_back(c);
  std::reverse(all.begin(), all.end());  // in the order in which they were spawned
  return all;
}

}  // namespace garrick::testkit::internal
