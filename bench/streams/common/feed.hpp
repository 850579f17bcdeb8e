// The tuples of an application's sources: they lie in memory, are put out again and again, and each
// is stamped when it leaves.
#pragma once

#include <algorithm>
#include <vector>

#include "streams/common/pace.hpp"

namespace bench {

// This many tuples of `all`, which outlives it, at full speed or at a rate. A copy goes on by
// itself.
template <class T>
class feed {
 public:
  feed(const std::vector<T>& all, std::uint64_t tuples, std::uint64_t per_second)
      : all_(&all), left_(tuples), pace_(per_second) {}

  bool ended() const { return left_ == 0; }
  // Requires that it has not ended. Waits until the tuple is due.
  T next() {
    T tuple = (*all_)[at_];
    if (++at_ == all_->size()) at_ = 0;
    --left_;
    tuple.stamp = pace_.next();
    return tuple;
  }
  // Returns the next n, or as many as there are.
  std::vector<T> block(std::size_t n) {
    std::vector<T> some;
    some.reserve(n);
    for (; n != 0 && !ended(); --n) some.push_back(next());
    return some;
  }

 private:
  const std::vector<T>* all_;
  std::size_t at_ = 0;
  std::uint64_t left_;
  pace pace_;
};

}  // namespace bench
