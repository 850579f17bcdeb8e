// Finds pictures that look alike, in six stages: load, segment, extract, index, rank, out. The
// computation is the same for every system. The pictures are synthetic: each is some smooth shape
// of one of a few kinds, with noise. C++17 and the standard library only, for the peers.
//
// Load and out take next to nothing and have one thread each; rank takes longest. A segment is a
// set of pixels that are alike and near each other; it has a vector of features; the index finds
// those of the collection with like signs under random projections; and rank compares.
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

inline constexpr std::uint32_t side = 40;     // of a picture, in pixels
inline constexpr std::uint32_t segments = 6;  // of a picture
inline constexpr std::uint32_t kinds = 24;    // of pictures
inline constexpr std::uint32_t features = 14;
inline constexpr std::uint32_t signs = 8;  // of a vector of features, in the index
inline constexpr std::uint32_t best = 10;  // this many are found

struct photo {
  std::uint32_t number = 0;
  std::vector<float> pixels{};
};
struct segmented {
  photo of;
  std::vector<std::uint8_t> segment{};  // of each pixel
};
struct feature_vector {
  float weight = 0;  // the segment's share of the pixels
  std::array<float, features> values{};
};
struct described {
  std::uint32_t number = 0;
  std::array<feature_vector, segments> vectors{};
};
struct indexed {
  described query;
  std::vector<std::uint32_t> candidates{};
};
struct answer {
  std::uint32_t number = 0;
  std::array<std::uint32_t, best> alike{};  // the best first
};

// Stage 1.
inline photo make_photo(std::uint32_t number, std::uint64_t seed) {
  random_stream kind(number % kinds);
  random_stream noise(seed + number);
  photo p{number, std::vector<float>(side * side)};
  const auto a = static_cast<float>(0.05 + 0.3 * kind.unit() + 0.02 * noise.unit());
  const auto b = static_cast<float>(0.05 + 0.3 * kind.unit() + 0.02 * noise.unit());
  const auto c = static_cast<float>(6 * kind.unit() + noise.unit());
  std::array<float, side> across{}, down{};
  for (std::uint32_t i = 0; i < side; ++i) {
    across[i] = std::sin(a * static_cast<float>(i) + c);
    down[i] = std::cos(b * static_cast<float>(i) - c);
  }
  for (std::uint32_t y = 0; y < side; ++y)
    for (std::uint32_t x = 0; x < side; ++x)
      p.pixels[y * side + x] =
          across[x] * down[y] + 0.2F * (static_cast<float>(noise.next() >> 40) * 0x1p-24F - 0.5F);
  return p;
}

// Stage 2: the pixels' clusters, by three rounds of k-means.
[[gnu::noinline, gnu::aligned(64)]] inline segmented segment(photo of) {
  struct centre {
    float x, y, light;
  };
  constexpr auto far = static_cast<float>(side);
  std::array<centre, segments> centres{};
  for (std::uint32_t i = 0; i < segments; ++i) {
    const std::uint32_t x = (2 * i + 1) * side / (2 * segments);
    const std::uint32_t y = (i % 2 == 0 ? 1 : 3) * side / 4;
    centres[i] = {static_cast<float>(x), static_cast<float>(y), of.pixels[y * side + x]};
  }
  segmented s{std::move(of), std::vector<std::uint8_t>(side * side)};
  for (int round = 0; round < 3; ++round) {
    std::array<centre, segments> sums{};
    std::array<std::uint32_t, segments> sizes{};
    for (std::uint32_t at = 0; at < side * side; ++at) {
      const auto x = static_cast<float>(at % side), y = static_cast<float>(at / side);
      const float light = s.of.pixels[at];
      float nearest = std::numeric_limits<float>::infinity();
      std::uint32_t which = 0;
      for (std::uint32_t i = 0; i < segments; ++i) {
        const float dx = (x - centres[i].x) / far, dy = (y - centres[i].y) / far;
        const float dl = light - centres[i].light;
        const float distance = dx * dx + dy * dy + dl * dl;
        if (distance < nearest) nearest = distance, which = i;
      }
      s.segment[at] = static_cast<std::uint8_t>(which);
      sums[which] = {sums[which].x + x, sums[which].y + y, sums[which].light + light};
      ++sizes[which];
    }
    for (std::uint32_t i = 0; i < segments; ++i) {
      if (sizes[i] == 0) continue;
      const auto n = static_cast<float>(sizes[i]);
      centres[i] = {sums[i].x / n, sums[i].y / n, sums[i].light / n};
    }
  }
  return s;
}

// Stage 3: of each segment where it lies, how bright it is, how it changes from pixel to pixel, and
// how often which brightness occurs.
[[gnu::noinline, gnu::aligned(64)]] inline described extract(segmented s) {
  constexpr std::uint32_t bins = 8;
  described d{s.of.number, {}};
  std::array<std::uint32_t, segments> sizes{};
  for (std::uint32_t at = 0; at < side * side; ++at) {
    std::array<float, features>& v = d.vectors[s.segment[at]].values;
    const std::uint32_t x = at % side, y = at / side;
    const float light = s.of.pixels[at];
    ++sizes[s.segment[at]];
    v[0] += static_cast<float>(x) / side;
    v[1] += static_cast<float>(y) / side;
    v[2] += light;
    v[3] += light * light;
    if (x + 1 < side) v[4] += std::fabs(s.of.pixels[at + 1] - light);
    if (y + 1 < side) v[5] += std::fabs(s.of.pixels[at + side] - light);
    const float bin = (light + 1.1F) / 2.2F * static_cast<float>(bins);
    v[6 + std::min(static_cast<std::uint32_t>(std::max(bin, 0.0F)), bins - 1)] += 1;
  }
  for (std::uint32_t i = 0; i < segments; ++i) {
    const float n = static_cast<float>(std::max(sizes[i], 1U));
    for (float& value : d.vectors[i].values) value /= n;
    d.vectors[i].weight = static_cast<float>(sizes[i]) / static_cast<float>(side * side);
  }
  return d;
}

// The collection to search: pictures by their features, and by the signs of their segments.
struct collection {
  std::array<std::array<float, features>, signs> planes{};
  std::array<float, signs> middle{};  // half of the vectors lie above it, more or less
  std::vector<described> pictures;
  std::vector<std::vector<std::uint32_t>> buckets;
};

inline float projected(const collection& c, const feature_vector& v, std::uint32_t plane) {
  float sum = 0;
  for (std::uint32_t i = 0; i < features; ++i) sum += c.planes[plane][i] * v.values[i];
  return sum;
}
inline std::uint32_t signs_of(const collection& c, const feature_vector& v) {
  std::uint32_t code = 0;
  for (std::uint32_t i = 0; i < signs; ++i)
    code = 2 * code + (projected(c, v, i) > c.middle[i] ? 1 : 0);
  return code;
}

inline collection make_collection(std::uint32_t size, std::uint64_t seed) {
  collection c;
  random_stream numbers(1999);
  for (auto& plane : c.planes)
    for (float& f : plane) f = static_cast<float>(numbers.unit() - 0.5);
  for (std::uint32_t i = 0; i < size; ++i)
    c.pictures.push_back(extract(segment(make_photo(i, seed))));
  for (std::uint32_t i = 0; i < signs; ++i) {
    double sum = 0;
    for (const described& p : c.pictures)
      for (const feature_vector& v : p.vectors) sum += projected(c, v, i);
    c.middle[i] = static_cast<float>(sum / (static_cast<double>(size) * segments));
  }
  c.buckets.resize(1U << signs);
  for (const described& p : c.pictures)
    for (const feature_vector& v : p.vectors) {
      std::vector<std::uint32_t>& bucket = c.buckets[signs_of(c, v)];
      if (bucket.empty() || bucket.back() != p.number) bucket.push_back(p.number);
    }
  return c;
}

// Stage 4: those that have at least two segments in common with the query, as far as signs tell.
[[gnu::noinline, gnu::aligned(64)]] inline indexed look_up(const collection& c,
                                                           const described& query) {
  indexed found{query, {}};
  std::vector<std::uint32_t> all;
  for (const feature_vector& v : query.vectors) {
    const std::vector<std::uint32_t>& bucket = c.buckets[signs_of(c, v)];
    all.insert(all.end(), bucket.begin(), bucket.end());
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i] == all[i - 1] && (found.candidates.empty() || found.candidates.back() != all[i]))
      found.candidates.push_back(all[i]);
  return found;
}

// From each segment to the one of the other picture that is most like it, both ways.
inline float distance(const described& a, const described& b) {
  std::array<float, segments> to_a{}, to_b{};
  to_a.fill(std::numeric_limits<float>::infinity());
  to_b.fill(std::numeric_limits<float>::infinity());
  for (std::uint32_t i = 0; i < segments; ++i)
    for (std::uint32_t k = 0; k < segments; ++k) {
      float sum = 0;
      for (std::uint32_t f = 0; f < features; ++f) {
        const float difference = a.vectors[i].values[f] - b.vectors[k].values[f];
        sum += difference * difference;
      }
      to_b[i] = std::min(to_b[i], sum);
      to_a[k] = std::min(to_a[k], sum);
    }
  float whole = 0;
  for (std::uint32_t i = 0; i < segments; ++i)
    whole += a.vectors[i].weight * std::sqrt(to_b[i]) + b.vectors[i].weight * std::sqrt(to_a[i]);
  return whole;
}

// Stage 5: the candidates that are most like the query.
[[gnu::noinline, gnu::aligned(64)]] inline answer rank(const collection& c, const indexed& q) {
  std::vector<std::pair<float, std::uint32_t>> all;
  all.reserve(q.candidates.size());
  for (const std::uint32_t i : q.candidates) all.push_back({distance(q.query, c.pictures[i]), i});
  const std::size_t n = std::min<std::size_t>(best, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end());
  answer a{q.query.number, {}};
  a.alike.fill(std::numeric_limits<std::uint32_t>::max());
  for (std::size_t i = 0; i < n; ++i) a.alike[i] = all[i].second;
  return a;
}

// The input of all programs.
struct gallery {
  collection all;
  std::uint32_t queries;
};
inline gallery make_gallery(arguments& args) {
  return {make_collection(args.count("pictures", 3000), 1'000'000), args.count("queries", 1200)};
}
inline photo load(std::uint32_t query) { return make_photo(query, 2'000'000); }

// Each query has been answered once, as one loop does it.
inline void check_answers(result& out, const gallery& g, std::vector<answer> found) {
  out.items = g.queries;
  out.expect("answers", g.queries, found.size());
  std::sort(found.begin(), found.end(),
            [](const answer& a, const answer& b) { return a.number < b.number; });
  std::size_t different = 0, alike = 0, answered = 0;
  for (std::uint32_t i = 0; i < g.queries && i < found.size(); ++i) {
    const answer a = rank(g.all, look_up(g.all, extract(segment(load(i)))));
    different += found[i].number == a.number && found[i].alike == a.alike ? 0 : 1;
    if (a.alike[0] == std::numeric_limits<std::uint32_t>::max()) continue;
    ++answered;
    alike += a.alike[0] % kinds == i % kinds ? 1 : 0;
  }
  out.expect("answers that differ from the sequential run's", 0, different);
  // The search itself: nearly always, the most similar picture is of the same kind.
  if (alike * 10 < answered * 8 || answered * 10 < g.queries * 9ULL)
    out.error("pictures of the same kind are not found");
}

}  // namespace bench
