// How streams begin and end: on threads of their own, under supervisors, linked, fed too late,
// and when their system ends first.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

int twice(int x) { return 2 * x; }
auto sum() {
  return fold(0L, [](long s, int x) { return s + x; });
}

/// Throws for a negative number.
class picky {
 public:
  explicit picky(std::vector<int>* got) : got_(got) {}
  void consume(int x) {
    if (x < 0) throw std::runtime_error("negative");
    got_->push_back(x);
  }

 private:
  std::vector<int>* got_;
};

}  // namespace

TEST_CASE("stages may have threads of their own") {
  actor_system system;
  const auto thread = [] {
    return static_cast<int>(std::hash<std::thread::id>()(std::this_thread::get_id()) % 1000);
  };
  const auto where = [&](int) { return thread(); };
  const auto all = fold(std::vector<int>(), [](std::vector<int> v, int x) {
    v.push_back(x);
    return v;
  });
  auto h = spawn(system, pipeline(counting(0, 2000), seq(lent(where)).own_thread(), all));
  const std::vector<int> seen = system.request(h, join{}).get().value();
  REQUIRE(seen.size() == 2000);
  for (const int t : seen) CHECK(t == seen.front());
  h = spawn(system, pipeline(seq(detail::numbers<int>{0, 5000}).own_thread(),
                             farm(seq(twice).own_thread()).replicas(2), seq(twice), all));
  CHECK(system.request(h, join{}).get().value().size() == 5000);
}

TEST_CASE("a supervisor begins a stream anew when it has failed") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    test_system kit(seed);
    std::vector<int> got;
    auto top = kit.spawn<supervisor>(
        supervision{.max_restarts = 5, .window = duration::seconds(60)},
        stream_child({.name = "log"}, pipeline(twice, seq<picky>(&got)), {.capacity = 2}));
    kit.run();
    const auto found = kit.request(top, find_child{"log"}).get();
    REQUIRE(found);
    const any_ref log = found.value();
    const auto feed = kit.request_typed<protocol<void(int)>>(log).get().value();
    send(feed, 1);
    kit.run();
    send(feed, -1);
    kit.run();
    send(feed, 2);
    kit.run();
    CHECK(got == std::vector<int>{2, 4});
  }
}

TEST_CASE("a stage that is kept goes on after some failures, and lets others end the stream") {
  struct careful {
    int kept = 0;
    void consume(int x, emit<int> out) {
      out(++kept);
      if (x == 5) throw std::runtime_error("five");
      if (x == 8) throw std::logic_error("eight");
    }
    void on_restart() {
      try {
        throw;
      } catch (const std::runtime_error&) { kept = 100; }
    }
  };
  for (const int end : {8, 10}) {
    test_system kit(1);
    const auto h = spawn(
        kit, pipeline(counting(0, end), seq<careful>().named("careful").on(on_failure::restart),
                      fold(0, [](int /*last*/, int x) { return x; })));
    kit.run();
    const auto got = kit.request(h, join{}).get();
    if (end == 8)
      CHECK(got.value() == 102);  // 6 and 7 came after the restart
    else
      CHECK(got.error().to_string().find("careful: eight") != std::string::npos);
  }
}

TEST_CASE("a stream that does not stay ends with its error, which links and monitors hear") {
  test_system kit(3);
  std::vector<int> got;
  std::string heard;
  struct watcher : actor<protocol<void(int)>> {
    std::string* heard;
    ref<protocol<void(int)>> stream;
    watcher(std::string* h, std::vector<int>* got)
        : heard(h),
          stream(patterns::spawn(*this, spawn_options{.monitored = true},
                                 pipeline(seq<picky>(got)))) {}
    void on(int x) { send(stream, x); }
    void on(const down& d) { *heard = d.reason.to_string(); }
  };
  const auto w = kit.spawn<watcher>(lent(&heard), lent(&got));
  send(w, 5);
  kit.run();
  CHECK(heard.empty());
  send(w, -5);
  kit.run();
  CHECK(heard.find("negative") != std::string::npos);
}

TEST_CASE("join is answered after the end, too, and again") {
  actor_system system;
  const auto h = spawn(system, pipeline(counting(0, 10), sum()));
  for (int i = 0; i < 3; ++i) CHECK(system.request(h, join{}).get().value() == 45);
}

TEST_CASE("what is fed after the end is a dead letter") {
  test_system kit(1);
  std::vector<int> got;
  const auto h = spawn(kit, pipeline(seq<picky>(&got)));
  send(h, 1);
  send(h, end_of_stream{});
  send(h, 2);
  kit.run();
  CHECK(got == std::vector<int>{1});
  CHECK(kit.dead_letters().size() == 1);
}

TEST_CASE("a system ends although a stream does not") {
  settings s;
  s.shutdown.deadline = duration::milliseconds(50);
  std::atomic<long> seen{0};
  const auto watch = [&](long x) { seen = x; };  // outlives the system, as what is lent must
  {
    actor_system system(s);
    static_cast<void>(spawn(system, pipeline(counting(0L, 1L << 60), seq(lent(watch)))));
    while (seen < 1000) std::this_thread::yield();
  }
  CHECK(seen >= 1000);
}

TEST_CASE("a refused option is an error with its name") {
  actor_system system;
  const auto r = try_spawn(system, pipeline(counting(0, 3), sum()), {.capacity = 0});
  REQUIRE_FALSE(r);
  CHECK(r.error() == errc::spawn_failed);
  CHECK(r.error().to_string().find("capacity") != std::string::npos);
  CHECK_THROWS_AS(static_cast<void>(farm(twice).replicas(0)), std::invalid_argument);
}
