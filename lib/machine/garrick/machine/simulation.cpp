// The actions of a model's actors and threads, charged to the machine's clocks; and the run as a
// whole.
#include <garrick/machine/simulation.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace garrick::machine {

namespace {

// The same numbers as in core.
constexpr std::uint32_t in_place_batch = 1024;
constexpr std::uint32_t in_place_batches_per_wake = 64;
constexpr std::uint32_t longest_in_place_chain = 16;
constexpr std::uint32_t sends_after_futile_wait = 64;
constexpr picoseconds longest_wait = from_ns(1e6);

constexpr double longest_end_seconds = 10;  // from the limit to the end of every thread
constexpr double longest_seconds = 1e7;     // 64 bits of picoseconds are 1.8e7 seconds
constexpr double highest_price_ns = 1e9;    // of any operation
constexpr double shortest_slice_ns = 1e5;   // the system's limits
constexpr double longest_slice_ns = 1e8;
constexpr double shortest_tick_ns = 1e4;
constexpr std::uint64_t foreign_seeds = 0x9e3779b97f4a7c15;
constexpr double foreign_chunk_ns = 1e6;  // between checks if the program has ended

constexpr std::uint32_t most_workers = 120;
constexpr std::uint64_t hot_actors = 8;  ///< actors with lines and branches still in the caches
constexpr std::uint32_t own_lines = 2;   ///< lines of an actor: the runner's part, and its object

}  // namespace

// ---- actors -------------------------------------------------------------------------------------

base::run_outcome model_actor::run(std::uint32_t& budget) noexcept {
  engine& machine = *engine::current();
  const auto cache = static_cast<std::uint8_t>(machine.here());
  simulation::here& thread = of_->here_[machine.self()];
  machine.spend_ns(machine.prices().run);
  ++thread.runs;
  if (last_cache_ != cache && last_cache_ != no_thread)
    machine.spend(own_lines * machine.transfer_time(last_cache_));
  else if (first_cache_ != no_thread && thread.runs - last_run_ > hot_actors)
    machine.spend_ns(machine.prices().cold);
  if (first_cache_ == no_thread) first_cache_ = cache;
  last_cache_ = cache;
  last_run_ = thread.runs;
  std::uint32_t left = quantum != 0 && quantum < budget ? quantum : budget;
  for (;;) {
    if (length() == 0) {
      if (end_batch(machine, thread)) return base::run_outcome::released;
      continue;
    }
    if (left == 0) {
      if (!thread.in_place) wake_senders(machine);
      return base::run_outcome::more;
    }
    --left;
    --budget;
    const message m = mail_[handled_++];
    handle(machine, m);
    if (std::exchange(thread.batch_over, false))
      left = budget = 0;  // its sends ran receivers in place, so other actors run next
  }
}

void model_actor::handle(engine& e, const message& m) noexcept {
  if (m.sender_cache != e.here()) e.spend(e.transfer_time(m.sender_cache));
  e.spend_ns(e.prices().receive);
  turn t(*of_, *this);
  on(t, m);
  ++consumed_;
  of_->done();
}

/// Ends a batch when no message is left. Returns false if a message has arrived in the meantime, or
/// senders were woken. An actor that runs in place wakes senders only after some batches: the
/// sender that runs it is faster than senders that must wake up first.
template <class Here>
bool model_actor::end_batch(engine& machine, Here& thread) noexcept {
  const bool overlook =
      thread.in_place && ++thread.in_place_batches % in_place_batches_per_wake != 0;
  if (!overlook && wake_senders(machine)) return false;
  machine.modify(line_);
  if (length() != 0) return false;
  mail_.clear();
  handled_ = 0;
  idle_ = true;
  return true;
}

bool model_actor::wake_senders(engine& e) noexcept {
  if (!awaited_) return false;
  awaited_ = false;
  e.wake_all(this);
  return true;
}

// ---- their actions ------------------------------------------------------------------------------

double turn::now_ns() const noexcept { return static_cast<double>(of_.engine_.now()) / 1000; }
void turn::work(double ns) noexcept { of_.engine_.spend_ns(ns); }
void turn::touch(double lines) noexcept {
  engine& e = of_.engine_;
  e.spend_ns(lines * e.prices().memory_line[e.distance(e.here(), self_.first_cache_)]);
}
void turn::send(model_actor& to, std::uint64_t value) noexcept { of_.send(&self_, to, value); }
base::random_source& turn::random() noexcept { return of_.random_; }

double outside::now_ns() const noexcept { return static_cast<double>(of_.engine_.now()) / 1000; }
void outside::work(double ns) noexcept { of_.engine_.spend_ns(ns); }
void outside::sleep_until(double ns) noexcept {
  engine& e = of_.engine_;
  const picoseconds late =
      from_ns(e.prices().precise_timer_late + e.prices().fall_asleep + e.prices().system_call);
  if (from_ns(ns) > e.now() + late) e.sleep(from_ns(ns) - e.now() - late);
  e.spin_until(from_ns(ns));
}
void outside::spin_until(double ns) noexcept { of_.engine_.spin_until(from_ns(ns)); }
void outside::send(model_actor& to, std::uint64_t value) noexcept { of_.send(nullptr, to, value); }

// ---- the simulation -----------------------------------------------------------------------------

struct simulation::outsider {
  simulation* of;
  std::function<void(machine::outside&)> body;
};

struct simulation::foreigner {
  simulation* of;
  foreign_thread how;
  base::random_source random;
};

namespace {

void check_price(const char* of, double price) {
  if (!(price >= 0 && price <= highest_price_ns))
    throw std::invalid_argument(std::string(of) + " has one of " + std::to_string(price) +
                                " ns; allowed is 0 to " + std::to_string(highest_price_ns));
}

void check_slice(const char* name, double ns) {
  if (!(ns >= shortest_slice_ns && ns <= longest_slice_ns))
    throw std::invalid_argument(std::string(name) + " is " + std::to_string(ns) +
                                " ns; allowed is 1e5 to 1e8");
}

void check_sharing(const simulation_options& options) {
  if (options.worker_slice != 0) check_slice("worker_slice", options.worker_slice);
  if (options.helper_slice != 0) check_slice("helper_slice", options.helper_slice);
  if (!options.sharing) return;
  if (options.machine.units().size() > max_threads)
    throw std::invalid_argument("machine has " + std::to_string(options.machine.units().size()) +
                                " units; threads share at most 128");
  check_slice("sharing.slice", options.sharing->slice);
  if (!(options.sharing->tick >= shortest_tick_ns && options.sharing->tick <= longest_slice_ns))
    throw std::invalid_argument("sharing.tick is " + std::to_string(options.sharing->tick) +
                                " ns; allowed is 1e4 to 1e8");
  check_price("sharing", options.sharing->context_switch);
  check_price("sharing", options.sharing->cache_hot);
  if (!(options.sharing->latency_jitter >= 0 && options.sharing->latency_jitter <= 1))
    throw std::invalid_argument("sharing.latency_jitter is " +
                                std::to_string(options.sharing->latency_jitter) +
                                "; allowed is 0 to 1");
}

simulation_options checked(simulation_options options) {
  if (options.workers == 0 || options.workers > most_workers)
    throw std::invalid_argument("workers is " + std::to_string(options.workers) +
                                "; a simulated machine has 1 to " + std::to_string(most_workers));
  if (options.quantum == 0)
    throw std::invalid_argument("quantum is 0; a run handles at least one message");
  if (options.soft_limit == 0)
    throw std::invalid_argument("soft_limit is 0; a mailbox has room for at least one message");
  if (!(options.limit_seconds > 0 && options.limit_seconds <= longest_seconds))
    throw std::invalid_argument("limit_seconds is " + std::to_string(options.limit_seconds) +
                                "; allowed is up to " + std::to_string(longest_seconds));
  check_sharing(options);
  const costs& of = options.prices;
  std::vector<double> prices{of.hit,          of.locked,         of.pause,
                             of.clock_read,   of.cpu_clock_read, of.system_call,
                             of.fall_asleep,  of.wake_call,      of.wake_another,
                             of.wake_latency, of.timer_late,     of.precise_timer_late,
                             of.barrier,      of.send,           of.receive,
                             of.run,          of.cold,           of.spawn};
  prices.insert(prices.end(), of.transfer.begin(), of.transfer.end());
  prices.insert(prices.end(), of.memory_line.begin(), of.memory_line.end());
  for (const double price : prices) check_price("prices", price);
  return options;
}

}  // namespace

simulation::simulation(simulation_options options)
    : options_(checked(std::move(options))),
      places_(options_.machine, options_.workers, options_.neighbours),
      random_(options_.seed),
      engine_(options_.prices, places_.machine(), options_.sharing, options_.seed) {
  const sched::policy_options of_policy{
      .workers = options_.workers,
      .quantum = options_.quantum,
      .idle_spin_ns = static_cast<std::uint64_t>(options_.idle_spin.count()),
      .seed = random_(),
      .places = &places_};
  pool_ = options_.make_policy != nullptr ? options_.make_policy(engine_, of_policy)
                                          : make_pool(options_.policy, engine_, of_policy);
  if (pool_ == nullptr)
    throw std::invalid_argument("policy is \"" + options_.policy + "\", which is not shipped");
  here_.resize(max_threads);
  for (std::uint32_t w = 0; w < options_.workers; ++w) {
    names_.push_back("worker " + std::to_string(w));
    if (options_.pin_workers) engine_.pin(w, places_.index_of(w));
    if (options_.worker_batch) engine_.set_batch(w);
    if (options_.worker_slice != 0) engine_.set_slice(w, options_.worker_slice);
  }
  has_helper_ = engine_.threads() > options_.workers;
  if (has_helper_) {
    names_.emplace_back("helper");
    if (options_.helper_slice != 0) engine_.set_slice(options_.workers, options_.helper_slice);
  }
}

simulation::~simulation() = default;

std::uint32_t simulation::add_thread(std::string name, std::uint32_t unit, void (*body)(void*),
                                     void* argument) {
  names_.push_back(std::move(name));
  return engine_.add_thread(unit, true, body, argument);
}

void simulation::outside(std::function<void(machine::outside&)> body, outside_options how) {
  outsiders_.push_back(std::make_unique<outsider>(outsider{this, std::move(body)}));
  const std::uint32_t number = add_thread(std::move(how.name), places_.index_of(0),
                                          &simulation::live_outside, outsiders_.back().get());
  if (how.apart) engine_.set_apart(number);
  ++open_;
}

void simulation::foreign(const foreign_thread& how) {
  check_price("foreign_thread", how.busy);
  check_price("foreign_thread", how.idle);
  if (how.unit >= options_.machine.units().size())
    throw std::invalid_argument("unit is " + std::to_string(how.unit) + "; the machine has " +
                                std::to_string(options_.machine.units().size()));
  foreigners_.push_back(std::make_unique<foreigner>(foreigner{
      this, how, base::random_source(options_.seed + (foreigners_.size() + 1) * foreign_seeds)}));
  const std::uint32_t number =
      add_thread("foreign " + std::to_string(foreigners_.size() - 1), how.unit,
                 &simulation::live_foreign, foreigners_.back().get());
  if (how.pinned) engine_.pin(number, how.unit);
}

void simulation::live_foreign(void* argument) noexcept {
  auto& me = *static_cast<foreigner*>(argument);
  engine& e = me.of->engine_;
  const auto drawn = [&](double ns) { return from_ns(ns * (0.5 + me.random.unit())); };
  while (!me.of->over_) {
    picoseconds left = me.how.busy == 0 ? engine::for_ever : drawn(me.how.busy);
    while (left != 0 && !me.of->over_) {
      const picoseconds part = std::min(left, from_ns(foreign_chunk_ns));
      e.spend(part);
      e.settle();
      left -= part;
    }
    if (me.how.busy != 0) e.sleep(drawn(me.how.idle));
  }
}

void simulation::observe(std::function<void(const thread_event&)> log) {
  log_ = std::move(log);
  engine_.observe(&log_);
}

void simulation::live_outside(void* argument) noexcept {
  auto& me = *static_cast<outsider*>(argument);
  machine::outside view(*me.of);
  me.body(view);
  me.of->done();
}

/// The body of a thread that sleeps until the time limit and then stops the workers, so that their
/// stacks are unwound.
void simulation::end_at_limit(void* argument) noexcept {
  auto& me = *static_cast<simulation*>(argument);
  me.engine_.sleep(from_ns(me.options_.limit_seconds * 1e9));
  if (me.open_ == 0) return;
  me.over_ = true;
  me.unfinished_ = "not ended after " + std::to_string(me.options_.limit_seconds) +
                   " s: " + std::to_string(me.open_) + " messages and threads are open; " +
                   me.pool_->describe();
  me.pool_->stop();
}

void simulation::done() noexcept {
  if (--open_ != 0) return;
  ended_at_ = engine_.now();
  over_ = true;
  pool_->stop();
}

void simulation::send(model_actor* from, model_actor& to, std::uint64_t value) noexcept {
  if (to.length() >= options_.soft_limit && from != &to) {
    engine_.settle();  // S1: other threads may have taken messages out by now
    if (to.length() >= options_.soft_limit) make_room(to);
  }
  engine_.spend_ns(options_.prices.send);
  engine_.modify(to.line_);
  to.mail_.push_back({value, from, static_cast<std::uint8_t>(engine_.here())});
  ++open_;
  ++messages_;
  if (!to.idle_) return;
  to.idle_ = false;
  if (here& h = here_[engine_.self()]; h.in_place) h.woken_in_place = &to;
  pool_->schedule(to);
}

void simulation::make_room(model_actor& to) noexcept {
  here& thread = here_[engine_.self()];
  if (to.idle_) return;
  if (thread.free_sends != 0) {
    --thread.free_sends;
    return;
  }
  if (run_in_place(to)) return;
  to.awaited_ = true;
  pool_->expose();
  const std::uint64_t before = to.consumed_;
  engine_.wait(to, [](const model_actor& r) { return r.awaited_; }, longest_wait);
  if (to.consumed_ == before) here_[engine_.self()].free_sends = sends_after_futile_wait;
}

bool simulation::run_in_place(model_actor& to) noexcept {
  if (!pool_->is_worker(engine_.self())) return false;
  here& thread = here_[engine_.self()];
  if (!thread.in_place) {
    if (!pool_->claim(to)) return false;
    run_chain(to, thread);
    return true;
  }
  // Runs in place do not nest: the present batch in place ends first, then this receiver runs.
  if (thread.next_in_place == &to) return true;
  if (thread.next_in_place != nullptr || !pool_->claim(to)) return false;
  thread.next_in_place = &to;
  thread.batch_over = true;
  return true;
}

void simulation::run_chain(model_actor& first, here& thread) noexcept {
  thread.in_place = true;
  model_actor* one = &first;
  for (std::uint32_t links = 0; one != nullptr; ++links) {
    std::uint32_t budget = in_place_batch;
    thread.woken_in_place = nullptr;
    thread.batch_over = false;
    const bool more =
        links == longest_in_place_chain || one->run(budget) == base::run_outcome::more;
    model_actor* next = std::exchange(thread.next_in_place, nullptr);
    if (next == nullptr && thread.woken_in_place != nullptr &&
        pool_->claim_next(thread.woken_in_place))
      next = thread.woken_in_place;
    if (more) pool_->schedule(*one);
    one = next;
  }
  thread.in_place = false;
  thread.batch_over = true;
}

outcome simulation::run() {
  engine_.set_apart(add_thread("time limit", places_.index_of(0), &simulation::end_at_limit, this));
  outcome result;
  result.error = engine_.run(from_ns((options_.limit_seconds + longest_end_seconds) * 1e9));
  if (!unfinished_.empty()) result.error = unfinished_;
  result.seconds = static_cast<double>(ended_at_) * 1e-12;
  result.messages = messages_;
  result.policy = pool_->stats();
  result.machine = engine_.stats();
  for (std::uint32_t w = 0; w < options_.workers; ++w) {
    result.busy_seconds += static_cast<double>(engine_.busy(w)) * 1e-12;
    result.waited_seconds += static_cast<double>(engine_.run_delay(w)) * 1e-12;
  }
  if (has_helper_)
    result.helper_seconds = static_cast<double>(engine_.busy(options_.workers)) * 1e-12;
  return result;
}

}  // namespace garrick::machine
