// Stencils against a sequential reference: every edge, one dimension and two, for any division of
// the work; alone, as a stage and for many at once.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stencil_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::answer_in_all_ways;
using tests::counting_copies;
using tests::numbers;

// Functions with one signature, so that they are one pattern to the compiler.
using row_function = unsigned (*)(const neighbourhood<unsigned>&);
using cell_function = unsigned (*)(const grid_neighbourhood<unsigned>&);
using row = std::vector<unsigned>;

/// Depends on every neighbour, on its side, and on the place.
unsigned mix(const neighbourhood<unsigned>& n) {
  unsigned all = static_cast<unsigned>(n.index());
  const auto r = static_cast<std::ptrdiff_t>(n.radius());
  for (std::ptrdiff_t d = -r; d <= r; ++d) all = all * 31 + n[d];
  return all;
}
unsigned mix_cells(const grid_neighbourhood<unsigned>& n) {
  unsigned all = static_cast<unsigned>(1000 * n.y() + n.x());
  const auto r = static_cast<std::ptrdiff_t>(n.radius());
  for (std::ptrdiff_t dy = -r; dy <= r; ++dy)
    for (std::ptrdiff_t dx = -r; dx <= r; ++dx) all = all * 31 + n(dx, dy);
  return all;
}
unsigned one_more(const neighbourhood<unsigned>& n) { return n[0] + 1; }

enum class rule : std::uint8_t { clamp, wrap, constant };
constexpr std::array rules{rule::clamp, rule::wrap, rule::constant};
constexpr unsigned beyond = 77;

template <class F>
auto stencil_with(rule r, F f, std::int64_t radius, std::int64_t iterations) {
  switch (r) {
    case rule::clamp: return stencil(f, radius, iterations);
    case rule::wrap: return stencil(f, radius, iterations, edges::wrap);
    default: return stencil(f, radius, iterations, edges::constant(beyond));
  }
}

/// The reference: goes step by step to the place that is meant. Returns false if there is none.
bool find(rule r, int& at, int size) {
  while (at < 0 || at >= size) {
    if (r == rule::constant) return false;
    if (r == rule::clamp)
      at += at < 0 ? 1 : -1;
    else
      at += at < 0 ? size : -size;
  }
  return true;
}
grid<unsigned> reference(grid<unsigned> all, rule r, int radius_x, int radius_y, int iterations) {
  for (; iterations != 0; --iterations) {
    const grid<unsigned> before = all;
    const int width = static_cast<int>(all.width()), height = static_cast<int>(all.height());
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        unsigned made = static_cast<unsigned>(1000 * y + x);
        for (int dy = -radius_y; dy <= radius_y; ++dy)
          for (int dx = -radius_x; dx <= radius_x; ++dx) {
            int from_x = x + dx, from_y = y + dy;
            const bool is_there = find(r, from_x, width) && find(r, from_y, height);
            made = made * 31 + (is_there ? before(static_cast<std::size_t>(from_x),
                                                  static_cast<std::size_t>(from_y))
                                         : beyond);
          }
        all(static_cast<std::size_t>(x), static_cast<std::size_t>(y)) = made;
      }
  }
  return all;
}
grid<unsigned> cells(std::size_t width, std::size_t height) {
  grid<unsigned> g(width, height);
  std::iota(g.begin(), g.end(), 5U);
  return g;
}
row row_of(std::size_t n) {
  const grid<unsigned> g = cells(n, 1);
  return row(g.begin(), g.end());
}
row reference(const row& in, rule r, int radius, int iterations) {
  grid<unsigned> g(in.size(), 1);
  std::copy(in.begin(), in.end(), g.begin());
  g = reference(std::move(g), r, radius, 0, iterations);
  return row(g.begin(), g.end());
}

template <class P, class C>
C answer_of(const P& p, const C& in, std::uint64_t seed) {
  test_system kit(seed);
  auto answer = kit.request(spawn(kit, p), in);
  kit.run();
  CHECK(kit.actor_count() == 0);
  return answer.get().value();
}

TEST_CASE("a stencil gives the same as a loop, for each radius and each edge") {
  std::uint64_t seed = 0;
  for (const rule r : rules)
    for (const int n : {0, 1, 2, 3, 7, 300})
      for (const int radius : {0, 1, 2, 3, 10})
        for (const int iterations : {0, 1, 2, 5}) {
          CAPTURE(static_cast<int>(r));
          CAPTURE(n);
          CAPTURE(radius);
          CAPTURE(iterations);
          const row in = row_of(static_cast<std::size_t>(n));
          const auto p = stencil_with<row_function>(r, mix, radius, iterations);
          CHECK(answer_of(p.replicas(seed % 4 + 1), in, seed + 1) ==
                reference(in, r, radius, iterations));
          ++seed;
        }
}

TEST_CASE("a stencil on a grid gives the same as loops, for each radius and each edge") {
  using form = std::pair<std::size_t, std::size_t>;
  std::uint64_t seed = 0;
  for (const rule r : rules)
    for (const auto& [width, height] :
         {form{0, 3}, form{1, 1}, form{6, 1}, form{1, 6}, form{9, 7}, form{300, 5}})
      for (const int radius : {0, 1, 2, 3})
        for (const int iterations : {0, 1, 2, 3}) {
          CAPTURE(static_cast<int>(r));
          CAPTURE(width);
          CAPTURE(height);
          CAPTURE(radius);
          CAPTURE(iterations);
          const grid<unsigned> in = cells(width, height);
          const auto p = stencil_with<cell_function>(r, mix_cells, radius, iterations);
          CHECK((answer_of(p.replicas(seed % 4 + 1), in, seed + 1) ==
                 reference(in, r, radius, radius, iterations)));
          ++seed;
        }
}

TEST_CASE("a stencil gives the same however many work on it and however it is cut") {
  const row in = row_of(50);
  const row expected = reference(in, rule::wrap, 2, 4);
  answer_in_all_ways(stencil_with<row_function>(rule::wrap, mix, 2, 4), in,
                     [&](const auto& got) { CHECK(got.value() == expected); });
  const grid<unsigned> square = cells(8, 9);
  const grid<unsigned> grown = reference(square, rule::clamp, 1, 1, 5);
  answer_in_all_ways(stencil_with<cell_function>(rule::clamp, mix_cells, 1, 5), square,
                     [&](const auto& got) { CHECK((got.value() == grown)); });
}

TEST_CASE("a stencil gives the same in many orders of turns") {
  const row in = row_of(23);
  const row expected = reference(in, rule::clamp, 1, 7);
  const auto p = stencil_with<row_function>(rule::clamp, mix, 1, 7).replicas(3);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    CHECK(answer_of(p.dynamic(seed % 7 + 1), in, seed) == expected);
    CHECK(answer_of(p, in, seed) == expected);
  }
}

TEST_CASE("a stencil does many short iterations on real workers") {
  actor_system system;
  const row in = row_of(500);
  const row expected = reference(in, rule::wrap, 1, 2000);
  const auto p = stencil_with<row_function>(rule::wrap, mix, 1, 2000);
  for (const auto& q : {p.replicas(2), p.replicas(3).dynamic(10), p.replicas(2).own_threads()})
    for (const auto h = spawn(system, q); const int i : {0, 1, 2}) {
      CAPTURE(i);
      CHECK(system.request(h, in).get().value() == expected);
    }
}

TEST_CASE("a glider flies round a grid of bits with joined edges") {
  const auto life = [](const grid_neighbourhood<bool>& n) {
    int living = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) living += n(dx, dy) ? 1 : 0;
    return living == 3 || (living == 4 && n(0, 0));
  };
  grid<bool> start(9, 9);
  for (const auto& [x, y] : {std::pair{1U, 0U}, {2U, 1U}, {0U, 2U}, {1U, 2U}, {2U, 2U}})
    start(x, y) = true;
  actor_system system;
  const auto h = spawn(system, stencil(life, 1, 4 * 9, edges::wrap));
  CHECK((system.request(h, start).get().value() == start));
}

TEST_CASE("a stencil takes containers with elements side by side") {
  test_system kit(1);
  const auto next = [](const neighbourhood<char>& n) { return n[+1]; };
  const auto of_text = spawn(kit, stencil<std::string>(next, 1, 3, edges::constant('.')));
  const auto of_array = spawn(kit, stencil<std::array<char, 3>>(next, 1, 1));
  auto text = kit.request(of_text, std::string("garrick"));
  auto array = kit.request(of_array, std::array{'a', 'b', 'c'});
  kit.run();
  CHECK(text.get().value() == "rick...");
  CHECK(array.get().value() == std::array{'b', 'c', 'c'});
}

TEST_CASE("a stencil copies elements at the edges and nowhere else") {
  const auto older = [](const neighbourhood<counting_copies>& n) {
    counting_copies made;
    made.value = n[-1].value + 1;
    return made;
  };
  actor_system system;
  for (const int iterations : {1, 2, 7}) {
    CAPTURE(iterations);
    const auto h = spawn(system, stencil(older, 1, iterations));
    std::vector<counting_copies> all(1000);
    const counting_copies* const where = all.data();
    counting_copies::copies = 0;
    const auto got = system.request(h, std::move(all)).get().value();
    // the first element and those on its sides, and the same for the last
    CHECK(counting_copies::copies == 6 * iterations);
    CHECK(got.back().value == iterations);
    if (iterations % 2 == 0) CHECK(got.data() == where);
  }
}

/// A container of the user's own, which may be made with a size.
struct shelf {
  using garrick_sendable = void;
  std::vector<counting_copies> all;
  shelf() = default;
  explicit shelf(std::size_t n) : all(n) {}
  [[nodiscard]] std::size_t size() const noexcept { return all.size(); }
  counting_copies& operator[](std::size_t i) noexcept { return all[i]; }
  counting_copies* data() noexcept { return all.data(); }
};
/// A container for which a number is not a size.
struct labelled : shelf {
  using garrick_sendable = void;
  std::size_t label = 0;
  explicit labelled(std::size_t l) : label(l) {}
};

TEST_CASE("the other container is made with a size where that is possible, and else is a copy") {
  const auto older = [](const neighbourhood<counting_copies>& n) {
    counting_copies made;
    made.value = n[-1].value + 1;
    return made;
  };
  test_system kit(1);
  const auto copies_of = [&](auto all) {
    counting_copies::copies = 0;
    auto answer = kit.request(spawn(kit, stencil<decltype(all)>(older, 1, 3)), std::move(all));
    kit.run();
    const auto got = answer.get().value();
    REQUIRE(got.size() == 100);
    CHECK(got.all.back().value == 3);
    return counting_copies::copies - 6 * 3;  // those at the edges
  };
  CHECK(copies_of(shelf(100)) == 0);
  labelled all(7);
  all.all.resize(100);
  CHECK(copies_of(std::move(all)) == 100);
}

TEST_CASE("without iterations a container is as it came, and its function is not called") {
  const auto never =
      +[](const neighbourhood<unsigned>&) -> unsigned { throw std::logic_error("called"); };
  answer_in_all_ways(stencil(never, 1, 0), row_of(5),
                     [](const auto& got) { CHECK(got.value() == row_of(5)); });
}

TEST_CASE("an element that throws fails its request, with its number and the iteration's") {
  static std::atomic<unsigned> latest{0};
  latest = 0;
  const auto picky = +[](const neighbourhood<unsigned>& n) {
    unsigned seen = latest;
    while (seen < n[0] && !latest.compare_exchange_weak(seen, n[0])) continue;
    if (n[0] == 3 && n.index() == 17) throw std::runtime_error("not this one");
    return n[0] + 1;
  };
  answer_in_all_ways(stencil(picky, 1, 1000).named("picky"), row(40), [](const auto& got) {
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error() == errc::receiver_failed);
    const std::string text = got.error().to_string();
    CAPTURE(text);
    CHECK(text.find("picky: iteration 3, element 17: not this one") != std::string::npos);
  });
  CHECK(latest == 3);  // no further iteration has begun
  // and only that request
  test_system kit(1);
  const auto h = spawn(kit, stencil(picky, 1, 4));
  auto bad = kit.request(h, row(18)), good = kit.request(h, row(17));
  kit.run();
  CHECK_FALSE(bad.get().has_value());
  CHECK(good.get().value() == row(17, 4));

  const auto bad_cell = +[](const grid_neighbourhood<unsigned>& n) -> unsigned {
    if (n.x() == 2 && n.y() == 1) throw std::runtime_error("bad cell");
    return 0;
  };
  auto cell = kit.request(spawn(kit, stencil(bad_cell, 0, 1)), cells(4, 3));
  kit.run();
  CHECK(cell.get().error().to_string().find("stencil: iteration 0, row 1, column 2: bad cell") !=
        std::string::npos);
}

TEST_CASE("a function that looks beyond the radius gets no element, and the request fails") {
  const auto far = +[](const neighbourhood<unsigned>& n) { return n[0] + n[-2]; };
  const auto far_cell = +[](const grid_neighbourhood<unsigned>& n) { return n(0, 5); };
  test_system kit(1);
  for (const int radius : {0, 1}) {
    auto answer = kit.request(spawn(kit, stencil(far, radius, 1)), row_of(9));
    kit.run();
    const std::string text = answer.get().error().to_string();
    CAPTURE(text);
    CHECK(text.find("a neighbour at -2 is beyond the radius, which is " + std::to_string(radius)) !=
          std::string::npos);
  }
  auto answer = kit.request(spawn(kit, stencil(far_cell, 4, 1)), cells(20, 20));
  kit.run();
  CHECK(answer.get().error().to_string().find("0, 5 is beyond the radius, which is 4") !=
        std::string::npos);
}

TEST_CASE("requests to one stencil do not wait for each other, and each gets its own") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, stencil_with<row_function>(rule::clamp, one_more, 1, 6).replicas(3));
    auto first = kit.request(h, row(20)), second = kit.request(h, row()),
         third = kit.request(h, row(3));
    kit.run();
    CHECK(first.get().value() == row(20, 6));
    CHECK(second.get().value().empty());
    CHECK(third.get().value() == row(3, 6));
  }
}

TEST_CASE("a stencil stands in pipelines and farms, in loops, and beside maps") {
  const auto is_young = [](const row& v) { return v[0] < 6; };
  const auto sum = [](std::int64_t n, row v) { return std::accumulate(v.begin(), v.end(), n); };
  const auto aging = stencil_with<row_function>(rule::clamp, one_more, 1, 2).replicas(2);
  const auto zero = [](unsigned& x) { x = 0; };
  const auto p = pipeline(from(std::vector<row>(20, row(5))),
                          feedback(farm(pipeline(aging, aging)).replicas(2), is_young),
                          parallel(aging, map(zero)), fold(std::int64_t{0}, sum));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, p);
    kit.run();
    // each gets 4 and 4 in the loop, and 2 on one of the branches
    CHECK(kit.request(h, join{}).get().value() == 20 * 5 * 10);
  }
  actor_system system;
  CHECK(system.request(spawn(system, p), join{}).get().value() == 20 * 5 * 10);
}

TEST_CASE("a container that fails in a stream follows the stage's policy") {
  const auto picky = +[](const neighbourhood<unsigned>& n) {
    if (n[0] == 5) throw std::runtime_error("five");
    return n[0] + 1;
  };
  const auto count = [](int n, row) { return n + 1; };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto run = [&](on_failure policy) {
      test_system kit(seed);
      const auto h = spawn(kit, pipeline(from(std::vector<row>{{1}, {3, 4}, {6, 7}}),
                                         stencil(picky, 1, 3).replicas(3).on(policy).named("picky"),
                                         fold(0, count)));
      kit.run();
      if (policy == on_failure::skip) kit.expect_dead_letter<row>(errc::receiver_failed);
      return kit.request(h, join{}).get();
    };
    CHECK(run(on_failure::skip).value() == 2);
    CHECK(run(on_failure::fail).error().to_string().find("picky") != std::string::npos);
  }
}

TEST_CASE("a stream can be cancelled while a stencil has endless iterations to do") {
  const auto p = pipeline(
      from(std::vector<row>{row(10)}),
      stencil_with<row_function>(rule::clamp, one_more, 1, std::int64_t{1} << 60).replicas(3),
      discard<row>());
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, p);
    for (std::uint64_t i = 0; i < 5 * seed; ++i) kit.step();
    send(h, cancel{});
    kit.run();
    CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
    CHECK(kit.actor_count() <= 1);
  }
  actor_system system;
  const auto h = spawn(system, p);
  send(h, cancel{});
  CHECK(system.request(h, join{}).get().error() == errc::cancelled);
}

TEST_CASE("a system can be stopped while a stencil has endless iterations to do") {
  static std::atomic<bool> begun{false};
  const auto endless = +[](const neighbourhood<unsigned>& n) {
    if (!begun) {
      begun = true;
      begun.notify_all();
    }
    return n[0];
  };
  for (const bool own_threads : {false, true}) {
    CAPTURE(own_threads);
    begun = false;
    actor_system system;
    const auto p = stencil(endless, 1, std::int64_t{1} << 60).replicas(2);
    const auto h = spawn(system, own_threads ? p.own_threads() : p);
    auto answer = system.request(h, row(100));
    begun.wait(false);
    const auto r = system.stop_now(duration::seconds(60));
    CHECK(r.complete);
    CHECK_FALSE(answer.get().has_value());
  }
}

TEST_CASE("an accelerator does stencils, among other things") {
  for (const bool own_threads : {false, true}) {
    CAPTURE(own_threads);
    actor_system system;
    const auto team = accelerator_team().replicas(2);
    const accelerator acc = spawn(system, own_threads ? team.own_threads() : team);
    const row in = row_of(200);
    auto first = system.request(acc, stencil_with<row_function>(rule::wrap, mix, 3, 9), in);
    auto second = system.request(acc, [](unsigned& x) { x = 1; }, row(3));
    CHECK(first.get().value() == reference(in, rule::wrap, 3, 9));
    CHECK(second.get().value() == row(3, 1));
  }
}

TEST_CASE("a thread that has found nothing in an iteration is called back for the next") {
  constexpr std::size_t iterations = 5;
  static std::array<std::atomic<int>, iterations> threads_in;
  static std::chrono::steady_clock::time_point give_up;
  for (auto& n : threads_in) n = 0;
  give_up = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  // In each iteration no thread goes on until two are there. An element takes so long that several
  // should work on them.
  const auto meet = +[](const neighbourhood<unsigned>& n) {
    thread_local unsigned been_in = 0;
    const unsigned iteration = n[0];
    if (been_in == iteration) {
      ++been_in;
      ++threads_in[iteration];
    }
    const auto begin = std::chrono::steady_clock::now();
    for (auto now = begin; now < give_up; now = std::chrono::steady_clock::now())
      if (threads_in[iteration] == 2 && now - begin > std::chrono::microseconds(100)) break;
    return iteration + 1;
  };
  actor_system system;
  const auto h = spawn(system, stencil(meet, 1, iterations).replicas(2).own_threads());
  CHECK(system.request(h, row(16)).get().value() == row(16, iterations));
  for (const auto& n : threads_in) CHECK(n == 2);
}

TEST_CASE("others have turns while a stencil works for long") {
  settings s;
  s.scheduler.workers = 1;
  actor_system system(s);
  static std::atomic<bool> heard{false};
  heard = false;
  struct other : actor<protocol<void(int)>> {
    void on(int) { heard = true; }
  };
  // goes on for as long as the other actor has had no turn
  const auto wait = +[](const neighbourhood<unsigned>& n) -> unsigned {
    if (heard) throw std::runtime_error("heard");
    return n[0];
  };
  const auto h = spawn(system, stencil(wait, 1, std::int64_t{1} << 60));
  const auto o = system.spawn<other>();
  auto answer = system.request(h, row(100));
  send(o, 1);
  CHECK(answer.get().error().to_string().find("heard") != std::string::npos);
}

TEST_CASE("values are bound to a stencil's function, and to a value beyond the edges") {
  const auto add = patterns::bind(
      [](const int& factor, const neighbourhood<int>& n) { return factor * (n[-1] + n[+1]); }, 10);
  test_system kit(1);
  auto answer = kit.request(spawn(kit, stencil(add, 1, 1, edges::constant(7))), numbers(3));
  kit.run();
  CHECK(answer.get().value() == std::vector<int>{80, 20, 80});
}

TEST_CASE("a stencil's numbers without sense are refused") {
  const row_function f = one_more;
  CHECK_THROWS_AS(static_cast<void>(stencil(f, -1, 1)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(stencil(f, (1 << 20) + 1, 1)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(stencil(f, 1, -1)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(stencil(f, 1, 1).replicas(0)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(stencil(f, 1, 1).dynamic(0)), std::invalid_argument);
  const cell_function g = mix_cells;
  CHECK_THROWS_AS(static_cast<void>(stencil(g, 1025, 1)), std::invalid_argument);
  CHECK_NOTHROW(static_cast<void>(stencil(g, 1024, 1)));
  // a radius far larger than the container is none of them
  CHECK(answer_of(stencil(f, 1 << 20, 1), row(3), 1) == row(3, 1));
}

TEST_CASE("a stencil is drawn as a stage with its name") {
  const row_function f = one_more;
  CHECK(print(pipeline(from(std::vector<row>()), farm(stencil(f, 1, 1)), discard<row>()))
            .find("stencil") != std::string::npos);
}

}  // namespace

}  // namespace stencil_test
