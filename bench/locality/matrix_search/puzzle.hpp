// Workload `matrix_search` (paper 002, §4): a matrix of random letters, and words to find down its
// columns. Rows lie one behind the other in memory, so that a search down a column meets a new
// cache line at every step. The same for all systems, so that the findings are, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

class letter_source {
 public:
  letter_source(std::uint64_t seed, std::uint32_t letters)
      : state_(seed * 0x9e3779b97f4a7c15 + 1), letters_(letters) {}
  std::uint8_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::uint8_t>((z >> 40) % letters_);
  }

 private:
  std::uint64_t state_;
  std::uint32_t letters_;
};

using word = std::array<std::uint8_t, 6>;

struct puzzle_sizes {
  std::uint32_t controllers;
  std::uint32_t searchers;  // of each controller
  std::uint32_t size;       // rows and columns
  std::uint32_t searches;   // of each searcher
  std::uint32_t letters;    // in the alphabet
};

class matrix {
 public:
  matrix(std::uint64_t seed, const puzzle_sizes& sizes)
      : size_(sizes.size), cells_(std::size_t{sizes.size} * sizes.size) {
    letter_source source(seed, sizes.letters);
    for (std::uint8_t& c : cells_) c = source.next();
  }

  // Column by column, from the top: one more than the place of the first finding, 0 if there is
  // none. Not inlined, so that every system runs the same instructions.
  [[gnu::noinline]] std::uint64_t find(const word& w) const {
    for (std::size_t column = 0; column < size_; ++column) {
      std::size_t matched = 0;
      const std::uint8_t* cell = cells_.data() + column;
      for (std::size_t row = 0; row < size_; ++row, cell += size_) {
        // No border of a word is looked for twice: a word that overlaps itself may be missed, in
        // every system alike.
        matched = *cell == w[matched] ? matched + 1 : (*cell == w[0] ? 1 : 0);
        if (matched == w.size()) return column * size_ + row + 1;
      }
    }
    return 0;
  }

 private:
  std::size_t size_;
  std::vector<std::uint8_t> cells_;
};

// The puzzles that a controller hands out, and the sum of the results.
class puzzles {
 public:
  puzzles(std::uint32_t controller, const puzzle_sizes& sizes)
      : source_(1'000'000 + controller, sizes.letters), searches_(sizes.searches) {
    open_.assign(sizes.searchers, searches_);
    words_.resize(std::size_t{sizes.searchers} * searches_);
    for (word& w : words_)
      for (std::uint8_t& c : w) c = source_.next();
  }

  // The next word of that searcher; null: it has had all. The order in which searchers ask makes no
  // difference.
  const word* next(std::uint32_t searcher) {
    if (open_[searcher] == 0) return nullptr;
    return &words_[std::size_t{searcher} * searches_ + --open_[searcher]];
  }

  // Returns true for the last answer.
  bool answered(std::uint64_t place) {
    sum_ += place;
    return ++answers_ == words_.size();
  }
  std::uint64_t sum() const { return sum_; }

 private:
  letter_source source_;
  std::uint32_t searches_;
  std::vector<std::uint32_t> open_;
  std::vector<word> words_;
  std::size_t answers_ = 0;
  std::uint64_t sum_ = 0;
};

// `--findings` is the sum of all places, which does not depend on the schedule.
inline puzzle_sizes read_puzzle(arguments& args) {
  const auto letters = static_cast<std::uint32_t>(args.number("letters", 8, 1, 256));
  return {args.count("controllers", 4), args.count("searchers", 4), args.count("size", 600),
          args.count("searches", 20), letters};
}

}  // namespace bench
