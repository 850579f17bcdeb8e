// The arguments of spawn: copied, moved, or lent.
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace spawn_arguments_test {

using namespace garrick;
using garrick::testkit::test_system;

namespace {

struct look {};
using reader = protocol<std::string(look)>;

/// Counts how it came here.
struct traced {
  traced() = default;
  traced(const traced& o) : copies(o.copies + 1), moves(o.moves) {}
  traced(traced&& o) noexcept : copies(o.copies), moves(o.moves + 1) {}
  int copies = 0;
  int moves = 0;
};
}  // namespace

}  // namespace spawn_arguments_test

template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<spawn_arguments_test::traced> =
    true;

namespace spawn_arguments_test {

namespace {

struct tracing : actor<protocol<int(look)>> {
  explicit tracing(traced&& t) : copies(t.copies) {}
  int on(look) const { return copies; }
  int copies;
};

struct holder : actor<reader> {
  holder(std::string text, std::unique_ptr<int> number)
      : text_(std::move(text)), number_(std::move(number)) {}
  std::string on(look) const { return text_ + std::to_string(*number_); }
  std::string text_;
  std::unique_ptr<int> number_;
};

struct counter : actor<protocol<void(int)>> {
  explicit counter(int& sum) : sum_(sum) {}
  void on(int x) {
    if (x < 0) throw std::runtime_error("negative");
    sum_ += x;
  }
  int& sum_;
};

}  // namespace

TEST_CASE("an argument that is not moved is copied, so the spawner's variable stays its own") {
  test_system kit{1};
  std::string text = "before ";
  auto number = std::make_unique<int>(7);
  const auto a = kit.spawn<holder>(text, std::move(number));
  text = "after ";
  CHECK(number == nullptr);
  auto answer = kit.request(a, look{});
  kit.run();
  CHECK(answer.get().value() == "before 7");
}

TEST_CASE("an argument is copied at most once, and one that is moved never") {
  test_system kit{1};
  const traced mine;
  auto copied = kit.request(kit.spawn<tracing>(mine), look{});
  auto moved = kit.request(kit.spawn<tracing>(traced()), look{});
  kit.run();
  CHECK(copied.get().value() == 1);
  CHECK(moved.get().value() == 0);
}

TEST_CASE("a variable that was lent is the spawner's own, also after a restart and in a pool") {
  test_system kit{1};
  int sum = 0;
  const auto top = kit.spawn<supervisor>();
  send(kit.spawn<counter>(lent(sum)), 1);
  const auto child = supervise<counter>(top, lent(sum));
  send(child, -1);
  send(child, 10);
  send(spawn_pool<counter>(kit, 2, lent(sum)), 100);
  kit.run();
  CHECK(sum == 111);
  CHECK(kit.failures().size() == 1);
}

TEST_CASE("a function's actor gets lent references, and may be a closure that was lent") {
  test_system kit{1};
  int sum = 0;
  const int two = 2;
  kit.spawn([](dynamic_actor&, int& x, const int& y,
               std::string z) { x += y + static_cast<int>(z.size()); },
            lent(sum), lent(two), "abc");
  kit.run();
  CHECK(sum == 5);
  const auto add = [&](dynamic_actor&) { sum += 10; };
  kit.spawn(lent(add));
  kit.spawn(lent([&, n = std::make_unique<int>(100)](dynamic_actor&) { sum += *n; }));
  kit.run();
  CHECK(sum == 115);
}

TEST_CASE("a pointer is lent by value, since its variable may be gone before the actor begins") {
  test_system kit{1};
  int sum = 0;
  {
    int* to = &sum;
    kit.spawn([](dynamic_actor&, int* x) { *x += 1; }, lent(to));
    const int* const from = to;
    kit.spawn([](dynamic_actor&, const int* x, int& y) { y += x == &y ? 10 : 0; }, lent(from),
              lent(sum));
    to = nullptr;
  }
  kit.run();
  CHECK(sum == 11);
}

TEST_CASE("a lent reference may be sent, too, and the receiver opens it") {
  test_system kit{1};
  int sum = 0;
  const any_ref adder = kit.spawn([](dynamic_actor&) -> behavior {
    return {[](lent<int&> x, lent<const int*> y) { x.get() += *y.get(); }};
  });
  const int five = 5;
  send(adder, lent(sum), lent(&five));
  kit.run();
  CHECK(sum == 5);
}

TEST_CASE("the text of an error and of an exit reason is its own copy") {
  std::string text = "the disk is full";
  const error why = make_error(errc::user, text);
  const exit_reason reason(exit_code::failure, text);
  text.assign(text.size(), '-');
  CHECK(why.detail() == "the disk is full");
  CHECK(reason.detail() == "the disk is full");
}

}  // namespace spawn_arguments_test
