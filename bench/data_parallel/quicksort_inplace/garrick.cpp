// Divide and conquer in place: the vector is moved to the pattern and back.
#include <garrick/patterns/patterns.hpp>

#include <span>

#include "common/garrick_system.hpp"
#include "data_parallel/quicksort_inplace/kernel.hpp"

namespace {

using bench::value;
using garrick::patterns::parts;

void divide(std::span<value> all, parts& out) {
  const std::size_t k = bench::divide(all.data(), all.size());
  out.add(0, k);
  out.add(k, all.size());
}
void merge(std::span<value>, const parts&) {}
void sort_few(std::span<value> few) { bench::sort_few(few.data(), few.size()); }
bool is_small(std::uint32_t cutoff, std::span<const value> some) { return some.size() < cutoff; }

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("values", 10'000'000);
  const std::uint32_t cutoff = args.count("cutoff", default_cutoff);

  values v = quicksort_input(count);
  const auto quicksort = garrick::patterns::divide_conquer(
      ::divide, merge, ::sort_few, garrick::patterns::bind(is_small, cutoff));
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    v = system.request(spawn(system, quicksort), std::move(v)).get().value();
  });
  check_quicksort(out, v, count);
}
