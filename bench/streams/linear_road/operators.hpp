// The operators of LinearRoad. Each branch computes a part of a toll, and the sink puts the parts
// together, so its result does not depend on which branch is ahead:
//
//   source → dispatcher ─┬→ toll by position                           which cars enter, and is
//                        │                                             there an accident ahead
//                        ├→ average speed → last average speed → toll by speed    is it slow
//                        └→ count vehicles → toll by count                        is it full
//
// An operator of segments tells the state of the minutes before when it sees the first report of a
// new minute there. The branch of positions sees that report, too: so for each segment and minute
// in which a car enters, the sink gets one part from each of the other branches.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "streams/common/pace.hpp"
#include "streams/linear_road/highway.hpp"

namespace bench {

enum class toll_part_kind : std::uint8_t { by_position, by_speed, by_count };

// To the sink. by_position: `value` is 1 if there is an accident ahead; by_speed: 1 if it is slow;
// by_count: the toll if nothing else speaks against it.
struct toll_part {
  toll_part_kind kind;
  std::uint32_t segment;
  std::uint32_t minute;
  std::uint32_t vehicle;
  std::uint32_t value;
  std::int64_t stamp;
};

// Of a segment: `speed` is the average of the minute `of`, 0 if there was none before.
struct minute_speed {
  std::uint32_t segment;
  std::uint32_t minute;
  std::uint32_t of;
  double speed;
  std::int64_t stamp;
};
// Of a segment: the average of the last five minutes before `minute`; negative if there is none.
struct last_speed {
  std::uint32_t segment;
  std::uint32_t minute;
  double speed;
  std::int64_t stamp;
};
// Of a segment: cars in the minute before `minute`.
struct minute_cars {
  std::uint32_t segment;
  std::uint32_t minute;
  std::uint32_t cars;
  std::int64_t stamp;
};

inline bool is_position(const car_report& r) { return r.type == position_report; }

// By road: where each car is, and which stand.
class toll_by_position {
 public:
  template <class F>
  void add(const car_report& r, F&& f) {
    car& c = cars_[r.vehicle];
    if (c.position == r.position) {
      if (++c.same == 4) stand(r.segment(), r.position, 1);
    } else {
      if (c.same >= 4) stand(c.segment, c.position, -1);
      c.same = 1;
      c.position = r.position;
    }
    if (std::exchange(c.segment, r.segment()) == r.segment()) return;
    const std::uint32_t last = std::min(r.segment() + 5, (r.road() + 1) * segments - 1);
    bool accident = false;
    for (std::uint32_t s = r.segment(); s <= last && !accident; ++s) {
      const auto found = accidents_.find(s);
      accident = found != accidents_.end() && found->second > 0;
    }
    f(toll_part{toll_part_kind::by_position, r.segment(), r.minute(), r.vehicle, accident ? 1u : 0u,
                r.stamp});
  }

 private:
  struct car {
    std::uint32_t segment = ~0u;
    std::uint32_t position = ~0u;
    std::uint32_t same = 0;
  };
  void stand(std::uint32_t segment, std::uint32_t position, int change) {
    int& n = standing_[std::uint64_t{segment} << 32 | position];
    const bool was = n >= 2;
    n += change;
    if (was != (n >= 2)) accidents_[segment] += change;
  }

  std::unordered_map<std::uint32_t, car> cars_;
  std::unordered_map<std::uint64_t, int> standing_;
  std::unordered_map<std::uint32_t, int> accidents_;
};

// By segment.
class average_speed {
 public:
  template <class F>
  void add(const car_report& r, F&& f) {
    state& s = segments_[r.segment()];
    if (s.minute != r.minute()) {
      f(minute_speed{r.segment(), r.minute(), s.minute,
                     s.minute == 0 ? 0 : s.sum / static_cast<double>(s.reports), r.stamp});
      s = {r.minute(), 0, 0};
    }
    s.sum += static_cast<double>(r.speed);
    ++s.reports;
  }

 private:
  struct state {
    std::uint32_t minute = 0;
    std::uint32_t reports = 0;
    double sum = 0;
  };
  std::unordered_map<std::uint32_t, state> segments_;
};

// By segment.
class last_average_speed {
 public:
  last_speed add(const minute_speed& m) {
    window& w = segments_[m.segment];
    if (m.of != 0) w.last[m.of % 5] = {m.of, m.speed};
    double sum = 0;
    int n = 0;
    for (std::uint32_t before = std::max(m.minute, 6u) - 5; before < m.minute; ++before) {
      const auto& [minute, speed] = w.last[before % 5];
      if (minute != before) continue;
      sum += speed;
      ++n;
    }
    return {m.segment, m.minute, n == 0 ? -1 : sum / n, m.stamp};
  }

 private:
  struct window {
    std::array<std::pair<std::uint32_t, double>, 5> last{};
  };
  std::unordered_map<std::uint32_t, window> segments_;
};

inline toll_part toll_by_speed(const last_speed& s) {
  const bool slow = s.speed >= 0 && s.speed < 50;
  return {toll_part_kind::by_speed, s.segment, s.minute, 0, slow ? 1u : 0u, s.stamp};
}

// By segment.
class count_vehicles {
 public:
  template <class F>
  void add(const car_report& r, F&& f) {
    state& s = segments_[r.segment()];
    if (s.minute != r.minute()) {
      const bool adjoins = s.minute + 1 == r.minute();
      f(minute_cars{r.segment(), r.minute(),
                    adjoins ? static_cast<std::uint32_t>(s.cars.size()) : 0, r.stamp});
      s.minute = r.minute();
      s.cars.clear();
    }
    s.cars.insert(r.vehicle);
  }

 private:
  struct state {
    std::uint32_t minute = 0;
    std::unordered_set<std::uint32_t> cars;
  };
  std::unordered_map<std::uint32_t, state> segments_;
};

inline toll_part toll_by_count(const minute_cars& m) {
  return {toll_part_kind::by_count, m.segment, m.minute, 0, base_toll(m.cars), m.stamp};
}

// The sink: puts the parts together.
class toll_collector {
 public:
  void add(const toll_part& p) {
    account& a = accounts_[std::uint64_t{p.minute} << 32 | p.segment];
    switch (p.kind) {
      case toll_part_kind::by_position: a.entered.push_back(p); break;
      case toll_part_kind::by_speed:
        a.slow = p.value != 0;
        a.has_speed = true;
        break;
      case toll_part_kind::by_count:
        a.toll = p.value;
        a.has_count = true;
        break;
    }
    if (!a.has_speed || !a.has_count) return;
    for (const toll_part& e : a.entered) {
      found_.add(e.vehicle, e.minute, a.slow && e.value == 0 ? a.toll : 0);
      latencies_.add(e.stamp);
    }
    a.entered.clear();
  }

  void check(result& out, const traffic& t, std::uint64_t reports) {
    const tolls expected = expected_tolls(t, reports);
    out.expect("entries", expected.entries, found_.entries);
    out.expect("tolls charged", expected.charged, found_.charged);
    out.expect("sum of tolls", expected.sum, found_.sum);
    out.expect("tolls of the vehicles", expected.fingerprint, found_.fingerprint);
    if (reports == t.reports.size() && found_.charged == 0) out.error("no vehicle has paid a toll");
    out.detail("tolls_charged", static_cast<double>(found_.charged));
    latencies_.into(out);
  }

 private:
  struct account {
    std::vector<toll_part> entered;  // that wait for the other parts
    std::uint32_t toll = 0;
    bool slow = false;
    bool has_speed = false;
    bool has_count = false;
  };
  std::unordered_map<std::uint64_t, account> accounts_;
  tolls found_;
  latency_log latencies_;
};

}  // namespace bench
