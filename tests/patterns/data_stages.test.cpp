// Data-parallel patterns as stages: their counts and copies, a container that has no way, ordered
// farms of them, and threads of their own.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/explore.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>
#include <patterns/in_all_ways.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace data_stages_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;
using tests::counting_copies;
using tests::in_all_ways;
using tests::numbers;

using row = std::vector<int>;

/// Rows of one number each, from 0 on.
auto rows(int n) {
  return pipeline(counting(0, n), seq([](int x) { return row{x}; }));
}
void add_hundred(int& x) { x += 100; }
int head_of(row r) { return r.front(); }
int key_of_row(const row& r) {
  if (r.front() == 103) throw std::runtime_error("no key");
  return r.front();
}
std::size_t way_of_row(const row& r, std::size_t n) {
  return r.front() == 103 ? n : static_cast<std::size_t>(r.front()) % n;
}

node_figures figures_of(test_system& kit, const auto& h, const std::string& name) {
  const stream_report r = kit.request(h, get_report{}).get().value();
  for (const stage_report& s : r.stages)
    if (s.name == name) return s.figures;
  throw std::logic_error("no stage " + name);
}

constexpr on_failure all_policies[] = {on_failure::fail, on_failure::skip, on_failure::restart};

/// Containers, of which one has no way behind a map.
template <class Farm>
void one_has_no_way(const Farm& behind, const std::string& why) {
  for (const on_failure policy : all_policies)
    testkit::explore(40, [&](test_system& kit) {
      const auto maps = map(add_hundred).replicas(2).named("adds").on(policy);
      const auto h = spawn(kit, pipeline(rows(6), maps, behind, collect()),
                           {.capacity = std::size_t{1} << kit.seed() % 3});
      kit.run();
      const auto got = kit.request(h, join{}).get();
      const node_figures f = figures_of(kit, h, "adds");
      CHECK(f.failures == 1);
      CHECK(f.in == f.out + f.failures + f.dropped);
      if (policy == on_failure::fail) {
        REQUIRE_FALSE(got.has_value());
        CHECK(got.error().to_string().find("adds: " + why) != std::string::npos);
        return kit.expect_no_dead_letters();
      }
      REQUIRE(got.has_value());
      CHECK(got->size() == 5);
      CHECK(f.in == 6);
      CHECK(f.dropped == 0);
      const auto lost = kit.expect_dead_letter<row>(errc::receiver_failed);
      CHECK(lost.content.find('3') != std::string::npos);
      CHECK(lost.content.find("103") == std::string::npos);  // as it came
    });
}

}  // namespace

TEST_CASE("a key or choice that throws behind a map is a failure of the map, by its policy") {
  one_has_no_way(farm(head_of).replicas(2).by_key(key_of_row), "no key");
  one_has_no_way(farm(head_of).replicas(2).by(way_of_row), "a policy chose a replica");
  one_has_no_way(parallel(head_of, head_of).by(way_of_row), "a policy chose a replica");
}

TEST_CASE("a map over elements that only move is a stage; the dead letter is the error's text") {
  using boxes = std::vector<std::unique_ptr<int>>;
  const auto boxed = [](int x) {
    boxes all;
    all.push_back(std::make_unique<int>(x));
    return all;
  };
  const auto picky = [](std::unique_ptr<int>& p) {
    if (*p == 3) throw std::runtime_error("not three");
    *p += 100;
  };
  const auto open = [](boxes all) { return *all.front(); };
  for (const on_failure policy : all_policies)
    testkit::explore(20, [&](test_system& kit) {
      const auto h = spawn(kit, pipeline(counting(0, 5), boxed,
                                         map(picky).named("boxes").on(policy), open, collect()));
      kit.run();
      const auto got = kit.request(h, join{}).get();
      CHECK(got.has_value() == (policy != on_failure::fail));
      if (!got) return;
      CHECK(*got == row{100, 101, 102, 104});
      const auto lost = kit.expect_dead_letter<std::string>(errc::receiver_failed);
      CHECK(lost.content.find("element 0: not three") != std::string::npos);
    });
}

TEST_CASE("a container is copied once for its dead letter, and not at all if the stream fails") {
  using counted = std::vector<counting_copies>;
  const auto grow = [](counting_copies& x) { ++x.value; };
  const auto size = [](std::size_t n, counted all) { return n + all.size(); };
  for (const on_failure policy : all_policies)
    for (const bool ordered : {false, true}) {
      test_system kit(1);
      const auto maps = map(grow).replicas(3).on(policy);
      const auto run = [&](const auto& stage) {
        const auto h = spawn(kit, pipeline(stage, fold(std::size_t{0}, size)));
        counting_copies::copies = 0;
        for (int i = 0; i < 4; ++i) send(h, counted(10));
        send(h, end_of_stream{});
        kit.run();
        CHECK(kit.request(h, join{}).get().value() == 40);
        CHECK(counting_copies::copies == (policy == on_failure::fail ? 0 : 40));
      };
      ordered ? run(farm(maps).replicas(2).ordered()) : run(maps);
    }
}

TEST_CASE("an exception of a container that is copied is a failure, and nothing is uncounted") {
  struct shy {
    using garrick_sendable = void;
    row all;
    explicit shy(row r) : all(std::move(r)) {}
    shy(const shy& o) : all(o.all) {
      if (all.front() == 3) throw std::runtime_error("not copied");
    }
    shy(shy&&) noexcept = default;
    shy& operator=(shy&&) noexcept = default;
    ~shy() = default;
    [[nodiscard]] std::size_t size() const { return all.size(); }
    int& operator[](std::size_t i) { return all[i]; }
  };
  const auto as_shy = [](row r) { return shy(std::move(r)); };
  const auto first = [](shy s) { return s.all.front(); };
  test_system kit(1);
  const auto h =
      spawn(kit, pipeline(rows(6), as_shy, map<shy>(add_hundred).named("shy").on(on_failure::skip),
                          first, collect()));
  kit.run();
  CHECK(kit.request(h, join{}).get().value() == row{100, 101, 102, 104, 105});
  CHECK(figures_of(kit, h, "shy").failures == 1);
  CHECK(kit.expect_dead_letter<std::string>(errc::receiver_failed).content.find("not copied") !=
        std::string::npos);
}

TEST_CASE("an ordered farm of maps gives the containers in their order, without failed ones") {
  const auto picky = [](int& x) {
    if (x % 7 == 3) throw std::runtime_error("not this one");
    x += 100;
  };
  row expected;
  for (int i = 0; i < 40; ++i)
    if (i % 7 != 3) expected.push_back(100 + i);
  const auto maps = map(picky).replicas(2).dynamic(1).on(on_failure::skip);
  in_all_ways(pipeline(rows(40), farm(maps).replicas(3).ordered(), head_of, collect()),
              [&](const auto& got) { CHECK(got.value() == expected); });
  // containers that take differently many turns, in a pipeline with other stages
  const auto long_ones = [](row r) { return numbers(r.front() * 37 % 50); };
  const auto sum = reduce([](const int& x) { return x; }, [](int a, int b) { return a + b; });
  row sums;
  for (int i = 0; i < 40; ++i) sums.push_back((i * 37 % 50) * (i * 37 % 50 - 1) / 2);
  in_all_ways(pipeline(rows(40),
                       farm(pipeline(long_ones, map([](int& x) { x *= 2; }).dynamic(1),
                                     sum.dynamic(1), [](int x) { return x / 2; }))
                           .replicas(3)
                           .ordered(),
                       collect()),
              [&](const auto& got) { CHECK(got.value() == sums); });
}

TEST_CASE("an ordered farm of maps counts containers and no marks, and fails as one of its maps") {
  const auto picky = [](int& x) {
    if (x == 3) throw std::runtime_error("not this one");
    x += 100;
  };
  for (const on_failure policy : all_policies)
    testkit::explore(40, [&](test_system& kit) {
      const auto maps = map(picky).replicas(2).named("adds").on(policy);
      const auto h =
          spawn(kit, pipeline(rows(6), farm(maps).replicas(2).ordered(), head_of, collect()),
                {.capacity = std::size_t{1} << kit.seed() % 3});
      kit.run();
      const auto got = kit.request(h, join{}).get();
      const stream_report r = kit.request(h, get_report{}).get().value();
      std::uint64_t failures = 0;
      for (const stage_report& s : r.stages) {
        failures += s.figures.failures;
        if (s.name == "collector" || s.name == "emitter")
          CHECK(s.figures.in == s.figures.out + s.figures.dropped);
        if (s.name.ends_with("adds"))
          CHECK(s.figures.in == s.figures.out + s.figures.failures + s.figures.dropped);
      }
      CHECK(failures == 1);
      if (policy == on_failure::fail) {
        REQUIRE_FALSE(got.has_value());
        CHECK(got.error().to_string().find("adds") != std::string::npos);
        return kit.expect_no_dead_letters();
      }
      CHECK(got.value() == row{100, 101, 102, 104, 105});
      CHECK(kit.expect_dead_letter<row>(errc::receiver_failed).content.find('3') !=
            std::string::npos);
    });
}

TEST_CASE("a loop around an ordered farm of maps ends, and a stream with one can be cancelled") {
  const auto grow = [](row r) {
    r.push_back(0);
    return r;
  };
  const auto is_short = [](const row& r) { return r.size() < 5; };
  const auto total = [](int n, row r) { return n + static_cast<int>(r.size()) + r.front(); };
  const auto maps = farm(map([](int& x) { ++x; }).replicas(2)).replicas(2).ordered();
  testkit::explore(40, [&](test_system& kit) {
    const auto h =
        spawn(kit, pipeline(rows(10), feedback(pipeline(grow, maps), is_short), fold(0, total)),
              {.capacity = std::size_t{1} << kit.seed() % 3});
    kit.run();
    CHECK(kit.request(h, join{}).get().value() == 10 * 5 + 45 + 10 * 4);
  });
  testkit::explore(100, [&](test_system& kit) {
    const auto h = spawn(kit, pipeline(rows(1 << 30), maps, discard<row>()), {.capacity = 4});
    for (std::uint64_t steps = 3 * (kit.seed() % 100); steps != 0; --steps) kit.step();
    send(h, cancel{});
    kit.run();
    CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
    std::uint64_t out = 0, in = 0;
    const stream_report r = kit.request(h, get_report{}).get().value();
    for (const stage_report& s : r.stages) out += s.figures.out, in += s.figures.in;
    CHECK(out == in + r.left);
    CHECK(kit.actor_count() == 1);
  });
}

TEST_CASE("a stage with threads of its own works on all that comes, in its order") {
  static std::atomic<int> on_workers{0};
  on_workers = 0;
  const auto look = [](int& x) {
    if (base::this_thread.worker_of != nullptr) ++on_workers;
    x += 100;
  };
  const auto maps = map(look).replicas(2).own_threads().dynamic(1);
  row expected = numbers(30);
  for (int& x : expected) x += 100;
  for (const bool ordered : {false, true}) {
    const auto run = [&](auto& system, const auto& stage) {
      return spawn(system, pipeline(rows(30), stage, head_of, collect()), {.capacity = 4});
    };
    testkit::explore(30, [&](test_system& kit) {
      const auto h = ordered ? run(kit, farm(maps).replicas(2).ordered()) : run(kit, maps);
      kit.run();
      CHECK(kit.request(h, join{}).get().value() == expected);
    });
    on_workers = 0;
    actor_system system;
    const auto h = ordered ? run(system, farm(maps).replicas(2).ordered()) : run(system, maps);
    CHECK(system.request(h, join{}).get().value() == expected);
    CHECK(on_workers == 0);
  }
}

}  // namespace data_stages_test
