// The choice of the next fibre, and the sleep and wake-ups of threads. Accesses are in the header.
#include <garrick/base/platform/assert.hpp>
#include <garrick/machine/engine.hpp>
#include <garrick/machine/internal/fiber.hpp>
#include <garrick/machine/internal/processors.hpp>

#include <algorithm>

namespace garrick::machine {

namespace {
constexpr std::size_t bytes_of_a_stack = 128 * 1024;
}

struct engine::strand {
  engine* owner;
  std::uint32_t unit;
  bool precise;
  void (*body)(void*);
  void* argument;
  std::unique_ptr<fiber> stack;
  const void* word = nullptr;  ///< the word at which it sleeps
  picoseconds at = 0;          ///< its clock when it stopped
  picoseconds buffered = 0;
  picoseconds asleep = 0;
  bool apart = false;  ///< it has a processor of its own where others share some
};

engine::engine(const costs& prices, const sched::topology& machine,
               const std::optional<time_sharing>& how, std::uint64_t seed)
    : costs_(prices),
      machine_(machine),
      hit_(from_ns(prices.hit)),
      locked_(from_ns(prices.locked)),
      system_call_(from_ns(prices.system_call)),
      distances_(std::size_t{max_threads} * max_threads),
      home_(std::make_unique<fiber>()) {
  for (std::size_t d = 0; d < transfer_.size(); ++d) transfer_[d] = from_ns(prices.transfer[d]);
  if (!how) return;
  sharing_ = std::make_unique<processors>(*how, machine_, ready_, seed);
  for (std::uint32_t unit = 0; unit < machine_.units().size(); ++unit) set_distances(unit, unit);
}

engine::~engine() = default;

/// Sets the distances between `cache`, which is at `unit`, and the caches with smaller numbers.
void engine::set_distances(std::uint32_t cache, std::uint32_t unit) {
  for (std::uint32_t other = 0; other <= cache; ++other) {
    const std::uint32_t its = sharing_ != nullptr ? other : threads_[other]->unit;
    const auto apart = static_cast<std::uint8_t>(std::min(machine_.distance(unit, its), 3U));
    distances_[cache * max_threads + other] = apart;
    distances_[other * max_threads + cache] = apart;
  }
}

std::uint32_t engine::add_thread(std::uint32_t unit, bool precise, void (*body)(void*),
                                 void* argument) {
  GARRICK_ASSERT(threads_.size() < max_threads, "a simulated machine has at most 128 threads");
  const auto number = static_cast<std::uint32_t>(threads_.size());
  auto added = std::make_unique<strand>();
  added->owner = this;
  added->unit = unit;
  added->precise = precise;
  added->body = body;
  added->argument = argument;
  added->stack = std::make_unique<fiber>(bytes_of_a_stack, &engine::enter, added.get());
  threads_.push_back(std::move(added));
  if (sharing_ != nullptr)
    sharing_->add(unit);
  else
    set_distances(number, unit);
  ready_.put(number, 0);
  return number;
}

void engine::set_apart(std::uint32_t thread) {
  threads_[thread]->apart = true;
  if (sharing_ != nullptr) sharing_->set_apart(thread);
}

void engine::pin(std::uint32_t thread, std::uint32_t unit) {
  if (sharing_ != nullptr) sharing_->allow(thread, processors::set{}.set(unit));
}

void engine::set_slice(std::uint32_t thread, double ns) noexcept {
  if (sharing_ != nullptr) sharing_->set_slice(thread, from_ns(ns));
}

void engine::set_batch(std::uint32_t thread) noexcept {
  if (sharing_ != nullptr) sharing_->set_batch(thread);
}

void engine::observe(const std::function<void(const thread_event&)>* log) noexcept {
  log_ = log;
  if (sharing_ != nullptr) sharing_->observe(log);
}

/// Returns true if the thread shares processors with others.
bool engine::shares(std::uint32_t thread) const noexcept {
  return sharing_ != nullptr && !threads_[thread]->apart;
}

void engine::enter(void* argument) noexcept {
  auto& me = *static_cast<strand*>(argument);
  me.body(me.argument);
  engine& e = *me.owner;
  if (e.shares(e.running_)) {
    e.settle();
    e.sharing_->leave(e.running_, e.now_, true);
  } else {
    e.tell(thread_event::kind::ends, e.running_, e.now_, thread_event::nobody, 0);
  }
  e.ready_.remove(e.running_);
  e.resume_next(true);
}

std::string engine::run(picoseconds limit) {
  GARRICK_ASSERT(current_ == nullptr, "a simulated machine runs inside of another one");
  if (ready_.empty()) return {};
  deadline_ = limit;
  current_ = this;
  if (sharing_ != nullptr) sharing_->begin();
  running_ = ready_.first();
  here_ = sharing_ != nullptr ? unit_of(running_) : running_;
  now_ = ready_.first_time();
  limit_ = std::min(ready_.second_time(), deadline_);
  home_->switch_to(*threads_[running_]->stack);
  current_ = nullptr;
  if (failure_.empty() && !sleepers_.empty())
    failure_ = std::to_string(sleepers_.size()) + " threads sleep at " +
               std::to_string(now_ / 1000) + " ns and no thread is left to wake them";
  return failure_;
}

/// Resumes the first thread in the queue, or ends the run, after the running thread has stopped or
/// ended.
void engine::resume_next(bool ended) noexcept {
  strand& me = *threads_[running_];
  me.at = now_;
  me.buffered = buffered_;
  ++stats_.switches;
  if (sharing_ != nullptr) [[unlikely]]
    run_system();
  if (ready_.empty()) return me.stack->switch_to(*home_, ended);
  const picoseconds at = ready_.first_time();
  if (at > deadline_) {
    if (failure_.empty()) failure_ = "not ended at " + std::to_string(deadline_ / 1000) + " ns";
    return me.stack->switch_to(*home_, true);
  }
  running_ = ready_.first();
  here_ = sharing_ != nullptr ? unit_of(running_) : running_;
  now_ = at;
  buffered_ = threads_[running_]->buffered;
  limit_ = std::min(ready_.second_time(), deadline_);
  if (threads_[running_].get() != &me) me.stack->switch_to(*threads_[running_]->stack, ended);
}

/// Does the system's actions that are due before the next thread continues: ticks, and ends of
/// sleeps.
void engine::run_system() noexcept {
  while (!ready_.empty() && ready_.first_time() <= deadline_) {
    const std::uint32_t first = ready_.first();
    const picoseconds at = ready_.first_time();
    if (first >= processors::first_tick)
      sharing_->tick(first - processors::first_tick, at);
    else if (sharing_->asleep(first))
      sharing_->wake(first, at, 0, thread_event::nobody);
    else
      return;
  }
}

void engine::give_way() noexcept {
  ready_.put(running_, now_);
  resume_next(false);
}

/// Gives up the running thread's processor if a thread that it has woken is next there.
void engine::give_up_processor() noexcept {
  settle();
  sharing_->yield(running_, now_);
  if (!ready_.contains(running_))
    resume_next(false);
  else
    limit_ = std::min(ready_.second_time(), deadline_);
}

void engine::spin_until(picoseconds time) noexcept {
  if (now_ >= time) return;
  if (!shares(running_)) return spend(time - now_);
  sharing_->spins_until(running_, time);
  now_ = time;
  settle();
  sharing_->spins_until(running_, 0);
}

bool engine::leave_processors(std::span<const std::int32_t> busy) noexcept {
  if (!shares(running_)) return false;
  processors::set others;
  for (std::uint32_t unit = 0; unit < machine_.units().size(); ++unit)
    others[unit] =
        std::find(busy.begin(), busy.end(), static_cast<std::int32_t>(unit)) == busy.end();
  if (others.none()) return false;
  spend(system_call_);
  settle();
  ready_.put(running_, now_);
  sharing_->allow(running_, others);
  sharing_->move(running_, now_);
  resume_next(false);
  return true;
}

void engine::block(const void* word, picoseconds time_limit) noexcept {
  const std::uint32_t number = running_;
  strand& me = *threads_[number];
  const picoseconds late = from_ns(me.precise ? costs_.precise_timer_late : costs_.timer_late);
  now_ += from_ns(costs_.fall_asleep);
  me.word = word;
  sleepers_.push_back(number);
  if (shares(number)) {
    settle();
    if (me.word == nullptr) return;  // another thread has already woken it
    sharing_->leave(number, now_, false);
  } else {
    tell(thread_event::kind::sleeps, number, now_, thread_event::nobody, 0);
  }
  const picoseconds begin = now_;
  if (time_limit == for_ever)
    ready_.remove(number);
  else
    ready_.put(number, now_ + time_limit + late);
  resume_next(false);
  if (me.word != nullptr) wake(number, 0);  // its time limit has passed
  me.asleep += now_ - begin;
  if (!shares(number)) tell(thread_event::kind::runs, number, now_, thread_event::nobody, 0);
}

void engine::sleep(picoseconds time) noexcept {
  spend(system_call_);
  block(&threads_[running_], time);  // no thread wakes this word
}

/// Wakes `sleeper`; it continues after the system's latency. `call` is the time that the same call
/// has spent on other sleepers.
void engine::wake(std::uint32_t sleeper, picoseconds call) noexcept {
  threads_[sleeper]->word = nullptr;
  sleepers_.erase(std::find(sleepers_.begin(), sleepers_.end(), sleeper));
  if (sleeper == running_) return;
  const picoseconds latency = call + from_ns(costs_.wake_latency);
  if (shares(sleeper)) {
    sharing_->wake(sleeper, now_, latency, running_);
  } else {
    const picoseconds at = std::max(now_ + latency, threads_[sleeper]->at);
    tell(thread_event::kind::woken, sleeper, now_, running_, 0);
    ready_.put(sleeper, at);
  }
  limit_ = std::min(ready_.second_time(), deadline_);
}

void engine::wake_one(const void* word) noexcept { wake_up_to(word, 1); }
void engine::wake_all(const void* word) noexcept { wake_up_to(word, max_threads); }

/// Makes the system call that wakes up to `count` of the threads that sleep at its beginning.
void engine::wake_up_to(const void* word, std::uint32_t count) noexcept {
  settle();
  picoseconds call = 0;
  for (std::size_t i = 0; i < sleepers_.size() && count != 0;) {
    const std::uint32_t sleeper = sleepers_[i];
    if (threads_[sleeper]->word != word) {
      ++i;
      continue;
    }
    --count;
    ++stats_.wakes;
    wake(sleeper, call);  // removes it from `sleepers_`
    call += from_ns(call == 0 ? costs_.wake_call : costs_.wake_another);
  }
  spend(call == 0 ? system_call_ : call);
  if (call != 0 && shares(running_)) give_up_processor();
}

picoseconds engine::busy(std::uint32_t thread) const noexcept {
  const auto& t = *threads_[thread];
  const picoseconds now = current_ == this && thread == running_ ? now_ : t.at;
  return shares(thread) ? sharing_->busy(thread, now) : now - t.asleep;
}

picoseconds engine::run_delay(std::uint32_t thread) const noexcept {
  return shares(thread) ? sharing_->waited(thread) : 0;
}

std::uint32_t engine::unit_of(std::uint32_t thread) const noexcept {
  return shares(thread) ? sharing_->unit_of(thread) : threads_[thread]->unit;
}

void engine::tell(thread_event::kind what, std::uint32_t thread, picoseconds at,
                  std::uint32_t other, picoseconds waited) const {
  if (log_ == nullptr || !*log_) return;
  (*log_)({.what = what,
           .at = at,
           .waited = waited,
           .thread = thread,
           .other = other,
           .processor = unit_of(thread)});
}

}  // namespace garrick::machine
