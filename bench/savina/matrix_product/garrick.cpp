// A master deals block products to a crew in turn. A worker returns those above the threshold as
// eight smaller ones, and the others as a block of numbers, which the master adds to the product.
// The factors are shared and constant.
#include <memory>

#include "common/garrick_system.hpp"
#include "savina/matrix_product/matrix.hpp"

namespace {

using factor = std::shared_ptr<const bench::matrix>;
struct smaller {
  std::vector<bench::block_product> parts;
};
struct block {
  bench::block_product place;
  std::vector<double> cells;
};
using dealer = garrick::protocol<void(smaller), void(block)>;
using multiplier = garrick::protocol<void(bench::block_product)>;

class worker : public garrick::actor<multiplier> {
 public:
  worker(garrick::ref<dealer> master, factor a, factor b, std::uint64_t threshold)
      : master_(std::move(master)), a_(std::move(a)), b_(std::move(b)), threshold_(threshold) {}

  void on(bench::block_product p) {
    if (std::uint64_t{p.size} * p.size > threshold_)
      send(master_, smaller{bench::split(p)});
    else
      send(master_, block{p, bench::multiply(*a_, *b_, p)});
  }

 private:
  garrick::ref<dealer> master_;
  factor a_;
  factor b_;
  std::uint64_t threshold_;
};

class master : public garrick::actor<dealer> {
 public:
  master(std::uint64_t crew, std::uint64_t threshold, bench::matrix* product)
      : crew_(crew), threshold_(threshold), product_(product) {}

  void on_start() {
    const std::uint32_t size = product_->size;
    const auto a = std::make_shared<const bench::matrix>(
        bench::make_matrix(size, [](auto row, auto) { return row; }));
    const auto b = std::make_shared<const bench::matrix>(
        bench::make_matrix(size, [](auto, auto column) { return column; }));
    for (std::uint64_t i = 0; i < crew_; ++i)
      workers_.push_back(spawn<worker>(self(), a, b, threshold_));
    deal({0, 0, 0, size});
  }
  void on(const smaller& s) {
    for (const bench::block_product& p : s.parts) deal(p);
    end_one();
  }
  void on(const block& b) {
    bench::add_block(*product_, b.place, b.cells);
    end_one();
  }

 private:
  void deal(const bench::block_product& p) {
    send(workers_[next_++ % workers_.size()], p);
    ++outstanding_;
  }
  void end_one() {
    // master and workers know each other: one side lets go
    if (--outstanding_ == 0) workers_.clear();
  }

  std::uint64_t crew_;
  std::uint64_t threshold_;
  bench::matrix* product_;
  std::vector<garrick::ref<multiplier>> workers_;
  std::uint64_t next_ = 0;
  std::uint64_t outstanding_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto size = static_cast<std::uint32_t>(args.number("size", 1024));
  const std::uint64_t crew = args.number("crew", 20);
  const std::uint64_t threshold = args.number("threshold", 16'384);

  matrix product = make_matrix(size, [](auto, auto) { return 0; });
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    static_cast<void>(system.spawn<master>(crew, threshold, garrick::lent(&product)));
    static_cast<void>(system.await_all());
  });
  check_product(out, product, size);
}
