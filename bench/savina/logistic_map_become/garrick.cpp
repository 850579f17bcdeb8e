// A master orders all terms of all series at once. For each term a worker asks its rate computer,
// and leaves everything but the answer in its mailbox by changing its behavior, for at most
// `--limit_us` microseconds (0: as long as it takes).
#include "common/garrick_system.hpp"
#include "savina/logistic_map/series.hpp"

namespace {

struct compute {
  double term;
  garrick::any_ref worker;
};
struct computed {
  double term;
};
using computer = garrick::protocol<void(compute)>;

class rate_computer : public garrick::actor<computer> {
 public:
  explicit rate_computer(double rate) : rate_(rate) {}
  void on(const compute& c) { send(c.worker, computed{bench::next_term(rate_, c.term)}); }

 private:
  double rate_;
};

struct next {};
struct last_term {};

class series_worker : public garrick::dynamic_actor {
 public:
  series_worker(garrick::ref<computer> c, double start, garrick::duration limit)
      : computer_(std::move(c)), term_(start), limit_(limit) {}

  void on_start() {
    set_unmatched(garrick::unmatched::skip);
    become(
        [this](next) {
          send(computer_, compute{term_, self()});
          await_term();
        },
        [this](last_term) { return late_ ? bench::late_term : term_; });
  }

 private:
  void await_term() {
    const auto answered = [this](computed c) {
      term_ = c.term;
      unbecome();
    };
    const auto late = [this] {
      late_ = true;
      unbecome();
    };
    if (limit_ == garrick::duration())
      become(garrick::keep_behavior, answered);
    else
      become(garrick::keep_behavior, answered, garrick::after(limit_) >> late);
  }

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
    std::vector<garrick::any_ref> workers;
    for (std::uint64_t i = 0; i < b.series; ++i)
      workers.push_back(spawn<series_worker>(spawn<rate_computer>(bench::series_rate(i)),
                                             bench::series_start(i), limit_));
    for (std::uint64_t t = 0; t < b.terms; ++t)
      for (const auto& w : workers) send(w, next{});
    for (std::uint64_t i = 0; i < b.series; ++i)
      request_as<double>(workers[i], last_term{}).then([this, i](double term) {
        (*found_)[i] = term;
      });
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
