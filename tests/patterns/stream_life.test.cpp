// Beginnings and ends of streams: on threads of their own, under supervisors, linked, fed too late,
// and when their system ends first.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace stream_life_test {

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

TEST_CASE("a thread of a stage's own runs nothing else, and no other thread runs that stage") {
  actor_system system;
  std::set<std::thread::id> before, own, behind;
  const auto notes_in = [](std::set<std::thread::id>& where) {
    return [&where](int x) {
      where.insert(std::this_thread::get_id());
      return x;
    };
  };
  const auto first = notes_in(before), second = notes_in(own), third = notes_in(behind);
  const auto h = spawn(system, pipeline(counting(0, 2000), seq(lent(first)),
                                        seq(lent(second)).own_thread(), seq(lent(third)), sum()));
  REQUIRE(system.request(h, join{}).get().value() == 1999L * 1000);
  REQUIRE(own.size() == 1);
  CHECK(before.count(*own.begin()) == 0);
  CHECK(behind.count(*own.begin()) == 0);
}

TEST_CASE("a stream with a stage that finds no thread left ends and says why") {
  settings s;
  s.detached.threads = 1;
  actor_system system(s);
  const auto h = spawn(system, pipeline(counting(0, 10), seq(twice).own_thread().named("first"),
                                        seq(twice).own_thread().named("second"), sum()));
  const auto outcome = system.request(h, join{}, duration::seconds(30)).get();
  REQUIRE(!outcome);
  CHECK(outcome.error() == errc::not_handled);
  CHECK(outcome.error().to_string().find("detached.threads is 1") != std::string::npos);
  CHECK(system.await_all(duration::seconds(30)).complete);  // its half-made stream is gone
}

TEST_CASE("a supervisor begins a stream anew when it has failed") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    test_system kit(seed);
    std::vector<int> got;
    auto top = kit.spawn<supervisor>(
        supervision{.max_restarts = 5, .window = duration::seconds(60)},
        stream_child({.name = "log"}, pipeline(twice, seq<picky>(lent(&got))), {.capacity = 2}));
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
                                 pipeline(seq<picky>(lent(got))))) {}
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

TEST_CASE("the first failure is the one that counts") {
  // "early" is run in place when "late" hands on the results that it has made before it threw
  const auto late = [](int x) {
    if (x == 5) throw std::runtime_error("five");
    return x;
  };
  const auto early = [](int x) {
    if (x == 3) throw std::runtime_error("three");
    return x;
  };
  test_system kit(1);
  const auto h = spawn(
      kit, pipeline(counting(0, 10), seq(late).named("late"), seq(early).named("early"), sum()));
  kit.run();
  CHECK(kit.request(h, join{}).get().error().to_string().find("early: three") != std::string::npos);
  std::uint64_t failures = 0;
  for (const stage_report& s : kit.request(h, get_report{}).get().value().stages)
    failures += s.figures.failures;
  CHECK(failures == 2);
}

TEST_CASE("a stream that has ended is not cancelled any more") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(counting(0, 10), sum()));
  kit.run();
  send(h, cancel{});
  kit.run();
  CHECK(kit.request(h, join{}).get().value() == 45);
}

TEST_CASE("join is answered after the end, too, and again") {
  actor_system system;
  const auto h = spawn(system, pipeline(counting(0, 10), sum()));
  for (int i = 0; i < 3; ++i) CHECK(system.request(h, join{}).get().value() == 45);
}

TEST_CASE("a tuple fed after the end is a dead letter") {
  test_system kit(1);
  std::vector<int> got;
  const auto h = spawn(kit, pipeline(seq<picky>(lent(&got))));
  send(h, 1);
  send(h, end_of_stream{});
  send(h, 2);
  kit.run();
  CHECK(got == std::vector<int>{1});
  CHECK(kit.dead_letters().size() == 1);
}

TEST_CASE("a tuple fed after a cancellation is a dead letter, too") {
  test_system kit(1);
  std::vector<int> got;
  const auto h = spawn(kit, pipeline(seq<picky>(lent(&got))));
  send(h, 1);
  kit.run();
  send(h, cancel{});
  send(h, 2);  // the nodes were not told of it yet, or were
  kit.run();
  send(h, 3);
  kit.run();
  CHECK(got == std::vector<int>{1});
  CHECK(kit.dead_letters().size() == 2);
  CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
}

TEST_CASE("a stream that stands still keeps 1024 times its capacity, and refuses the rest") {
  struct silent : actor<protocol<result<int>(int)>> {
    std::vector<response_promise<int>> asked;
    result<int> on(int) {
      asked.push_back(make_promise<int>());
      return asked.back();
    }
  };
  test_system kit(1);
  const auto nobody = kit.spawn<silent>();
  const auto h = spawn(kit, pipeline(ask(nobody, 1), discard<int>()), {.capacity = 1});
  constexpr std::size_t fed = 1200;
  for (std::size_t i = 0; i < fed; ++i) {
    send(h, 1);
    kit.run();
  }
  // one waits for its answer, and one in the channel before it
  CHECK(kit.dead_letters().size() == fed - 1024 - 2);
  for (const auto& letter : kit.dead_letters()) CHECK(letter.reason == errc::overload);
  send(h, cancel{});
  kit.run();
  const stream_report report = kit.request(h, get_report{}).get().value();
  std::uint64_t dropped = report.left;
  for (const auto& stage : report.stages) dropped += stage.figures.dropped;
  CHECK(dropped + kit.dead_letters().size() == fed);
}

TEST_CASE("a slow stream slows the thread that feeds it, and loses nothing") {
  actor_system system;
  const auto slow = [](int sum, int x) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (std::chrono::steady_clock::now() < until) continue;
    return sum + x;
  };
  const auto h = spawn(system, pipeline(seq(twice).own_thread(), fold(0, slow)), {.capacity = 1});
  constexpr int more_than_is_kept = 2000;
  for (int i = 1; i <= more_than_is_kept; ++i) send(h, i);
  send(h, end_of_stream{});
  CHECK(system.request(h, join{}).get().value() == more_than_is_kept * (more_than_is_kept + 1));
}

TEST_CASE("a stream with a source answers a join, also if its handle is gone") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test_system kit(seed);
    auto answer = [&] {
      const auto h = spawn(kit, pipeline(counting(0, 10), twice, sum()));
      return kit.request(h, join{});
    }();
    kit.run();
    CHECK(answer.get().value() == 90);
    kit.run();
    CHECK(kit.actor_count() == 0);
  }
}

TEST_CASE("a stage that has become slow hears of a cancellation in the middle of its batch") {
  std::atomic<int> seen{0};
  std::atomic<bool> is_slow{false};
  const auto slow = [&](int) {
    if (++seen == 1000) {
      while (!is_slow) std::this_thread::yield();
    }
  };
  actor_system system;
  const auto h = spawn(system, pipeline(counting(0, 1 << 30), seq(lent(slow)).own_thread()));
  while (seen < 1000) std::this_thread::yield();
  send(h, cancel{});
  CHECK(system.request(h, get_report{}).get());  // handled after the other
  is_slow = true;
  CHECK(system.request(h, join{}).get().error() == errc::cancelled);
  CHECK(seen <= 1128);
}

TEST_CASE("a system ends although a stream does not") {
  settings s;
  s.shutdown.deadline = duration::milliseconds(50);
  std::atomic<long> seen{0};
  const auto watch = [&](long x) { seen = x; };  // outlives the system, as a lent object must
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

}  // namespace stream_life_test
