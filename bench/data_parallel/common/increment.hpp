// The job of `in_place`, `create_move` and `share_create`: each number of a vector is read and
// changed, and that is all (thesis, table 4). So the figure is the cost of sharing the work on one
// vector. C++17 and the standard library only, for the peers.
#pragma once

#include <stdlib.h>  // with glibc: says that it is glibc
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/measure.hpp"

namespace bench {

using numbers = std::vector<std::uint32_t>;

// The change of a number.
inline std::uint32_t changed(std::uint32_t x) { return x + 1; }

// The same for some adjacent numbers.
inline void change(std::uint32_t* first, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) first[i] = changed(first[i]);
}

// Where part `i` of `parts` begins, of n numbers; `i` may be `parts`.
inline std::size_t begin_of_part(std::size_t n, std::size_t i, std::size_t parts) {
  return n / parts * i + (i < n % parts ? i : n % parts);
}

// Lets the allocator keep freed memory, up to some blocks of 32 MB. By itself glibc learns during
// the run from which size on it gives memory back to the system at once; a block of 6 MB lies so
// near to that size that one program has a page fault for each page in each round and another has
// none.
inline void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

// A vector that is changed round after round, and how long each round has taken. The clock runs
// during the rounds only: the vector lies in memory before, and systems and threads are started
// before, unless a round starts them.
class rounds {
 public:
  explicit rounds(arguments& args)
      : elements_(args.count("elements", 3'000'000)), count_(args.count("rounds", 200)) {
    keep_freed_memory();
    taken_.reserve(count_);
  }

  numbers input() const {
    numbers all(elements_);
    for (std::size_t i = 0; i < elements_; ++i) all[i] = first(i);
    return all;
  }

  // Calls `round()`, which changes each number once, as often as is asked for.
  template <class Round>
  void measure(Round round) {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::int64_t start = now_ns();
      round();
      taken_.push_back(now_ns() - start);
    }
  }

  // Each number has been changed as often as there were rounds.
  void check(result& out, const numbers& found) {
    out.expect("elements", elements_, found.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      wrong += found[i] == first(i) + static_cast<std::uint32_t>(count_) ? 0 : 1;
    out.expect("wrong numbers", 0, wrong);
    std::int64_t all = 0;
    for (const std::int64_t ns : taken_) all += ns;
    out.expect("rounds", count_, taken_.size());
    out.seconds = static_cast<double>(all) * 1e-9;
    out.items = elements_ * count_;
    out.latencies(std::move(taken_));
  }

 private:
  static std::uint32_t first(std::size_t i) { return static_cast<std::uint32_t>(i * 2654435761U); }

  std::size_t elements_;
  std::size_t count_;
  std::vector<std::int64_t> taken_;
};

}  // namespace bench
