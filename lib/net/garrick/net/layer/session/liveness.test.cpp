#include "garrick/net/layer/session/liveness.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace liveness_test {

using namespace garrick;
using namespace garrick::net;
using base::duration;
using base::instant;

namespace {

constexpr duration interval = duration::milliseconds(100);
constexpr duration down_after = duration::seconds(2);

instant at(std::int64_t ms) { return instant::at(duration::milliseconds(ms)); }

struct open_session {
  liveness of{{}, interval, down_after};
  open_session() {
    CHECK_FALSE(of.begin(at(0)));
    of.see(at(0));
  }
  /// Hears the peer once an interval, up to this time.
  void hear_until(std::int64_t ms) {
    for (std::int64_t t = 100; t <= ms; t += 100) CHECK_FALSE(of.heard(at(t)));
  }
};

}  // namespace

TEST_CASE("liveness: a heartbeat is due an interval after the last packet sent") {
  open_session s;
  CHECK(s.of.beat_at() == at(100));
  s.of.sent(at(60));
  CHECK(s.of.beat_at() == at(160));
  CHECK(s.of.next_number() == 1);
  CHECK(s.of.beat(at(160)) == 1);
  CHECK(s.of.counted().heartbeats_sent == 1);
}

TEST_CASE("liveness: an unusual silence is suspected once, and a sign of life ends it") {
  open_session s;
  s.hear_until(1000);
  const instant when = s.of.suspected_at();
  CHECK(when > at(1100));
  CHECK(when < s.of.down_at());
  CHECK_FALSE(s.of.suspect(when - duration::milliseconds(1)));
  CHECK(s.of.suspect(when));
  CHECK(s.of.is_suspected());
  CHECK_FALSE(s.of.suspect(when));
  CHECK(s.of.suspected_at().is_never());
  CHECK(s.of.deadline() <= s.of.down_at());
  CHECK(s.of.heard(when));
  CHECK_FALSE(s.of.is_suspected());
  CHECK(s.of.counted().suspicions == 1);
}

TEST_CASE("liveness: a delay of this end is no silence of the peer") {
  open_session s;
  s.hear_until(1000);
  const instant suspected = s.of.suspected_at();
  const instant down = s.of.down_at();
  CHECK(down == at(1000) + down_after);
  s.of.excuse(duration::milliseconds(700), at(1800));
  CHECK(s.of.suspected_at() == suspected + duration::milliseconds(700));
  CHECK(s.of.down_at() == down + duration::milliseconds(700));
  CHECK(s.of.counted().paused == duration::milliseconds(700));
  CHECK_FALSE(s.of.heard(at(1800)));
  CHECK(s.of.suspected_at() - at(1800) == suspected - at(1000));  // the pause was not learnt
}

TEST_CASE("liveness: only the answer to the newest heartbeat gives a round trip") {
  open_session s;
  const std::uint32_t one = s.of.beat(at(100));
  const std::uint32_t two = s.of.beat(at(200));
  s.of.answered(one, at(230));
  CHECK(s.of.counted().round_trip == duration());
  s.of.answered(two, at(230));
  CHECK(s.of.counted().round_trip == duration::milliseconds(30));
}

TEST_CASE("liveness: a session that goes on does so without a suspicion") {
  open_session s;
  s.hear_until(500);
  CHECK(s.of.suspect(at(1900)));
  CHECK(s.of.begin(at(1900)));
  CHECK_FALSE(s.of.is_suspected());
  CHECK(s.of.last_heard() == at(1900));
}

TEST_CASE("liveness: a call soon after the last one cannot be late") {
  open_session s;
  CHECK_FALSE(s.of.may_be_late(at(24)));
  CHECK(s.of.may_be_late(at(25)));
  s.of.see(at(25));
  CHECK(s.of.seen() == at(25));
  CHECK_FALSE(s.of.may_be_late(at(49)));
}

}  // namespace liveness_test
