// Messages to a stream that make no sense, or come too late: each has a defined outcome, none
// hangs, and none loses a tuple without a count.
//
// A range that throws and a key function that throws are in failures.test.cpp, batches, rates and
// periods of zero in timing.test.cpp, a stage's actor that ends early in stage_actor_life.test.cpp.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bad_input_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

int same(int x) { return x; }
auto sum() {
  return fold(0L, [](long s, int x) { return s + x; });
}
template <class P>
long sum_of(const P& p, stream_options o = {}) {
  test_system kit(1);
  const auto h = spawn(kit, p, o);
  kit.run();
  return kit.request(h, join{}).get().value();
}

}  // namespace

TEST_CASE("a farm without replicas, or with too many, is refused where it is written") {
  const auto f = farm(same);
  std::vector<std::size_t> counts{0, 4097, ~std::size_t{0}};
  for (const std::size_t n : counts) {
    try {
      static_cast<void>(f.replicas(n));
      FAIL("no exception");
    } catch (const std::invalid_argument& x) {
      CHECK(std::string(x.what()).find("1 to 4096 replicas, not " + std::to_string(n)) !=
            std::string::npos);
    }
  }
  CHECK(sum_of(pipeline(counting(0, 10), f.replicas(1), sum())) == 45);
}

TEST_CASE("options of a stream that make no sense are refused, with their names") {
  const auto refused = [](const stream_options& o, const std::string& name) {
    actor_system system;
    const auto p = pipeline(counting(0, 10), farm(same), sum());
    const auto made = try_spawn(system, p, o);
    REQUIRE_FALSE(made);
    CHECK(made.error() == errc::spawn_failed);
    CHECK(made.error().to_string().find(name) != std::string::npos);
    // spawn still returns a handle, of an actor that has ended
    const auto end = system.request(spawn(system, p, o), join{}).get();
    CHECK_FALSE(end);
  };
  refused({.capacity = 0}, "capacity");
  refused({.capacity = (std::size_t{1} << 20) + 1}, "capacity");
  refused({.replicas = 4097}, "replicas");
  // none said: as many as there are workers
  CHECK(sum_of(pipeline(counting(0, 10), farm(same), sum()), {.replicas = 0}) == 45);
}

TEST_CASE("sources that have nothing end the stream orderly") {
  CHECK(sum_of(pipeline(counting(5, 1), sum())) == 0);
  CHECK(sum_of(pipeline(from(std::vector<int>()), farm(same).ordered(), sum())) == 0);
  CHECK(sum_of(pipeline(generate([]() -> std::optional<int> { return {}; }), sum())) == 0);
}

TEST_CASE("a stage that takes none ends the stream at once") {
  for (const bool in_place : {true, false}) {
    const stream_options o{.capacity = 4, .in_place = in_place};
    CHECK(sum_of(pipeline(counting(0, 1 << 30), take<int>(0), sum()), o) == 0);
    CHECK(sum_of(pipeline(counting(0, 1 << 30), farm(take<int>(0)).replicas(2), sum()), o) == 0);
  }
}

TEST_CASE("tuples that a stage with enough leaves are counted as dropped, and its source stops") {
  for (const std::size_t capacity : {1U, 16U, 1024U})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      test_system kit(seed);
      const auto h =
          spawn(kit, pipeline(counting(0, 1 << 30), same, take<int>(100), discard<int>()),
                {.capacity = capacity, .fuse = false});
      kit.run();
      REQUIRE(kit.request(h, join{}).get().has_value());
      const auto stages = kit.request(h, get_report{}).get().value().stages;
      REQUIRE(stages.size() == 4);
      CHECK(stages[0].figures.out == stages[1].figures.in);
      CHECK(stages[1].figures.out == stages[2].figures.in);
      CHECK(stages[2].figures.in == 100 + stages[2].figures.dropped);
      CHECK(stages[2].figures.out == 100);
      CHECK(stages[3].figures.in == 100);
    }
}

TEST_CASE("actors that feed a stage that has enough are not held up") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(take<int>(3), sum()), {.capacity = 2});
  for (int i = 1; i <= 500; ++i) send(h, i);
  send(h, end_of_stream{});
  kit.run();
  CHECK(kit.request(h, join{}).get().value() == 6);
  const stream_report r = kit.request(h, get_report{}).get().value();
  CHECK(r.stages.at(0).figures.in == 500);
  CHECK(r.stages.at(1).figures.in + r.stages.at(0).figures.dropped == 500);
  CHECK(r.stages.at(1).figures.dropped + 3 == r.stages.at(1).figures.in);
  CHECK(r.left == 0);
}

// ---- a handle that is used after the stream has ended -------------------------------------------

namespace {

/// Monitors an actor.
class watcher : public actor<protocol<void(int)>> {
 public:
  watcher(any_ref whom, std::string* heard) : whom_(std::move(whom)), heard_(heard) {}
  void on_start() { monitor(whom_); }
  void on(int) {}
  void on(const down& d) { *heard_ = d.reason.to_string() + "."; }

 private:
  any_ref whom_;
  std::string* heard_;
};

}  // namespace

TEST_CASE("a stream that has ended answers, and tuples that it is fed with are dead letters") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(same, sum()));
  send(h, 5);
  send(h, end_of_stream{});
  kit.run();
  for (int i = 0; i < 2; ++i) {
    send(h, 6);
    send(h, end_of_stream{});
    send(h, cancel{});
    kit.run();
    CHECK(kit.expect_dead_letter<int>(errc::not_handled).content.find('6') != std::string::npos);
    CHECK(kit.request(h, join{}).get().value() == 5);
    CHECK(kit.request(h, get_report{}).get().value().stages.front().figures.in == 1);
  }
  kit.expect_no_dead_letters();
  std::string heard;
  const auto w = kit.spawn<watcher>(any_ref(h), lent(&heard));
  kit.run();
  CHECK(heard == "");  // its actor stays for later requests
}

TEST_CASE("the handle of a cancelled stream says so, after any further messages") {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(same, sum()));
  send(h, cancel{});
  send(h, 6);
  send(h, end_of_stream{});
  kit.run();
  send(h, 7);
  kit.run();
  CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
  const stream_report r = kit.request(h, get_report{}).get().value();
  std::uint64_t dropped = r.left;
  for (const stage_report& s : r.stages) dropped += s.figures.dropped;
  std::uint64_t late = 0;
  for (const auto& m : kit.dead_letters()) late += m.reason == errc::not_handled ? 1 : 0;
  CHECK(dropped + late == 2);
}

TEST_CASE("the handle of a stream that does not stay is that of an actor that has ended") {
  for (const bool fails : {false, true}) {
    test_system kit(1);
    const auto picky = [](int x) {
      if (x < 0) throw std::runtime_error("negative");
      return x;
    };
    const auto h = spawn(kit, pipeline(picky, sum()), {.stays = false});
    send(h, fails ? -1 : 1);
    send(h, end_of_stream{});
    kit.run();
    kit.expect_down(h);
    send(h, 6);
    kit.run();
    CHECK(kit.expect_dead_letter<int>(errc::not_handled).content.find('6') != std::string::npos);
    CHECK_FALSE(kit.request(h, join{}).get().has_value());
    CHECK_FALSE(kit.request(h, get_report{}).get().has_value());
    std::string heard;
    const auto w = kit.spawn<watcher>(any_ref(h), lent(&heard));
    kit.run();
    CHECK(heard != "");
    CHECK((heard.find("negative") != std::string::npos) == fails);
  }
}

}  // namespace bad_input_test
