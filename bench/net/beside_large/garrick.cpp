// Small requests to an actor in another process, beside large ones to another actor there.
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/garrick_system.hpp"
#include "net/common/served.hpp"

namespace beside_large {

struct small {
  std::uint64_t number = 0;
};
struct large {
  std::vector<std::uint8_t> bytes;
};
struct wanted {
  std::uint64_t bytes = 0;
};

}  // namespace beside_large

namespace {

using namespace garrick;
using beside_large::large;
using beside_large::small;
using beside_large::wanted;

using server_type = protocol<std::uint64_t(small)>;
struct server : actor<server_type> {
  std::uint64_t on(const small& s) { return s.number + 1; }
};
using sink_type = protocol<std::uint64_t(large), large(wanted)>;
struct sink : actor<sink_type> {
  std::uint64_t on(const large& l) { return l.bytes.size(); }
  large on(wanted w) { return {std::vector<std::uint8_t>(w.bytes, 1)}; }
};

struct results {
  std::vector<std::int64_t> samples;
  std::uint64_t sum = 0;
  std::uint64_t answered = 0;  // large requests, or requests with large answers
  std::uint64_t sizes = 0;
};

using starter = protocol<void(int)>;

// Asks again a while after each answer.
struct asker : actor<starter> {
  asker(ref<server_type> to, std::uint64_t trips, duration pause, results& r)
      : to_(std::move(to)), trips_(trips), pause_(pause), results_(&r) {}
  void on(int) {
    const std::int64_t begin = bench::now_ns();
    request(to_, small{results_->samples.size()}).then([this, begin](std::uint64_t answer) {
      results_->samples.push_back(bench::now_ns() - begin);
      results_->sum += answer;
      if (results_->samples.size() == trips_) return quit();
      send_after(pause_, self(), 1);
    });
  }

 private:
  ref<server_type> to_;
  std::uint64_t trips_;
  duration pause_;
  results* results_;
};

// Sends large requests, or some whose answers are large, one after the other, as long as the asker
// lives.
struct source : actor<starter> {
  source(ref<sink_type> to, std::uint64_t bytes, bool wants, ref<starter> beside, results& r)
      : to_(std::move(to)), bytes_(bytes), wants_(wants), results_(&r) {
    monitor(beside, [this](const down&) { quit(); });
  }
  void on(int) {
    if (wants_)
      request(to_, wanted{bytes_}).then([this](const large& l) { answered(l.bytes.size()); });
    else
      request(to_, large{std::vector<std::uint8_t>(bytes_, 1)}).then([this](std::uint64_t size) {
        answered(size);
      });
  }

 private:
  void answered(std::uint64_t size) {
    ++results_->answered;
    results_->sizes += size;
    send(self(), 1);
  }

  ref<sink_type> to_;
  std::uint64_t bytes_;
  bool wants_;
  results* results_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t trips = args.number("trips", 2'000);
  const std::uint64_t bytes = args.number("large_bytes", 30'000'000);  // 0: none
  const bool wants = args.number("answers", 0, 0, 1) != 0;             // 1: the answers are large
  const duration pause =
      duration::microseconds(static_cast<std::int64_t>(args.number("pause_us", 1000)));
  const std::string kind = args.text("transport", "tcp");
  const garrick::settings settings = garrick_settings(args);
  args.reject_unknown();
  const served there([&](auto tell) {
    static actor_system system(settings);
    static net::node node(system);
    if (!node.publish("server", system.spawn<server>()) ||
        !node.publish("sink", system.spawn<sink>()))
      return;
    if (const auto at = node.listen(kind + "://127.0.0.1:0")) tell(at->port());
  });
  const std::string at = kind + "://127.0.0.1:" + std::to_string(there.port());
  results r;
  r.samples.reserve(trips);
  {
    actor_system system(settings);
    net::node node(system);
    const auto to = node.remote<server_type>(at, "server");
    const auto beside = node.remote<sink_type>(at, "sink");
    if (!to || !beside) return out.error((to ? beside.error() : to.error()).to_string());
    const std::int64_t start = now_ns();
    const auto asks = system.spawn<asker>(*to, trips, pause, lent(r));
    if (bytes != 0) send(system.spawn<source>(*beside, bytes, wants, asks, lent(r)), 1);
    send(asks, 1);
    system.await_all().value();
    out.seconds = seconds_since(start);
  }
  out.items = trips;
  out.expect("small answers", trips, r.samples.size());
  out.expect("sum of the small answers", trips * (trips + 1) / 2, r.sum);
  out.expect("bytes of the large messages", r.answered * bytes, r.sizes);
  out.detail("large_per_second", static_cast<double>(r.answered) / out.seconds);
  out.latencies(std::move(r.samples));
}
