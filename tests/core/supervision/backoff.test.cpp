// The time that a supervisor waits before it restarts a child.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace backoff_test {

namespace {

using namespace garrick;
using testkit::test_system;

struct fail {};
using failing = protocol<void(fail)>;

/// Notes when it begins, and fails when it is told to.
class moody : public actor<failing> {
 public:
  explicit moody(std::vector<instant>* begun) : begun_(begun) {}
  void on_start() { begun_->push_back(now()); }
  void on(fail) { throw std::runtime_error("x"); }

 private:
  std::vector<instant>* begun_;
};

/// A supervisor with two children.
struct family {
  test_system kit{7};
  std::vector<instant> begun;
  ref<supervisor_protocol> top;
  ref<failing> a, b;

  explicit family(const supervision& how) {
    top = kit.spawn<supervisor>(how);
    a = supervise<moody>(top, child_options{.name = "a"}, lent(&begun));
    b = supervise<moody>(top, child_options{.name = "b"}, lent(&begun));
    kit.run();
  }
  /// Lets a child fail, and returns how long its restart takes.
  duration restart_of(const ref<failing>& child) {
    begun.clear();
    const instant failed = kit.now();
    send(child, fail{});
    CHECK(kit.run_until([&] { return !begun.empty(); }));
    return begun.front() - failed;
  }
};

/// Of 1, 2, 4, 8, 16, 30, 30, … seconds.
supervision doubling() {
  return {.max_restarts = 1000,
          .window = duration::seconds(10),
          .delay = {.first = duration::seconds(1), .jitter = 0}};
}

}  // namespace

TEST_CASE("backoff waits before each restart, longer each time and with jitter from the seed") {
  const auto delays = [](std::uint64_t seed) {
    family f(supervision{.max_restarts = 100,
                         .window = duration::seconds(3600),
                         .delay = {.first = duration::milliseconds(100),
                                   .longest = duration::milliseconds(1000),
                                   .factor = 2,
                                   .jitter = 0.2},
                         .seed = seed});
    std::vector<std::int64_t> ms;
    for (int i = 0; i < 6; ++i) ms.push_back(f.restart_of(f.a).count() / 1'000'000);
    return ms;
  };
  const auto first = delays(11);
  const std::int64_t expected[] = {100, 200, 400, 800, 1000, 1000};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(first[i] >= expected[i] * 79 / 100);
    CHECK(first[i] <= expected[i] * 121 / 100);
  }
  CHECK(first == delays(11));
  CHECK(first != delays(12));
}

TEST_CASE("a first delay above half a minute is kept, and doubles no further") {
  family f(supervision{.window = duration::seconds(3600),
                       .delay = {.first = duration::seconds(600), .jitter = 0}});
  for (int i = 0; i < 2; ++i) CHECK(f.restart_of(f.a) == duration::seconds(600));
}

TEST_CASE("the delay before a restart is no time without failures") {
  family f(doubling());
  for (const int expected : {1, 2, 4, 8, 16, 30, 30, 30})
    CHECK(f.restart_of(f.a) == duration::seconds(expected));
}

TEST_CASE("a child that was up for longer than the window begins with the first delay again") {
  family f(doubling());
  for (const int expected : {1, 2, 4}) CHECK(f.restart_of(f.a) == duration::seconds(expected));
  f.kit.run_for(duration::seconds(10));
  CHECK(f.restart_of(f.a) == duration::seconds(8));  // not longer than the window
  f.kit.run_for(duration::seconds(11));
  CHECK(f.restart_of(f.a) == duration::seconds(1));
}

TEST_CASE("the failures of a sibling do not lengthen a child's delay, nor does its quiet help") {
  family f(doubling());
  for (const int expected : {1, 2, 4, 8}) CHECK(f.restart_of(f.b) == duration::seconds(expected));
  CHECK(f.restart_of(f.a) == duration::seconds(1));
  for (const int expected : {16, 30}) CHECK(f.restart_of(f.b) == duration::seconds(expected));
  CHECK(f.restart_of(f.a) == duration::seconds(1));
}

TEST_CASE("a child that its group restarts after a long time begins with the first delay again") {
  supervision how = doubling();
  how.strategy = one_for_all;
  family f(how);
  for (const int expected : {1, 2, 4, 8}) CHECK(f.restart_of(f.b) == duration::seconds(expected));
  f.kit.run_for(duration::seconds(3600));
  CHECK(f.restart_of(f.a) == duration::seconds(1));
  f.kit.run_for(duration::seconds(5));
  CHECK(f.restart_of(f.b) == duration::seconds(1));
}

TEST_CASE("a child that fails in its constructor is not up, however long its former life was") {
  struct broken : actor<failing> {
    explicit broken(std::vector<instant>* tries) {
      tries->push_back(now());
      if (tries->size() > 1) throw std::runtime_error("x");
    }
    void on(fail) { throw std::runtime_error("x"); }
  };
  for (const restart_strategy strategy : {one_for_one, one_for_all}) {
    test_system kit(7);
    std::vector<instant> tries;
    supervision how = doubling();
    how.strategy = strategy;
    const auto top = kit.spawn<supervisor>(how);
    const auto child = supervise<broken>(top, child_options{.name = "broken"}, lent(&tries));
    kit.run_for(duration::seconds(100));
    send(child, fail{});
    kit.run_for(duration::seconds(1 + 2 + 4 + 8 + 16 + 30 + 30 + 15));
    REQUIRE(tries.size() == 8);
    const std::int64_t expected[] = {1, 2, 4, 8, 16, 30, 30};
    CHECK(tries[1] - tries[0] == duration::seconds(101));
    for (std::size_t i = 1; i < 7; ++i)
      CHECK(tries[i + 1] - tries[i] == duration::seconds(expected[i]));
  }
}

}  // namespace backoff_test
