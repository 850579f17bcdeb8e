// The sorting network of workload `savina_bitonic_sort`, the same for every system.
//
// A pass takes all values, splits them into blocks and gives each block to a partition. There a
// splitter deals the values one by one to comparators, which thus get value i and value i + block /
// 2, and a joiner collects first the first answers, then the second ones. A joiner behind the
// partitions puts the blocks into their order again and passes the values on to the next pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"
#include "common/savina.hpp"

namespace bench {

struct bitonic_pass {
  std::uint32_t block;  // values that a partition takes
  // values that the merge of this pass sorts: the direction alternates from one run to the next
  std::uint32_t run;
};

// Bitonic runs of 2, 4, … values are merged, each in passes whose blocks halve. The last merge
// sorts all.
inline std::vector<bitonic_pass> bitonic_passes(std::uint32_t values) {
  std::vector<bitonic_pass> passes;
  for (std::uint32_t run = 2; run <= values; run *= 2) {
    for (std::uint32_t block = run; block >= 2; block /= 2) passes.push_back({block, run});
  }
  return passes;
}

inline bool bitonic_ascends(const bitonic_pass& pass, std::uint32_t partition) {
  return (partition * pass.block / pass.run) % 2 == 0;
}

// The current receiver: each of `count` receivers gets `length` values, then the next one.
class round_robin {
 public:
  round_robin(std::uint32_t count, std::uint32_t length) : count_(count), length_(length) {}
  [[nodiscard]] std::uint32_t current() const { return at_; }
  void advance() {
    if (++used_ < length_) return;
    used_ = 0;
    at_ = at_ + 1 == count_ ? 0 : at_ + 1;
  }

 private:
  std::uint32_t count_;
  std::uint32_t length_;
  std::uint32_t at_ = 0;
  std::uint32_t used_ = 0;
};

// Values from several senders, handed out in round-robin order in any order of arrival.
class bitonic_joiner {
 public:
  bitonic_joiner(std::uint32_t inputs, std::uint32_t length)
      : turn_(inputs, length), waiting_(inputs) {}

  template <class Emit>
  void take(std::uint32_t input, std::uint64_t value, Emit emit) {
    waiting_[input].push(value);
    while (!waiting_[turn_.current()].empty()) {
      emit(waiting_[turn_.current()].pop());
      turn_.advance();
    }
  }

 private:
  // Most inputs hold one or two values at a time, and there are many of them.
  class queue {
   public:
    void push(std::uint64_t value) { values_.push_back(value); }
    std::uint64_t pop() {
      const std::uint64_t value = values_[first_++];
      if (first_ == values_.size()) {
        values_.clear();
        first_ = 0;
      }
      return value;
    }
    [[nodiscard]] bool empty() const { return values_.empty(); }

   private:
    std::vector<std::uint64_t> values_;
    std::size_t first_ = 0;
  };

  round_robin turn_;
  std::vector<queue> waiting_;
};

inline std::vector<std::uint64_t> bitonic_input(std::uint32_t values) {
  savina::random_numbers random(2048);
  std::vector<std::uint64_t> input(values);
  for (std::uint64_t& value : input) value = random.next();
  return input;
}

inline void check_bitonic(result& out, const std::vector<std::uint64_t>& found,
                          std::uint32_t values) {
  std::vector<std::uint64_t> expected = bitonic_input(values);
  std::sort(expected.begin(), expected.end());
  out.items = values;
  out.expect("values", values, found.size());
  out.expect("sorted", 1, found == expected ? 1 : 0);
  std::uint64_t sum = 0;
  for (const std::uint64_t value : found) sum += value;
  if (values == 4096) out.expect("sum", 135'063'552, sum);
}

}  // namespace bench
