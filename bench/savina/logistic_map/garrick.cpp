// A master orders all terms of all series at once. For each term a worker asks its rate computer
// and awaits the answer, for at most `--limit_us` microseconds (0: as long as it takes).
#include "common/garrick_system.hpp"
#include "savina/logistic_map/series.hpp"

namespace {

struct compute {
  double term;
};
using computer = garrick::protocol<double(compute)>;

class rate_computer : public garrick::actor<computer> {
 public:
  explicit rate_computer(double rate) : rate_(rate) {}
  double on(compute c) const { return bench::next_term(rate_, c.term); }

 private:
  double rate_;
};

struct next {};
struct last_term {};
using worker = garrick::protocol<void(next), double(last_term)>;

class series_worker : public garrick::actor<worker> {
 public:
  series_worker(garrick::ref<computer> c, double start, garrick::duration limit)
      : computer_(std::move(c)), term_(start), limit_(limit) {}

  void on(next) {
    const auto answered = [this](double term) { term_ = term; };
    if (limit_ == garrick::duration())
      request(computer_, compute{term_}).await(answered);
    else
      request(computer_, compute{term_}, limit_).await(answered, [this](const garrick::error&) {
        late_ = true;
      });
  }
  double on(last_term) const { return late_ ? bench::late_term : term_; }

 private:
  garrick::ref<computer> computer_;
  double term_;
  garrick::duration limit_;
  bool late_ = false;
};

struct begin {
  std::uint64_t series;
  std::uint64_t terms;
};

class master : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  master(std::vector<double>* found, garrick::duration limit) : found_(found), limit_(limit) {}

  void on(begin b) {
    found_->resize(b.series);
    std::vector<garrick::ref<worker>> workers;
    for (std::uint64_t i = 0; i < b.series; ++i)
      workers.push_back(spawn<series_worker>(spawn<rate_computer>(bench::series_rate(i)),
                                             bench::series_start(i), limit_));
    for (std::uint64_t t = 0; t < b.terms; ++t)
      for (const auto& w : workers) send(w, next{});
    for (std::uint64_t i = 0; i < b.series; ++i)
      request(workers[i], last_term{}).then([this, i](double term) { (*found_)[i] = term; });
  }

 private:
  std::vector<double>* found_;
  garrick::duration limit_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t terms = args.number("terms", 25'000);
  const std::uint64_t series = args.number("series", 10);
  const auto limit =
      garrick::duration::microseconds(static_cast<std::int64_t>(args.number("limit_us", 0)));

  std::vector<double> found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<master>(garrick::lent(&found), limit), begin{series, terms});
    static_cast<void>(system.await_all());
  });
  check_series(out, found, series, terms);
}
