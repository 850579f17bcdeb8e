// Each tuple and each state of a stage is made once, lies where its type may lie, and is destroyed
// once: in channels, in the queue of results without room, in the copies for dead letters and in
// loops, whether a stage throws, restarts or is cancelled.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>
#include <support/quiet.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace lifetimes_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::in_all_ways;

std::atomic<int> alive{0};
std::atomic<int> misplaced{0};  ///< looks at an object that is not there, or not aligned

/// Counts itself, and knows where it lies.
template <std::size_t Alignment>
struct alignas(Alignment) placed {
  using garrick_sendable = void;
  placed() noexcept { ++alive; }
  placed(const placed& o) noexcept : placed() { o.look(); }
  placed(placed&& o) noexcept : placed() { o.look(); }
  placed& operator=(const placed& o) noexcept {
    o.look();
    look();
    return *this;
  }
  ~placed() {
    look();
    me = nullptr;
    --alive;
  }
  void look() const noexcept {
    if (me != this || reinterpret_cast<std::uintptr_t>(this) % Alignment != 0) ++misplaced;
  }
  const placed* me = this;
};
/// A tuple of at least this many bytes.
template <std::size_t Bytes, std::size_t Alignment = alignof(void*)>
struct tuple {
  using garrick_sendable = void;
  explicit tuple(int x) noexcept : number(x) {}
  placed<Alignment> place{};
  int number;
  std::byte rest[Bytes]{};
};
using small = tuple<1>;
using large = tuple<1500>;     // more than a block of tuples that wait for room
using aligned = tuple<1, 32>;  // which would fit in the room of a copy for a dead letter
using large_aligned = tuple<150, 32>;

template <class T>
T same(T t) {
  t.place.look();
  return t;
}
template <class T>
T not_three(T t) {
  if (t.number % 7 == 3) throw std::runtime_error("a bad tuple");
  return t;
}
template <class T>
void twice(T t, emit<T> out) {
  out(t);
  if (t.number % 11 == 5) throw std::runtime_error("a bad tuple");
  out(std::move(t));
}
template <class T>
T nearer(T t) {
  t.number -= 10;
  return t;
}
template <class T>
bool is_left(const T& t) {
  return t.number > 0;
}
template <class T>
int key_of(const T& t) {
  t.place.look();
  return t.number % 5;
}
/// A stage with a placed state.
template <class T, std::size_t Alignment>
struct with_state {
  placed<Alignment> place{};
  T consume(T t) {
    place.look();
    if (t.number % 13 == 4) throw std::runtime_error("a bad tuple");
    return t;
  }
};

template <class T>
auto every_kind(int end) {
  return pipeline(
      counting(0, end), [](int x) { return T(x); }, seq(&not_three<T>).on(on_failure::skip),
      seq(&twice<T>).on(on_failure::skip), seq<with_state<T, 64>>().on(on_failure::restart),
      farm(&same<T>).replicas(2).ordered(), farm(&same<T>).replicas(3).by_key(&key_of<T>),
      feedback(&nearer<T>, &is_left<T>), farm(&same<T>).replicas(2).broadcast(),
      fold(0, [](int n, T t) {
        t.place.look();
        return n + 1;
      }));
}
/// Returns how many tuples come to the end of `every_kind`.
int expected_of(int end) {
  int n = 0;
  for (int x = 0; x < end; ++x)
    if (x % 7 != 3 && x % 11 != 5 && x % 13 != 4) n += 4;
  return n;
}

template <class T>
void check_all_ways() {
  alive = misplaced = 0;
  in_all_ways(every_kind<T>(50), [](const auto& got) { CHECK(got.value() == expected_of(50)); });
  CHECK(alive == 0);
  CHECK(misplaced == 0);
}

}  // namespace

TEST_CASE("tuples of every size and alignment are destroyed once, and lie where they may") {
  check_all_ways<small>();
  check_all_ways<large>();
  check_all_ways<aligned>();
  check_all_ways<large_aligned>();
}

TEST_CASE("tuples on their way when a stream is cancelled are destroyed once") {
  alive = misplaced = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, every_kind<large_aligned>(1 << 30),
                         {.capacity = 1 + seed % 4, .in_place = seed % 2 == 0});
    for (std::uint64_t i = 0; i < 5 * seed; ++i) kit.step();
    send(h, cancel{});
    kit.run();
    CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
  }
  CHECK(alive == 0);
  CHECK(misplaced == 0);
}

TEST_CASE("tuples on their way when a system ends are destroyed once") {
  alive = misplaced = 0;
  for (std::size_t capacity = 1; capacity <= 4; ++capacity) {
    settings s = tests::quiet(2);
    s.shutdown.deadline = duration::milliseconds(2);
    actor_system system(s);
    static_cast<void>(spawn(system, every_kind<small>(1 << 30), {.capacity = capacity}));
  }
  CHECK(alive == 0);
  CHECK(misplaced == 0);
}

namespace {

int copies_left = 0;
/// A stage of which a limited number of copies can be made.
struct rare_stage {
  using garrick_sendable = void;
  rare_stage() = default;
  rare_stage(const rare_stage& o) : place(o.place) {
    if (copies_left-- == 0) throw std::runtime_error("no copy");
  }
  rare_stage& operator=(const rare_stage&) = delete;
  ~rare_stage() = default;
  int consume(int x) {
    place.look();
    if (x % 3 == 1) throw std::runtime_error("a bad tuple");
    return x;
  }
  placed<64> place{};
};

}  // namespace

TEST_CASE("a stage that cannot be made anew is destroyed once") {
  alive = misplaced = 0;
  {
    copies_left = 1000;
    const auto p =
        pipeline(counting(0, 30), seq(rare_stage()).on(on_failure::restart), discard<int>());
    for (int allowed = 0; allowed < 20; ++allowed) {
      copies_left = 1000;
      auto mine = p;
      test_system kit(1);
      copies_left = allowed;
      const auto h = try_spawn(kit, std::move(mine));
      kit.run();
      if (h) CHECK(kit.request(*h, join{}).get().has_value() == (copies_left >= 0));
    }
  }
  CHECK(alive == 0);
  CHECK(misplaced == 0);
}

}  // namespace lifetimes_test
