// Maps: every element once, in place, for any division of the work; alone, as a stage and for many
// at once.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace map_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::answer_in_all_ways;
using tests::counting_copies;
using tests::numbers;

void twice(int& x) { x *= 2; }

TEST_CASE("a map changes every element once, however many work on it and however it is cut") {
  for (const int n : {0, 1, 2, 7, 64, 1000}) {
    CAPTURE(n);
    std::vector<int> expected = numbers(n);
    for (int& x : expected) x *= 2;
    answer_in_all_ways(map(twice), numbers(n),
                       [&](const auto& got) { CHECK(got.value() == expected); });
  }
}

TEST_CASE("a map gives its function an element, its number, or a piece") {
  const auto add_number = [](int& x, std::size_t at) { x += static_cast<int>(at); };
  const auto of_piece = [](std::span<int> part, std::size_t first) {
    for (std::size_t i = 0; i < part.size(); ++i) part[i] += static_cast<int>(first + i);
  };
  const auto negated = [](int x) { return -x; };
  std::vector<int> doubled = numbers(100), negative = numbers(100);
  for (int& x : doubled) x *= 2;
  for (int& x : negative) x = -x;
  answer_in_all_ways(map(add_number), numbers(100),
                     [&](const auto& got) { CHECK(got.value() == doubled); });
  answer_in_all_ways(map(of_piece), numbers(100),
                     [&](const auto& got) { CHECK(got.value() == doubled); });
  answer_in_all_ways(map(negated), numbers(100),
                     [&](const auto& got) { CHECK(got.value() == negative); });
}

TEST_CASE("a map to another type gives a vector of the results in the order of the elements") {
  const auto text = [](const int& x) { return std::to_string(x); };
  std::vector<std::string> expected;
  for (const int x : numbers(100)) expected.push_back(std::to_string(x));
  answer_in_all_ways(map(text), numbers(100),
                     [&](const auto& got) { CHECK(got.value() == expected); });
}

TEST_CASE("a map takes each container with numbered elements") {
  test_system kit(1);
  const auto of_deque = spawn(kit, map<std::deque<int>>(twice));
  const auto of_array = spawn(kit, map<std::array<int, 3>>(twice));
  const auto of_text = spawn(kit, map<std::string>([](char& c) { c = static_cast<char>(c + 1); }));
  auto a = kit.request(of_deque, std::deque<int>{1, 2, 3});
  auto b = kit.request(of_array, std::array<int, 3>{4, 5, 6});
  auto c = kit.request(of_text, std::string("HAL"));
  kit.run();
  CHECK(a.get().value() == std::deque<int>{2, 4, 6});
  CHECK(b.get().value() == std::array<int, 3>{8, 10, 12});
  CHECK(c.get().value() == "IBM");
}

TEST_CASE("a map copies nothing of a container that is not shared") {
  const auto seen = [](counting_copies& x) { ++x.value; };
  for (const bool as_stage : {false, true}) {
    CAPTURE(as_stage);
    actor_system system;
    counting_copies::copies = 0;
    std::vector<counting_copies> all(1000);
    const counting_copies* const where = all.data();
    std::vector<counting_copies> got;
    if (as_stage) {
      const auto sum = [](std::int64_t, std::vector<counting_copies> v) {
        return static_cast<std::int64_t>(v.size());
      };
      auto h = spawn(system, pipeline(map(seen), fold(std::int64_t{0}, sum)));
      send(h, std::move(all));
      send(h, end_of_stream{});
      CHECK(system.request(h, join{}).get().value() == 1000);
    } else {
      const auto h = spawn(system, map(seen));
      got = system.request(h, std::move(all)).get().value();
      CHECK(got.data() == where);
    }
    CHECK(counting_copies::copies == 0);
  }
}

TEST_CASE("several requests to one map are under way, and each gets its own") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, map(twice).replicas(3).dynamic(2));
    auto first = kit.request(h, numbers(20)), second = kit.request(h, numbers(0)),
         third = kit.request(h, numbers(3));
    kit.run();
    CHECK(first.get().value()[19] == 38);
    CHECK(second.get().value().empty());
    CHECK(third.get().value() == std::vector<int>{0, 2, 4});
  }
}

TEST_CASE("a map's request is answered although its handle is gone") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    auto answer = kit.request(spawn(kit, map(twice).replicas(3)), numbers(10));
    kit.run();
    CHECK(answer.get().value()[9] == 18);
    CHECK(kit.actor_count() == 0);
  }
}

TEST_CASE(
    "an element that throws fails its request, with the map's name and the element's number") {
  const auto picky = [](int& x) {
    if (x == 17) throw std::runtime_error("not this one");
    x = 0;
  };
  answer_in_all_ways(map(picky).named("picky"), numbers(40), [](const auto& got) {
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error() == errc::receiver_failed);
    const std::string text = got.error().to_string();
    CAPTURE(text);
    CHECK(text.find("picky: element 17: not this one") != std::string::npos);
  });
  // and only that one
  test_system kit(1);
  const auto h = spawn(kit, map(picky));
  auto bad = kit.request(h, numbers(40)), good = kit.request(h, numbers(10));
  kit.run();
  CHECK_FALSE(bad.get().has_value());
  CHECK(good.get().value() == std::vector<int>(10));
}

TEST_CASE("a piece that throws fails its request, with the number of its first element") {
  const auto picky = [](std::span<int> part, std::size_t first) {
    if (first <= 17 && 17 < first + part.size()) throw std::runtime_error("not this one");
    part[0] = 0;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, map(picky).named("picky").replicas(3).dynamic(4));
    auto bad = kit.request(h, numbers(40)), good = kit.request(h, numbers(10));
    kit.run();
    const std::string text = bad.get().error().to_string();
    CAPTURE(text);
    CHECK(text.find("picky: piece at 16: not this one") != std::string::npos);
    CHECK(good.get().value() == std::vector<int>{0, 1, 2, 3, 0, 5, 6, 7, 0, 9});
  }
}

/// A container that does not know how long it is.
struct shy {
  using garrick_sendable = void;
  std::vector<int> all;
  [[nodiscard]] std::size_t size() const {
    if (all.size() == 3) throw std::length_error("three is too many");
    return all.size();
  }
  int& operator[](std::size_t i) { return all[i]; }
};

TEST_CASE("a container that throws fails its request, and as a tuple follows the stage's policy") {
  test_system kit(1);
  const auto h = spawn(kit, map<shy>(twice).named("shy"));
  auto bad = kit.request(h, shy{numbers(3)}), good = kit.request(h, shy{numbers(2)});
  kit.run();
  CHECK(bad.get().error().to_string().find("shy: three is too many") != std::string::npos);
  CHECK(good.get().value().all == std::vector<int>{0, 2});

  const auto count = [](int n, shy) { return n + 1; };
  const auto skips = spawn(kit, pipeline(map<shy>(twice).on(on_failure::skip), fold(0, count)));
  for (const int n : {1, 3, 5}) send(skips, shy{numbers(n)});
  send(skips, end_of_stream{});
  kit.run();
  CHECK(kit.request(skips, join{}).get().value() == 2);
}

TEST_CASE("a map is a stage: containers keep their order, a failed one follows the policy") {
  using containers = std::vector<std::vector<int>>;
  const auto picky = [](int& x) {
    if (x == 4) throw std::runtime_error("four");
    x += 100;
  };
  const auto join_all = [](std::vector<int> all, std::vector<int> some) {
    all.insert(all.end(), some.begin(), some.end());
    return all;
  };
  const containers in{{1, 2}, {}, {3}, {4, 5}, {6}};
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const auto stage = map(picky).replicas(3).dynamic(1).named("picky");
    const auto run = [&](on_failure policy, std::size_t capacity) {
      test_system kit(seed);
      const auto h = spawn(
          kit, pipeline(from(in), map(twice), stage.on(policy), fold(std::vector<int>(), join_all)),
          {.capacity = capacity});
      kit.run();
      if (policy == on_failure::skip)
        kit.expect_dead_letter<std::vector<int>>(errc::receiver_failed);
      return kit.request(h, join{}).get();
    };
    for (const std::size_t capacity : {1U, 64U}) {
      CHECK(run(on_failure::skip, capacity).value() == std::vector<int>{106, 108, 110, 112});
      const auto failed = run(on_failure::fail, capacity);
      REQUIRE_FALSE(failed.has_value());
      CHECK(failed.error().to_string().find("picky") != std::string::npos);
    }
  }
}

TEST_CASE("maps stand in farms, in maps' streams, in loops and beside each other") {
  const auto grow = [](std::vector<int> v) {
    v.push_back(static_cast<int>(v.size()));
    return v;
  };
  const auto is_short = [](const std::vector<int>& v) { return v.size() < 5; };
  const auto sum = [](std::int64_t n, std::vector<int> v) {
    return std::accumulate(v.begin(), v.end(), n);
  };
  const auto one_more = [](int& x) { ++x; };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto p = pipeline(
        from(std::vector<std::vector<int>>(20)),
        feedback(pipeline(seq(grow), farm(map(one_more).replicas(2)).replicas(2)), is_short),
        parallel(map(one_more), map(twice)), fold(std::int64_t{0}, sum));
    test_system kit(seed);
    const auto h = spawn(kit, p);
    kit.run();
    // each grows to 0+5, 1+4, 2+3, 3+2, 4+1: 25 in all; one branch adds 5, the other doubles
    CHECK(kit.request(h, join{}).get().value() == 20 * (30 + 50));
  }
  actor_system system;
  const auto h =
      spawn(system, pipeline(from(std::vector<std::vector<int>>(1000, numbers(100))),
                             farm(map(one_more)).replicas(2), fold(std::int64_t{0}, sum)));
  CHECK(system.request(h, join{}).get().value() == 1000 * (4950 + 100));
}

TEST_CASE("a stream of containers can be cancelled while a map works") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto make = [](int) { return numbers(10); };
    const auto h = spawn(kit, pipeline(counting(0, 1 << 30), make, map(twice).replicas(3),
                                       discard<std::vector<int>>()));
    for (std::uint64_t i = 0; i < 5 * seed; ++i) kit.step();
    send(h, cancel{});
    kit.run();
    CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
    CHECK(kit.actor_count() <= 1);
  }
}

TEST_CASE("threads of their own work on a map's elements, and nothing else does") {
  static std::atomic<int> on_workers{0};
  on_workers = 0;
  const auto look = [](int& x) {
    if (base::this_thread.worker_of != nullptr) ++on_workers;
    ++x;
  };
  actor_system system;
  const auto h = spawn(system, map(look).replicas(2).own_threads().dynamic(3));
  std::vector<int> v(1000);
  for (int i = 0; i < 10; ++i) v = system.request(h, std::move(v)).get().value();
  CHECK(v == std::vector<int>(1000, 10));
  CHECK(on_workers == 0);
}

std::atomic<int> others_done = 0;
void waits_for_others(int& x) {
  if (x != 0) {
    ++others_done;
    others_done.notify_all();
  } else {
    for (int n = others_done; n != 31; n = others_done) others_done.wait(n);
  }
  x = 1;
}

TEST_CASE("a thread that is held up holds up no more than a piece of its part") {
  actor_system system;
  const auto h = spawn(system, map(waits_for_others).replicas(2).own_threads());
  others_done = 0;
  CHECK(system.request(h, numbers(32)).get().value() == std::vector<int>(32, 1));
}

TEST_CASE("others have turns while a map works for long") {
  settings s;
  s.scheduler.workers = 1;
  actor_system system(s);
  static std::atomic<bool> heard{false};
  heard = false;
  struct other : actor<protocol<void(int)>> {
    void on(int) { heard = true; }
  };
  // as long as the other actor has had no turn, each element takes long
  const auto wait = [](int& x) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (!heard && std::chrono::steady_clock::now() < until) continue;
    x = heard ? 1 : 0;
  };
  const auto h = spawn(system, map(wait));
  const auto o = system.spawn<other>();
  auto answer = system.request(h, std::vector<int>(5000));
  send(o, 1);
  CHECK(answer.get().value().back() == 1);
}

/// A message sets `heard`.
struct listener : actor<protocol<void(int)>> {
  static inline std::atomic<bool> heard{false};
  static inline ref<protocol<void(int)>> one{};
  void on(int) { heard = true; }
};

TEST_CASE("others have turns after some milliseconds, under every policy") {
  for (const char* policy : {"work_stealing", "work_sharing"})
    for (const std::size_t replicas : {1U, 2U}) {
      CAPTURE(policy);
      CAPTURE(replicas);
      settings s;
      s.scheduler.workers = 1;
      s.scheduler.policy = policy;
      actor_system system(s);
      listener::heard = false;
      listener::one = system.spawn<listener>();
      // The first element lets the listener be told of it, on the only worker. As long as it has
      // not, each takes a turn.
      const auto tell = [](int& x) {
        if (x == 0) send(listener::one, 1);
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
        while (!listener::heard && std::chrono::steady_clock::now() < until) continue;
        x = listener::heard ? 1 : 0;
      };
      const auto h = spawn(system, map(tell).replicas(replicas).dynamic(1));
      const auto got = system.request(h, numbers(500)).get().value();
      CHECK(std::count(got.begin(), got.end(), 0) <= 64);
      listener::one = {};
    }
}

TEST_CASE("a request that takes longer than those before it gets helpers after a turn") {
  settings s;
  s.scheduler.workers = 2;
  actor_system system(s);
  static std::mutex lock;
  static std::vector<std::thread::id> seen;
  seen.clear();
  // As long as one thread has worked alone, each element takes long.
  const auto look = [](int& x) {
    const auto here = std::this_thread::get_id();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(x);
    for (;;) {
      {
        const std::lock_guard locked(lock);
        if (std::find(seen.begin(), seen.end(), here) == seen.end()) seen.push_back(here);
        if (x == 0 || seen.size() == 2) return;
      }
      if (std::chrono::steady_clock::now() >= until) return;
    }
  };
  const auto h = spawn(system, map(look).replicas(2).dynamic(1));
  // 100 elements that take nothing: so 20 of them are expected to be no work for two.
  static_cast<void>(system.request(h, std::vector<int>(100, 0)).get().value());
  seen.clear();
  std::vector<int> some(20, 20);
  some[10] = 60'000;  // by then it has been called, and on a busy machine it may take its time
  static_cast<void>(system.request(h, std::move(some)).get().value());
  CHECK(seen.size() == 2);
}

TEST_CASE("a request that has failed is not worked on any more") {
  static std::atomic<int> calls{0};
  calls = 0;
  const auto picky = [](int& x) {
    ++calls;
    if (x == 2) throw std::runtime_error("two");
  };
  test_system kit(1);
  auto answer = kit.request(spawn(kit, map(picky).replicas(1)), numbers(1000));
  kit.run();
  CHECK_FALSE(answer.get().has_value());
  CHECK(calls == 3);
}

TEST_CASE("a stage without the helpers that it wants ends its stream with the reason") {
  settings quiet;
  quiet.log.level = system::log_level::off;
  actor_system system(quiet);
  const auto h = spawn(
      system, pipeline(from(std::vector<std::vector<int>>{{1}, {2}}),
                       map(twice).own_threads("<4000>").named("far"), discard<std::vector<int>>()));
  const std::string why = system.request(h, join{}).get().error().to_string();
  CAPTURE(why);
  CHECK(why.find("far") != std::string::npos);
  CHECK(why.find("4000") != std::string::npos);
}

TEST_CASE("a bounded mailbox is refused, in which a map's own messages would find no room") {
  test_system kit(1);
  spawn_options o;
  o.policy = mailbox_policy::reject;
  o.bound = 4;
  CHECK_THROWS_AS(static_cast<void>(spawn(kit, o, map(twice))), std::invalid_argument);
}

TEST_CASE("numbers without sense are refused") {
  CHECK_THROWS_AS(static_cast<void>(map(twice).replicas(0)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(map(twice).replicas(4097)), std::invalid_argument);
  CHECK_NOTHROW(static_cast<void>(map(twice).replicas(4096)));
  CHECK_THROWS_AS(static_cast<void>(map(twice).dynamic(0)), std::invalid_argument);
}

TEST_CASE("a function has values bound to it, which all that work on a map share") {
  const auto add = patterns::bind(
      [](const std::vector<int>& table, int& x) { x = table[static_cast<std::size_t>(x)]; },
      std::vector<int>{7, 8, 9});
  answer_in_all_ways(map(add), std::vector<int>{2, 0, 1, 1},
                     [](const auto& got) { CHECK(got.value() == std::vector<int>{9, 7, 8, 8}); });
}

TEST_CASE("an error that is thrown keeps its text") {
  test_system kit;
  const auto h = spawn(kit, map([](int&) { throw make_error(errc::overload, "the oven", "hot"); }));
  const auto failed = kit.request(h, std::vector<int>{1}).get();
  REQUIRE(!failed);
  CHECK(failed.error().to_string().find("the oven") != std::string::npos);
  CHECK(failed.error().to_string().find("hot") != std::string::npos);
}

}  // namespace

}  // namespace map_test
