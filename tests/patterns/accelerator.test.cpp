// One team for many actors, which hand over containers and functions of several kinds.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace accelerator_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::counting_copies;
using tests::numbers;

struct row {
  int number = 0;
};
/// Lets the accelerator do the work, and answers with the sum.
class computing : public actor<protocol<result<int>(row)>> {
 public:
  explicit computing(accelerator acc) : acc_(std::move(acc)) {}
  result<int> on(row r) {
    auto promise = make_promise<int>();
    result<int> later = promise;
    const auto square = [](int& x) { x *= x; };
    request(acc_, square, std::vector<int>(10, r.number))
        .then([promise = std::move(promise)](std::vector<int> squares) mutable {
          int sum = 0;
          for (const int x : squares) sum += x;
          promise.deliver(sum);
        });
    return later;
  }

 private:
  accelerator acc_;
};

TEST_CASE("many actors share an accelerator, and each gets its own results") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const accelerator acc = spawn(kit, accelerator_team().replicas(3));
    const auto a = kit.spawn<computing>(acc), b = kit.spawn<computing>(acc);
    auto first = kit.request(a, row{1}), second = kit.request(b, row{2}),
         third = kit.request(a, row{3});
    kit.run();
    CHECK(first.get().value() == 10);
    CHECK(second.get().value() == 40);
    CHECK(third.get().value() == 90);
  }
  actor_system system;
  for (const bool own_threads : {false, true}) {
    const auto team = accelerator_team().replicas(2);
    const accelerator acc = spawn(system, own_threads ? team.own_threads() : team);
    std::vector<ref<protocol<result<int>(row)>>> all;
    for (int i = 0; i < 20; ++i) all.emplace_back(system.spawn<computing>(acc));
    for (int i = 0; i < 100; ++i)
      CHECK(system.request(all[static_cast<std::size_t>(i) % 20], row{i}).get().value() ==
            10 * i * i);
  }
}

/// Asks a hundred such actors at once, and answers with how many were right.
class asking : public actor<protocol<result<int>(row)>> {
 public:
  explicit asking(accelerator acc) : acc_(std::move(acc)) {}
  result<int> on(row) {
    promise_ = make_promise<int>();
    for (int i = 0; i < 100; ++i)
      request(spawn<computing>(acc_), row{i}).then([this, i](int got) {
        right_ += got == 10 * i * i ? 1 : 0;
        if (++answers_ == 100) promise_.deliver(right_);
      });
    return promise_;
  }

 private:
  accelerator acc_;
  response_promise<int> promise_;
  int answers_ = 0;
  int right_ = 0;
};

TEST_CASE("a hundred actors ask an accelerator at once, and each gets its own results") {
  actor_system system;
  for (const bool own_threads : {false, true}) {
    const auto team = accelerator_team().replicas(3);
    const accelerator acc = spawn(system, own_threads ? team.own_threads() : team);
    CHECK(system.request(system.spawn<asking>(acc), row{}).get().value() == 100);
  }
}

/// The elements that a team of one has worked on.
std::vector<int> seen;
void see(int& x) { seen.push_back(x); }
/// Returns how often the next element is another request's.
std::ptrdiff_t changes() {
  std::ptrdiff_t n = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) n += seen[i] != seen[i - 1] ? 1 : 0;
  return n;
}

TEST_CASE("of requests that come together one ends after the other") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    seen.clear();
    const accelerator acc = spawn(kit, accelerator_team().replicas(1));
    for (const int of : {1, 2, 3, 4})
      static_cast<void>(kit.request(acc, see, std::vector<int>(100, of)));
    kit.run();
    CHECK(seen.size() == 400);
    CHECK(changes() == 3);
  }
}

TEST_CASE("a request that takes long lets others in after eight turns, as often as it takes") {
  test_system kit(1);
  seen.clear();
  const accelerator acc = spawn(kit, accelerator_team().replicas(1));
  // By a virtual clock the n-th turn is for 2^n elements.
  auto first = kit.request(acc, see, std::vector<int>(100'000, 1)),
       second = kit.request(acc, see, std::vector<int>(100'000, 2)),
       third = kit.request(acc, see, std::vector<int>(10, 3));
  kit.run();
  CHECK(first.get().has_value());
  CHECK(second.get().has_value());
  CHECK(third.get().has_value());
  CHECK(changes() == 6);  // 1 2 3 1 2 1 2
  CHECK(seen[254] == 1);
  CHECK(seen[255] == 2);
}

TEST_CASE("an accelerator gives a pattern's results") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const accelerator acc = spawn(kit, accelerator_team().replicas(3));
    const auto text = [](const int& x) { return std::to_string(x); };
    const auto plus = [](std::string a, std::string b) { return a + b; };
    const auto half = [](const int& x) { return x / 2.0; };
    auto sum = kit.request(acc, reduce(text, plus), numbers(12));
    auto halves = kit.request(acc, half, numbers(3));
    auto letters = kit.request(acc, [](char& c) { ++c; }, std::string("HAL"));
    kit.run();
    CHECK(sum.get().value() == "01234567891011");
    CHECK(halves.get().value() == std::vector<double>{0, 0.5, 1});
    CHECK(letters.get().value() == "IBM");
  }
}

TEST_CASE("a request to an accelerator has a time-out, and the work is done all the same") {
  test_system kit(1);
  seen.clear();
  const accelerator acc = spawn(kit, accelerator_team().replicas(2));
  const auto plus = [](int a, int b) { return a + b; };
  const auto same = [](const int& x) { return x; };
  auto late = kit.request(acc, see, std::vector<int>(10, 1), duration::seconds(1));
  kit.advance(duration::seconds(2));
  kit.run();
  CHECK(late.get().error() == errc::timeout);
  CHECK(seen.size() == 10);
  auto in_time = kit.request(acc, see, std::vector<int>(10, 2), duration::seconds(1)),
       one_more = kit.request(acc, see, std::vector<int>(10, 3));
  auto sum = kit.request(acc, reduce(same, plus), numbers(5), duration::seconds(1));
  kit.run();
  CHECK(in_time.get().value() == std::vector<int>(10, 2));
  CHECK(one_more.get().value() == std::vector<int>(10, 3));
  CHECK(sum.get().value() == 10);
}

TEST_CASE("settings of a pattern that an accelerator would not heed are refused") {
  test_system kit(1);
  const accelerator acc = spawn(kit, accelerator_team().replicas(2));
  const auto p = map([](int& x) { ++x; }).named("next");
  for (const auto& refused : {p.replicas(2), p.own_threads(), p.on(on_failure::skip)}) {
    std::string why;
    try {
      static_cast<void>(kit.request(acc, refused, numbers(3)));
    } catch (const std::invalid_argument& e) { why = e.what(); }
    CAPTURE(why);
    CHECK(why.find("\"next\" for an accelerator: ") != std::string::npos);
  }
  auto answer = kit.request(acc, p.dynamic(2), numbers(3));
  kit.run();
  CHECK(answer.get().value() == std::vector<int>{1, 2, 3});
}

TEST_CASE("an accelerator divides and conquers, and lets elements go round") {
  const auto halves = [](std::span<int> all, parts& out) {
    out.add(0, all.size() / 2);
    out.add(all.size() / 2, all.size());
  };
  const auto merge = [](std::span<int> all, const parts& of) {
    std::inplace_merge(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(of[1].begin),
                       all.end());
  };
  const auto sort_few = [](std::span<int> few) { std::sort(few.begin(), few.end()); };
  const auto is_short = [](std::span<const int> some) { return some.size() < 5; };
  const auto sorting = divide_conquer(halves, merge, sort_few, is_short);
  using range = std::pair<int, int>;
  const auto cut = [](range r) {
    const int middle = (r.first + r.second) / 2;
    return std::vector<range>{{r.first, middle}, {middle, r.second}};
  };
  const auto join_all = [](std::vector<std::string> some) {
    std::string all = "(";
    for (const std::string& s : some) all += s;
    return all + ")";
  };
  const auto as_text = [](range r) { return std::to_string(r.first); };
  const auto is_one = [](const range& r) { return r.second - r.first <= 1; };
  const auto spelling = divide_conquer(cut, join_all, as_text, is_one);
  const auto rounds =
      master_worker([](int& x) { x -= 3; }, [](const int& x) { return x > 0; }).named("rounds");
  const std::vector<int> backwards{9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  const std::vector<int> left{0, -1, -2, 0, -1, -2, 0, -1, -2, -3};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const accelerator acc = spawn(kit, accelerator_team().replicas(3));
    auto sorted = kit.request(acc, sorting, backwards);
    auto spelt = kit.request(acc, spelling, range{0, 8});
    auto gone_round = kit.request(acc, rounds, backwards);
    kit.run();
    CHECK(sorted.get().value() == numbers(10));
    CHECK(spelt.get().value() == "(((01)(23))((45)(67)))");
    CHECK(gone_round.get().value() == left);
  }
  actor_system system;
  for (const bool own_threads : {false, true}) {
    CAPTURE(own_threads);
    const auto team = accelerator_team().replicas(2);
    const accelerator acc = spawn(system, own_threads ? team.own_threads() : team);
    auto sorted = system.request(acc, sorting, backwards);
    auto spelt = system.request(acc, spelling, range{0, 8});
    auto gone_round = system.request(acc, rounds, backwards);
    CHECK(sorted.get().value() == numbers(10));
    CHECK(spelt.get().value() == "(((01)(23))((45)(67)))");
    CHECK(gone_round.get().value() == left);
  }
}

TEST_CASE("a request of no accelerator is refused where it is made") {
  const accelerator nobody;
  const auto add_one = [](int& x) { ++x; };
  const char* const text =
      "garrick: a request through an empty handle; give the handle an actor first";
  test_system kit(1);
  CHECK_THROWS_WITH_AS(static_cast<void>(kit.request(nobody, add_one, numbers(3))), text,
                       std::logic_error);
  actor_system system;
  CHECK_THROWS_WITH_AS(static_cast<void>(system.request(nobody, add_one, numbers(3))), text,
                       std::logic_error);
}

TEST_CASE("an accelerator's request fails alone") {
  test_system kit(1);
  const accelerator acc = spawn(kit, accelerator_team());
  const auto picky = [](int& x) {
    if (x == 3) throw std::runtime_error("three");
  };
  auto bad = kit.request(acc, picky, numbers(5)), good = kit.request(acc, picky, numbers(3));
  kit.run();
  CHECK(bad.get().error().to_string().find("map: element 3: three") != std::string::npos);
  CHECK(good.get().value() == numbers(3));
}

TEST_CASE("a container goes to an accelerator and back without a copy") {
  actor_system system;
  const accelerator acc = spawn(system, accelerator_team());
  std::vector<counting_copies> all(100);
  const counting_copies* const where = all.data();
  counting_copies::copies = 0;
  const auto got =
      system.request(acc, [](counting_copies& x) { ++x.value; }, std::move(all)).get().value();
  CHECK(got.data() == where);
  CHECK(got[99].value == 1);
  CHECK(counting_copies::copies == 0);
}

TEST_CASE("an accelerator ends when no handle to it and no request is left") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    auto answer =
        kit.request(spawn(kit, accelerator_team().replicas(4)), [](int& x) { ++x; }, numbers(20));
    kit.run();
    CHECK(answer.get().value()[19] == 20);
    CHECK(kit.actor_count() == 0);
  }
}

TEST_CASE(
    "an accelerator's own threads run on the processors that it was given, and no worker helps") {
  const std::vector<std::int32_t> all = base::platform::usable_processors();
  actor_system system;
  for (const std::int32_t p : {all.front(), all.back()}) {
    CAPTURE(p);
    const std::size_t replicas = p == all.front() ? 2 : 1;
    const accelerator acc = spawn(
        system, accelerator_team().replicas(replicas).own_threads("<" + std::to_string(p) + ">"));
    const auto where = [](int& x) {
      const std::vector<std::int32_t> mine = base::platform::usable_processors();
      x = mine.size() == 1 ? mine[0] : -1;
    };
    CHECK(system.request(acc, where, numbers(1000)).get().value() == std::vector<int>(1000, p));
  }
}

TEST_CASE("a team without members, or on a processor that is not there, is refused") {
  CHECK_THROWS_AS(static_cast<void>(accelerator_team().replicas(0)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(accelerator_team().replicas(4097)), std::invalid_argument);
  actor_system system;
  const accelerator acc = spawn(system, accelerator_team().own_threads("<4000>"));
  CHECK_FALSE(system.request(acc, [](int& x) { ++x; }, numbers(3)).get().has_value());
}

TEST_CASE("patterns and accelerators are children of a supervisor, found by their names") {
  test_system kit(3);
  const auto doubled = [](int& x) {
    if (x < 0) throw std::out_of_range("negative");
    x *= 2;
  };
  const auto top =
      kit.spawn<supervisor>(supervision{}, data_child({.name = "doubled"}, map(doubled)),
                            accelerator_child({}, accelerator_team().replicas(2).named("shared")));
  kit.run();
  const auto found = [&](const char* name) {
    return kit.request(top, find_child{name}).get().value();
  };
  using numbers_ref = data_ref<std::vector<int>>;
  const numbers_ref h =
      kit.request_typed<numbers_ref::protocol_type>(found("doubled")).get().value();
  const accelerator acc(kit.request_typed<accelerator_protocol>(found("shared")).get().value());

  const auto failed = kit.request(h, std::vector<int>{1, -1}).get();
  REQUIRE(!failed);
  CHECK(failed.error() == errc::receiver_failed);
  CHECK(kit.request(h, std::vector<int>{1, 2}).get().value() == std::vector<int>{2, 4});
  CHECK(kit.request(acc, doubled, std::vector<int>{3}).get().value() == std::vector<int>{6});
  const auto children = kit.request(top, list_children{}).get().value();
  REQUIRE(children.size() == 2);
  for (const child_info& c : children) CHECK(c.restarts == 0);
}

TEST_CASE("a pattern or an accelerator that cannot be spawned is an error as a value") {
  actor_system system;
  const auto squares = try_spawn(system, map([](int& x) { x *= x; }));
  REQUIRE(squares);
  CHECK(system.request(*squares, std::vector<int>{3}).get().value() == std::vector<int>{9});
  const auto acc = try_spawn(system, accelerator_team().replicas(2));
  REQUIRE(acc);
  CHECK(system.request(
                  *acc, [](int& x) { ++x; }, std::vector<int>{3})
            .get()
            .value() == std::vector<int>{4});
  static_cast<void>(system.stop_now(duration::seconds(10)));
  CHECK(try_spawn(system, map([](int& x) { x *= x; })).error() == errc::shutting_down);
  CHECK(try_spawn(system, accelerator_team()).error() == errc::shutting_down);
  CHECK_THROWS_AS(
      static_cast<void>(data_child({.spawn = {.policy = mailbox_policy::drop_newest, .bound = 3}},
                                   map([](int& x) { ++x; }))),
      std::invalid_argument);
}

}  // namespace

}  // namespace accelerator_test
