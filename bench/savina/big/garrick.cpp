// Savina 07: each actor pings a neighbour chosen at random and waits for its pong, again and again;
// a sink ends all when all are done.
#include "common/garrick_system.hpp"
#include "common/savina.hpp"

namespace {

using garrick::ref;

struct meet;
struct begin;
struct ping;
struct pong;
struct finish;
using pinging = garrick::protocol<void(meet), void(begin), void(ping), void(pong), void(finish)>;

struct meet {
  std::vector<ref<pinging>> neighbours;
};
struct begin {};
struct ping {
  std::uint32_t from;
};
struct pong {
  std::uint32_t from;
};
struct finish {};
struct done {};
using ending = garrick::protocol<void(meet), void(done)>;

struct tally {
  std::uint64_t answered = 0;
  std::uint64_t expected = 0;  // pongs that came from the neighbour that had been pinged
};

class worker : public garrick::actor<pinging> {
 public:
  worker(std::uint32_t id, std::uint64_t pings, ref<ending> sink, tally* seen)
      : id_(id), left_(pings), sink_(std::move(sink)), random_(id), seen_(seen) {}

  void on(const meet& m) { neighbours_ = m.neighbours; }
  void on(begin) { next(); }
  void on(ping p) {
    ++counts_.answered;
    send(neighbours_[p.from], pong{id_});
  }
  void on(pong p) {
    if (p.from == pinged_) ++counts_.expected;
    next();
  }
  void on(finish) {
    *seen_ = counts_;
    quit();
  }

 private:
  void next() {
    if (left_ == 0) {
      send(sink_, done{});
      return;
    }
    --left_;
    pinged_ = random_.below(static_cast<std::uint32_t>(neighbours_.size()));
    send(neighbours_[pinged_], ping{id_});
  }

  std::uint32_t id_;
  std::uint32_t pinged_ = 0;
  std::uint64_t left_;
  ref<ending> sink_;
  std::vector<ref<pinging>> neighbours_;
  bench::savina::random_numbers random_;
  tally counts_;
  tally* seen_;
};

class sink : public garrick::actor<ending> {
 public:
  void on(const meet& m) { workers_ = m.neighbours; }
  void on(done) {
    if (++done_ < workers_.size()) return;
    for (const ref<pinging>& w : workers_) send(w, finish{});
    quit();
  }

 private:
  std::vector<ref<pinging>> workers_;
  std::size_t done_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t pings = args.number("pings", 20'000);
  const std::uint64_t workers = args.number("workers", 120);

  std::vector<tally> seen(workers);
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    const ref<ending> end = system.spawn<sink>();
    std::vector<ref<pinging>> all;
    for (std::uint32_t i = 0; i < workers; ++i)
      all.push_back(system.spawn<worker>(i, pings, end, garrick::lent(&seen[i])));
    send(end, meet{all});
    for (const ref<pinging>& w : all) send(w, meet{all});
    for (const ref<pinging>& w : all) send(w, begin{});
    static_cast<void>(system.await_all());
  });
  out.items = pings * workers;
  tally total;
  for (const tally& t : seen) {
    total.answered += t.answered;
    total.expected += t.expected;
  }
  out.expect("pings answered", pings * workers, total.answered);
  out.expect("pongs from the pinged worker", pings * workers, total.expected);
}
