// The containers of data-parallel patterns: a container with one holder is not copied, its
// exceptions fail its request alone, and several may be under way.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/explore.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace containers_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::counting_copies;
using tests::numbers;

using row = std::vector<counting_copies>;
using rows = protocol<result<row>(row)>;

/// This many elements of that value.
row alike(std::size_t n, int value) {
  row all(n);
  for (counting_copies& x : all) x.value = value;
  return all;
}
row row_of(int n) {
  row all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)].value = i;
  return all;
}
std::vector<int> values_of(const row& all) {
  std::vector<int> values;
  for (const counting_copies& x : all) values.push_back(x.value);
  return values;
}
/// This many numbers, from that one on.
std::vector<int> from_on(int first, int n) {
  std::vector<int> all = numbers(n);
  for (int& x : all) x += first;
  return all;
}
bool has_text(const error& e, const char* text) {
  return e.to_string().find(text) != std::string::npos;
}

void add_one(counting_copies& x) { ++x.value; }
bool is_left(const counting_copies& x) { return x.value < 0; }
int value_of(const counting_copies& x) { return x.value; }
int plus(int a, int b) { return a + b; }

void halves(std::span<counting_copies> all, parts& out) {
  out.add(0, all.size() / 2);
  out.add(all.size() / 2, all.size());
}
void nothing_to_merge(std::span<counting_copies>, const parts&) {}
void add_one_to_all(std::span<counting_copies> few) {
  for (counting_copies& x : few) ++x.value;
}
bool is_short(std::span<const counting_copies> some) { return some.size() < 4; }

void is_neither_copied_nor_moved(test_system& kit, const ref<rows>& h) {
  row all = row_of(100);
  const counting_copies* const where = all.data();
  auto answer = kit.request(h, std::move(all));
  kit.run();
  const row got = answer.get().value();
  CHECK(got.data() == where);
  CHECK(values_of(got) == from_on(1, 100));
}

TEST_CASE("an element that is not shared is neither copied nor moved") {
  test_system kit(1);
  counting_copies::copies = counting_copies::moves = 0;
  is_neither_copied_nor_moved(kit, spawn(kit, master_worker(add_one, is_left).replicas(3)));
  is_neither_copied_nor_moved(
      kit, spawn(kit, divide_conquer(halves, nothing_to_merge, add_one_to_all, is_short)));
  auto sum = kit.request(spawn(kit, reduce(value_of, plus).replicas(3)), row_of(100));
  kit.run();
  CHECK(sum.get().value() == 4950);
  CHECK(counting_copies::copies == 0);
  CHECK(counting_copies::moves == 0);
}

TEST_CASE("a container that two patterns are asked with at once is copied once") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto p = master_worker(add_one, is_left).replicas(3);
    const router<rows, broadcast> both({ref<rows>(spawn(kit, p)), ref<rows>(spawn(kit, p))});
    row all = row_of(100);
    counting_copies::copies = 0;
    auto answers = kit.request(both, std::move(all));
    kit.run();
    const auto got = answers.get();
    REQUIRE(got.value().size() == 2);
    for (const auto& one : *got) CHECK(values_of(one.value()) == from_on(1, 100));
    CHECK(counting_copies::copies == 100);
  }
}

TEST_CASE("several requests to one pattern are under way, and each gets its own") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto sums = spawn(kit, reduce(value_of, plus).replicas(3).dynamic(2));
    const auto divides =
        spawn(kit, divide_conquer(halves, nothing_to_merge, add_one_to_all, is_short).replicas(3));
    auto sum_1 = kit.request(sums, row_of(40)), sum_2 = kit.request(sums, row_of(0)),
         sum_3 = kit.request(sums, row_of(3));
    auto parts_1 = kit.request(divides, row_of(40)), parts_2 = kit.request(divides, row_of(0)),
         parts_3 = kit.request(divides, row_of(3));
    kit.run();
    CHECK(sum_1.get().value() == 780);
    CHECK(sum_2.get().value() == 0);
    CHECK(sum_3.get().value() == 3);
    CHECK(values_of(parts_1.get().value()) == from_on(1, 40));
    CHECK(parts_2.get().value().empty());
    CHECK(values_of(parts_3.get().value()) == from_on(1, 3));
  }
}

TEST_CASE(
    "a master and its workers are a stage; an exception of a function or the condition fails it") {
  const auto picky = [](counting_copies& x) {
    if (x.value == 17) throw std::runtime_error("not this one");
    ++x.value;
  };
  const auto unsure = [](const counting_copies& x) {
    if (x.value == 8) throw std::runtime_error("who knows");
    return x.value % 3 != 0;
  };
  const auto collect = [](std::vector<int> all, row some) {
    for (const counting_copies& x : some) all.push_back(x.value);
    return all;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto p = master_worker(picky, unsure).named("rounds").replicas(3);
    const auto h = spawn(kit, p);
    row with_17 = alike(9, 4), with_7 = alike(9, 4);
    with_17[3].value = 17;
    with_7[3].value = 7;
    auto bad_function = kit.request(h, std::move(with_17));
    auto bad_condition = kit.request(h, std::move(with_7));
    auto good = kit.request(h, alike(9, 4));
    const auto s = spawn(kit, pipeline(p.on(on_failure::skip), fold(std::vector<int>(), collect)));
    for (const int x : {1, 6, 17, 3}) send(s, alike(2, x));
    send(s, end_of_stream{});
    kit.run();
    CHECK(has_text(bad_function.get().error(), "rounds: element 3: not this one"));
    CHECK(has_text(bad_condition.get().error(), "rounds: element 3: who knows"));
    CHECK(values_of(good.get().value()) == std::vector<int>(9, 6));
    CHECK(kit.request(s, join{}).get().value() == std::vector<int>{3, 3, 6, 6});
    CHECK(kit.dead_letters().size() == 2);
  }
}

/// A container that does not always give its length, nor each element.
struct shy {
  using garrick_sendable = void;
  std::vector<int> all;
  [[nodiscard]] std::size_t size() const {
    if (all.size() == 3) throw std::length_error("three is too many");
    return all.size();
  }
  int& operator[](std::size_t i) {
    if (i == 4) throw std::out_of_range("the fourth is private");
    return all[i];
  }
};

TEST_CASE("an exception of a container fails its request alone, to a map and to an accelerator") {
  const auto twice = [](int& x) { x *= 2; };
  const auto p = map<shy>(twice).named("shy");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, p.replicas(3));
    const accelerator acc = spawn(kit, accelerator_team().replicas(3));
    auto no_element = kit.request(h, shy{numbers(5)}), no_size = kit.request(h, shy{numbers(3)}),
         good = kit.request(h, shy{numbers(2)});
    auto no_element_there = kit.request(acc, p, shy{numbers(5)}),
         no_size_there = kit.request(acc, p, shy{numbers(3)}),
         good_there = kit.request(acc, p, shy{numbers(2)});
    kit.run();
    CHECK(has_text(no_element.get().error(), "shy: element 4: the fourth is private"));
    CHECK(has_text(no_element_there.get().error(), "shy: element 4: the fourth is private"));
    CHECK(has_text(no_size.get().error(), "shy: three is too many"));
    CHECK(has_text(no_size_there.get().error(), "shy: three is too many"));
    CHECK(good.get().value().all == std::vector<int>{0, 2});
    CHECK(good_there.get().value().all == std::vector<int>{0, 2});
  }
}

}  // namespace

TEST_CASE("a message within a team is no dead letter when its stream is cancelled") {
  testkit::explore(400, [](test_system& kit) {
    const auto whole =
        pipeline(counting(0, 5), seq([](int n) { return numbers(n * 3); }),
                 map([](int& x) { ++x; }).replicas(3).dynamic(1), discard<std::vector<int>>());
    const auto h = spawn(kit, whole);
    for (std::uint64_t steps = kit.seed() % 40; steps != 0; --steps) kit.step();
    send(h, cancel{});
    kit.run();
    kit.expect_no_dead_letters();
  });
}

}  // namespace containers_test
