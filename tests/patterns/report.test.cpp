// A stream's report: the figures of its nodes, and of replicas together.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace report_test {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

namespace {

std::vector<std::string> names(const stream_report& r) {
  std::vector<std::string> all;
  for (const stage_report& s : r.stages) all.push_back(s.name);
  return all;
}
int same(int x) { return x; }

}  // namespace

TEST_CASE("by stage, replicas are one line with the sums of their figures") {
  test_system kit(1);
  const auto one = seq(same).named("one");
  const auto other = seq(same).named("other");
  const auto h = spawn(
      kit,
      pipeline(counting(0, 1000), farm(farm(pipeline(one, other, one)).replicas(2)).replicas(3),
               other, other, farm(seq(same).named("2nd.half")).replicas(2), discard<int>()),
      {.fuse = false});
  kit.run();
  const stream_report nodes = kit.request(h, get_report{}).get().value();
  CHECK(nodes.stages.size() == 1 + 18 + 2 + 2 + 1);
  const stream_report r = nodes.by_stage();
  CHECK(names(r) == std::vector<std::string>{"counting", "one", "other", "one", "other", "other",
                                             "2nd.half", "discard"});
  for (std::size_t i = 1; i < r.stages.size(); ++i) {
    CAPTURE(i);
    CHECK(r.stages[i].figures.in == 1000);
    CHECK(r.stages[i].replicas == (i < 4 ? 6 : i == 6 ? 2 : 1));
  }
  CHECK(r.to_string().find("one (6) ") != std::string::npos);
  CHECK(r.to_string().find("discard ") != std::string::npos);
}

TEST_CASE("the bottleneck is the node, or the stage by its average replica, that was busiest") {
  stream_report r;
  CHECK(r.bottleneck() == nullptr);
  CHECK(r.by_stage().stages.empty());
  r.stages = {{"2.read", {.busy_ns = 40}}, {"1.read", {.busy_ns = 40}}, {"store", {.busy_ns = 50}}};
  CHECK(r.bottleneck()->name == "store");
  CHECK(r.by_stage().bottleneck()->name == "store");
  r.stages[0].figures.busy_ns = 70;
  CHECK(r.bottleneck()->name == "2.read");
  CHECK(r.by_stage().bottleneck()->name == "read");
}

TEST_CASE("a report shows dropped and late tuples, if there are any") {
  stream_report r;
  r.stages = {{"lines", {.out = 9}}, {"window", {.in = 9}}};
  CHECK(r.late() == 0);
  CHECK(r.to_string().find("dropped") == std::string::npos);
  CHECK(r.to_string().find("late") == std::string::npos);
  r.stages[1].figures.late = 7;
  r.stages.push_back({"join", {.late = 30}});
  CHECK(r.late() == 37);
  CHECK(r.by_stage().late() == 37);
  std::string text = r.to_string();
  CAPTURE(text);
  CHECK(text.find("failures     late\n") != std::string::npos);
  CHECK(text.find("        0        7\n") != std::string::npos);
  CHECK(text.find("        0       30\n") != std::string::npos);
  CHECK(text.find("dropped") == std::string::npos);
  r.stages[0].figures.dropped = 123'456'789;
  text = r.to_string();
  CHECK(text.find("failures  dropped     late\n") != std::string::npos);
  CHECK(text.find(" 0 123456789        0") != std::string::npos);
}

TEST_CASE("a tuple that came too late is counted in any node that finds it, and so with replicas") {
  struct seen {
    int key = 0;
    int at = 0;
  };
  const std::vector<seen> in{{1, 5}, {2, 31}, {1, 9}, {2, 14}, {1, 32}};
  const auto one_more = [](int n, seen) { return n + 1; };
  const auto by_key = window(tumbling(10)).by(&seen::key).event_time(&seen::at);
  const auto late = [&](const auto& w) {
    test_system kit(1);
    const auto h = spawn(kit, pipeline(from(in), w, discard<windowed<int, int, std::int64_t>>()));
    kit.run();
    return kit.request(h, get_report{}).get().value().late();
  };
  CHECK(late(by_key.fold(0, one_more)) == 2);
  CHECK(late(by_key.replicas(2).fold(0, one_more)) == 2);
}

TEST_CASE("stages of one name are told apart") {
  stream_report r;
  for (const char* name : {"2.a", "1.a", "3.a", "2.a", "1.a", "a", "a", "2.2.a", "2.1.a", "1.1.a"})
    r.stages.push_back({name});
  const stream_report all = r.by_stage();
  REQUIRE(all.stages.size() == 5);
  const std::size_t expected[] = {2, 3, 1, 1, 3};
  for (std::size_t i = 0; i < 5; ++i) CHECK(all.stages[i].replicas == expected[i]);
}

TEST_CASE("the report says how many tuples wait, and whether the stream has ended") {
  test_system kit(1);
  const auto slow = [](int x) { return x; };
  auto h = spawn(kit, pipeline(slow, take<int>(2), discard<int>()));
  CHECK_FALSE(kit.request(h, get_report{}).get().value().ended);
  for (int i = 0; i < 5; ++i) send(h, i);
  kit.run();
  CHECK(kit.request(h, get_report{}).get().value().stages.back().figures.waiting == 0);
  send(h, end_of_stream{});
  kit.run();
  CHECK(kit.request(h, get_report{}).get().value().ended);
  CHECK(kit.request(h, get_report{}).get().value().by_stage().ended);
}

TEST_CASE("a line of progress has a bar if it is known how many come, and as many rates as fit") {
  const auto done = [](std::uint64_t split, std::uint64_t count) {
    stream_report r;
    r.stages = {{"lines", {.in = 0}}, {"split", {.in = split}}, {"count", {.in = count}}};
    return r;
  };
  const duration second = duration::seconds(1);
  CHECK(progress_line(done(0, 0), done(4000, 50), second, {}) == "split 4 000/s, count 50/s");
  CHECK(progress_line({}, done(4000, 50), second, {}) == "split 4 000/s, count 50/s");
  CHECK(progress_line(done(0, 0), done(4000, 50), second, {.expected = 100}) ==
        "[####################....................]  50 %  split 4 000/s, count 50/s");
  CHECK(progress_line(done(0, 0), done(4000, 50), second, {.expected = 100, .columns = 30}) ==
        "[###....]  50 %  split 4 000/s");
  CHECK(progress_line(done(0, 0), done(4000, 50), second, {.expected = 100, .columns = 12}) ==
        "[##..]  50 %");
  CHECK(progress_line(done(0, 0), done(4000, 50), second, {.expected = 100, .columns = 11}) ==
        " 50 %");
  CHECK(progress_line(done(0, 0), done(4000, 5), second,
                      {.expected = 4000, .counted = "split", .columns = 14}) == "[######] 100 %");
  const stream_report many{
      .stages = {{"lines"}, {"split", {.in = 310'000}}, {"count", {.in = 2'900'000}}}};
  CHECK(progress_line({}, many, second, {.expected = 738'000, .counted = "split"}) ==
        "[##############.....................]  42 %  split 310 000/s, count 2 900 000/s");
  CHECK(progress_line({}, {}, second, {.expected = 10, .columns = 14}) == "[......]   0 %");
}

TEST_CASE("rates are of the stages that take tuples, and not of sources") {
  const auto shown = [](const stream_report& before, const stream_report& now) {
    std::vector<std::string> all;
    for (const stage_rate& one : rates(before, now, duration::seconds(1)))
      all.push_back(one.name + " " + std::to_string(static_cast<int>(one.per_second)));
    return all;
  };
  test_system kit(1);
  const auto h = spawn(
      kit, pipeline(counting(0, 50), zip<int>(counting(0, 50)), discard<std::pair<int, int>>()));
  kit.run();
  const stream_report ended = kit.request(h, get_report{}).get().value();
  CHECK(names(ended) == std::vector<std::string>{"counting", "zip.counting", "zip", "discard"});
  CHECK(shown({}, ended) == std::vector<std::string>{"zip 100", "discard 50"});
  CHECK(shown(ended, ended) == std::vector<std::string>{"zip 0", "discard 0"});
  // a stage without any work yet is shown
  CHECK(shown({}, {.stages = {{"lines"}, {"split"}}}) == std::vector<std::string>{"split 0"});
}

TEST_CASE("progress is shown on a terminal until the stream has ended") {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0);
  REQUIRE(grantpt(master) == 0);
  REQUIRE(unlockpt(master) == 0);
  std::FILE* const terminal = std::fopen(ptsname(master), "w");
  REQUIRE(terminal != nullptr);
  {
    actor_system system;
    const auto h = spawn(system, pipeline(counting(0, 100'000), seq(same).named("same"),
                                          throttle<int>(1e6), discard<int>()));
    show_progress(system, h,
                  {.expected = 100'000, .every = duration::milliseconds(5), .to = terminal});
    CHECK(system.request(h, join{}).get());
    CHECK_THROWS_AS(show_progress(system, h, {.every = duration()}), std::invalid_argument);
    std::string shown;
    while (shown.find('\n') == std::string::npos) {
      char some[4096];
      const ssize_t n = read(master, some, sizeof some);
      REQUIRE(n > 0);
      shown.append(some, static_cast<std::size_t>(n));
    }
    CHECK(shown.find("100 %  same ") != std::string::npos);
  }
  std::fclose(terminal);
  close(master);
}

TEST_CASE("the figures of an ordered farm count tuples, and not the marks between them") {
  const auto odd = [](int x) { return x % 2 != 0; };
  for (const std::size_t capacity : {1U, 8U, 1024U}) {
    test_system kit(1);
    const auto h =
        spawn(kit,
              pipeline(counting(0, 300),
                       farm(pipeline(filter(odd), seq(same).named("one"))).replicas(3).ordered(),
                       discard<int>()),
              {.capacity = capacity});
    kit.run();
    const auto r = kit.request(h, get_report{}).get().value().by_stage();
    CHECK(names(r) ==
          std::vector<std::string>{"counting", "emitter", "filter", "one", "collector", "discard"});
    for (const std::size_t i : {1U, 2U}) CHECK(r.stages.at(i).figures.in == 300);
    CHECK(r.stages.at(1).figures.out == 300);
    CHECK(r.stages.at(2).figures.out == 150);
    for (const std::size_t i : {3U, 4U}) {
      CHECK(r.stages.at(i).figures.in == 150);
      CHECK(r.stages.at(i).figures.out == 150);
    }
  }
  // also the tuples that are left when it is cancelled
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(
        kit, pipeline(counting(0, 1 << 30), farm(same).replicas(3).ordered(), same, discard<int>()),
        {.capacity = 16, .in_place = false, .fuse = false});
    for (std::uint64_t i = 0; i < 5 * seed; ++i) kit.step();
    send(h, cancel{});
    kit.run();
    const stream_report r = kit.request(h, get_report{}).get().value();
    std::uint64_t out = 0, in = 0;
    for (const stage_report& s : r.stages) {
      out += s.figures.out;
      in += s.figures.in;
    }
    CHECK(out == in + r.left);
  }
}

TEST_CASE(
    "the time of a stage counts as its own, also behind results that it had to hand on first") {
  settings s;
  s.scheduler.workers = 1;
  actor_system system(s);
  static constexpr std::chrono::milliseconds each{2};
  // more results than the channel has room for, so each step begins with those of the one before
  const auto many = [](int x, emit<int> out) {
    const auto until = std::chrono::steady_clock::now() + each;
    while (std::chrono::steady_clock::now() < until) continue;
    for (int i = 0; i < 1500; ++i) out(x + 0);
  };
  const auto few = [](int) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(50);
    while (std::chrono::steady_clock::now() < until) continue;
  };
  const auto h = spawn(system, pipeline(counting(0, 20), seq(many).named("many"), seq(few)));
  REQUIRE(system.request(h, join{}).get());
  const stream_report r = system.request(h, get_report{}).get().value();
  for (const stage_report& stage : r.stages)
    if (stage.name == "many") CHECK(stage.figures.busy_ns >= 20 * 2'000'000 * 9 / 10);
}

}  // namespace report_test
