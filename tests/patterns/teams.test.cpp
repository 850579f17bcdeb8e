// Teams: the members that are told of a request, the time when they are told, and the order of a
// member's work.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/patterns/team/team.hpp>
#include <garrick/patterns/team/turn_length.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace teams_test {

namespace {

using namespace garrick;
using namespace garrick::patterns::detail;
using garrick::testkit::test_system;

/// Work of `turns` turns, each of which takes so long; notes its participants.
class noted_work : public shared_work {
 public:
  noted_work(std::size_t size, std::uint32_t turns, std::int64_t ns_each)
      : shared_work("noted"), size_(size), left_(turns), ns_each_(ns_each) {}
  bool take_part(seat& at, actor_base& /*on*/) noexcept override {
    seen.insert(at.who);
    if (left_ == 0) return false;
    spent(ns_each_);
    if (--left_ != 0) return true;
    ended();
    return false;
  }
  std::size_t size() const noexcept override { return size_; }
  std::size_t most_hands() const noexcept override { return size_; }

  std::set<std::size_t> seen;

 private:
  void end() noexcept override {}
  const std::size_t size_;
  std::uint32_t left_;
  const std::int64_t ns_each_;
};
/// The same work of another function.
class other_work final : public noted_work {
 public:
  using noted_work::noted_work;
};

struct begin_work {
  using garrick_sendable = void;
  std::shared_ptr<noted_work> what;
};
using master_protocol = protocol<void(begin_work), void(work_on)>;
class master : public actor<master_protocol> {
 public:
  void on_start() { team_.assemble(*this, {.replicas = 4}, "team"); }
  void on(begin_work b) { team_.begin(*b.what, *this, self()); }
  void on(work_on t) { team_.go_on(std::move(t), *this, self()); }

 private:
  team team_;
};

template <class Work>
std::size_t hands_of(test_system& kit, const ref<master_protocol>& m, std::uint32_t turns,
                     std::int64_t ns_each) {
  const auto work = std::make_shared<Work>(1000, turns, ns_each);
  send(m, begin_work{work});
  kit.run();
  return work->seen.size();
}

TEST_CASE("no helper is woken for elements that have been cheap, and all are for dear ones") {
  test_system kit;
  const auto m = kit.spawn<master>();
  CHECK(hands_of<noted_work>(kit, m, 1, 1'000) == 4);  // not yet known
  CHECK(hands_of<noted_work>(kit, m, 1, 25'000) == 1);
  CHECK(hands_of<noted_work>(kit, m, 1, 1'000'000) == 2);  // 25 us were expected
  CHECK(hands_of<noted_work>(kit, m, 1, 1'000) == 4);
  CHECK(hands_of<noted_work>(kit, m, 1, 1'000) == 1);
}

TEST_CASE("the time of one function says nothing of another one") {
  test_system kit;
  const auto m = kit.spawn<master>();
  CHECK(hands_of<noted_work>(kit, m, 1, 1'000) == 4);
  CHECK(hands_of<noted_work>(kit, m, 1, 1'000) == 1);
  CHECK(hands_of<other_work>(kit, m, 1, 1'000'000) == 4);
  CHECK(hands_of<noted_work>(kit, m, 1, 1'000) == 1);
}

TEST_CASE("work that takes longer than expected gets helpers, as soon as a wake-up is worth it") {
  test_system kit;
  const auto m = kit.spawn<master>();
  CHECK(hands_of<noted_work>(kit, m, 1, 1'000) == 4);
  CHECK(hands_of<noted_work>(kit, m, 3, 1'000) == 1);  // stopped for mail, say
  CHECK(hands_of<noted_work>(kit, m, 8, 10'000) == 4);
}

TEST_CASE("others have a turn after eight milliseconds, however many turns those are") {
  test_system kit;
  const auto m = kit.spawn<master>();
  const auto first = std::make_shared<noted_work>(1, 20, 1);
  const auto second = std::make_shared<noted_work>(1, 1, 1);
  send(m, begin_work{first});
  send(m, begin_work{second});
  // By the virtual clock each turn is a millisecond.
  for (int turns = 0; second->seen.empty(); ++turns) {
    REQUIRE(turns < 20);
    kit.step();
  }
  CHECK(second->seen.size() == 1);
  kit.run();
}

struct ask_turn {};
struct mail {};
struct turn_answers {
  bool after_a_while, after_long, at_once;
};
class turns : public actor<protocol<result<turn_answers>(ask_turn), void(mail)>> {
 public:
  explicit turns(bool asked) : asked_(asked) {}
  result<turn_answers> on(ask_turn) {
    const seat at{.was_asked = asked_};
    const instant begin = now();
    return turn_answers{turn_is_over(begin, begin + duration::microseconds(1), at, *this),
                        turn_is_over(begin, begin + duration::milliseconds(1), at, *this),
                        turn_is_over(begin, begin, at, *this)};
  }
  void on(mail) {}

 private:
  const bool asked_;
};

TEST_CASE(
    "a turn ends after a millisecond, and for the actor that was asked as soon as there is mail") {
  for (const bool asked : {false, true})
    for (const bool more : {false, true}) {
      CAPTURE(asked);
      CAPTURE(more);
      test_system kit;
      const auto t = kit.spawn<turns>(asked);
      auto answer = kit.request(t, ask_turn{});
      if (more) send(t, mail{});
      kit.run();
      const turn_answers a = answer.get().value();
      CHECK(a.after_a_while == (asked && more));
      CHECK(a.after_long);
      CHECK(a.at_once);  // no time passes by a virtual clock
    }
}

TEST_CASE("blocks become longer while they are short, and shorter when they are long") {
  seat at{.begun = {0, 10, 50}, .block = 4};
  const piece first = take_block(at, false);
  CHECK(first.begin == 10);
  CHECK(first.end == 14);
  CHECK(at.begun.begin == 14);
  adapt_block(at, 1'000);
  CHECK(at.block == 8);
  adapt_block(at, 50'000);
  CHECK(at.block == 8);
  adapt_block(at, 200'000);
  CHECK(at.block == 4);
  for (int i = 0; i < 10; ++i) adapt_block(at, 200'000);
  CHECK(at.block == 1);
  CHECK(take_block(at, true).end == 50);
  CHECK(at.begun.empty());
}

}  // namespace

}  // namespace teams_test
