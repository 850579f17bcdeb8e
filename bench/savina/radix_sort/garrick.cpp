// Values below 2^60 pass through sixty stages. Each stage lets those without its bit pass and sends
// the others after them.
#include "common/garrick_system.hpp"
#include "savina/radix_sort/values.hpp"

namespace {

struct number {
  std::uint64_t value;
};
using sink = garrick::protocol<void(number)>;

class stage : public garrick::actor<sink> {
 public:
  stage(std::uint64_t values, std::uint64_t bit, garrick::ref<sink> next)
      : expected_(values), bit_(bit), next_(std::move(next)) {}

  void on(number n) {
    if ((n.value & bit_) == 0)
      send(next_, n);
    else
      kept_.push_back(n.value);
    if (--expected_ != 0) return;
    for (const std::uint64_t value : kept_) send(next_, number{value});
  }

 private:
  std::uint64_t expected_;
  std::uint64_t bit_;
  garrick::ref<sink> next_;
  std::vector<std::uint64_t> kept_;
};

class validator : public garrick::actor<sink> {
 public:
  explicit validator(bench::radix_outcome* found) : found_(found) {}
  void on(number n) { found_->add(n.value); }

 private:
  bench::radix_outcome* found_;
};

struct produce {};

// Builds the stages from the last to the first, feeds the first and lets it go: each ends when the
// one before it has.
class source : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  source(std::uint64_t values, bench::radix_outcome* found) : values_(values), found_(found) {}

  void on(produce) {
    garrick::ref<sink> first = spawn<validator>(garrick::lent(found_));
    for (std::uint64_t bit = bench::radix_limit / 2; bit > 0; bit /= 2)
      first = spawn<stage>(values_, bit, first);
    bench::savina::random_numbers random(2048);
    for (std::uint64_t i = 0; i < values_; ++i) send(first, number{random.next()});
  }

 private:
  std::uint64_t values_;
  bench::radix_outcome* found_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t values = args.number("values", 100'000);

  radix_outcome found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<source>(values, garrick::lent(&found)), produce{});
    static_cast<void>(system.await_all());
  });
  check_radix(out, found, values);
}
