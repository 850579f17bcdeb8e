// The running thread of each processor, and the next one.
#include <garrick/base/platform/assert.hpp>
#include <garrick/machine/internal/processors.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace garrick::machine {

namespace {
ready_queue::time in_picoseconds(double ns) noexcept {
  return static_cast<ready_queue::time>(ns * 1000);
}
}  // namespace

processors::processors(const time_sharing& how, const sched::topology& machine, ready_queue& clocks,
                       std::uint64_t seed)
    : machine_(machine),
      clocks_(clocks),
      slice_(static_cast<virtual_time>(in_picoseconds(how.slice))),
      tick_(in_picoseconds(how.tick)),
      switch_(in_picoseconds(how.context_switch)),
      hot_(in_picoseconds(how.cache_hot)),
      jitter_(how.latency_jitter),
      preemption_(how.preemption),
      random_(seed),
      all_(machine.units().size()) {
  GARRICK_ASSERT(all_.size() <= most, "threads share at most 128 processors");
  for (processor& p : all_) p.first_tick = 1 + random_() % tick_;
}

void processors::add(std::uint32_t unit) {
  task added;
  added.unit = unit;
  added.allowed.set();
  added.slice = slice_;
  tasks_.push_back(added);
}

// ---- virtual time -------------------------------------------------------------------------------

/// Adds the time until `now` to the virtual time of the thread that runs on `p`.
void processors::count(processor& p, time now) noexcept {
  if (p.runs == nobody || now <= p.counted_until) return;
  task& t = tasks_[p.runs];
  t.used += now - p.counted_until;
  t.now += static_cast<virtual_time>(now - p.counted_until);
  p.counted_until = now;
  if (t.now >= t.deadline) t.deadline = t.now + t.slice;
}

/// Returns the mean virtual time of the threads that run or wait on `p`.
processors::virtual_time processors::mean(const processor& p) const noexcept {
  if (p.runs == nobody && p.waiting.empty()) return p.mean;
  virtual_time sum = p.runs == nobody ? 0 : tasks_[p.runs].now;
  for (const std::uint32_t thread : p.waiting) sum += tasks_[thread].now;
  const auto count = static_cast<virtual_time>(p.waiting.size()) + (p.runs == nobody ? 0 : 1);
  return sum / count - (sum % count < 0 ? 1 : 0);  // rounded down, so that a thread is eligible
}

processors::virtual_time processors::shortest_slice(const processor& p) const noexcept {
  virtual_time least =
      p.runs == nobody ? std::numeric_limits<virtual_time>::max() : tasks_[p.runs].slice;
  for (const std::uint32_t thread : p.waiting) least = std::min(least, tasks_[thread].slice);
  return least;
}

/// Returns the eligible thread with the earliest deadline; of equal deadlines the running thread,
/// then the one that has waited longest.
std::uint32_t processors::best(const processor& p) const noexcept {
  const virtual_time middle = mean(p);
  std::uint32_t found = nobody;
  const auto look_at = [&](std::uint32_t thread) {
    if (tasks_[thread].now > middle) return;
    if (found == nobody || tasks_[thread].deadline < tasks_[found].deadline) found = thread;
  };
  if (p.runs != nobody) look_at(p.runs);
  for (const std::uint32_t thread : p.waiting) look_at(thread);
  return found;
}

// ---- which processor ----------------------------------------------------------------------------

/// Returns the processor of the least cost where `t` may run; of equal costs the processor nearest
/// to the last place of `t`, then the next by number.
template <class Cost>
std::uint32_t processors::cheapest(const task& t, const Cost& cost) const noexcept {
  std::uint32_t found = nobody;
  std::size_t least = 0;
  const auto count = static_cast<std::uint32_t>(all_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t unit = (t.unit + i) % count;
    if (!t.allowed[unit]) continue;
    const std::size_t price = cost(unit) * 8 + std::min(machine_.distance(t.unit, unit), 7U);
    if (found != nobody && price >= least) continue;
    found = unit;
    least = price;
  }
  return found;
}

/// Returns the processor for a thread that wakes up: its last processor, if that is idle; else an
/// idle processor at the same cache; otherwise its last processor, where it waits.
std::uint32_t processors::place_for(const task& t) const noexcept {
  const std::uint32_t near = cheapest(t, [&](std::uint32_t unit) -> std::size_t {
    const bool idle = all_[unit].runs == nobody;
    return idle && machine_.distance(t.unit, unit) == sched::topology::same_cache ? 0 : 1;
  });
  if (all_[near].runs == nobody || t.allowed[t.unit]) return near;
  return cheapest(t, [&](std::uint32_t unit) {
    return all_[unit].waiting.size() + (all_[unit].runs == nobody ? 0 : 1);
  });
}

void processors::begin() {
  for (std::uint32_t thread = 0; thread < tasks_.size(); ++thread) {
    const task& t = tasks_[thread];
    if (t.is == state::apart) continue;
    const std::uint32_t unit = cheapest(t, [&](std::uint32_t u) {
      return all_[u].waiting.size() + (all_[u].runs == nobody ? 0 : 1);
    });
    join(thread, unit, 0, 0);
  }
}

// ---- from one thread to the next ----------------------------------------------------------------

/// Makes a thread ready on a processor. If that processor is idle, the thread runs after `latency`.
void processors::join(std::uint32_t thread, std::uint32_t unit, time now, time latency) {
  task& t = tasks_[thread];
  processor& p = all_[unit];
  count(p, now);
  const auto others = static_cast<virtual_time>(p.waiting.size()) + (p.runs == nobody ? 0 : 1);
  // A thread that has had more than its share gives the other threads time to catch up, as long as
  // it stays on this processor.
  if (t.lag < 0) t.lag = t.unit == unit ? std::min<virtual_time>(0, mean(p) - t.now) : 0;
  // The thread's arrival moves the mean, so the thread starts farther behind: then its distance
  // from the new mean is its lag.
  const virtual_time behind = others == 0 ? 0 : t.lag * (others + 1) / others;
  t.now = mean(p) - behind;
  t.deadline = t.now + t.slice;
  t.unit = unit;
  t.since = now;
  if (p.runs == nobody) return start(thread, unit, now, latency);
  t.is = state::waits;
  p.waiting.push_back(thread);
  if (clocks_.contains(thread)) clocks_.remove(thread);
  want_tick(unit, now);
}

/// Gives the thread the processor, which is free. The thread begins to run after `delay`.
void processors::start(std::uint32_t thread, std::uint32_t unit, time now, time delay) {
  task& t = tasks_[thread];
  processor& p = all_[unit];
  t.unit = unit;
  t.is = state::runs;
  t.begins = now + delay;
  p.runs = thread;
  p.counted_until = now + delay;
  if (t.now >= t.deadline) t.deadline = t.now + t.slice;
  t.protected_until = t.deadline;
  if (const virtual_time least = shortest_slice(p); least < t.slice)
    t.protected_until = std::min(t.deadline, t.now + least);
  clocks_.put(thread, t.spin_end != 0 ? std::max(now + delay, t.spin_end) : now + delay + t.left);
  t.left = 0;
}

/// Counts the time of a thread that stops now. Returns false if it has only waited, because its run
/// had not begun.
bool processors::has_run(std::uint32_t thread, time now) {
  task& t = tasks_[thread];
  if (now < t.begins) return false;
  t.waited += t.begins - t.since;
  t.stopped = now;
  tell(thread_event::kind::runs, thread, t.unit, t.begins, nobody, t.begins - t.since);
  return true;
}

/// Takes the processor from the thread that runs there, in favour of `by`.
void processors::stop(std::uint32_t unit, time now, std::uint32_t by) {
  processor& p = all_[unit];
  const std::uint32_t thread = p.runs;
  task& t = tasks_[thread];
  const time end = clocks_.time_of(thread);
  t.left = end > now ? end - now : 0;
  clocks_.remove(thread);
  t.is = state::waits;
  p.waiting.push_back(thread);
  p.runs = nobody;
  if (!has_run(thread, now)) return;
  t.since = now;
  tell(thread_event::kind::preempted, thread, unit, now, by);
}

void processors::forget(processor& p, std::uint32_t thread) noexcept {
  p.waiting.erase(std::find(p.waiting.begin(), p.waiting.end(), thread));
}

/// Decides if the thread on this processor keeps running, after the arrival of `woken` or, if that
/// is `nobody`, at a tick.
void processors::reconsider(std::uint32_t unit, time now, std::uint32_t woken) {
  processor& p = all_[unit];
  if (p.waiting.empty() || (woken != nobody && tasks_[woken].batch)) return;
  count(p, now);
  task& t = tasks_[p.runs];
  std::uint32_t chosen = woken;
  if (woken == nobody || preemption_ == wake_up_preemption::run_to_parity) {
    const bool is_shorter = woken != nobody && tasks_[woken].slice < t.slice;
    if (t.now <= mean(p) && t.now < t.protected_until && !is_shorter) return;
    chosen = best(p);
    if (is_shorter) t.protected_until = std::min(t.protected_until, t.now + shortest_slice(p));
  } else if (preemption_ == wake_up_preemption::never) {
    return;
  }
  if (chosen == p.runs) return;
  stop(unit, now, chosen);
  forget(p, chosen);
  start(chosen, unit, now, switch_);
}

/// Gives a free processor to the next thread that waits there or, if none waits, to a thread that
/// waits elsewhere.
void processors::next(std::uint32_t unit, time now) {
  processor& p = all_[unit];
  if (const std::uint32_t chosen = best(p); chosen != nobody) {
    forget(p, chosen);
    return start(chosen, unit, now, switch_);
  }
  const auto count = static_cast<std::uint32_t>(all_.size());
  for (std::uint32_t far = 0; far <= 3; ++far)
    for (std::uint32_t i = 1; i < count; ++i) {
      const std::uint32_t from = (unit + i) % count;
      if (all_[from].waiting.empty() || std::min(machine_.distance(unit, from), 3U) != far)
        continue;
      if (pull(unit, from, now)) return;
    }
}

/// Moves the thread that has waited longest at `from` to the idle processor `to`. Returns false if
/// all threads must stay at `from`.
bool processors::pull(std::uint32_t to, std::uint32_t from, time now) {
  processor& source = all_[from];
  std::uint32_t chosen = nobody;
  for (const std::uint32_t thread : source.waiting) {
    const task& t = tasks_[thread];
    if (!t.allowed[to] || (t.used != 0 && now - t.stopped < hot_)) continue;
    if (chosen == nobody || t.since < tasks_[chosen].since) chosen = thread;
  }
  if (chosen == nobody) return false;
  forget(source, chosen);
  task& t = tasks_[chosen];
  const virtual_time to_deadline = t.deadline - t.now;
  t.now = all_[to].mean;
  t.deadline = t.now + to_deadline;
  start(chosen, to, now, switch_);
  return true;
}

// ---- events -------------------------------------------------------------------------------------

void processors::wake(std::uint32_t thread, time now, time latency, std::uint32_t waker) {
  task& t = tasks_[thread];
  if (t.is != state::asleep) return;
  const std::uint32_t unit = place_for(t);
  tell(thread_event::kind::woken, thread, unit, now, waker);
  const double factor = 1 + jitter_ * (2 * random_.unit() - 1);
  join(thread, unit, now, static_cast<time>(static_cast<double>(latency) * factor));
  if (t.is == state::runs) return;
  processor& p = all_[unit];
  if (p.runs == waker)
    p.woken = thread;
  else
    reconsider(unit, now, thread);
}

void processors::yield(std::uint32_t thread, time now) {
  const std::uint32_t unit = tasks_[thread].unit;
  const std::uint32_t woken = std::exchange(all_[unit].woken, nobody);
  if (woken == nobody || tasks_[woken].is != state::waits || tasks_[woken].unit != unit) return;
  reconsider(unit, now, woken);
}

void processors::leave(std::uint32_t thread, time now, bool ended) {
  task& t = tasks_[thread];
  processor& p = all_[t.unit];
  count(p, now);
  const virtual_time limit = std::max(2 * t.slice, static_cast<virtual_time>(tick_));
  t.lag = std::clamp(mean(p) - t.now, -limit, limit);
  t.is = state::asleep;
  static_cast<void>(has_run(thread, now));
  tell(ended ? thread_event::kind::ends : thread_event::kind::sleeps, thread, t.unit, now);
  p.runs = nobody;
  p.woken = nobody;
  p.mean = t.now;
  next(t.unit, now);
}

void processors::move(std::uint32_t thread, time now) {
  task& t = tasks_[thread];
  if (t.allowed[t.unit]) return;
  const std::uint32_t from = t.unit;
  processor& p = all_[from];
  count(p, now);
  t.lag = mean(p) - t.now;
  static_cast<void>(has_run(thread, now));
  tell(thread_event::kind::preempted, thread, from, now, thread);
  p.runs = nobody;
  p.woken = nobody;
  p.mean = t.now;
  clocks_.remove(thread);
  next(from, now);
  const std::uint32_t to = cheapest(t, [&](std::uint32_t unit) {
    return all_[unit].waiting.size() + (all_[unit].runs == nobody ? 0 : 1);
  });
  join(thread, to, now, switch_);
  if (t.is == state::waits) reconsider(to, now, thread);
}

void processors::tick(std::uint32_t unit, time now) {
  clocks_.remove(first_tick + unit);
  reconsider(unit, now, nobody);
  processor& p = all_[unit];
  const auto count = static_cast<std::uint32_t>(all_.size());
  for (std::uint32_t i = 1; i < count && !p.waiting.empty(); ++i)
    if (const std::uint32_t to = (unit + i) % count; all_[to].runs == nobody) pull(to, unit, now);
  if (!p.waiting.empty()) want_tick(unit, now);
}

void processors::want_tick(std::uint32_t unit, time now) {
  if (clocks_.contains(first_tick + unit)) return;
  const time first = all_[unit].first_tick;
  clocks_.put(first_tick + unit, now < first ? first : first + ((now - first) / tick_ + 1) * tick_);
}

processors::time processors::waited(std::uint32_t thread) const noexcept {
  const task& t = tasks_[thread];
  return t.waited + (t.is == state::runs ? t.begins - t.since : 0);
}

processors::time processors::busy(std::uint32_t thread, time now) const noexcept {
  const task& t = tasks_[thread];
  const processor& p = all_[t.unit];
  return t.used + (p.runs == thread && now > p.counted_until ? now - p.counted_until : 0);
}

void processors::tell(thread_event::kind what, std::uint32_t thread, std::uint32_t unit, time at,
                      std::uint32_t other, time waited) const {
  if (log_ == nullptr || !*log_) return;
  (*log_)({.what = what,
           .at = at,
           .waited = waited,
           .thread = thread,
           .other = other,
           .processor = unit});
}

}  // namespace garrick::machine
