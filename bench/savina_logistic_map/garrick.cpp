// A master orders all terms of all series at once. For each term a worker asks its rate computer and awaits the answer.
#include "common/garrick_system.hpp"
#include "savina_logistic_map/series.hpp"

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
  series_worker(garrick::ref<computer> c, double start) : computer_(std::move(c)), term_(start) {}

  void on(next) {
    request(computer_, compute{term_}).await([this](double term) { term_ = term; });
  }
  double on(last_term) const { return term_; }

 private:
  garrick::ref<computer> computer_;
  double term_;
};

struct begin {
  std::uint64_t series;
  std::uint64_t terms;
};

class master : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  explicit master(std::vector<double>* found) : found_(found) {}

  void on(begin b) {
    found_->resize(b.series);
    std::vector<garrick::ref<worker>> workers;
    for (std::uint64_t i = 0; i < b.series; ++i)
      workers.push_back(spawn<series_worker>(spawn<rate_computer>(bench::series_rate(i)), bench::series_start(i)));
    for (std::uint64_t t = 0; t < b.terms; ++t)
      for (const auto& w : workers) send(w, next{});
    for (std::uint64_t i = 0; i < b.series; ++i)
      request(workers[i], last_term{}).then([this, i](double term) { (*found_)[i] = term; });
  }

 private:
  std::vector<double>* found_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t terms = args.number("terms", 25'000);
  const std::uint64_t series = args.number("series", 10);
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();

  bench::result result;
  std::vector<double> found;
  const std::int64_t start = bench::now_ns();
  {
    garrick::actor_system system(options);
    send(system.spawn<master>(&found), begin{series, terms});
    static_cast<void>(system.await_all());
  }
  result.seconds = bench::seconds_since(start);
  bench::check_series(result, found, series, terms);
  return result.print();
}
