// WordCount: lines, their words, and how often each word has been there so far. The text is made
// from a seed: 8000 words of 2 to 10 letters by Zipf's law, about 42 in a line.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "streams/common/pace.hpp"
#include "streams/common/random.hpp"

namespace bench {

// Up to 16 letters, filled up with zeros: a million texts from stage to stage should not measure
// how a std::string is moved.
struct short_text {
  char letters[16] = {};

  std::uint64_t half(std::size_t i) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, letters + 8 * i, 8);
    return bits;
  }
  friend bool operator==(const short_text& a, const short_text& b) {
    return a.half(0) == b.half(0) && a.half(1) == b.half(1);
  }
};

}  // namespace bench

template <>
struct std::hash<bench::short_text> {
  std::size_t operator()(const bench::short_text& t) const noexcept {
    const std::uint64_t mixed =
        (t.half(0) ^ t.half(1) * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    return mixed ^ mixed >> 32;
  }
};

namespace bench {

struct line {
  std::string text;
  std::int64_t stamp = 0;
};
struct word {
  short_text text;
  std::int64_t stamp = 0;
};
struct word_so_far {
  short_text text;
  std::uint64_t count = 0;
  std::int64_t stamp = 0;
};

using corpus = std::vector<std::string>;

// The lines that a source cycles through.
inline corpus make_corpus() {
  random_stream random(74755);
  corpus vocabulary(8000);
  std::vector<double> upto;
  double all = 0;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const std::uint64_t letters = 2 + random.below(9);
    for (std::uint64_t k = 0; k < letters; ++k)
      vocabulary[i] += static_cast<char>('a' + random.below(26));
    upto.push_back(all += 1.0 / static_cast<double>(i + 1));
  }
  corpus lines(2000);
  for (std::string& l : lines) {
    const std::uint64_t words = 36 + random.below(13);
    for (std::uint64_t i = 0; i < words; ++i) {
      const auto found = std::upper_bound(upto.begin(), upto.end() - 1, random.unit() * all);
      if (i != 0) l += ' ';
      l += vocabulary[static_cast<std::size_t>(found - upto.begin())];
    }
  }
  return lines;
}

// Calls f(word) for each word.
template <class F>
void split(const std::string& text, F&& f) {
  short_text next;
  std::size_t letters = 0;
  for (const char c : text) {
    if (c != ' ') {
      if (letters < sizeof next.letters) next.letters[letters++] = c;
    } else {
      if (letters != 0) f(next);
      next = short_text();
      letters = 0;
    }
  }
  if (letters != 0) f(next);
}

class word_counts {
 public:
  word_so_far add(const word& w) {
    const std::uint64_t n = ++counts_[w.text];
    return {w.text, n, w.stamp};
  }

 private:
  std::unordered_map<short_text, std::uint64_t> counts_;
};

// Which of n counters counts this word.
inline std::size_t counter_of(const word& w, std::size_t n) {
  return n == 1 ? 0 : std::hash<short_text>()(w.text) % n;
}

struct seen_words {
  std::uint64_t words = 0;
  std::uint64_t sum = 0;
  latency_log latencies;

  static std::uint64_t weight(const short_text& t) { return t.half(0) % 251; }
  void add(const word_so_far& w) {
    ++words;
    sum += w.count * weight(w.text);
    latencies.add(w.stamp);
  }
  // A word that came n times was seen with the counts 1 to n.
  void check(result& out, const corpus& text, std::uint64_t lines) {
    std::unordered_map<short_text, std::uint64_t> often;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::uint64_t times = lines / text.size() + (i < lines % text.size() ? 1 : 0);
      split(text[i], [&](const short_text& w) { often[w] += times; });
    }
    std::uint64_t expected_words = 0;
    std::uint64_t expected_sum = 0;
    for (const auto& [text_of, n] : often) {
      expected_words += n;
      expected_sum += n * (n + 1) / 2 * weight(text_of);
    }
    out.expect("words", expected_words, words);
    out.expect("sum of counts", expected_sum, sum);
    latencies.into(out);
  }
};

}  // namespace bench
