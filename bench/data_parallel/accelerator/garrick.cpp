// An actor hands its rows to an accelerator and adds up each row that comes back.
// `--own_threads 1`: the accelerator's team has threads of its own. `--apart 1`: and these have all
// processors but the first, on which the workers are.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "data_parallel/accelerator/matrix.hpp"
#include "data_parallel/accelerator/placed.hpp"

namespace {

using namespace garrick::patterns;
using bench::row;

struct begin {};

class adder : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  adder(accelerator acc, const bench::matrix* m, std::vector<std::uint64_t>* sums)
      : acc_(std::move(acc)), matrix_(m), sums_(sums) {}
  void on(begin) {
    for (std::uint64_t i = 0; i < matrix_->rows; ++i)
      request(acc_, garrick::patterns::bind(&change, matrix_->steps), matrix_->at(i))
          .then([i, this](const row& r) { (*sums_)[i] = bench::sum_of(r); });
    acc_ = {};
  }

 private:
  static void change(std::uint64_t steps, std::uint64_t& x) { x = bench::worked_on(x, steps); }

  accelerator acc_;
  const bench::matrix* matrix_;
  std::vector<std::uint64_t>* sums_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const matrix m(args);
  const std::size_t replicas = args.count("replicas", 2);
  const bool own_threads = args.number("own_threads", 0, 0, 1) != 0;
  const bool separate = args.number("apart", 0, 0, 1) != 0;
  garrick::settings settings = garrick_settings(args);
  args.reject_unknown();
  accelerator_team team = accelerator_team().replicas(replicas);
  if (own_threads) team = team.own_threads();
  if (separate) {
    const placed where = apart();
    settings.scheduler.affinity = where.workers;
    team = team.own_threads(where.team);
  }

  std::vector<std::uint64_t> sums(m.rows);
  const std::int64_t start = now_ns();
  {
    garrick::actor_system system(settings);
    send(system.spawn<adder>(spawn(system, team), garrick::lent(&m), garrick::lent(&sums)),
         begin{});
    static_cast<void>(system.await_all());
  }
  out.seconds = seconds_since(start);
  check(out, m, sums);
}
