// A node in each of two processes, with the stack that has all guarantees.
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/garrick_system.hpp"
#include "net/common/published.hpp"

namespace remote_ping_pong {

struct ping {
  std::uint64_t number = 0;
};

}  // namespace remote_ping_pong

namespace {

using namespace garrick;
using remote_ping_pong::ping;
using ponger_type = protocol<std::uint64_t(ping)>;

struct ponger : actor<ponger_type> {
  std::uint64_t on(const ping& p) { return p.number + 1; }
};

using pinger_type = protocol<void(int)>;

struct pinger : actor<pinger_type> {
  pinger(ref<ponger_type> to, std::uint64_t trips, std::vector<std::int64_t>& samples,
         std::uint64_t& sum)
      : to_(std::move(to)), trips_(trips), samples_(&samples), sum_(&sum) {}
  void on(int) { ask(); }

 private:
  void ask() {
    const std::int64_t begin = bench::now_ns();
    request(to_, ping{samples_->size()}).then([this, begin](std::uint64_t answer) {
      samples_->push_back(bench::now_ns() - begin);
      *sum_ += answer;
      if (samples_->size() == trips_) return quit();
      ask();
    });
  }

  ref<ponger_type> to_;
  std::uint64_t trips_;
  std::vector<std::int64_t>* samples_;
  std::uint64_t* sum_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t trips = args.number("trips", 20'000);
  const garrick::settings settings = garrick_settings(args);
  args.reject_unknown();
  const served server(published<ponger>(settings, "ponger"));
  std::vector<std::int64_t> samples;
  samples.reserve(trips);
  std::uint64_t sum = 0;
  {
    actor_system system(settings);
    net::node node(system);
    const auto there = published_by<ponger_type>(node, server, "ponger");
    if (!there) return out.error(there.error().to_string());
    const std::int64_t start = now_ns();
    const auto asks = system.spawn<pinger>(*there, trips, lent(samples), lent(sum));
    send(asks, 1);
    system.await_all().value();
    out.seconds = seconds_since(start);
  }
  out.items = trips;
  out.expect("round trips", trips, samples.size());
  out.expect("sum of the answers", trips * (trips + 1) / 2, sum);
  out.latencies(std::move(samples));
}
