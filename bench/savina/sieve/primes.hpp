// The primes of a filter of workload `savina_sieve`: some that follow each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bench {

class local_primes {
 public:
  local_primes(std::uint64_t first, std::size_t limit) : limit_(limit) { primes_.push_back(first); }

  [[nodiscard]] bool divides(std::uint64_t number) const {
    return std::any_of(primes_.begin(), primes_.end(),
                       [number](std::uint64_t prime) { return number % prime == 0; });
  }
  [[nodiscard]] bool full() const { return primes_.size() == limit_; }
  [[nodiscard]] std::size_t count() const { return primes_.size(); }
  void add(std::uint64_t prime) { primes_.push_back(prime); }

 private:
  std::size_t limit_;
  std::vector<std::uint64_t> primes_;
};

// The primes below `limit`, counted in another way.
inline std::uint64_t count_primes(std::uint64_t limit) {
  std::vector<bool> composite(limit, false);
  std::uint64_t count = 0;
  for (std::uint64_t i = 2; i < limit; ++i) {
    if (composite[i]) continue;
    ++count;
    for (std::uint64_t multiple = i * i; multiple < limit; multiple += i)
      composite[multiple] = true;
  }
  return count;
}

struct sieve_outcome {
  std::uint64_t primes = 0;
  std::uint64_t filters = 0;
};

}  // namespace bench
