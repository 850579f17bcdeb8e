// Your own layer: it compresses messages with zstd, on top of a stack that cuts them into datagrams
// and keeps their order.
#include <garrick/net/layer/ordering.hpp>
#include <garrick/net/layer/slicing.hpp>
#include <garrick/net/stack/stack.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "compression.hpp"

using namespace garrick;
using namespace garrick::net;

// [stack]
using compressed_stack = stack<datagrams, compression, slicing, ordering>;
// [/stack]

// One end of a wire in memory: it keeps its packets until the other end takes them.
struct memory_end : carrier, link_owner {
  std::vector<packet> sent;
  std::size_t messages = 0;
  std::size_t bytes = 0;

  void transmit(packet p) override { sent.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming& m) override {
    ++messages;
    bytes += m.bytes.size();
    return true;
  }
  void on_event(const link_event&) override {}
};

// Hands over all sent packets, and returns the number of their bytes.
std::size_t carry(memory_end& from, compressed_stack& to) {
  std::size_t bytes = 0;
  for (const packet& p : from.sent) {
    to.receive(p.bytes(), base::instant());
    bytes += p.size();
  }
  from.sent.clear();
  return bytes;
}

int main() {
  memory_end here;
  memory_end there;
  constexpr std::size_t limit = 1 << 20;
  compressed_stack sender(here, here, compression(32 * limit), slicing(), ordering());
  compressed_stack receiver(there, there, compression(limit), slicing(), ordering());
  const auto send = [&](const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    const base::error error = sender.send({packet::copy_of(bytes, sender.header_size())}, {});
    if (error) std::printf("not sent: %s\n", error.to_string().c_str());
    return carry(here, receiver);
  };

  std::size_t on_the_wire = 0;
  for (int hour = 0; hour < 24; ++hour) {
    std::string report;
    for (int minute = 0; minute < 60; ++minute)
      report += "station 7, hour " + std::to_string(hour) + ", minute " + std::to_string(minute) +
                ": wind from the west, " + std::to_string((hour * 60 + minute) % 9) + " knots\n";
    on_the_wire += send(report);
  }
  std::printf("%zu reports, %zu bytes\n", there.messages, there.bytes);
  std::printf("saved more than 80 %%: %s\n", on_the_wire * 5 < there.bytes ? "yes" : "no");

  // 32 megabytes of zeros fit into a few datagrams, but exceed the other end's limit.
  const std::size_t bomb = send(std::string(32 * limit, '\0'));
  std::printf("a bomb of less than 10000 bytes: %s\n", bomb < 10'000 ? "yes" : "no");
  std::printf("refused: %d, reports: %zu\n", receiver.get<compression>().refused(), there.messages);
}
