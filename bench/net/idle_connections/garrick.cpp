// One node with many peers, all in one process: the cost of a connection without messages.
// Heartbeats go on. Both ends are counted, and the peer's node with them, but no threads: the nodes
// that connect share theirs.
#include <garrick/net/node/link_source.hpp>
#include <garrick/net/node/node.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/garrick_system.hpp"

namespace idle_connections {

struct note {
  std::uint64_t number = 0;
};
struct count {};

}  // namespace idle_connections

namespace {

using namespace garrick;
using idle_connections::count;
using idle_connections::note;
using sink_type = protocol<void(note), std::uint64_t(count)>;

struct sink : actor<sink_type> {
  void on(const note&) { ++notes_; }
  std::uint64_t on(count) { return notes_; }

 private:
  std::uint64_t notes_ = 0;
};

/// A node, and the actor that it has found at the other one.
struct peer {
  net::node node;
  ref<sink_type> there;

  peer(actor_system& system, const std::shared_ptr<net::link_source>& source, const std::string& at,
       bench::result& out)
      : node(system, with(source)) {
    auto found = node.remote<sink_type>(at, "sink");
    if (!found) {
      out.error(found.error().to_string());
      return;
    }
    there = *found;
    for (std::uint64_t i = 0; i != 1000; ++i) send(there, note{i});
    if (!system.request(there, count{}).get()) out.error("no answer");
  }
  static net::node_settings with(const std::shared_ptr<net::link_source>& source) {
    net::node_settings s;
    s.source = source;
    return s;
  }
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t connections = args.number("connections", 500);
  const auto window = std::chrono::milliseconds(args.number("ms", 5000));
  // The first ones pay for shared things: threads, tables of the allocator, code.
  constexpr std::uint64_t first = 50;

  run_system(args, [&](actor_system& system) {
    net::node server(system);
    const auto sinks = system.spawn<sink>();
    if (!server.publish("sink", sinks)) return out.error("not published");
    const auto at = server.listen("tcp://127.0.0.1:0");
    if (!at) return out.error(at.error().to_string());
    const auto source = std::make_shared<net::socket_source>();
    std::vector<std::unique_ptr<peer>> peers;
    peers.reserve(first + connections);
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i != first + connections; ++i) {
      if (i == first) before = resident_bytes();
      peers.push_back(std::make_unique<peer>(system, source, at->to_string(), out));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the last acknowledgements
    const double cpu_before = cpu_seconds();
    const std::int64_t start = now_ns();
    std::this_thread::sleep_for(window);
    out.seconds = seconds_since(start);
    const double used = cpu_seconds() - cpu_before;
    const std::uint64_t after = resident_bytes();
    out.percent(100 * used / out.seconds / static_cast<double>(first + connections));
    out.detail("bytes_per_end",
               static_cast<double>(after - before) / static_cast<double>(2 * connections));
    out.items = first + connections;
    out.expect("peers", first + connections, server.peers().size());
  });
}
