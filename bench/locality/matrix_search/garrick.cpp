// Controllers hand out words, searchers look for them in matrices of their own.
#include <atomic>
#include <memory>

#include "common/garrick_system.hpp"
#include "locality/matrix_search/puzzle.hpp"

namespace {

struct answer {
  std::uint32_t searcher;
  std::uint64_t place;
};

using controller_protocol = garrick::protocol<void(answer)>;
using searcher_protocol = garrick::protocol<void(bench::word)>;

class searcher : public garrick::actor<searcher_protocol> {
 public:
  searcher(garrick::ref<controller_protocol> owner, std::uint32_t index, std::uint64_t seed,
           const bench::puzzle_sizes& sizes)
      : owner_(std::move(owner)), index_(index), seed_(seed), sizes_(sizes) {}
  void on(const bench::word& w) {
    // At the first execution, so that the pages are those of the memory node where the actor lives.
    if (cells_ == nullptr) cells_ = std::make_unique<bench::matrix>(seed_, sizes_);
    send(owner_, answer{index_, cells_->find(w)});
  }

 private:
  garrick::ref<controller_protocol> owner_;
  std::uint32_t index_;
  std::uint64_t seed_;
  bench::puzzle_sizes sizes_;
  std::unique_ptr<bench::matrix> cells_;
};

class controller : public garrick::actor<controller_protocol> {
 public:
  controller(std::uint32_t index, const bench::puzzle_sizes& sizes, std::atomic<std::uint64_t>* sum)
      : index_(index), sizes_(sizes), work_(index, sizes), sum_(sum) {}
  void on_start() {
    for (std::uint32_t i = 0; i < sizes_.searchers; ++i) {
      garrick::spawn_options how;
      how.hint = garrick::locality_hint::spread();
      searchers_.push_back(
          spawn<searcher>(how, self(), i, std::uint64_t{index_} * sizes_.searchers + i, sizes_));
      hand_out(i);
    }
  }
  void on(answer a) {
    if (work_.answered(a.place)) {
      // order: read after the system's end
      sum_->fetch_add(work_.sum(), std::memory_order_relaxed);
      searchers_.clear();
      quit();
    } else {
      hand_out(a.searcher);
    }
  }

 private:
  void hand_out(std::uint32_t i) {
    if (const bench::word* w = work_.next(i)) send(searchers_[i], *w);
  }

  std::uint32_t index_;
  bench::puzzle_sizes sizes_;
  bench::puzzles work_;
  std::atomic<std::uint64_t>* sum_;
  std::vector<garrick::ref<searcher_protocol>> searchers_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const puzzle_sizes sizes = read_puzzle(args);
  const std::uint64_t findings = args.number("findings", 0);

  std::atomic<std::uint64_t> sum{0};
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    for (std::uint32_t i = 0; i < sizes.controllers; ++i)
      system.spawn<controller>(i, sizes, garrick::lent(&sum));
    static_cast<void>(system.await_all());
  });
  out.items = std::uint64_t{sizes.controllers} * sizes.searchers * sizes.searches;
  out.expect("findings", findings, sum.load());
}
