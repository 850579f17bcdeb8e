// The replica that gets a tuple, and the questions of a source about the room there.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace routing_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

using count_of_key = std::pair<int, int>;
int key_of(const int& x) { return x % 17; }
int same(int x) { return x; }

/// Counts its tuples by their keys.
class counts {
 public:
  void consume(int x, emit<count_of_key> /*out*/) { ++counts_[key_of(x)]; }
  void on_stop(emit<count_of_key> out) {
    for (const auto& [key, n] : counts_) out(count_of_key(key, n));
  }

 private:
  std::map<int, int> counts_;
};

}  // namespace

TEST_CASE("equal keys reach one replica, whichever of several producers they come from") {
  const auto p = pipeline(
      counting(0, 1700), farm(same).replicas(3), farm(seq<counts>()).replicas(4).by_key(key_of),
      fold(std::vector<count_of_key>(), [](std::vector<count_of_key> all, count_of_key c) {
        all.push_back(c);
        return all;
      }));
  std::vector<count_of_key> expected;
  for (int key = 0; key < 17; ++key) expected.emplace_back(key, 100);
  for (const bool emitters : {false, true}) {
    const stream_options o{.capacity = 8, .remove_emitters = !emitters};
    test_system kit(1);
    const auto h = spawn(kit, p, o);
    kit.run();
    std::vector<count_of_key> got = kit.request(h, join{}).get().value();
    std::sort(got.begin(), got.end());
    CHECK(got == expected);
  }
}

TEST_CASE("try_send_next puts out while fewer than its limit wait, and else leaves the value") {
  for (const std::size_t limit : {0U, 1U, 3U}) {
    CAPTURE(limit);
    int calls = 0, put = 0, wrong = 0;
    const auto source = [&](emit<int> out) {
      int value = put;
      const error why = out.try_send_next(limit, std::move(value));
      if (!why)
        ++put;
      else if (why != errc::overload || value != put)
        ++wrong;
      return ++calls < 1000;
    };
    std::vector<int> got;
    int put_at_first = 0;
    const auto sink = [&](int x) {
      if (got.empty()) put_at_first = put;
      got.push_back(x);
    };
    test_system kit(1);
    // not in place: the source goes on to the end of its step before the sink takes anything
    const auto h = spawn(kit, pipeline(seq(lent(source)), seq(lent(sink))), {.in_place = false});
    kit.run();
    REQUIRE(kit.request(h, join{}).get().has_value());
    CHECK(wrong == 0);
    CHECK(put_at_first == static_cast<int>(limit));
    CHECK(put < 1000);
    REQUIRE(static_cast<int>(got.size()) == put);
    for (int i = 0; i < put; ++i) CHECK(got[static_cast<std::size_t>(i)] == i);
  }
}

}  // namespace routing_test
