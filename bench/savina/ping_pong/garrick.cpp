// Savina 01: two actors and one message between them. The few round trips make the system's start
// and end count.
#include "common/garrick_system.hpp"

namespace {

struct ping {};
struct pong {};
struct start {};
using server = garrick::protocol<void(ping)>;
using client = garrick::protocol<void(pong), void(start)>;

class ponger : public garrick::actor<server> {
 public:
  explicit ponger(garrick::ref<client> other) : other_(std::move(other)) {}
  void on(ping) { send(other_, pong{}); }

 private:
  garrick::ref<client> other_;
};

class pinger : public garrick::actor<client> {
 public:
  pinger(std::uint64_t trips, std::uint64_t* done) : trips_(trips), done_(done) {}

  void on(start) {
    other_ = spawn<ponger>(self());
    send(other_, ping{});
  }
  void on(pong) {
    if (++*done_ < trips_)
      send(other_, ping{});
    else
      quit();
  }

 private:
  garrick::ref<server> other_;
  std::uint64_t trips_;
  std::uint64_t* done_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const std::uint64_t trips = args.number("trips", 40'000);
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();

  bench::result result;
  std::uint64_t done = 0;
  const std::int64_t begun = bench::now_ns();
  {
    garrick::actor_system system(options);
    send(system.spawn<pinger>(trips, &done), start{});
    static_cast<void>(system.await_all());
  }
  result.seconds = bench::seconds_since(begun);
  result.items = 2 * trips;
  result.expect("round trips", trips, done);
  return result.print();
}
