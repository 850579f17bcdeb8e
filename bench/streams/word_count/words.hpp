// WordCount: lines, their words, and how often each word has been there so far. The text is made
// from a seed: 8000 words of 2 to 10 letters by Zipf's law, about 42 in a line.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "streams/common/pace.hpp"
#include "streams/common/random.hpp"

namespace bench {

struct line {
  std::string text;
  std::int64_t stamp = 0;
};
struct word {
  std::string text;
  std::int64_t stamp = 0;
};
struct word_so_far {
  std::string text;
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
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end != begin) f(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

class word_counts {
 public:
  word_so_far add(word w) {
    const std::uint64_t n = ++counts_[w.text];
    return {std::move(w.text), n, w.stamp};
  }

 private:
  std::unordered_map<std::string, std::uint64_t> counts_;
};

// Which of n counters counts this word.
inline std::size_t counter_of(const word& w, std::size_t n) {
  return n == 1 ? 0 : std::hash<std::string>()(w.text) % n;
}

struct seen_words {
  std::uint64_t words = 0;
  std::uint64_t sum = 0;
  latency_log latencies;

  static std::uint64_t weight(const std::string& text) {
    return 256 * text.size() + static_cast<unsigned char>(text.front());
  }
  void add(const word_so_far& w) {
    ++words;
    sum += w.count * weight(w.text);
    latencies.add(w.stamp);
  }
  // A word that came n times was seen with the counts 1 to n.
  void check(result& out, const corpus& text, std::uint64_t lines) {
    std::unordered_map<std::string, std::uint64_t> often;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::uint64_t times = lines / text.size() + (i < lines % text.size() ? 1 : 0);
      split(text[i], [&](const std::string& w) { often[w] += times; });
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
