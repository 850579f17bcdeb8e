// Stages that ask actors.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/explore.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>
#include <patterns/oracle.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ask_test {

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

struct answer_all {};
/// Answers in another order than it is asked.
class shuffling : public actor<protocol<int(question), void(answer_all)>> {
 public:
  result<int> on(question q) {
    if (waiting_.empty()) send_after(duration::microseconds(50), self(), answer_all{});
    waiting_.emplace_back(make_promise<int>(), 2 * q.x);
    return waiting_.back().first;
  }
  void on(answer_all) {
    for (auto w = waiting_.rbegin(); w != waiting_.rend(); ++w) w->first.deliver(w->second);
    waiting_.clear();
  }

 private:
  std::vector<std::pair<response_promise<int>, int>> waiting_;
};

std::string text_of(const error& e) { return e.to_string(); }

}  // namespace

TEST_CASE("ask puts out the answers, and in the order of the tuples if it is told to") {
  const auto questions = [] {
    return pipeline(from(iota(400)), [](int x) { return question{x}; });
  };
  std::vector<int> expected = iota(400);
  for (int& x : expected) x *= 2;
  in_every_system(
      [&](auto& system) {
        return pipeline(questions(), ask(system.template spawn<doubling>(), 3), collect());
      },
      [&](const auto& got) { REQUIRE(sorted(got.value()) == expected); });
  in_every_system(
      [&](auto& system) {
        return pipeline(questions(), ask<question>(system.template spawn<shuffling>(), 7).ordered(),
                        collect());
      },
      [&](const auto& got) { REQUIRE(got.value() == expected); });
  CHECK_THROWS_AS(static_cast<void>(ask(ref<oracle>(), 0)), std::invalid_argument);
}

TEST_CASE(
    "ask has as many requests under way as it is told, also while answers wait for older ones") {
  struct patient : actor<protocol<result<int>(question)>> {
    std::vector<response_promise<int>>* asked;
    explicit patient(std::vector<response_promise<int>>* a) : asked(a) {}
    result<int> on(question) {
      asked->push_back(make_promise<int>());
      return asked->back();
    }
  };
  for (const bool ordered : {false, true}) {
    std::vector<response_promise<int>> asked;
    {
      test_system kit(1);
      auto stage = ask(kit.spawn<patient>(lent(&asked)), 8);
      if (ordered) stage = stage.ordered();
      const auto h = spawn(
          kit, pipeline(counting(0, 40), [](int x) { return question{x}; }, stage, discard<int>()));
      kit.run();
      CHECK(asked.size() == 8);
      for (int i = 1; i < 8; ++i) asked[static_cast<std::size_t>(i)].deliver(i);
      kit.run();
      CHECK(asked.size() == (ordered ? 8 : 15));
      asked[0].deliver(0);
      kit.run();
      CHECK(asked.size() == 16);
    }
  }
}

TEST_CASE("an answer that is an error follows the stage's policy") {
  for (const bool in_order : {false, true}) {
    const auto make = [&](auto& system, on_failure policy) {
      auto a = ask<question>(system.template spawn<doubling>(true), 5);
      if (in_order) a = a.ordered();
      return pipeline(
          from(iota(100)), [](int x) { return question{x + 1}; }, a.on(policy), collect());
    };
    in_every_system([&](auto& system) { return make(system, on_failure::fail); },
                    [](const auto& got) {
                      REQUIRE_FALSE(got.has_value());
                      CHECK(text_of(got.error()).find("ask") != std::string::npos);
                      CHECK(text_of(got.error()).find("a ten") != std::string::npos);
                    });
    in_every_system([&](auto& system) { return make(system, on_failure::skip); },
                    [](const auto& got) { CHECK(got.value().size() == 90); });
    test_system kit(1);
    const auto h = spawn(kit, make(kit, on_failure::restart));
    kit.run();
    CHECK(kit.request(h, join{}).get().value().size() == 90);
    CHECK(kit.expect_dead_letter<question>(errc::receiver_failed).content.find("10") !=
          std::string::npos);
  }
}

TEST_CASE("a loop waits for tuples that an actor in it holds") {
  in_every_system(
      [](auto& system) {
        return pipeline(from(std::vector{1, 2, 3}),
                        feedback(pipeline([](int x) { return question{x}; },
                                          ask<question>(system.template spawn<doubling>(), 2)),
                                 [](const int& x) { return x < 100; }),
                        collect());
      },
      [](const auto& got) { REQUIRE(sorted(got.value()) == std::vector<int>{128, 128, 192}); });
}

namespace {

/// A question that counts how often it is copied.
struct costly_question {
  using garrick_sendable = void;
  int x = 0;
  static inline int copies = 0;
  explicit costly_question(int n) : x(n) {}
  costly_question(const costly_question& o) : x(o.x) { ++copies; }
  costly_question(costly_question&&) noexcept = default;
  costly_question& operator=(costly_question&&) noexcept = default;
  ~costly_question() = default;
};
struct same_again : actor<protocol<int(costly_question)>> {
  int on(const costly_question& q) { return q.x; }
};
int key_of_answer(const int& x) {
  if (x == 4) throw std::runtime_error("no key");
  return x;
}

}  // namespace

TEST_CASE("a question is copied once for its dead letter, and not if the stream fails instead") {
  for (const on_failure policy : {on_failure::fail, on_failure::skip, on_failure::restart}) {
    test_system kit(1);
    costly_question::copies = 0;
    const auto h = spawn(kit, pipeline(
                                  counting(0, 10), [](int x) { return costly_question(x); },
                                  ask(kit.spawn<same_again>(), 3).on(policy), collect()));
    kit.run();
    CHECK(kit.request(h, join{}).get().value() == iota(10));
    CHECK(costly_question::copies == (policy == on_failure::fail ? 0 : 10));
  }
}

TEST_CASE("an answer that has no way follows the stage's policy, and others go on") {
  for (const bool ordered : {false, true})
    for (const on_failure policy : {on_failure::fail, on_failure::skip, on_failure::restart})
      testkit::explore(20, [&](test_system& kit) {
        auto asking = ask(kit.spawn<doubling>(), 3);
        if (ordered) asking = asking.ordered();
        const auto h = spawn(
            kit, pipeline(
                     counting(0, 10), [](int x) { return question{x}; }, asking.on(policy),
                     farm([](int x) { return x; }).replicas(2).by_key(key_of_answer), collect()));
        kit.run();
        const auto got = kit.request(h, join{}).get();
        if (policy == on_failure::fail) {
          REQUIRE_FALSE(got.has_value());
          CHECK(text_of(got.error()).find("ask: no key") != std::string::npos);
          return;
        }
        CHECK(sorted(got.value()) == std::vector<int>{0, 2, 6, 8, 10, 12, 14, 16, 18});
        CHECK(kit.expect_dead_letter<int>(errc::receiver_failed).content.find('4') !=
              std::string::npos);
      });
}

}  // namespace ask_test
