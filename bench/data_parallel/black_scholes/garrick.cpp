// A map, asked once for each round by an actor or, as a variant, by a thread outside, which wakes
// a worker and is woken by it in each round.
#include <garrick/patterns/patterns.hpp>

#include <string>
#include <utility>
#include <vector>

#include "common/garrick_system.hpp"
#include "data_parallel/black_scholes/pricing.hpp"

namespace {

using book = std::vector<bench::option>;
using garrick::patterns::data_ref;

struct price_all {
  book options;
  std::size_t rounds;
};

class trader : public garrick::actor<garrick::protocol<garrick::result<book>(price_all)>> {
 public:
  explicit trader(data_ref<book> pricing) : pricing_(std::move(pricing)) {}
  garrick::task<book> on(price_all all) {
    for (std::size_t round = 0; round < all.rounds; ++round) {
      garrick::pending_response<book> asked = request(pricing_, std::move(all.options));
      garrick::result<book> priced = co_await std::move(asked);
      if (!priced) co_return priced.error();
      all.options = std::move(priced).value();
    }
    co_return std::move(all.options);
  }

 private:
  const data_ref<book> pricing_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::size_t options = args.count("options", 100'000);
  const std::size_t rounds = args.number("rounds", 100, 1, 255);

  const std::string asked_by = args.text("asked_by", "actor");
  if (asked_by != "actor" && asked_by != "thread") arguments::fail("--asked_by is actor or thread");

  book all = make_options(options);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    const auto pricing = spawn(system, garrick::patterns::map([](option& o) { price(o); }));
    if (asked_by == "thread") {
      for (std::size_t round = 0; round < rounds; ++round)
        all = system.request(pricing, std::move(all)).get().value();
    } else {
      const auto asks = system.spawn<trader>(pricing);
      all = system.request(asks, price_all{std::move(all), rounds}).get().value();
    }
  });
  check_prices(out, all, options, rounds);
}
