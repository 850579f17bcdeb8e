// LinearRoad: cars on expressways report their place twice a minute; a car that enters a segment
// pays a toll that depends on how slow and how full it was. The reports come from a small simulator
// of the traffic, made from a seed.
//
// Rules: minute = time / 60 + 1. A car that enters a segment in minute m pays 2·(cars − 50)² if
// more than 50 cars were there in minute m − 1, the average speed there in the minutes m − 5 to
// m − 1 (the average of the minutes' averages) was below 50, and there is no accident within five
// segments ahead. Two cars that have reported the same place four times running are an accident,
// until one of them moves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "streams/common/random.hpp"

namespace bench {

constexpr std::uint32_t segments = 100;  // of an expressway, 5280 feet each
constexpr std::uint32_t segment_feet = 5280;
constexpr std::uint8_t position_report = 0;  // other types are questions, which are dropped

struct car_report {
  std::uint8_t type;
  std::uint8_t expressway;
  std::uint8_t direction;
  std::uint8_t lane;
  std::uint32_t time;  // seconds
  std::uint32_t vehicle;
  std::uint32_t position;  // feet
  float speed;             // miles an hour
  std::int64_t stamp;

  std::uint32_t minute() const { return time / 60 + 1; }
  // The number of an expressway's direction, and of a segment in it.
  std::uint32_t road() const { return 2u * expressway + direction; }
  std::uint32_t segment() const { return road() * segments + position / segment_feet; }
};

struct traffic {
  std::uint32_t roads = 0;
  std::uint32_t vehicles = 0;
  std::uint32_t minutes = 0;
  std::vector<car_report> reports;  // in the order of time
};

// Cars drive `minutes` minutes long. Each has a speed that it would like; the more cars there are
// in its segment, the slower they all are. Now and then two stop at the same place for a while.
inline traffic make_traffic(std::uint32_t minutes, std::uint32_t cars_of_a_road) {
  constexpr std::uint32_t expressways = 2;
  struct car {
    std::uint32_t road;
    double feet;
    double wish;
    std::uint32_t stands_until;
  };
  random_stream random(74755);
  traffic made{2 * expressways, 2 * expressways * cars_of_a_road, minutes, {}};
  std::vector<car> cars;
  // most cars are on the first third of their road: that is where it is full
  for (std::uint32_t v = 0; v < made.vehicles; ++v) {
    const double at = random.unit() * random.unit() * random.unit();
    cars.push_back({v / cars_of_a_road, at * segments * segment_feet, 40 + 40 * random.unit(), 0});
  }
  std::vector<std::uint32_t> crowd(made.roads * segments, 0);
  for (std::uint32_t time = 0; time < minutes * 60; time += 30) {
    std::fill(crowd.begin(), crowd.end(), 0);
    for (const car& c : cars)
      ++crowd[c.road * segments + static_cast<std::uint32_t>(c.feet) / segment_feet];
    if (time % 300 == 0) {  // an accident: two neighbours stop for five minutes
      const std::uint64_t v = random.below(made.vehicles - 1);
      if (cars[v].road == cars[v + 1].road) {
        cars[v + 1].feet = cars[v].feet;
        cars[v].stands_until = cars[v + 1].stands_until = time + 300;
      }
    }
    for (std::uint32_t v = 0; v < made.vehicles; ++v) {
      car& c = cars[v];
      const auto position = static_cast<std::uint32_t>(c.feet);
      const std::uint32_t others = crowd[c.road * segments + position / segment_feet];
      const bool stands = time < c.stands_until;
      const double speed = stands ? 0 : c.wish / (1 + others / 120.0);
      if (random.below(100) == 0)  // a question
        made.reports.push_back({2, static_cast<std::uint8_t>(c.road / 2),
                                static_cast<std::uint8_t>(c.road % 2), 0, time, v, position, 0, 0});
      made.reports.push_back({position_report, static_cast<std::uint8_t>(c.road / 2),
                              static_cast<std::uint8_t>(c.road % 2),
                              static_cast<std::uint8_t>(1 + random.below(3)), time, v, position,
                              static_cast<float>(speed), 0});
      c.feet += speed * segment_feet / 120;  // in 30 seconds
      if (c.feet >= segments * segment_feet) c.feet -= segments * segment_feet;
    }
  }
  return made;
}

// The sums of the tolls.
struct tolls {
  std::uint64_t entries = 0;  // of cars into segments
  std::uint64_t charged = 0;  // with a toll
  std::uint64_t sum = 0;
  std::uint64_t fingerprint = 0;  // of each car's toll

  void add(std::uint32_t vehicle, std::uint32_t minute, std::uint64_t toll) {
    ++entries;
    if (toll == 0) return;
    ++charged;
    sum += toll;
    fingerprint += (vehicle * 2654435761ull ^ minute) * toll;
  }
};

inline std::uint32_t base_toll(std::uint32_t cars) {
  return cars > 50 ? 2 * (cars - 50) * (cars - 50) : 0;
}

// The tolls, computed after the fact from tables of all segments and minutes.
inline tolls expected_tolls(const traffic& t, std::uint64_t reports) {
  const std::size_t width = t.minutes + 2;
  struct cell {
    double speeds = 0;
    std::uint32_t reports = 0;
    std::vector<std::uint32_t> cars;
  };
  std::vector<cell> table(t.roads * segments * width);
  for (std::uint64_t i = 0; i < reports; ++i) {
    const car_report& r = t.reports[i];
    if (r.type != position_report) continue;
    cell& c = table[r.segment() * width + r.minute()];
    c.speeds += static_cast<double>(r.speed);
    ++c.reports;
    c.cars.push_back(r.vehicle);
  }
  for (cell& c : table) {
    std::sort(c.cars.begin(), c.cars.end());
    c.cars.erase(std::unique(c.cars.begin(), c.cars.end()), c.cars.end());
  }
  tolls found;
  struct state {
    std::uint32_t segment = ~0u;
    std::uint32_t position = ~0u;
    std::uint32_t same = 0;
  };
  std::vector<state> cars(t.vehicles);
  std::vector<std::uint32_t> standing;  // vehicles
  for (std::uint64_t i = 0; i < reports; ++i) {
    const car_report& r = t.reports[i];
    if (r.type != position_report) continue;
    state& s = cars[r.vehicle];
    s.same = s.position == r.position ? s.same + 1 : 1;
    s.position = r.position;
    if (s.same == 4) standing.push_back(r.vehicle);
    if (s.same == 1)
      standing.erase(std::remove(standing.begin(), standing.end(), r.vehicle), standing.end());
    if (std::exchange(s.segment, r.segment()) == r.segment()) continue;
    // two that stand at one place, in this segment or one of the five ahead
    std::vector<std::uint32_t> ahead;
    for (const std::uint32_t v : standing) {
      const std::uint32_t here = r.segment();
      if (cars[v].segment / segments == r.road() && cars[v].segment >= here &&
          cars[v].segment <= here + 5)
        ahead.push_back(cars[v].position);
    }
    std::sort(ahead.begin(), ahead.end());
    const bool accident = std::adjacent_find(ahead.begin(), ahead.end()) != ahead.end();
    const std::uint32_t m = r.minute();
    double speeds = 0;
    int minutes = 0;
    for (std::uint32_t before = std::max(m, 6u) - 5; before < m; ++before) {
      const cell& c = table[r.segment() * width + before];
      if (c.reports == 0) continue;
      speeds += c.speeds / c.reports;
      ++minutes;
    }
    const bool slow = minutes != 0 && speeds / minutes < 50;
    const std::uint32_t toll =
        base_toll(static_cast<std::uint32_t>(table[r.segment() * width + m - 1].cars.size()));
    found.add(r.vehicle, m, slow && !accident ? toll : 0);
  }
  return found;
}

}  // namespace bench
