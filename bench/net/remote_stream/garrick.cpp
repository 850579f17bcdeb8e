// A node in each of two processes, with the stack that has all guarantees: each message is counted
// into the other's mailbox. A slow receiver slows the sender by its credit.
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include "common/garrick_system.hpp"
#include "net/common/published.hpp"

namespace remote_stream {

// 64 bytes in the sender's memory.
struct record {
  std::uint64_t number = 0;
  std::uint64_t a = ~0ull, b = ~0ull, c = ~0ull, d = ~0ull, e = ~0ull, f = ~0ull, g = ~0ull;
};
struct sum {};

}  // namespace remote_stream

namespace {

using namespace garrick;
using remote_stream::record;
using sink_type = protocol<void(record), std::uint64_t(remote_stream::sum)>;

struct sink : actor<sink_type> {
  void on(const record& r) { sum_ += r.number; }
  std::uint64_t on(remote_stream::sum) { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

struct source : actor<protocol<void(int)>> {
  source(ref<sink_type> to, std::uint64_t messages, std::uint64_t& sum)
      : to_(std::move(to)), messages_(messages), sum_(&sum) {}
  // In rounds, so that other actors of this system have their turn.
  void on(int) {
    for (int i = 0; i != 1000 && sent_ != messages_; ++i) send(to_, record{++sent_});
    if (sent_ != messages_) return send(self(), 1);
    request(to_, remote_stream::sum{}).then([this](std::uint64_t sum) {
      *sum_ = sum;
      quit();
    });
  }

 private:
  ref<sink_type> to_;
  std::uint64_t messages_;
  std::uint64_t sent_ = 0;
  std::uint64_t* sum_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 1'000'000);
  const garrick::settings settings = garrick_settings(args);
  args.reject_unknown();
  const served server(published<sink>(settings, "sink"));
  std::uint64_t sum = 0;
  {
    actor_system system(settings);
    net::node node(system);
    const auto there = published_by<sink_type>(node, server, "sink");
    if (!there) return out.error(there.error().to_string());
    const std::int64_t start = now_ns();
    send(system.spawn<source>(*there, messages, lent(sum)), 1);
    system.await_all().value();
    out.seconds = seconds_since(start);
  }
  out.items = messages;
  out.expect("sum", messages * (messages + 1) / 2, sum);
}
