// A turn that works on a container takes long, so the actors that it wakes must not wait for its
// end: other workers can run them from the moment on at which it goes to work.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace busy_turns_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

/// The worker that the actors see. Counts how often they let other workers have the runnables that
/// it keeps to itself.
class watched_worker final : public base::executor {
 public:
  void schedule(base::runnable&) noexcept override {}
  bool claim(base::runnable&) noexcept override { return false; }
  void expose() noexcept override { ++exposed; }

  int exposed = 0;
};

/// Asked for its size, it makes the thread a watched worker until the turn has ended.
struct watched {
  using garrick_sendable = void;
  std::vector<int> v;
  watched_worker* by = nullptr;
  [[nodiscard]] std::size_t size() const noexcept {
    if (by != nullptr) base::this_thread.worker_of = by;
    return v.size();
  }
  int& operator[](std::size_t i) noexcept { return v[i]; }
  int* data() noexcept { return v.data(); }
  [[nodiscard]] const int* data() const noexcept { return v.data(); }
};

template <class P>
int exposures_of(const P& p) {
  watched_worker worker;
  test_system kit(1);
  auto answer = kit.request(spawn(kit, p.replicas(2)), watched{std::vector<int>(8, 1), &worker});
  kit.run();
  CHECK(answer.get().value().v == std::vector<int>(8, 2));
  return worker.exposed;
}

TEST_CASE("a thread that begins to work on a container does not keep its helpers to itself") {
  CHECK(exposures_of(map<watched>([](int& x) { ++x; })) >= 1);
}

TEST_CASE(
    "a thread that begins to work on a container over and over does not keep its helpers to "
    "itself") {
  const auto next = [](const neighbourhood<int>& n) { return n[0] + 1; };
  CHECK(exposures_of(stencil<watched>(next, 0, 1)) >= 1);
}

TEST_CASE("a thread that divides a problem does not keep those that it calls to itself") {
  const auto halves = [](std::span<int> all, parts& out) {
    out.add(0, all.size() / 2);
    out.add(all.size() / 2, all.size());
  };
  const auto solve = [](std::span<int> one) { ++one[0]; };
  CHECK(exposures_of(divide_conquer<watched>(
            halves, [](std::span<int>, const parts&) {}, solve,
            [](std::span<const int> some) { return some.size() == 1; })) >= 1);
}

}  // namespace

}  // namespace busy_turns_test
