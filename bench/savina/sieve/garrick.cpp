// A producer sends the odd numbers through a chain of filters. Each holds some primes and passes on
// the numbers that none of them divides. A prime for which the last one has no room starts a new
// filter.
#include "common/garrick_system.hpp"
#include "savina/sieve/primes.hpp"

namespace {

struct candidate {
  std::uint64_t number;
};
struct finish {
  std::uint64_t primes;
  std::uint64_t filters;
};
struct produce {};
using sieve = garrick::protocol<void(candidate), void(finish)>;

class filter : public garrick::actor<sieve> {
 public:
  filter(std::uint64_t first, std::size_t limit, bench::sieve_outcome* found)
      : primes_(first, limit), limit_(limit), found_(found) {}

  void on(candidate c) {
    if (primes_.divides(c.number)) return;
    if (next_)
      send(next_, c);
    else if (primes_.full())
      next_ = spawn<filter>(c.number, limit_, garrick::lent(found_));
    else
      primes_.add(c.number);
  }
  void on(finish so_far) {
    const finish all{so_far.primes + primes_.count(), so_far.filters + 1};
    if (next_)
      send(next_, all);
    else
      *found_ = {all.primes, all.filters};
  }

 private:
  bench::local_primes primes_;
  std::size_t limit_;
  bench::sieve_outcome* found_;
  garrick::ref<sieve> next_;
};

class producer : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  producer(garrick::ref<sieve> first, std::uint64_t numbers)
      : first_(std::move(first)), numbers_(numbers) {}

  void on(produce) {
    for (std::uint64_t n = 3; n < numbers_; n += 2) send(first_, candidate{n});
    send(first_, finish{0, 0});
  }

 private:
  garrick::ref<sieve> first_;
  std::uint64_t numbers_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t numbers = args.number("numbers", 100'000);
  const std::uint64_t limit = args.number("primes", 1000);

  sieve_outcome found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<producer>(
             system.spawn<filter>(std::uint64_t{2}, limit, garrick::lent(&found)), numbers),
         produce{});
    static_cast<void>(system.await_all());
  });
  out.items = numbers / 2;
  const std::uint64_t primes = count_primes(numbers);
  out.expect("primes", primes, found.primes);
  out.expect("filters", (primes + limit - 1) / limit, found.filters);
}
