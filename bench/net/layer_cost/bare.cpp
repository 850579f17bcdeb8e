// The same without layers: memory for a message, a header of three bytes, a copy of the payload; or
// the header read and compared. Written by hand for this purpose alone.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/measure.hpp"
#include "net/common/rounds.hpp"

namespace {

constexpr unsigned char filling = 7;
constexpr std::size_t header = 3;

struct seen {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
};

// Not inlined, as a socket's function is not.
[[gnu::noinline]] void take(seen& s, const unsigned char* bytes, std::size_t size) {
  ++s.messages;
  s.bytes += size;
  s.sum += bytes[size - 1];
}

double send(const std::vector<unsigned char>& payload, std::uint64_t messages, seen& s) {
  return bench::nanoseconds_of([&] {
           for (std::uint64_t i = 0; i < messages; ++i) {
             const std::unique_ptr<unsigned char[]> message(
                 new unsigned char[header + payload.size()]);
             const auto number = static_cast<std::uint16_t>(i);
             message[0] = 1;
             std::memcpy(message.get() + 1, &number, sizeof number);
             std::memcpy(message.get() + header, payload.data(), payload.size());
             take(s, message.get(), header + payload.size());
           }
         }) /
         static_cast<double>(messages);
}

double receive(std::vector<unsigned char>& datagram, std::uint64_t messages, seen& s) {
  std::uint16_t next = 0;
  return bench::nanoseconds_of([&] {
           for (std::uint64_t i = 0; i < messages; ++i) {
             auto number = static_cast<std::uint16_t>(i);
             std::memcpy(datagram.data() + 1, &number, sizeof number);
             std::memcpy(&number, datagram.data() + 1, sizeof number);
             if (number != next) continue;
             ++next;
             take(s, datagram.data() + header, datagram.size() - header);
           }
         }) /
         static_cast<double>(messages);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const bool sending = args.text("direction", "send") == "send";
  const std::uint64_t messages = args.count("messages", 2000);
  const std::uint32_t rounds = args.count("rounds", 101);
  args.reject_unknown();
  double sum = 0;
  for (const std::size_t size : payload_sizes()) {
    std::vector<double> ns;
    std::vector<unsigned char> bytes(sending ? size : size + header, filling);
    seen s;
    for (std::uint32_t round = 0; round < rounds; ++round)
      ns.push_back(sending ? send(bytes, messages, s) : receive(bytes, messages, s));
    const std::uint64_t all = messages * rounds;
    out.expect("messages", all, s.messages);
    out.expect("bytes", all * (sending ? size + header : size), s.bytes);
    out.expect("sum of the last bytes", all * filling, s.sum);
    out.detail(("by hand_" + std::to_string(size) + "_ns").c_str(), median(ns));
    sum += median(ns);
  }
  out.items = payload_sizes().size();
  out.seconds = sum * 1e-9;
}
