#include <garrick/machine/interleaving.hpp>
#include <garrick/machine/internal/fiber.hpp>
#include <garrick/testkit/failure.hpp>

#include <cstddef>
#include <vector>

namespace garrick::machine {

namespace {

constexpr std::size_t stack_bytes = 256 * 1024;
constexpr std::uint64_t switch_limit = 1'000'000;

struct strand {
  std::function<void()> body;
  fiber stack;
  bool over = false;

  strand(std::function<void()> b, void (*enter)(void*))
      : body(std::move(b)), stack(stack_bytes, enter, this) {}
};

}  // namespace

struct interleaving::state {
  explicit state(std::uint64_t seed) : random(seed), switch_one_in(1 + random.below(6)) {}

  base::random_source random;
  /// how often a point switches: some seeds switch at every operation, others seldom
  std::uint32_t switch_one_in;
  fiber home;
  std::vector<std::unique_ptr<strand>> strands;
  std::vector<strand*> open;
  strand* running = nullptr;
  std::uint64_t switches = 0;
  std::string failure;
  bool failed = false;

  static thread_local state* current;

  static void enter(void* argument) noexcept {
    auto& me = *static_cast<strand*>(argument);
    me.body();
    me.over = true;
    current->leave(true);
  }
  void leave(bool ends) noexcept {
    strand& me = *running;
    running = nullptr;
    me.stack.switch_to(home, ends);
  }
};

thread_local interleaving::state* interleaving::state::current = nullptr;

interleaving::interleaving(std::uint64_t seed) : state_(std::make_unique<state>(seed)) {}

interleaving::~interleaving() {
  if (state::current == state_.get()) state::current = nullptr;
}

void interleaving::add(std::function<void()> body) {
  state_->strands.push_back(std::make_unique<strand>(std::move(body), &state::enter));
  state_->open.push_back(state_->strands.back().get());
}

void interleaving::go() {
  state& s = *state_;
  state::current = &s;
  while (!s.open.empty() && !s.failed) {
    if (++s.switches > switch_limit) {
      s.failed = true;
      s.failure =
          "the fibres do not come to an end: a livelock, or a wait for something that never "
          "happens";
      break;
    }
    const std::size_t n = s.random.below(static_cast<std::uint32_t>(s.open.size()));
    strand& next = *s.open[n];
    s.running = &next;
    s.home.switch_to(next.stack);
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

interleaving_failure find_interleaving(std::uint64_t seeds,
                                       const std::function<void(interleaving&)>& f) {
  const bool given = testkit::seed_is_given();
  const std::uint64_t first = given ? testkit::seed_from_environment(1) : 1;
  const std::uint64_t last = given ? first : seeds;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    interleaving run(seed);
    f(run);
    if (!run.failure().empty()) return {seed, run.failure()};
  }
  return {};
}

}  // namespace garrick::machine
