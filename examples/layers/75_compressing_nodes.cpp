// Nodes with links that compress all messages: your own layer in your own stack, chosen by its
// name. Both ends must have the stack.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "compression.hpp"

// [stack]
// The whole frame is compressed, and so are the frames that are kept to be sent again.
using compressed_stream =
    stack<byte_stream, actor_protocol, compression, redelivery, slicing, session, framing>;

node_settings compressing() {
  node_settings s;
  s.stacks.add<"compressed", compressed_stream>();
  s.stream_stack = "compressed";
  return s;
}
// [/stack]

using archive_type = protocol<std::uint64_t(std::string)>;

struct archive : actor<archive_type> {
  std::uint64_t on(const std::string& report) { return size_ += report.size(); }

 private:
  std::uint64_t size_ = 0;
};

// Returns a count of the layer, in a node's link.
std::uint64_t counted(const node& n, const peer_identity& peer, std::string_view name) {
  for (const link_count& c : n.counters(peer))
    if (c.layer == "compression" && c.name == name) return c.value;
  return 0;
}

int main() {
  actor_system here;
  actor_system there;
  node sender(here, compressing());
  node keeper(there, compressing());
  const auto at = keeper.listen("tcp://127.0.0.1:0").value();
  static_cast<void>(keeper.publish("archive", there.spawn<archive>()).value());

  const auto found = sender.remote<archive_type>(at.to_string(), "archive").value();
  std::string report;
  for (int minute = 0; minute < 1440; ++minute)
    report += "station 7, minute " + std::to_string(minute) + ": wind from the west, 5 knots\n";
  const std::uint64_t kept = here.request(found, report).get().value();
  std::printf("the archive has all: %s\n", kept == report.size() ? "yes" : "no");
  const std::uint64_t bytes = counted(sender, keeper.self(), "bytes");
  const std::uint64_t packed = counted(sender, keeper.self(), "packed");
  std::printf("the report was packed: %s\n", bytes > report.size() ? "yes" : "no");
  std::printf("saved more than 80 %%: %s\n", packed != 0 && packed * 5 < bytes ? "yes" : "no");

  // A node with other layers gets an error that says so.
  actor_system elsewhere;
  node stranger(elsewhere);
  const auto refused = stranger.remote<archive_type>(at.to_string(), "archive");
  std::printf("without the layer: %s\n",
              refused || refused.error() != net_errc::incompatible ? "no error" : "incompatible");
}
