// Results that a stage puts out only if there is room.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace try_send_next_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

/// The counts of the texts that were offered.
struct offered {
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;
  std::uint64_t wrong = 0;  ///< refused for another reason, or changed

  template <class TrySend>
  void offer(int n, const TrySend& try_send) {
    for (int i = 0; i < n; ++i) {
      const std::string text = std::to_string(i);
      std::string s = text;
      const error why = try_send(std::move(s));
      if (!why)
        ++taken;
      else if (why == errc::overload && s == text)
        ++refused;
      else
        ++wrong;
    }
  }
};

/// A source that offers thirty texts while no stage can take one, and ends.
class source {
 public:
  source(std::size_t limit, offered* what) : limit_(limit), what_(what) {}
  bool operator()(emit<std::string> out) {
    what_->offer(30, [&](std::string&& s) { return out.try_send_next(limit_, std::move(s)); });
    return false;
  }

 private:
  std::size_t limit_;
  offered* what_;
};
std::string same(std::string s) { return s; }
std::uint64_t no_two_keys(const std::string&) { return 5; }
auto a_stage() { return seq(same).named("stage"); }

/// Returns how many texts each replica in the pattern has taken.
template <class P>
std::vector<std::uint64_t> taken_by(const P& p, std::size_t limit, stream_options o = {}) {
  offered what;
  test_system kit(1);
  const auto h =
      spawn(kit, pipeline(seq(lent(source(limit, &what))), p, discard<std::string>()), o);
  kit.run();
  CHECK(kit.request(h, join{}).get().has_value());
  CHECK(what.wrong == 0);
  CHECK(what.taken + what.refused == 30);
  std::vector<std::uint64_t> each;
  std::uint64_t all = 0;
  for (const stage_report& s : kit.request(h, get_report{}).get().value().stages)
    if (s.name.find("stage") != std::string::npos) {
      each.push_back(s.figures.in);
      all += s.figures.in;
    }
  CHECK(all == what.taken);
  return each;
}
using counts = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("try_send_next puts out as many as the limit says, and leaves the others as they are") {
  for (const std::size_t limit : {0U, 1U, 7U}) CHECK(taken_by(a_stage(), limit) == counts{limit});
  CHECK(taken_by(a_stage(), 100) == counts{30});
  // tuples that find no room in the channel wait, too
  CHECK(taken_by(a_stage(), 7, {.capacity = 2}) == counts{7});
}

TEST_CASE("try_send_next tries every replica with round_robin, random_member and least_loaded") {
  const auto three = farm(a_stage()).replicas(3);
  for (const std::size_t limit : {0U, 1U, 4U}) {
    const counts full{limit, limit, limit};
    CHECK(taken_by(three.round_robin(), limit) == full);
    CHECK(taken_by(three.random_member(9), limit) == full);
    CHECK(taken_by(three.least_loaded(), limit) == full);
  }
  // farms in a farm
  CHECK(taken_by(farm(farm(a_stage()).replicas(2).random_member()).replicas(2), 3) ==
        counts{3, 3, 3, 3});
  // with an emitter there is one channel
  CHECK(taken_by(farm(seq(same).named("stage")).replicas(1), 5, {.remove_emitters = false}) ==
        counts{5});
}

TEST_CASE(
    "try_send_next looks at the replica that has to have the tuple, and at all of broadcast") {
  const auto three = farm(a_stage()).replicas(3);
  counts one_of_three(3);
  for (const std::uint64_t n : taken_by(three.by_key(no_two_keys), 4)) one_of_three[n == 4] += 1;
  CHECK(one_of_three == counts{2, 1, 0});
  CHECK(taken_by(three.by([](const std::string&, std::size_t) { return 1; }), 4) ==
        counts{0, 4, 0});
  offered what;
  test_system kit(1);
  const auto h =
      spawn(kit, pipeline(seq(lent(source(4, &what))), three.broadcast(), discard<std::string>()));
  kit.run();
  CHECK(kit.request(h, join{}).get().has_value());
  CHECK(what.taken == 4);
}

TEST_CASE("an exception of a key function in try_send_next is a failure of the stage") {
  struct bad_key {
    int operator()(const std::string& s) const {
      if (s == "3") throw std::runtime_error("no key");
      return 0;
    }
  };
  offered what;
  test_system kit(1);
  const auto h =
      spawn(kit, pipeline(seq(lent(source(100, &what))).named("source"),
                          farm(a_stage()).replicas(2).by_key(bad_key()), discard<std::string>()));
  kit.run();
  const auto end = kit.request(h, join{}).get();
  REQUIRE_FALSE(end);
  CHECK(end.error().to_string().find("source: no key") != std::string::npos);
}

namespace {

struct offer_some {
  int n = 0;
};
/// The place of an actor's counts.
struct place {
  using garrick_sendable = void;
  offered* what;
};
/// Offers thirty texts for each tuple, and others on request.
class offering : public stage_actor<std::string, std::string, void(offer_some)> {
 public:
  offering(std::size_t limit, place at) : limit_(limit), what_(at.what) {}
  void on_start() { ask_for_more = ref<protocol<void(offer_some)>>(self()); }
  void consume(const std::string&) { offer(30); }
  void on(offer_some some) { offer(some.n); }
  static inline ref<protocol<void(offer_some)>> ask_for_more;

 private:
  void offer(int n) {
    what_->offer(n, [&](std::string&& s) { return try_send_next(limit_, std::move(s)); });
  }
  std::size_t limit_;
  offered* what_;
};

}  // namespace

TEST_CASE("a stage's actor puts out as many as the limit says, in consume and on other turns") {
  const auto three = farm(a_stage()).replicas(3);
  for (const std::size_t limit : {0U, 1U, 4U, 40U}) {
    CAPTURE(limit);
    const auto each_turn = [&](const auto& behind, std::uint64_t expected) {
      offered what;
      test_system kit(1);
      const auto h = spawn(
          kit, pipeline(seq_actor<offering>(limit, place{&what}), behind, discard<std::string>()),
          {.capacity = 16, .in_place = false});
      send(h, std::string("begin"));
      kit.run();
      CHECK(what.taken == expected);
      send(std::exchange(offering::ask_for_more, {}), offer_some{30});
      kit.run();
      CHECK(what.taken == 2 * expected);
      CHECK(what.wrong == 0);
      send(h, end_of_stream{});
      kit.run();
      CHECK(kit.request(h, join{}).get().has_value());
      const stream_report r = kit.request(h, get_report{}).get().value();
      CHECK(r.stages.back().figures.in == what.taken);
    };
    each_turn(a_stage(), limit < 30 ? limit : 30);
    each_turn(three, 3 * limit < 30 ? 3 * limit : 30);
    each_turn(three.random_member(), 3 * limit < 30 ? 3 * limit : 30);
    each_turn(three.by_key(no_two_keys), limit < 30 ? limit : 30);
  }
}

}  // namespace try_send_next_test
