// One team for many actors, who hand over containers and functions of several kinds.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/data_parallel.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

TEST_CASE("an accelerator does what a pattern says") {
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

TEST_CASE("an accelerator ends when nobody holds it and nobody waits for it") {
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

TEST_CASE("a team of nobody, or on a processor that is not there, is refused") {
  CHECK_THROWS_AS(static_cast<void>(accelerator_team().replicas(0)), std::invalid_argument);
  actor_system system;
  const accelerator acc = spawn(system, accelerator_team().own_threads("<4000>"));
  CHECK_FALSE(system.request(acc, [](int& x) { ++x; }, numbers(3)).get().has_value());
}

}  // namespace
