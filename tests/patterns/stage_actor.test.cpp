// Stages that are actors.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>
#include <patterns/oracle.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stage_actor_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;
using tests::doubling;
using tests::in_every_system;
using tests::iota;
using tests::oracle;
using tests::question;
using tests::sorted;

struct how_many {};
/// Adds a number, itself.
class adder : public stage_actor<int, int, int(how_many)> {
 public:
  explicit adder(int n) : n_(n) {}
  void consume(int x) {
    ++seen_;
    send_next(x + n_);
  }
  int on(how_many) const { return seen_; }

 private:
  int n_;
  int seen_ = 0;
};
/// Asks for every number, and says at the end how many there were.
class asker : public stage_actor<int, int> {
 public:
  explicit asker(ref<oracle> whom) : whom_(std::move(whom)) {}
  void consume(int x) {
    request(whom_, question{x}).then([this, keep = hold()](int y) {
      ++answers_;
      send_next(y);
    });
  }
  void on_stop() {
    send_next(-answers_);
    request(whom_, question{1000}).then([this, keep = hold()](int y) { send_next(y); });
  }

 private:
  ref<oracle> whom_;
  int answers_ = 0;
};
/// Hands each number on after a while, and throws on some.
class delaying : public stage_actor<int, int, void(question)> {
 public:
  void consume(int x) {
    if (x % 7 == 3) {
      send_next(-1);
      throw std::runtime_error("three");
    }
    holds_.push_back(hold());
    send_after(duration::microseconds(20), self(), question{x});
  }
  void on(question q) {
    send_next(std::move(q.x));
    holds_.pop_back();
  }
  void on_restart() { ++restarts_; }
  void on_stop() { send_next(1000 + restarts_); }

 private:
  std::vector<stage_hold> holds_;
  int restarts_ = 0;
};
class counting_sink : public stage_actor<int, void, int(how_many)> {
 public:
  explicit counting_sink(ref<protocol<void(int)>> told) : told_(std::move(told)) {}
  void consume(int) { ++n_; }
  void on_stop() { send(told_, std::move(n_)); }
  int on(how_many) const { return n_; }

 private:
  ref<protocol<void(int)>> told_;
  int n_ = 0;
};
class last_number : public actor<protocol<void(int), int(how_many)>> {
 public:
  void on(int n) { n_ = n; }
  int on(how_many) const { return n_; }

 private:
  int n_ = -1;
};
struct refuses_to_begin : stage_actor<int, int> {
  explicit refuses_to_begin(int when) : when_(when) {
    if (when == 0) throw std::runtime_error("not today");
  }
  void on_start() {
    if (when_ == 1) throw std::runtime_error("not today");
    if (when_ == 2) quit();
  }
  void consume(int x) { send_next(std::move(x)); }
  void on_stop() {
    if (when_ == 3) throw std::runtime_error("not today");
  }
  int when_;
};

std::string text_of(const error& e) { return e.to_string(); }

}  // namespace

TEST_CASE("an actor is a stage, and each replica has arguments of its own") {
  in_every_system([](auto&) { return pipeline(from(iota(1000)), seq_actor<adder>(5), collect()); },
                  [](const auto& got) {
                    std::vector<int> expected = iota(1000);
                    for (int& x : expected) x += 5;
                    REQUIRE(got.value() == expected);
                  });
  in_every_system(
      [](auto&) {
        return pipeline(from(iota(1000)), farm(seq_actor<adder>(1)).replicas(3),
                        farm(seq_actor<adder>(1).own_thread()).replicas(2).by_key([](const int& x) {
                          return x % 5;
                        }),
                        collect());
      },
      [](const auto& got) {
        std::vector<int> expected = iota(1000);
        for (int& x : expected) x += 2;
        REQUIRE(sorted(got.value()) == expected);
      });
}

TEST_CASE("a stage does not end while its requests are under way") {
  in_every_system(
      [](auto& system) {
        return pipeline(from(iota(200)), seq_actor<asker>(system.template spawn<doubling>()),
                        collect());
      },
      [](const auto& got) {
        REQUIRE(got.has_value());
        REQUIRE(got.value().size() == 202);
        CHECK(got.value().at(200) == -200);
        CHECK(got.value().at(201) == 2000);
      });
}

TEST_CASE("an actor puts results out on later turns, and restarts as it likes") {
  in_every_system(
      [](auto&) {
        return pipeline(from(iota(70)), seq_actor<delaying>().on(on_failure::restart), collect());
      },
      [](const auto& got) {
        REQUIRE(got.has_value());
        const auto all = sorted(got.value());
        CHECK(all.size() == 61);
        CHECK(all.front() == 0);  // results before the exception are dropped
        CHECK(all.back() == 1010);
      });
  CHECK_THROWS_AS(static_cast<void>(seq_actor<adder>(1).on(on_failure::restart)),
                  std::invalid_argument);
}

TEST_CASE("an actor is a sink, and answers others") {
  test_system kit(1);
  const auto told = kit.spawn<last_number>();
  const auto h = spawn(kit, pipeline(seq_actor<counting_sink>(ref<protocol<void(int)>>(told))));
  for (int i = 0; i < 10; ++i) send(h, i);
  send(h, end_of_stream{});
  kit.run();
  CHECK(kit.request(h, join{}).get().has_value());
  CHECK(kit.request(told, how_many{}).get().value() == 10);
  CHECK(kit.actor_count() == 2);
  kit.expect_no_leaks();
}

TEST_CASE("a stage's actor that cannot begin, fails or quits ends the stream with its name") {
  for (const bool alone : {true, false}) {
    for (int when = 0; when < 4; ++when) {
      CAPTURE(when);
      CAPTURE(alone);
      const auto s = seq_actor<refuses_to_begin>(when).named("reluctant");
      const auto p = pipeline(from(iota(100)), alone ? s.own_thread() : s, collect());
      const auto check = [](const auto& got) {
        REQUIRE_FALSE(got.has_value());
        CHECK(got.error() == errc::receiver_failed);
        CHECK(text_of(got.error()).find("reluctant") != std::string::npos);
      };
      in_every_system([&](auto&) { return p; }, check);
      test_system kit(1);
      const auto h = spawn(kit, p);
      kit.run();
      const auto got = kit.request(h, join{}).get();
      CHECK(text_of(got.error()).find(when == 2 ? "before its input" : "not today") !=
            std::string::npos);
      CHECK(kit.actor_count() == 1);
    }
  }
}

TEST_CASE("a stage's actor that quits takes no further tuple, also if its input ends soon") {
  static int seen = 0;
  struct quitter : stage_actor<int, int> {
    void consume(int x) {
      ++seen;
      if (x == 99) quit();
    }
  };
  for (const int end : {100, 101, 100'000}) {
    seen = 0;
    test_system kit(1);
    const auto h = spawn(kit, pipeline(counting(0, end), seq_actor<quitter>(), discard<int>()));
    kit.run();
    CHECK(kit.request(h, join{}).get().error() == errc::receiver_failed);
    CHECK(seen == 100);
  }
}

TEST_CASE("a stream with actors can be cancelled at any time") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit,
                         pipeline(counting(0, 1 << 30), seq_actor<asker>(kit.spawn<doubling>()),
                                  seq_actor<adder>(1), collect()),
                         {.capacity = 16});
    for (std::uint64_t i = 0; i < 3 * seed; ++i) kit.step();
    send(h, cancel{});
    kit.run();
    CHECK(kit.request(h, join{}).get().error() == errc::cancelled);
    CHECK(kit.actor_count() == 2);  // the stream's and the one that is asked
  }
}

}  // namespace stage_actor_test
