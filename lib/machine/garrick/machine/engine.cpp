// Which fibre goes on, and how threads sleep and are woken. Accesses are in the header.
#include <garrick/base/platform/assert.hpp>
#include <garrick/machine/engine.hpp>
#include <garrick/machine/internal/fiber.hpp>

#include <algorithm>

namespace garrick::machine {

namespace {
constexpr std::size_t stack_bytes = 128 * 1024;
}

struct engine::strand {
  engine* owner;
  std::uint32_t unit;
  bool precise;
  void (*body)(void*);
  void* argument;
  std::unique_ptr<fiber> stack;
  const void* word = nullptr;  ///< that it sleeps at
  picoseconds at = 0;          ///< its clock when it stopped
  picoseconds buffered = 0;
  picoseconds asleep = 0;
  bool over = false;
};

engine::engine(const costs& prices, const sched::topology& machine)
    : costs_(prices),
      machine_(machine),
      hit_(from_ns(prices.hit)),
      locked_(from_ns(prices.locked)),
      system_call_(from_ns(prices.system_call)),
      distances_(std::size_t{max_threads} * max_threads),
      home_(std::make_unique<fiber>()) {
  for (std::size_t d = 0; d < transfer_.size(); ++d) transfer_[d] = from_ns(prices.transfer[d]);
}

engine::~engine() = default;

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
  added->stack = std::make_unique<fiber>(stack_bytes, &engine::enter, added.get());
  threads_.push_back(std::move(added));
  for (std::uint32_t other = 0; other <= number; ++other) {
    const auto apart =
        static_cast<std::uint8_t>(std::min(machine_.distance(unit, threads_[other]->unit), 3U));
    distances_[number * max_threads + other] = apart;
    distances_[other * max_threads + number] = apart;
  }
  ready_.put(number, 0);
  return number;
}

void engine::enter(void* argument) noexcept {
  auto& me = *static_cast<strand*>(argument);
  me.body(me.argument);
  me.over = true;
  me.owner->ready_.remove(me.owner->running_);
  me.owner->resume_next(true);
}

std::string engine::run(picoseconds limit) {
  GARRICK_ASSERT(current_ == nullptr, "a simulated machine runs inside of another one");
  if (ready_.empty()) return {};
  deadline_ = limit;
  current_ = this;
  running_ = ready_.first();
  now_ = ready_.first_time();
  limit_ = std::min(ready_.second_time(), deadline_);
  home_->switch_to(*threads_[running_]->stack);
  current_ = nullptr;
  if (failure_.empty() && !sleepers_.empty())
    failure_ = std::to_string(sleepers_.size()) + " threads sleep at " +
               std::to_string(now_ / 1000) + " ns and nobody is left to wake them";
  return failure_;
}

/// The running thread has stopped or ended: the first in the queue goes on, or the run is over.
void engine::resume_next(bool ended) noexcept {
  strand& me = *threads_[running_];
  me.at = now_;
  me.buffered = buffered_;
  ++stats_.switches;
  if (ready_.empty()) return me.stack->switch_to(*home_, ended);
  const picoseconds at = ready_.first_time();
  if (at > deadline_) {
    if (failure_.empty()) failure_ = "not ended at " + std::to_string(deadline_ / 1000) + " ns";
    return me.stack->switch_to(*home_, true);
  }
  running_ = ready_.first();
  now_ = at;
  buffered_ = threads_[running_]->buffered;
  limit_ = std::min(ready_.second_time(), deadline_);
  if (threads_[running_].get() != &me) me.stack->switch_to(*threads_[running_]->stack, ended);
}

void engine::give_way() noexcept {
  ready_.put(running_, now_);
  resume_next(false);
}

void engine::block(const void* word, picoseconds time_limit) noexcept {
  const std::uint32_t number = running_;
  strand& me = *threads_[number];
  const picoseconds late = from_ns(me.precise ? costs_.precise_timer_late : costs_.timer_late);
  now_ += from_ns(costs_.fall_asleep);
  const picoseconds begin = now_;
  me.word = word;
  sleepers_.push_back(number);
  if (time_limit == for_ever)
    ready_.remove(number);
  else
    ready_.put(number, now_ + time_limit + late);
  resume_next(false);
  if (me.word != nullptr) wake(number, now_);  // the time is over
  me.asleep += now_ - begin;
}

void engine::sleep(picoseconds time) noexcept {
  spend(system_call_);
  block(&threads_[running_], time);  // a word that nobody wakes
}

/// From the time `at` on, `sleeper` goes on.
void engine::wake(std::uint32_t sleeper, picoseconds at) noexcept {
  threads_[sleeper]->word = nullptr;
  sleepers_.erase(std::find(sleepers_.begin(), sleepers_.end(), sleeper));
  if (sleeper == running_) return;
  ready_.put(sleeper, std::max(at, threads_[sleeper]->at));
  limit_ = std::min(ready_.second_time(), deadline_);
}

void engine::wake_one(const void* word) noexcept { wake_up_to(word, 1); }
void engine::wake_all(const void* word) noexcept { wake_up_to(word, max_threads); }

/// One system call, which wakes those that sleep when it begins.
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
    wake(sleeper, now_ + call + from_ns(costs_.wake_latency));  // takes it out of the sleepers
    call += from_ns(call == 0 ? costs_.wake_call : costs_.wake_another);
  }
  spend(call == 0 ? system_call_ : call);
}

picoseconds engine::busy(std::uint32_t thread) const noexcept {
  const auto& t = *threads_[thread];
  return (current_ == this && thread == running_ ? now_ : t.at) - t.asleep;
}

std::uint32_t engine::unit_of(std::uint32_t thread) const noexcept {
  return threads_[thread]->unit;
}

}  // namespace garrick::machine
