#include <garrick/testkit/failure.hpp>
#include <garrick/testkit/interleaving.hpp>

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <vector>

// The sanitizers must be told when the stack changes.
#if defined(__SANITIZE_ADDRESS__)
#define GARRICK_ASAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GARRICK_ASAN_FIBERS 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define GARRICK_TSAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GARRICK_TSAN_FIBERS 1
#endif
#endif
#if defined(GARRICK_ASAN_FIBERS)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(GARRICK_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif

namespace garrick::testkit {

namespace {

constexpr std::size_t stack_bytes = 256 * 1024;
constexpr std::uint64_t switch_limit = 1'000'000;

struct fiber {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack;  ///< null: the thread's own
  std::size_t size = 0;
  const void* bottom = nullptr;
  void* asan_stack = nullptr;
  void* tsan_fiber = nullptr;
  std::function<void()> body;
  bool over = false;
};

/// The calling fibre stops here until somebody switches back. `ends`: nobody will.
void switch_stacks(fiber& from, fiber& to, [[maybe_unused]] bool ends) noexcept {
#if defined(GARRICK_ASAN_FIBERS)
  __sanitizer_start_switch_fiber(ends ? nullptr : &from.asan_stack, to.bottom, to.size);
#endif
#if defined(GARRICK_TSAN_FIBERS)
  __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
  swapcontext(&from.context, &to.context);
#if defined(GARRICK_ASAN_FIBERS)
  __sanitizer_finish_switch_fiber(from.asan_stack, nullptr, nullptr);
#endif
}

}  // namespace

struct interleaving::state {
  explicit state(std::uint64_t seed) : random(seed), switch_one_in(1 + random.below(6)) {}

  base::random_source random;
  std::uint32_t switch_one_in;  ///< how often a point switches: some seeds switch at every operation, others seldom
  fiber home;
  std::vector<std::unique_ptr<fiber>> fibers;
  std::vector<fiber*> open;
  fiber* running = nullptr;
  std::uint64_t switches = 0;
  std::string failure;
  bool failed = false;

  static thread_local state* current;

  static void enter() noexcept {
    state& s = *current;
    fiber& me = *s.running;
#if defined(GARRICK_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(nullptr, &s.home.bottom, &s.home.size);
#endif
    me.body();
    me.over = true;
    switch_stacks(me, s.home, true);
  }
  void leave(bool ends) noexcept {
    fiber& me = *running;
    running = nullptr;
    switch_stacks(me, home, ends);
  }
};

thread_local interleaving::state* interleaving::state::current = nullptr;

interleaving::interleaving(std::uint64_t seed) : state_(std::make_unique<state>(seed)) {}

interleaving::~interleaving() {
  if (state::current == state_.get()) state::current = nullptr;
#if defined(GARRICK_TSAN_FIBERS)
  for (const auto& f : state_->fibers) __tsan_destroy_fiber(f->tsan_fiber);
#endif
}

void interleaving::add(std::function<void()> body) {
  auto f = std::make_unique<fiber>();
  f->stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  f->bottom = f->stack.get();
  f->size = stack_bytes;
  f->body = std::move(body);
  getcontext(&f->context);
  f->context.uc_stack.ss_sp = f->stack.get();
  f->context.uc_stack.ss_size = stack_bytes;
  f->context.uc_link = nullptr;
  makecontext(&f->context, reinterpret_cast<void (*)()>(&state::enter), 0);
#if defined(GARRICK_TSAN_FIBERS)
  f->tsan_fiber = __tsan_create_fiber(0);
#endif
  state_->open.push_back(f.get());
  state_->fibers.push_back(std::move(f));
}

void interleaving::go() {
  state& s = *state_;
  state::current = &s;
#if defined(GARRICK_TSAN_FIBERS)
  s.home.tsan_fiber = __tsan_get_current_fiber();
#endif
  while (!s.open.empty() && !s.failed) {
    if (++s.switches > switch_limit) {
      s.failed = true;
      s.failure = "the fibres do not come to an end: a livelock, or a wait for something that never happens";
      break;
    }
    const std::size_t n = s.random.below(static_cast<std::uint32_t>(s.open.size()));
    fiber& next = *s.open[n];
    s.running = &next;
    switch_stacks(s.home, next, false);
    s.running = nullptr;
    if (next.over) s.open.erase(s.open.begin() + static_cast<std::ptrdiff_t>(n));
  }
  state::current = nullptr;
}

void interleaving::require(bool holds, const char* otherwise) {
  if (!holds && state_->failure.empty()) state_->failure = otherwise;
}

const std::string& interleaving::failure() const noexcept { return state_->failure; }
base::random_source& interleaving::random() noexcept { return state_->random; }

void interleaving::point() noexcept {
  state* const s = state::current;
  if (s == nullptr || s->running == nullptr || s->random.below(s->switch_one_in) != 0) return;
  s->leave(false);
}

void interleaving::pause() noexcept {
  state* const s = state::current;
  if (s == nullptr || s->running == nullptr) return;
  s->leave(false);
}

bool interleaving::chance(std::uint32_t one_in) noexcept {
  state* const s = state::current;
  return s != nullptr && s->running != nullptr && s->random.below(one_in) == 0;
}

void interleaving::fail(const char* why) noexcept {
  state* const s = state::current;
  if (s == nullptr) return;
  if (!s->failed) s->failure = why;
  s->failed = true;
  if (s->running != nullptr) s->leave(true);
}

interleaving_failure find_interleaving(std::uint64_t seeds, const std::function<void(interleaving&)>& f) {
  const bool given = seed_is_given();
  const std::uint64_t first = given ? seed_from_environment(1) : 1;
  const std::uint64_t last = given ? first : seeds;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    interleaving run(seed);
    f(run);
    if (!run.failure().empty()) return {seed, run.failure()};
  }
  return {};
}

}  // namespace garrick::testkit
