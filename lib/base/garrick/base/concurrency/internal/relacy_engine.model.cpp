// The model checker's engine, which every model is linked with.
#include <cstdint>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

namespace garrick::base::model {

namespace {

rl::memory_order for_both(std::memory_order order) {
  switch (order) {  // order: a translation, name by name
    case std::memory_order_relaxed: return rl::mo_relaxed;
    case std::memory_order_acquire: return rl::mo_acquire;
    case std::memory_order_release: return rl::mo_release;
    case std::memory_order_acq_rel: return rl::mo_acq_rel;  // order: as above
    default: return rl::mo_seq_cst;
  }
}
/// Returns the order for a load. If a weakened order is invalid for a load, returns the nearest
/// weaker one.
rl::memory_order for_load(std::memory_order order) {
  const rl::memory_order both = for_both(order);
  return both == rl::mo_acq_rel ? rl::mo_acquire : both == rl::mo_release ? rl::mo_relaxed : both;
}
rl::memory_order for_store(std::memory_order order) {
  const rl::memory_order both = for_both(order);
  return both == rl::mo_acq_rel ? rl::mo_release : both == rl::mo_acquire ? rl::mo_relaxed : both;
}

}  // namespace

word word::with(std::uint64_t bits) const noexcept {
  word result = *this;
  const unsigned unused = 64 - 8 * unsigned{bytes_};
  result.bits_ = bits << unused >> unused;
  return result;
}
word word::operator+(word other) const noexcept { return with(bits_ + other.bits_); }
word word::operator-(word other) const noexcept { return with(bits_ - other.bits_); }
word word::operator&(word other) const noexcept { return with(bits_ & other.bits_); }
word word::operator|(word other) const noexcept { return with(bits_ | other.bits_); }

std::ostream& operator<<(std::ostream& out, word value) {
  if (value.is_address_) return out << value.as<void*>();
  const unsigned unused = 64 - 8 * unsigned{value.bytes_};
  if (value.is_signed_) return out << (static_cast<std::int64_t>(value.bits_ << unused) >> unused);
  return out << value.bits_;
}

engine_atomic::engine_atomic(word value) : value_(value) {}
engine_atomic::~engine_atomic() = default;
word engine_atomic::load(std::memory_order order) const {
  return value_.load(for_load(order), here());
}
void engine_atomic::store(word value, std::memory_order order) {
  value_.store(value, for_store(order), here());
}
word engine_atomic::exchange(word value, std::memory_order order) {
  return value_.exchange(value, for_both(order), here());
}
word engine_atomic::fetch_add(word value, std::memory_order order) {
  return value_.fetch_add(value, for_both(order), here());
}
word engine_atomic::fetch_sub(word value, std::memory_order order) {
  return value_.fetch_sub(value, for_both(order), here());
}
word engine_atomic::fetch_or(word value, std::memory_order order) {
  return value_.fetch_or(value, for_both(order), here());
}
word engine_atomic::fetch_and(word value, std::memory_order order) {
  return value_.fetch_and(value, for_both(order), here());
}
bool engine_atomic::compare_exchange_weak(word& expected, word value, std::memory_order success) {
  return value_.compare_exchange_weak(expected, value, for_both(success), here(), rl::mo_relaxed,
                                      here());
}
bool engine_atomic::compare_exchange_strong(word& expected, word value, std::memory_order success) {
  return value_.compare_exchange_strong(expected, value, for_both(success), here(), rl::mo_relaxed,
                                        here());
}
void engine_atomic::wait(word expected) {
  rl::context& c = rl::ctx();
  c.sched();
  if (value_.debug_value() == expected) value_.wait(c, false, true, here());
}
bool engine_atomic::wait_for(word expected) {
  rl::context& c = rl::ctx();
  c.sched();
  if (value_.debug_value() != expected) return true;
  return value_.wait(c, true, true, here()) != rl::unpark_reason_timeout;
}
void engine_atomic::wake_one() { wake(1); }
void engine_atomic::wake_all() { wake(rl::ctx().get_thread_count()); }
void engine_atomic::wake(rl::thread_id_t most) {
  rl::context& c = rl::ctx();
  c.sched();
  value_.wake(c, most, here());
}

engine_cell::engine_cell(word value) : value_(value) {}
engine_cell::~engine_cell() = default;
word engine_cell::get() const { return value_(here()); }
void engine_cell::set(word value) { value_(here()) = value; }

namespace {

const suite_calls* running = nullptr;  ///< the suite of the present run
void* memory = nullptr;                ///< where it lies

/// Passes Relacy's calls on to the suite `running`. Relacy constructs a suite for each
/// interleaving, and destroys the suite if nothing was found.
template <rl::thread_id_t Threads>
struct present_suite : rl::test_suite<present_suite<Threads>, Threads> {
  present_suite() { running->construct(memory); }
  ~present_suite() { running->destroy(memory); }
  void before() { running->before(memory); }
  void thread(unsigned index) { running->thread(memory, index); }
  void after() { running->after(memory); }
  void invariant() { running->invariant(memory); }
};

/// Returns the result of one run of Relacy. Each run has memory of its own, since a run that finds
/// something leaves a suite there.
template <rl::thread_id_t Threads>
rl::test_result_e run(rl::test_params& params, std::ostream& state, bool is_second) {
  memory = ::operator new(running->size, running->alignment);
  const rl::test_result_e result =
      rl::run_test<present_suite<Threads>, rl::random_scheduler<Threads>>(params, state, is_second);
  ::operator delete(memory, running->alignment);
  memory = nullptr;
  return result;
}

/// Runs the suite; returns true if it passes. Replaces rl::simulate, which would instantiate two
/// more schedulers. If a run fails, a second run begins with that interleaving and records its
/// history.
template <rl::thread_id_t Threads>
bool passes(rl::test_params& params) {
  rl::ostringstream state;
  if (run<Threads>(params, state, false) == rl::test_result_success) return true;
  params.initial_state = state.str();
  params.final_state = state.str();
  params.collect_history = true;
  rl::ostringstream no_state;
  run<Threads>(params, no_state, true);
  return false;
}

bool passes(rl::test_params& params) {
  static_assert(fewest_threads == 2 && most_threads == 5);
  switch (running->threads) {
    case 2: return passes<2>(params);
    case 3: return passes<3>(params);
    case 4: return passes<4>(params);
    case 5: return passes<5>(params);
    default: throw std::logic_error("the engine is not compiled for so many threads");
  }
}

}  // namespace

std::string explore(const suite_calls& suite, unsigned long iterations) {
  // grows during a run, so it must not allocate through the checked operator new
  rl::ostringstream out;
  rl::test_params params;
  params.iteration_count = iterations;
  params.output_stream = &out;
  params.progress_stream = &out;
  params.search_type = rl::random_scheduler_type;
  params.execution_depth_limit = 20'000;
  params.test_name = suite.type->name();
  out << params.test_name << std::endl;
  running = &suite;
  const bool passed = passes(params);
  running = nullptr;
  return passed ? std::string()
                : std::string(rl::test_result_str(params.test_result)) + "\n" + out.str().c_str();
}

}  // namespace garrick::base::model
