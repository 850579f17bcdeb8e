// FraudDetection: records of entities, each a state of 18 (amount low, medium or high; normal or
// high-priced item; time since the last one large, normal or small). An entity's states follow a
// Markov model; for each record the last five states are scored by how unlikely their four
// transitions are, and those above a threshold are outliers.
#pragma once

#include <array>
#include <unordered_map>

#include "streams/common/feed.hpp"
#include "streams/common/random.hpp"

namespace bench {

constexpr std::size_t fraud_states = 18;
constexpr double fraud_threshold = 0.96;

struct record {
  std::uint32_t entity;
  std::uint32_t state;
  std::int64_t stamp;
};
struct outlier {
  std::uint32_t entity;
  double score;
  std::int64_t stamp;
};

// From a state to the next: rows that add up to 1.
using markov_model = std::array<std::array<double, fraud_states>, fraud_states>;

// A few transitions of each state are likely, and the others are not.
inline markov_model make_model() {
  random_stream random(4711);
  markov_model m{};
  for (auto& row : m) {
    double sum = 0;
    for (double& p : row) sum += p = 0.01 + 0.02 * random.unit();
    for (int likely = 0; likely < 3; ++likely) {
      const double p = 1 + random.unit();
      row[random.below(fraud_states)] += p;
      sum += p;
    }
    for (double& p : row) p /= sum;
  }
  return m;
}

struct fraud_input {
  markov_model model;
  std::vector<record> records;  // a source cycles through them
};

// Entities walk by the model. One record in 300 begins a walk of five that does not.
inline fraud_input make_records() {
  fraud_input made{make_model(), {}};
  random_stream random(74755);
  constexpr std::size_t entities = 500;
  std::vector<std::uint32_t> at(entities, 0);
  std::vector<int> astray(entities, 0);
  for (std::size_t i = 0; i < 200'000; ++i) {
    const auto e = static_cast<std::uint32_t>(random.below(entities));
    if (random.below(300) == 0) astray[e] = 5;
    const auto& row = made.model[at[e]];
    std::uint32_t next = 0;
    if (astray[e] > 0) {
      --astray[e];
      do next = static_cast<std::uint32_t>(random.below(fraud_states));
      while (row[next] > 0.02);
    } else {
      for (double rest = random.unit() - row[0]; rest >= 0 && next + 1 < fraud_states;)
        rest -= row[++next];
    }
    at[e] = next;
    made.records.push_back({e, next, 0});
  }
  return made;
}

// Scores the records of the entities that it gets.
class predictor {
 public:
  explicit predictor(const markov_model& model) : model_(model) {}

  // Calls f(outlier) if this record makes one.
  template <class F>
  void add(const record& r, F&& f) {
    window& w = windows_[r.entity];
    if (w.states == w.last.size()) {
      std::copy(w.last.begin() + 1, w.last.end(), w.last.begin());
      --w.states;
    }
    w.last[w.states++] = static_cast<std::uint8_t>(r.state);
    if (w.states != w.last.size()) return;
    double score = 0;
    for (std::size_t i = 1; i < w.last.size(); ++i)
      for (std::size_t j = 0; j < fraud_states; ++j)
        if (j != w.last[i]) score += model_[w.last[i - 1]][j];
    score /= static_cast<double>(w.last.size() - 1);
    if (score > fraud_threshold) f(outlier{r.entity, score, r.stamp});
  }

 private:
  struct window {
    std::array<std::uint8_t, 5> last{};
    std::uint8_t states = 0;
  };
  markov_model model_;
  std::unordered_map<std::uint32_t, window> windows_;
};

struct seen_outliers {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  latency_log latencies;

  void add(const outlier& o) {
    ++count;
    sum += weight(o.entity, o.score);
    latencies.add(o.stamp);
  }
  // Each entity's states in a row, scored one window after the other by the likely transition's
  // complement.
  void check(result& out, const fraud_input& input, std::uint64_t records) {
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> states;
    for (std::uint64_t i = 0; i < records; ++i) {
      const record& r = input.records[i % input.records.size()];
      states[r.entity].push_back(r.state);
    }
    std::uint64_t expected = 0;
    std::uint64_t expected_sum = 0;
    for (const auto& [entity, row] : states) {
      for (std::size_t end = 5; end <= row.size(); ++end) {
        double likely = 0;
        for (std::size_t i = end - 4; i < end; ++i) likely += input.model[row[i - 1]][row[i]];
        const double score = 1 - likely / 4;
        if (score <= fraud_threshold) continue;
        ++expected;
        expected_sum += weight(entity, score);
      }
    }
    out.expect("outliers", expected, count);
    out.expect("sum of scores", expected_sum, sum);
    out.detail("outliers_percent", 100 * static_cast<double>(count) / static_cast<double>(records));
    latencies.into(out);
  }

 private:
  // Both ways of adding up differ in the last digits.
  static std::uint64_t weight(std::uint32_t entity, double score) {
    return entity + static_cast<std::uint64_t>(score * 1e6 + 0.5);
  }
};

}  // namespace bench
