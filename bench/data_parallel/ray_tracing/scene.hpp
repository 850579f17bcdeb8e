// A film of spheres on a chequered floor, drawn row by row: the computation, the same for every
// system. The sky costs next to nothing, and where spheres mirror each other a ray is followed for
// long; the camera comes nearer. So rows are uneven, and so are frames. C++17 and the standard
// library only, for the peers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "streams/common/random.hpp"

namespace bench {

struct vec {
  double x, y, z;
};
inline vec operator+(const vec& a, const vec& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline vec operator-(const vec& a, const vec& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline vec operator*(double f, const vec& a) { return {f * a.x, f * a.y, f * a.z}; }
inline double dot(const vec& a, const vec& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline vec unit(const vec& a) { return 1 / std::sqrt(dot(a, a)) * a; }

struct sphere {
  vec centre;
  double radius;
  vec colour;
  double mirror;  // that share of the light comes from elsewhere
};

struct world {
  std::vector<sphere> spheres;
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t frames;
};

inline world make_world(arguments& args) {
  world w{};
  w.width = args.count("width", 320);
  w.height = args.count("height", 240);
  w.frames = args.count("frames", 8);
  random_stream numbers(1986);
  for (int i = 0; i < 40; ++i) {
    const double radius = 0.15 + 0.35 * numbers.unit();
    const double away = 0.4 + 0.09 * i;
    const double angle = 2.4 * i;
    const vec colour{numbers.unit(), numbers.unit(), numbers.unit()};
    w.spheres.push_back({{away * std::cos(angle), radius, away * std::sin(angle)},
                         radius,
                         0.3 * vec{1, 1, 1} + 0.7 * colour,
                         0.2 + 0.6 * numbers.unit()});
  }
  return w;
}

// The first object that a ray meets.
struct meeting {
  double distance = std::numeric_limits<double>::infinity();
  const sphere* with = nullptr;  // null: the floor
};

inline constexpr double nearest = 1e-6;  // nearer is the place that the ray comes from

inline void meet(const sphere& s, const vec& from, const vec& to, meeting& first) {
  const vec there = s.centre - from;
  const double along = dot(there, to);
  const double root = along * along - dot(there, there) + s.radius * s.radius;
  if (root < 0) return;
  const double half = std::sqrt(root);
  const double distance = along - half > nearest ? along - half : along + half;
  if (distance > nearest && distance < first.distance) first = {distance, &s};
}

inline meeting first_meeting(const world& w, const vec& from, const vec& to) {
  meeting first;
  if (to.y < 0) first.distance = -from.y / to.y;
  for (const sphere& s : w.spheres) meet(s, from, to, first);
  return first;
}

inline bool in_shadow(const world& w, const vec& from, const vec& to) {
  return std::any_of(w.spheres.begin(), w.spheres.end(), [&](const sphere& s) {
    meeting m;
    meet(s, from, to, m);
    return m.with != nullptr;
  });
}

// The light that comes along a ray, backwards.
inline vec light_of(const world& w, vec from, vec to) {
  constexpr int most_mirrors = 12;
  const vec sun = unit({0.5, 0.8, -0.3});
  vec sum{0, 0, 0};
  double share = 1;
  for (int i = 0; i <= most_mirrors && share > 0.004; ++i) {
    const meeting m = first_meeting(w, from, to);
    if (std::isinf(m.distance)) {
      return sum + share * (vec{0.5, 0.7, 1.0} - 0.4 * to.y * vec{1, 0.7, 0.4});
    }
    const vec at = from + m.distance * to;
    vec away{0, 1, 0};
    vec colour{0.9, 0.9, 0.9};
    double mirror = 0.15;
    if (m.with != nullptr) {
      away = 1 / m.with->radius * (at - m.with->centre);
      colour = m.with->colour;
      mirror = m.with->mirror;
    } else if ((static_cast<std::int64_t>(std::floor(at.x)) +
                static_cast<std::int64_t>(std::floor(at.z))) %
                   2 !=
               0) {
      colour = {0.2, 0.2, 0.25};
    }
    const double facing = dot(away, sun);
    const double lit = facing > 0 && !in_shadow(w, at, sun) ? facing : 0;
    sum = sum + share * (1 - mirror) * (0.2 + 0.8 * lit) * colour;
    share *= mirror;
    from = at;
    to = to - 2 * dot(to, away) * away;
  }
  return sum;
}

struct row {
  std::uint32_t frame;
  std::uint32_t y;
  std::vector<std::uint32_t> pixels;
};
using picture = std::vector<row>;

inline picture blank(const world& w, std::uint32_t frame) {
  picture rows(w.height);
  for (std::uint32_t y = 0; y < w.height; ++y) rows[y] = {frame, y, {}};
  return rows;
}

// Not inlined, and aligned: the same instructions for every system.
[[gnu::noinline, gnu::aligned(64)]] inline void draw(const world& w, row& r) {
  const double nearer = static_cast<double>(r.frame) / w.frames;
  const double angle = 0.3 * nearer;
  const double away = 9 - 6 * nearer;
  const vec eye{away * std::sin(angle), 1.2, -away * std::cos(angle)};
  const vec ahead = unit(vec{0, 0.8, 0} - eye);
  const vec right = unit({-ahead.z, 0, ahead.x});
  const vec up{right.y * ahead.z - right.z * ahead.y, right.z * ahead.x - right.x * ahead.z,
               right.x * ahead.y - right.y * ahead.x};
  const double size = 1.1 / w.width;
  const double down = size * (r.y + 0.5 - 0.5 * w.height);
  r.pixels.resize(w.width);
  for (std::uint32_t x = 0; x < w.width; ++x) {
    const double across = size * (x + 0.5 - 0.5 * w.width);
    const vec light = light_of(w, eye, unit(ahead + across * right - down * up));
    std::uint32_t pixel = 0;
    for (const double part : {light.x, light.y, light.z})
      pixel = pixel * 256 + static_cast<std::uint32_t>(255 * std::clamp(part, 0.0, 1.0));
    r.pixels[x] = pixel;
  }
}

// Checks that every frame equals the drawing of one loop.
inline void check_film(result& out, const world& w, const std::vector<picture>& found) {
  out.items = static_cast<std::uint64_t>(w.frames) * w.height;
  out.expect("frames", w.frames, found.size());
  std::size_t different = 0;
  for (std::uint32_t frame = 0; frame < w.frames && frame < found.size(); ++frame) {
    picture expected = blank(w, frame);
    for (row& r : expected) {
      draw(w, r);
      const bool same =
          found[frame].size() == expected.size() && found[frame][r.y].pixels == r.pixels;
      different += same ? 0 : 1;
    }
  }
  out.expect("rows that differ from the sequential run's", 0, different);
}

}  // namespace bench
