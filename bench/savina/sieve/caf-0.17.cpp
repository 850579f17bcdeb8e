// A producer sends the odd numbers through a chain of filters. Each holds some primes and passes on
// the numbers that none of them divides. A prime for which the last one has no room starts a new
// filter.
#include "common/caf_system.hpp"
#include "savina/sieve/primes.hpp"

namespace {

using finish_atom = caf::atom_constant<caf::atom("finish")>;

class filter : public caf::event_based_actor {
 public:
  filter(caf::actor_config& cfg, std::uint64_t first, std::size_t limit,
         bench::sieve_outcome* found)
      : caf::event_based_actor(cfg), primes_(first, limit), limit_(limit), found_(found) {}

  caf::behavior make_behavior() override {
    return {
        [this](std::uint64_t number) {
          if (primes_.divides(number)) return;
          if (next_)
            send(next_, number);
          else if (primes_.full())
            next_ = spawn<filter>(number, limit_, found_);
          else
            primes_.add(number);
        },
        [this](finish_atom, std::uint64_t primes, std::uint64_t filters) {
          primes += primes_.count();
          ++filters;
          if (next_)
            send(next_, finish_atom::value, primes, filters);
          else
            *found_ = {primes, filters};
          quit();
        },
    };
  }

 private:
  bench::local_primes primes_;
  std::size_t limit_;
  bench::sieve_outcome* found_;
  caf::actor next_;
};

void producer(caf::event_based_actor* self, const caf::actor& first, std::uint64_t numbers) {
  for (std::uint64_t n = 3; n < numbers; n += 2) self->send(first, n);
  self->send(first, finish_atom::value, std::uint64_t{0}, std::uint64_t{0});
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t numbers = args.number("numbers", 100'000);
  const std::uint64_t limit = args.number("primes", 1000);

  sieve_outcome found;
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    system.spawn(producer, system.spawn<filter>(std::uint64_t{2}, limit, &found), numbers);
    system.await_all_actors_done();
  });
  out.items = numbers / 2;
  const std::uint64_t primes = count_primes(numbers);
  out.expect("primes", primes, found.primes);
  out.expect("filters", (primes + limit - 1) / limit, found.filters);
}
