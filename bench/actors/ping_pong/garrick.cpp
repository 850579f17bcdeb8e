// Two actors and one message between them: the price of a message when nothing else is to do.
#include "common/garrick_system.hpp"

namespace {

struct ping {};
struct pong {};
struct serve {};
using player = garrick::protocol<void(ping)>;
using opponent = garrick::protocol<void(pong), void(serve)>;

class ponger : public garrick::actor<player> {
 public:
  explicit ponger(garrick::ref<opponent> other) : other_(std::move(other)) {}
  void on(ping) { send(other_, pong{}); }

 private:
  garrick::ref<opponent> other_;
};

class pinger : public garrick::actor<opponent> {
 public:
  pinger(std::uint64_t trips, std::uint64_t* done) : trips_(trips), done_(done) {}

  void on(serve) {
    other_ = spawn<ponger>(self());
    send(other_, ping{});
  }
  void on(pong) {
    if (++*done_ < trips_)
      send(other_, ping{});
    else
      other_ = {};  // nobody can reach the two any more: they end
  }

 private:
  garrick::ref<player> other_;
  std::uint64_t trips_;
  std::uint64_t* done_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t trips = args.number("trips", 1'000'000);
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();

  bench::result result;
  std::uint64_t done = 0;
  const std::int64_t start = bench::now_ns();
  {
    garrick::actor_system system(options);
    send(system.spawn<pinger>(trips, &done), serve{});
    static_cast<void>(system.await_all());
  }
  result.seconds = bench::seconds_since(start);
  result.items = 2 * trips;
  result.expect("round trips", trips, done);
  return result.print();
}
