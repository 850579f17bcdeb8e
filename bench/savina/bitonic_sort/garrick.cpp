// A sorting network in which every splitter, comparator and joiner is an actor (network.hpp).
#include "common/garrick_system.hpp"
#include "savina/bitonic_sort/network.hpp"

namespace {

struct number {
  std::uint64_t value;
};
struct numbered {
  std::uint32_t input;
  std::uint64_t value;
};
using sink = garrick::protocol<void(number)>;
using joint = garrick::protocol<void(numbered)>;

class joiner : public garrick::actor<joint> {
 public:
  joiner(std::uint32_t inputs, std::uint32_t length, garrick::ref<sink> next)
      : order_(inputs, length), next_(std::move(next)) {}

  void on(numbered n) {
    order_.take(n.input, n.value, [this](std::uint64_t value) { send(next_, number{value}); });
  }

 private:
  bench::bitonic_joiner order_;
  garrick::ref<sink> next_;
};

// Says to a joiner from which input a value comes.
class labeler : public garrick::actor<sink> {
 public:
  labeler(std::uint32_t input, garrick::ref<joint> next) : input_(input), next_(std::move(next)) {}
  void on(number n) { send(next_, numbered{input_, n.value}); }

 private:
  std::uint32_t input_;
  garrick::ref<joint> next_;
};

class splitter : public garrick::actor<sink> {
 public:
  splitter(std::vector<garrick::ref<sink>> receivers, std::uint32_t length)
      : receivers_(std::move(receivers)),
        turn_(static_cast<std::uint32_t>(receivers_.size()), length) {}

  void on(number n) {
    send(receivers_[turn_.current()], n);
    turn_.advance();
  }

 private:
  std::vector<garrick::ref<sink>> receivers_;
  bench::round_robin turn_;
};

class comparator : public garrick::actor<sink> {
 public:
  comparator(std::uint32_t input, bool ascending, garrick::ref<joint> next)
      : input_(input), ascending_(ascending), next_(std::move(next)) {}

  void on(number n) {
    if (!has_first_) {
      has_first_ = true;
      first_ = n.value;
      return;
    }
    has_first_ = false;
    const auto [low, high] = std::minmax(first_, n.value);
    send(next_, numbered{input_, ascending_ ? low : high});
    send(next_, numbered{input_, ascending_ ? high : low});
  }

 private:
  std::uint32_t input_;
  bool ascending_;
  bool has_first_ = false;
  std::uint64_t first_ = 0;
  garrick::ref<joint> next_;
};

class validator : public garrick::actor<sink> {
 public:
  explicit validator(std::vector<std::uint64_t>* found) : found_(found) {}
  void on(number n) { found_->push_back(n.value); }

 private:
  std::vector<std::uint64_t>* found_;
};

struct produce {};

// Builds the network from its end, feeds it and lets it go: each part ends when those before it
// have.
class source : public garrick::actor<garrick::protocol<void(produce)>> {
 public:
  source(std::uint32_t values, std::vector<std::uint64_t>* found)
      : values_(values), found_(found) {}

  void on(produce) {
    garrick::ref<sink> first = spawn<validator>(garrick::lent(found_));
    const std::vector<bench::bitonic_pass> passes = bench::bitonic_passes(values_);
    for (auto pass = passes.rbegin(); pass != passes.rend(); ++pass)
      first = build_pass(*pass, first);
    for (const std::uint64_t value : bench::bitonic_input(values_)) send(first, number{value});
  }

 private:
  garrick::ref<sink> build_pass(const bench::bitonic_pass& pass, const garrick::ref<sink>& next) {
    const std::uint32_t partitions = values_ / pass.block;
    const garrick::ref<joint> all = spawn<joiner>(partitions, pass.block, next);
    std::vector<garrick::ref<sink>> entries;
    for (std::uint32_t i = 0; i < partitions; ++i)
      entries.push_back(
          build_partition(pass.block, bench::bitonic_ascends(pass, i), spawn<labeler>(i, all)));
    return spawn<splitter>(std::move(entries), pass.block);
  }

  garrick::ref<sink> build_partition(std::uint32_t block, bool ascending,
                                     const garrick::ref<sink>& next) {
    const garrick::ref<joint> both = spawn<joiner>(block / 2, 1U, next);
    std::vector<garrick::ref<sink>> comparators;
    for (std::uint32_t i = 0; i < block / 2; ++i)
      comparators.push_back(spawn<comparator>(i, ascending, both));
    return spawn<splitter>(std::move(comparators), 1U);
  }

  std::uint32_t values_;
  std::vector<std::uint64_t>* found_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto values = static_cast<std::uint32_t>(args.number("values", 4096));

  std::vector<std::uint64_t> found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<source>(values, garrick::lent(&found)), produce{});
    static_cast<void>(system.await_all());
  });
  check_bitonic(out, found, values);
}
