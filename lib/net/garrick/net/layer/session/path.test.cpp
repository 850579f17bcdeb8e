#include "garrick/net/layer/session/path.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "garrick/net/error.hpp"
#include "garrick/net/stack/internal/session_pair.hpp"

namespace path_test {

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::tests;
using base::duration;
using kind = link_event::kind;

namespace {

/// Two ends over datagrams that probe a path which takes `path` bytes.
struct probing : pair_of {
  std::size_t path = 1400;
  std::uint32_t loss = 0;  // of 100
  std::vector<std::size_t> too_large;

  static session_settings with_probing(int i) {
    session_settings s = settings_of(i);
    s.probing = {};
    return s;
  }
  explicit probing(std::size_t carriers = 65'507, std::uint64_t seed = 1)
      : pair_of(false, with_probing(0), with_probing(1), seed) {
    for (test_end& e : ends) e.limit = carriers;
    fate = [this](int, const test_end::bytes& b) -> std::vector<duration> {
      if (b.size() > path) {
        too_large.push_back(b.size());
        return {};
      }
      if (random.below(100) < loss) return {};
      return {latency};
    };
  }
  [[nodiscard]] std::size_t size(std::size_t i) { return *layer(i).path_size().size(); }
  [[nodiscard]] std::size_t largest(std::size_t i) {
    return static_cast<datagram_stack&>(*ends[i].stack).largest_message();
  }
  void send_large(std::size_t i) {
    REQUIRE(!ends[i].stack->send(message(std::string(largest(i), 'x')), now));
  }
};

}  // namespace

TEST_CASE("path: the largest datagram that the path takes is found, and told") {
  for (const auto& [path, carriers, found] :
       std::vector<std::array<std::size_t, 3>>{{1200, 65'507, 1200},
                                               {1300, 65'507, 1232},
                                               {1472, 65'507, 1472},
                                               {9000, 65'507, 8952},
                                               {65'507, 65'507, 65'507},
                                               {65'507, 1300, 1300},
                                               {65'507, 600, 600}}) {
    CAPTURE(path);
    CAPTURE(carriers);
    probing p(carriers);
    p.path = path;
    CHECK(p.largest(0) == std::min<std::size_t>(1200, carriers) - 5);
    p.connect();
    p.run(30_s);
    for (std::size_t i : {0u, 1u}) {
      CHECK(p.size(i) == found);
      CHECK(p.largest(i) == found - 5);
      CHECK(p.ends[i].has(kind::path) == (found > 1200));
      if (found > 1200) {
        const auto& events = p.ends[i].events;
        const auto last = std::find_if(events.rbegin(), events.rend(),
                                       [](const auto& e) { return e.what == kind::path; });
        CHECK(last->number == found);
      }
      CHECK(!p.ends[i].has(kind::suspected));
    }
    p.send_large(0);
    p.run(10_ms);
    CHECK(p.ends[1].messages.size() == 1);
  }
}

TEST_CASE("path: a size that does not pass is asked for three times, and again much later") {
  probing p;
  p.connect();
  p.run(300_s);
  // Each of the two ends has tried 1452 bytes three times.
  CHECK(p.too_large == std::vector<std::size_t>(6, 1452));
  p.path = 1452;
  p.run(400_s);
  CHECK(p.size(0) == 1452);
  CHECK(p.size(1) == 1452);
}

TEST_CASE("path: loss may end a search early, but lowers nothing") {
  for (std::uint64_t seed = 0; seed != seeds(); ++seed) {
    CAPTURE(seed);
    probing p(65'507, seed);
    p.loss = 20;
    p.connect();
    p.run(15_s);
    std::size_t before = 0;
    for (int i = 0; i != 20; ++i) {
      p.run(1_s);
      REQUIRE(!p.ends[0].down());
      REQUIRE(p.layer(0).path_size().black_holes() == 0);
      const std::size_t now = p.layer(0).path_size().size().value_or(1200);
      REQUIRE(now >= before);
      before = now;
    }
  }
}

TEST_CASE("path: datagrams that vanish for their size make it small again") {
  probing p;
  p.connect();
  p.run(10_s);
  REQUIRE(p.size(0) == 1400);
  p.path = 1250;
  SUBCASE("when large ones are sent") {
    for (int i = 0; i != 200; ++i) {
      p.send_large(0);
      p.run(100_ms);
    }
    CHECK(p.layer(0).path_size().black_holes() == 1);
    CHECK(p.size(0) == 1232);
    CHECK(!p.ends[0].down());
    CHECK(p.layer(1).path_size().black_holes() == 0);
  }
  SUBCASE("and not while nothing large is sent, or the peer is silent") {
    p.run(100_s);
    CHECK(p.size(0) == 1400);
    p.send_large(0);
    p.path = 0;
    p.run(14_s);
    CHECK(p.size(0) == 1400);
    CHECK(p.layer(0).path_size().black_holes() == 0);
  }
}

TEST_CASE("path: a path that takes all is confirmed now and then, and stays") {
  probing p;
  p.connect();
  p.run(10_s);
  const auto before = p.layer(0).counters().heartbeats_sent;
  for (int i = 0; i != 1000; ++i) {
    p.send_large(0);
    p.run(100_ms);
  }
  const auto confirmations = p.layer(0).counters().heartbeats_sent - before;
  CHECK(confirmations >= 18);
  CHECK(confirmations <= 20);
  CHECK(p.size(0) == 1400);
}

TEST_CASE("path: a size that the carrier reports counts at once") {
  probing p;
  p.connect();
  p.run(10_s);
  REQUIRE(p.size(0) == 1400);
  p.ends[0].limit = 1000;
  p.ends[0].stack->path_changed(1000, p.now);
  CHECK(p.size(0) == 1000);
  CHECK(p.ends[0].events.back().what == kind::path);
  CHECK(p.ends[0].events.back().number == 1000);
  p.ends[0].limit = 9000;
  p.ends[0].stack->path_changed(9000, p.now);
  p.run(10_s);
  CHECK(p.size(0) == 1400);
}

TEST_CASE("path: an answer to an old probe, or to none, raises nothing") {
  path probe({});
  base::instant now{};
  CHECK(!probe.answered(0, now));
  probe.begin(9000, now);
  CHECK(probe.advance(now, 1).probe == 1232);
  CHECK(!probe.answered(2, now));
  now = probe.deadline();
  CHECK(probe.advance(now, 3).probe == 1232);
  CHECK(probe.lost() == 1);
  CHECK(!probe.answered(1, now));
  CHECK(probe.answered(3, now));
  CHECK(probe.size() == 1232);
  CHECK(!probe.answered(3, now));
}

TEST_CASE("path: however often a larger size is asked for in vain, nothing is lowered") {
  path probe({.tries = 10, .confirm_tries = 2});
  base::instant now{};
  probe.begin(9000, now);
  CHECK(probe.advance(now, 1).probe == 1232);
  CHECK(probe.answered(1, now));
  for (std::uint32_t i = 2; i != 13; ++i) {
    const path::step s = probe.advance(now, i);
    CHECK(s.probe == (i == 12 ? 0 : 1400));
    CHECK(!s.lowered);
    probe.heard();
    if (i != 12) now = probe.deadline();
  }
  CHECK(probe.size() == 1232);
  CHECK(probe.lost() == 10);
  CHECK(probe.deadline() == now + duration::seconds(600));
}

TEST_CASE("path: a probe that the carrier takes no more is not lost on the path") {
  path probe({});
  base::instant now{};
  probe.begin(1400, now);
  for (std::uint32_t i = 1; *probe.size() != 1400; ++i) {
    REQUIRE(probe.advance(now, i).probe != 0);
    REQUIRE(probe.answered(i, now));
  }
  CHECK(probe.advance(now, 10).probe == 0);
  probe.sent(1400);
  now = probe.deadline();
  CHECK(probe.advance(now, 11).probe == 1400);
  CHECK(probe.limit_changed(1300, now));
  now = probe.deadline();
  CHECK(probe.advance(now, 12).probe == 1300);
  CHECK(probe.lost() == 0);
}

}  // namespace path_test
