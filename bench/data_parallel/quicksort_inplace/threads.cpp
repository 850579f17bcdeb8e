// Threads with a common heap of open ranges. A thread that has divided a range puts the smaller
// part into the heap and goes on with the larger; a thread without a range takes the largest from
// it.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "data_parallel/quicksort_inplace/kernel.hpp"

namespace {

struct range {
  bench::value* first;
  std::size_t n;
  bool operator<(const range& other) const { return n < other.n; }
};

class open_ranges {
 public:
  explicit open_ranges(range all) : unsorted_(all.n) { open_.push_back(all); }

  void add(range r) {
    {
      const std::lock_guard here(lock_);
      open_.push_back(r);
      std::push_heap(open_.begin(), open_.end());
    }
    changed_.notify_one();
  }
  // Returns false if everything is sorted.
  bool take(range& r) {
    std::unique_lock here(lock_);
    changed_.wait(here, [&] { return !open_.empty() || unsorted_ == 0; });
    if (open_.empty()) return false;
    std::pop_heap(open_.begin(), open_.end());
    r = open_.back();
    open_.pop_back();
    return true;
  }
  void sorted(std::size_t n) {
    {
      const std::lock_guard here(lock_);
      unsorted_ -= n;
      if (unsorted_ != 0) return;
    }
    changed_.notify_all();
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<range> open_;
  std::size_t unsorted_;
};

void work(open_ranges& all, std::size_t cutoff) {
  for (range r{}; all.take(r);) {
    while (r.n >= cutoff) {
      const std::size_t k = bench::divide(r.first, r.n);
      range other{r.first + k, r.n - k};
      r.n = k;
      if (r < other) std::swap(r, other);
      all.add(other);
    }
    bench::sort_few(r.first, r.n);
    all.sorted(r.n);
  }
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("values", 10'000'000);
  const std::uint32_t cutoff = args.count("cutoff", default_cutoff);
  const std::size_t threads = args.count("threads", 2);

  values v = quicksort_input(count);
  const std::int64_t start = now_ns();
  {
    open_ranges all({v.data(), v.size()});
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i) workers.emplace_back([&] { work(all, cutoff); });
    for (std::thread& worker : workers) worker.join();
  }
  out.seconds = seconds_since(start);
  check_quicksort(out, v, count);
}
