// An actor cuts each row into a piece for each worker actor, which changes it and sends it back.
// Then it puts the row together again.
#include "common/garrick_system.hpp"
#include "data_parallel/accelerator/matrix.hpp"

namespace {

using bench::row;

struct piece {
  std::uint64_t row_number;
  std::uint64_t begin;
  row elements;
};
struct begin {};
using worker_protocol = garrick::protocol<garrick::result<piece>(piece)>;

class worker : public garrick::actor<worker_protocol> {
 public:
  explicit worker(std::uint64_t steps) : steps_(steps) {}
  garrick::result<piece> on(piece p) {
    for (std::uint64_t& x : p.elements) x = bench::worked_on(x, steps_);
    return p;
  }

 private:
  std::uint64_t steps_;
};

class adder : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  adder(std::vector<garrick::ref<worker_protocol>> workers, const bench::matrix* m,
        std::vector<std::uint64_t>* sums)
      : workers_(std::move(workers)), matrix_(m), sums_(sums) {}
  void on(begin) {
    for (std::uint64_t i = 0; i < matrix_->rows; ++i) {
      open_.push_back({matrix_->at(i), workers_.size()});
      const row& all = open_.back().whole;
      for (std::size_t w = 0; w < workers_.size(); ++w) {
        const auto from =
            all.begin() + static_cast<std::ptrdiff_t>(all.size() * w / workers_.size());
        const auto to =
            all.begin() + static_cast<std::ptrdiff_t>(all.size() * (w + 1) / workers_.size());
        piece p{i, static_cast<std::uint64_t>(from - all.begin()), row(from, to)};
        request(workers_[w], std::move(p)).then([this](const piece& done) { put_back(done); });
      }
    }
    workers_.clear();
  }

 private:
  struct open_row {
    row whole;
    std::size_t missing;
  };
  void put_back(const piece& done) {
    open_row& r = open_[done.row_number];
    std::copy(done.elements.begin(), done.elements.end(),
              r.whole.begin() + static_cast<std::ptrdiff_t>(done.begin));
    if (--r.missing != 0) return;
    (*sums_)[done.row_number] = bench::sum_of(r.whole);
    r.whole = {};
  }

  std::vector<garrick::ref<worker_protocol>> workers_;
  const bench::matrix* matrix_;
  std::vector<std::uint64_t>* sums_;
  std::vector<open_row> open_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const matrix m(args);
  const std::size_t replicas = args.count("replicas", 2);

  std::vector<std::uint64_t> sums(m.rows);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    std::vector<garrick::ref<worker_protocol>> workers;
    for (std::size_t i = 0; i < replicas; ++i) workers.push_back(system.spawn<worker>(m.steps));
    send(system.spawn<adder>(std::move(workers), garrick::lent(&m), garrick::lent(&sums)), begin{});
    static_cast<void>(system.await_all());
  });
  check(out, m, sums);
}
