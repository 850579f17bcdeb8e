// The cost of layers for a message: stacks of one layer or two, over a carrier that only counts.
// `raw` is a layer that does nothing, so the others' difference to it is their cost. With
// `protocol` each message is a frame: its header is written before it is sent, and the owner
// decodes it, as users of the layer do. The library's stacks come after them, as they are: two ends
// of each in one thread (whole_stack.hpp).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "garrick/net/layer/actor_protocol.hpp"
#include "garrick/net/layer/framing.hpp"
#include "garrick/net/layer/ordering.hpp"
#include "garrick/net/layer/slicing.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/stack/stack.hpp"
#include "garrick/net/wire/frame.hpp"
#include "net/common/mock.hpp"
#include "net/common/rounds.hpp"
#include "net/layer_cost/whole_stack.hpp"

namespace {

using namespace garrick::net;
using garrick::base::instant;

constexpr std::byte filling{7};
// In front of each payload that is sent. The same for all stacks, so that the allocator has the
// same to do for all: between two of its classes of sizes are some ten nanoseconds.
constexpr std::size_t room = frame_room + 32;

/// The layer against which the layers of a stack are measured.
struct raw : layer_defaults {};

// The header that the lower layer of the other end would have written in front of message number
// `i`, which has `size` bytes.
struct no_header {
  static constexpr std::size_t size = 0;
  static void write(std::byte*, std::size_t, std::uint64_t) {}
};
struct framing_header {
  static constexpr std::size_t size = framing::header_size;
  static void write(std::byte* to, std::size_t bytes, std::uint64_t) {
    store_le(to, static_cast<std::uint32_t>(bytes));
  }
};
struct ordering_header {
  static constexpr std::size_t size = ordering::header_size;
  static void write(std::byte* to, std::size_t, std::uint64_t i) {
    to[0] = std::byte{1};
    store_le(to + 1, static_cast<std::uint16_t>(i));
  }
};
struct slicing_header {
  static constexpr std::size_t size = 2;
  static void write(std::byte* to, std::size_t, std::uint64_t) {
    to[0] = std::byte{0};
    to[1] = std::byte{1};
  }
};

// Messages that are bytes and nothing else.
struct plain {
  static constexpr std::size_t header_size = 0;
  static constexpr std::size_t room = 0;
  using owner = bench::mock;
  static outgoing ready(packet p) { return {std::move(p), 1}; }
};

/// An owner that gets frames, which the layer has decoded, and counts their payloads.
struct frame_owner final : bench::mock {
  bool on_message(const incoming& m) override {
    return m.decoded != nullptr && bench::mock::on_message({m.decoded->payload, m.lane});
  }
};

// Messages that are frames from one actor to another.
struct frames {
  static constexpr std::size_t header_size = 1 + 16 + 16 + 8;
  static constexpr std::size_t room = frame_room;
  using owner = frame_owner;
  static outgoing ready(packet p) {
    return to_outgoing({.kind = frame_kind::message,
                        .receiver = {1, 11},
                        .sender = {2, 22},
                        .type = 0x0123456789abcdef},
                       std::move(p));
  }
};

/// A stack, its messages, and the header that its lower layer writes.
template <class Messages, class Header, class Transport, class... Layers>
struct subject {
  /// One payload of that size after the other is copied into a packet, as an encoder would write
  /// it, and sent. Nanoseconds for one.
  static double send(std::size_t size, std::uint64_t messages, bench::result& out) {
    bench::mock here;
    stack<Transport, Layers...> link(here, here, Layers()...);
    const std::vector<std::byte> payload(size, filling);
    std::uint64_t refused = link.header_size() + Messages::room <= room ? 0 : messages;
    const double ns = bench::nanoseconds_of([&] {
      for (std::uint64_t i = 0; i < messages; ++i)
        if (link.send(Messages::ready(packet::copy_of(payload, room)), instant{})) ++refused;
    });
    constexpr std::size_t headers = Header::size + Messages::header_size;
    out.expect("messages that were refused", 0, refused);
    out.expect("datagrams", messages, here.datagrams);
    out.expect("bytes sent", messages * (size + headers), here.bytes);
    out.expect("sum of the last bytes", messages * static_cast<std::uint64_t>(filling), here.sum);
    return ns / static_cast<double>(messages);
  }

  /// One prepared datagram comes again and again, with a new header of the lower layer each time.
  /// Nanoseconds for one.
  static double receive(std::size_t size, std::uint64_t messages, bench::result& out) {
    typename Messages::owner here;
    stack<Transport, Layers...> link(here, here, Layers()...);
    const std::vector<std::byte> payload(size, filling);
    const outgoing message = Messages::ready(packet::copy_of(payload, Messages::room));
    std::vector<std::byte> datagram(Header::size);
    datagram.insert(datagram.end(), message.bytes.bytes().begin(), message.bytes.bytes().end());
    const double ns = bench::nanoseconds_of([&] {
      for (std::uint64_t i = 0; i < messages; ++i) {
        Header::write(datagram.data(), datagram.size() - Header::size, i);
        link.receive(datagram, instant{});
      }
    });
    out.expect("messages", messages, here.messages);
    out.expect("bytes received", messages * size, here.bytes);
    out.expect("sum of the last bytes", messages * static_cast<std::uint64_t>(filling), here.sum);
    return ns / static_cast<double>(messages);
  }
};

template <std::size_t Which>
struct standard {
  static bench::whole_stack::spent run(std::size_t size, std::uint64_t messages,
                                       bench::result& out) {
    // One pair for all rounds: each stays warm, as the others' allocations are.
    static bench::whole_stack pair(standard_stacks().all()[Which]);
    return pair.run(size, messages, out);
  }
  static double send(std::size_t size, std::uint64_t messages, bench::result& out) {
    return run(size, messages, out).to_send;
  }
  static double receive(std::size_t size, std::uint64_t messages, bench::result& out) {
    return run(size, messages, out).to_receive;
  }
};

struct measured {
  std::string name;
  double (*send)(std::size_t, std::uint64_t, bench::result&);
  double (*receive)(std::size_t, std::uint64_t, bench::result&);
  std::vector<std::vector<double>> ns{};  // by size, then by round
};

constexpr std::size_t first_stack = 7;  // those before are one layer or two

template <class Part, class... Parts>
measured of(const char* name) {
  if constexpr (sizeof...(Parts) == 0)
    return {name, Part::send, Part::receive};
  else
    return {name, subject<Part, Parts...>::send, subject<Part, Parts...>::receive};
}

/// `raw` first, then the stacks that are compared with it.
std::vector<measured> subjects() {
  std::vector<measured> all{
      of<plain, no_header, datagrams, raw>("raw"),
      of<plain, framing_header, byte_stream, framing>("framing"),
      of<plain, ordering_header, datagrams, ordering>("ordering"),
      of<plain, slicing_header, datagrams, slicing>("slicing"),
      of<frames, no_header, datagrams, actor_protocol>("protocol"),
      of<frames, framing_header, byte_stream, actor_protocol, framing>("protocol_framing"),
      of<frames, ordering_header, datagrams, actor_protocol, ordering>("protocol_ordering"),
      of<standard<0>>(""),
      of<standard<1>>(""),
      of<standard<2>>(""),
      of<standard<3>>(""),
      of<standard<4>>(""),
  };
  const stack_catalogue stacks = standard_stacks();
  for (std::size_t i = 0; i < stacks.all().size(); ++i)
    all[first_stack + i].name = stacks.all()[i].name;
  return all;
}

/// A table: a line for each stack, a column for each size.
std::string table_of(const std::vector<measured>& all) {
  const auto padded = [](std::string text, std::size_t width) {
    return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
  };
  std::string text = padded("bytes", 18);
  for (const std::size_t size : bench::payload_sizes()) text += padded(std::to_string(size), 8);
  for (const measured& m : all) {
    text += '\n' + padded(m.name, 18);
    for (const std::vector<double>& rounds : m.ns)
      text += padded(std::to_string(std::lround(bench::median(rounds))), 8);
  }
  return text;
}

/// Reports the largest cost of each stack over the sizes, its figures for the plot, and how far
/// they depend on the size.
void tell(const std::vector<measured>& all, bench::result& out) {
  const std::vector<std::size_t> sizes = bench::payload_sizes();
  double dependence = 0;
  for (const measured& m : all) {
    double most = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      most = std::max(most, bench::median_difference(m.ns[i], all[0].ns[i]));
      out.detail((m.name + "_" + std::to_string(sizes[i]) + "_ns").c_str(), bench::median(m.ns[i]));
    }
    if (&m != &all[0]) out.detail((m.name + "_added_ns").c_str(), most);
    // Whole stacks also have acknowledgements, which the target is not about.
    if (static_cast<std::size_t>(&m - all.data()) < first_stack)
      dependence = std::max(dependence, bench::median(m.ns.back()) / bench::median(m.ns.front()));
  }
  out.detail("largest_over_smallest", dependence);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::string direction = args.text("direction", "send");
  if (direction != "send" && direction != "receive")
    arguments::fail("--direction is send or receive");
  const std::uint64_t messages = args.count("messages", 2000);
  const std::uint32_t rounds = args.count("rounds", 101);
  args.reject_unknown();

  keep_freed_memory();
  const std::vector<std::size_t> sizes = payload_sizes();
  std::vector<measured> all = subjects();
  for (measured& m : all) m.ns.resize(sizes.size());
  for (std::uint32_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < sizes.size(); ++i)
      for (measured& m : all)
        m.ns[i].push_back((direction == "send" ? m.send : m.receive)(sizes[i], messages, out));
  tell(all, out);
  // The row's figure is the mean over the sizes, through `ordering`.
  double sum = 0;
  for (const measured& m : all)
    if (m.name == "ordering")
      for (const std::vector<double>& ns : m.ns) sum += median(ns);
  out.items = sizes.size();
  out.seconds = sum * 1e-9;
  out.lines("nanoseconds a message, " + direction, table_of(all));
}
