// Ten datagrams through `ordering`, again and again: in order; one of them late by one; one lost,
// which is given up when the buffer is full.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/measure.hpp"
#include "garrick/net/layer/ordering.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/stack.hpp"
#include "net/common/mock.hpp"
#include "net/common/rounds.hpp"
#include "net/layer_sequences/sequences.hpp"

namespace {

using namespace garrick::net;
using garrick::base::instant;

/// An owner that checks that the numbers in the payloads only grow.
struct receiver final : bench::mock_carrier, link_owner {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t disorder = 0;
  std::uint64_t last = 0;

  bool on_message(const incoming& m) override {
    const auto number = load_le<std::uint64_t>(m.bytes.data());
    disorder += messages != 0 && number <= last ? 1 : 0;
    last = number;
    ++messages;
    bytes += m.bytes.size();
    return true;
  }
  void on_event(const link_event&) override {}
};

/// Nanoseconds for one sequence.
double receive(const bench::sequence& s, std::size_t size, std::uint64_t times,
               std::uint16_t pending, bench::result& out) {
  receiver here;
  stack<datagrams, ordering> link(here, here, ordering({.pending = pending}));
  std::vector<std::byte> datagram(ordering::header_size + size, std::byte{1});
  const double ns = bench::nanoseconds_of([&] {
    for (std::uint64_t i = 0; i < times; ++i) {
      for (const std::uint64_t k : s.order) {
        const std::uint64_t number = i * bench::in_sequence + k;
        store_le(datagram.data() + 1, static_cast<std::uint16_t>(number));
        store_le(datagram.data() + ordering::header_size, number);
        link.receive(datagram, instant{});
      }
    }
  });
  const ordering_counters& k = link.get<ordering>().counters();
  out.expect("messages", times * s.order.size(), here.messages);
  out.expect("bytes", times * s.order.size() * size, here.bytes);
  out.expect("messages out of order", 0, here.disorder);
  out.expect("messages given up", times * (bench::in_sequence - s.order.size()), k.given_up);
  out.expect("messages held", 0, k.held);
  return ns / static_cast<double>(times);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t times = args.count("sequences", 1000);
  const std::uint32_t rounds = args.count("rounds", 101);
  const auto pending = static_cast<std::uint16_t>(args.number("pending", 5, 5, 5));
  args.reject_unknown();
  std::string table = "   bytes   ordered      late   dropped";
  for (const std::size_t size : payload_sizes()) {
    std::vector<std::vector<double>> ns(3);
    for (std::uint32_t round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < ns.size(); ++i)
        ns[i].push_back(receive(sequences()[i], size, times, pending, out));
    char line[80];
    std::snprintf(line, sizeof line, "\n%8zu%10.0f%10.0f%10.0f", size, median(ns[0]), median(ns[1]),
                  median(ns[2]));
    table += line;
    for (std::size_t i = 0; i < ns.size(); ++i) tell(out, sequences()[i], size, median(ns[i]));
    if (size != 128) continue;
    out.items = 1;
    out.seconds = median(ns[0]) * 1e-9;
  }
  out.lines("nanoseconds for ten datagrams", table);
}
