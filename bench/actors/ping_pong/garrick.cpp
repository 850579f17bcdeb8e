// Two actors and one message between them: the price of a message when there is nothing else to do.
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
      other_ = {};  // no handle to the two is left: they end
  }

 private:
  garrick::ref<player> other_;
  std::uint64_t trips_;
  std::uint64_t* done_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t trips = args.number("trips", 1'000'000);

  std::uint64_t done = 0;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    send(system.spawn<pinger>(trips, garrick::lent(&done)), serve{});
    static_cast<void>(system.await_all());
  });
  out.items = 2 * trips;
  out.expect("round trips", trips, done);
}
