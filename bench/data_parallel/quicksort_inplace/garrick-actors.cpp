// An actor for each range, without shared memory: it divides its values, gives copies of both parts
// to two new actors, and copies their answers to its place.
#include "common/garrick_system.hpp"
#include "data_parallel/quicksort_inplace/kernel.hpp"

namespace {

using bench::values;
using garrick::result;

class sorter : public garrick::actor<garrick::protocol<result<values>(values)>> {
 public:
  explicit sorter(std::uint32_t cutoff) : cutoff_(cutoff) {}

  result<values> on(values& all) {
    if (all.size() < cutoff_) {
      bench::sort_few(all.data(), all.size());
      return std::move(all);
    }
    all_ = std::move(all);
    promise_ = make_promise<values>();
    result<values> later = promise_;
    const std::size_t k = bench::divide(all_.data(), all_.size());
    sort_part(0, k);
    sort_part(k, all_.size());
    return later;
  }

 private:
  void sort_part(std::size_t begin, std::size_t end) {
    const auto place = all_.begin() + static_cast<std::ptrdiff_t>(begin);
    values part(place, all_.begin() + static_cast<std::ptrdiff_t>(end));
    request(spawn<sorter>(cutoff_), std::move(part)).then([this, place](const values& sorted) {
      std::copy(sorted.begin(), sorted.end(), place);
      if (++answers_ == 2) promise_.deliver(std::move(all_));
    });
  }

  std::uint32_t cutoff_;
  values all_;
  int answers_ = 0;
  garrick::response_promise<values> promise_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("values", 10'000'000);
  const std::uint32_t cutoff = args.count("cutoff", default_cutoff);

  values v = quicksort_input(count);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    v = system.request(system.spawn<sorter>(cutoff), std::move(v)).get().value();
  });
  check_quicksort(out, v, count);
}
