// The parts of stages: values of their own, functions with values bound to them, and lent objects;
// objects and classes that are stages, also sources.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace isolation_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;

template <class P>
auto value_of(const P& p) {
  test_system kit(7);
  const auto h = spawn(kit, p);
  kit.run();
  return kit.request(h, join{}).get().value();
}

bool at_least(int least, int x) { return x >= least; }
int numbered(int& number, int x) { return 100 * ++number + x; }
int joined(const std::string& digits, int x) { return std::stoi(digits + std::to_string(x)); }

/// A source with a beginning and an end.
class countdown {
 public:
  explicit countdown(int from) : from_(from) {}
  void on_start() { next_ = from_; }
  bool consume(emit<int> out) {
    if (next_ == 0) return false;
    out(next_--);
    return true;
  }
  void on_stop(emit<int> out) { out(-1); }

 private:
  int from_;
  int next_ = 0;
};
struct maybe {
  int next = 0;
  std::optional<int> consume() { return next < 3 ? std::optional(next++) : std::nullopt; }
};
/// Notes into lent objects.
class noting {
 public:
  noting(std::vector<int>& seen, const std::string& name, const char* mark)
      : seen_(seen), text_(name + mark) {}
  int consume(int x) {
    seen_.push_back(x);
    return x + static_cast<int>(text_.size());
  }

 private:
  std::vector<int>& seen_;
  std::string text_;
};
class noting_actor : public stage_actor<int, int> {
 public:
  noting_actor(std::vector<int>& seen, const char* mark, std::string name)
      : seen_(seen), length_(static_cast<int>((mark + name).size())) {}
  void consume(int x) {
    seen_.push_back(x);
    send_next(x + length_);
  }

 private:
  std::vector<int>& seen_;
  int length_;
};

// Patterns may be arguments of actors, and so children of supervisors.
static_assert(base::sendable<actor_stage<std::string, void>>);
static_assert(base::sendable<decltype(zip<int>(counting(0, 1)))>);

}  // namespace

TEST_CASE("a function gets the values that are bound to it, and may change its own") {
  CHECK(value_of(pipeline(counting(0, 9), filter(patterns::bind(at_least, 6)), collect())) ==
        std::vector<int>{6, 7, 8});
  const auto stage = seq(patterns::bind(numbered, 0));
  CHECK(value_of(pipeline(counting(1, 4), stage, collect())) == std::vector<int>{101, 202, 303});
  CHECK(value_of(pipeline(counting(1, 4), stage, stage, collect())) ==
        std::vector<int>{201, 402, 603});  // each of the two counts on its own
  CHECK(value_of(pipeline(counting(1, 3), patterns::bind(joined, std::string("7")), collect())) ==
        std::vector<int>{71, 72});
}

TEST_CASE("a bound function is a stage's function everywhere") {
  const auto add = [](int n, int a, int b) { return n + a + b; };
  const auto key = [](int n, const int& x) { return x % n; };
  const auto several = [](std::size_t n, int x) { return std::vector<int>(n, x); };
  const auto twice = [](int n, int x, emit<int> out) {
    for (int i = 0; i < n; ++i) out(x);
  };
  const auto slowly = [](int n, int x) -> generator<int> {
    for (int i = 0; i < n; ++i) co_yield x;
  };
  const auto way = [](int most, const int& x, std::size_t n) {
    return static_cast<std::size_t>(x < most) % n;
  };
  const auto again = [](int most, const int& x) { return x < most; };
  const auto next = [](int& n) { return n < 4 ? std::optional(n++) : std::nullopt; };
  using patterns::bind;
  CHECK(value_of(pipeline(generate(bind(next, 1)), scan(0, bind(add, 1)), collect())) ==
        std::vector<int>{2, 5, 9});
  CHECK(value_of(pipeline(counting(0, 4), fold(0, bind(add, 10)))) == 46);
  CHECK(value_of(pipeline(counting(0, 3), flat_map(bind(several, 2U)), bind(twice, 2),
                          bind(slowly, 2), fold(0, [](int n, int) { return n + 1; }))) == 24);
  CHECK(value_of(pipeline(counting(0, 8), farm(bind(numbered, 0)).replicas(4).by_key(bind(key, 2)),
                          fold(0, [](int most, int x) { return std::max(most, x / 100); }))) == 4);
  const auto parts = parallel(bind(numbered, 0), bind(numbered, 5));
  CHECK(value_of(pipeline(counting(0, 4), parts.by(bind(way, 2)),
                          fold(0, [](int sum, int x) { return sum + x; }))) == 1606);
  CHECK(value_of(pipeline(counting(1, 3), feedback([](int x) { return 2 * x; }, bind(again, 100)),
                          collect()))
            .size() == 2);
}

TEST_CASE("a bound state begins anew in each replica, each spawn and each restart") {
  const auto counted = [](int& n, int x) {
    if (x == 3) throw std::runtime_error("three");
    return ++n;
  };
  const auto p =
      pipeline(counting(0, 6), seq(patterns::bind(counted, 0)).on(on_failure::restart), collect());
  for (int i = 0; i < 2; ++i) CHECK(value_of(p) == std::vector<int>{1, 2, 3, 1, 2});
}

TEST_CASE("a bound function may be sent, and refers to arguments that are lent") {
  static_assert(base::sendable<decltype(patterns::bind(at_least, 1))>);
  int sum = 0;
  const auto add = [](int& to, int x) { to += x; };
  test_system kit(1);
  const auto h = spawn(kit, pipeline(counting(0, 5), patterns::bind(add, lent(sum))));
  kit.run();
  CHECK(kit.request(h, join{}).get());
  CHECK(sum == 10);
}

TEST_CASE("stages' arguments are lent as an actor's are, and all else is copied") {
  std::vector<int> seen;
  std::string name = "name";
  const auto all = pipeline(counting(0, 3), seq<noting>(lent(seen), name, "!"),
                            seq_actor<noting_actor>(lent(seen), "!", name), collect());
  name = "another";
  CHECK(value_of(all) == std::vector<int>{10, 11, 12});
  CHECK(seen.size() == 6);
  CHECK(std::accumulate(seen.begin(), seen.end(), 0) == 0 + 1 + 2 + 5 + 6 + 7);
}

TEST_CASE("a lent function is called wherever a function is") {
  int calls = 0;
  const auto count = [&calls] { ++calls; };
  const auto same = [count](int x) { return count(), x; };
  const auto is = [count](const int& x) { return count(), x >= 0; };
  const auto never = [count](const int&) { return count(), false; };
  const auto sum = [count](int a, int b) { return count(), a + b; };
  const auto one = [count](int x) { return count(), std::vector<int>{x}; };
  const auto way = [count](const int&, std::size_t) { return count(), std::size_t{1}; };
  const auto p = pipeline(counting(0, 10), lent(same), filter(lent(is)), flat_map(lent(one)),
                          scan(0, lent(sum)), feedback(seq(lent(same)), lent(never)),
                          farm(lent(same)).replicas(2).by_key(lent(same)),
                          farm(lent(same)).replicas(2).by(lent(way)), fold(0, lent(sum)));
  CHECK(value_of(p) == 165);
  CHECK(calls == 110);
}

TEST_CASE("classes are sources, too, and objects stages") {
  const std::vector<int> down{3, 2, 1, -1};
  CHECK(value_of(pipeline(seq<countdown>(3), collect())) == down);
  CHECK(value_of(pipeline(seq(countdown(3)), collect())) == down);
  CHECK(value_of(pipeline(countdown(3), collect())) == down);
  CHECK(value_of(pipeline(maybe(), collect())) == std::vector<int>{0, 1, 2});
  std::vector<int> seen;
  CHECK(value_of(pipeline(counting(0, 2), noting(seen, "name", ""), collect())) ==
        std::vector<int>{4, 5});
}

TEST_CASE("a source gives the values in its optional") {
  const auto three = [](int& n) { return n < 3 ? std::optional(n++) : std::nullopt; };
  CHECK(value_of(pipeline(
            generate(patterns::bind(three, 0)), [](int x) { return x + 1; }, collect())) ==
        std::vector<int>{1, 2, 3});
}

TEST_CASE("tuples that only move go through farms, parallels and loops") {
  using owner = std::unique_ptr<int>;
  const auto make = [](int x) { return std::make_unique<int>(x); };
  const auto twice = [](owner p) {
    *p *= 2;
    return p;
  };
  CHECK(value_of(pipeline(
            counting(0, 8), make, farm(twice).replicas(3),
            parallel(twice, twice).by([](const owner& p, std::size_t n) {
              return static_cast<std::size_t>(*p) % n;
            }),
            feedback(seq(twice), [](const owner& p) { return *p != 0 && *p < 100; }),
            [](owner p) { return *p; }, fold(0, [](int n, int) { return n + 1; }))) == 8);
}

TEST_CASE("every pattern is the child of a supervisor") {
  using oracle = protocol<int(int)>;
  struct oracle_actor : actor<oracle> {
    int on(int x) { return x + 1; }
  };
  for (int form = 0; form < 4; ++form) {
    test_system kit(3);
    std::vector<int> seen;
    const auto ask_it = ask(ref<oracle>(kit.spawn<oracle_actor>()), 2);
    const auto act = seq_actor<noting_actor>(lent(seen), "", "");
    const auto note = seq<noting>(lent(seen), "", "");
    const auto child = [&](auto p) {
      return kit.spawn<supervisor>(
          supervision{}, stream_child({.name = "it", .restart = transient}, std::move(p)));
    };
    const auto count = [](std::pair<int, int> p) { return p.second; };
    const ref<core::supervisor_protocol> top =
        form == 0   ? child(pipeline(counting(0, 3), act, discard<int>()))
        : form == 1 ? child(pipeline(counting(0, 3), ask_it.ordered(), note, discard<int>()))
        : form == 2
            ? child(pipeline(counting(0, 3), zip<int>(counting(0, 9)), count, note, discard<int>()))
            : child(pipeline(counting(0, 3), farm(parallel(act, note)), discard<int>()));
    kit.run();
    CHECK(seen.size() == (form == 3 ? 6 : 3));
  }
}

}  // namespace isolation_test
