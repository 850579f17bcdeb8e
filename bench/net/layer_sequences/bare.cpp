// The same without layers: a number is compared, and an early datagram waits in a sorted map.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "common/measure.hpp"
#include "net/common/rounds.hpp"
#include "net/layer_sequences/sequences.hpp"

namespace {

class receiver {
 public:
  explicit receiver(std::size_t pending) : pending_(pending) {}

  void receive(std::uint64_t number, const std::vector<unsigned char>& all) {
    if (number < next_) return;
    if (number == next_) {
      pass_up(all);
    } else {
      if (held_.size() == pending_) {
        next_ = held_.begin()->first;
        release();
      }
      if (number == next_)
        pass_up(all);
      else
        held_.emplace(number, all);
    }
    release();
  }

  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;

 private:
  // Not inlined, as an owner's function is not.
  [[gnu::noinline]] void pass_up(const std::vector<unsigned char>& all) {
    ++next_;
    ++messages;
    bytes += all.size();
  }
  void release() {
    while (!held_.empty() && held_.begin()->first == next_) {
      pass_up(held_.begin()->second);
      held_.erase(held_.begin());
    }
  }

  std::map<std::uint64_t, std::vector<unsigned char>> held_;
  std::size_t pending_;
  std::uint64_t next_ = 0;
};

/// Nanoseconds for one sequence.
double receive(const bench::sequence& s, std::vector<unsigned char>& datagram, std::uint64_t times,
               std::uint64_t pending, bench::result& out) {
  receiver r(pending);
  const double ns = bench::nanoseconds_of([&] {
    for (std::uint64_t i = 0; i < times; ++i) {
      for (const std::uint64_t k : s.order) {
        const std::uint64_t number = i * bench::in_sequence + k;
        std::memcpy(datagram.data(), &number, sizeof number);
        r.receive(number, datagram);
      }
    }
  });
  out.expect("messages", times * s.order.size(), r.messages);
  out.expect("bytes", times * s.order.size() * datagram.size(), r.bytes);
  return ns / static_cast<double>(times);
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t times = args.count("sequences", 1000);
  const std::uint32_t rounds = args.count("rounds", 101);
  const std::uint64_t pending = args.number("pending", 5, 5, 5);
  args.reject_unknown();
  for (const std::size_t size : payload_sizes()) {
    std::vector<unsigned char> datagram(size, 1);
    for (const sequence& s : sequences()) {
      std::vector<double> ns;
      for (std::uint32_t round = 0; round < rounds; ++round)
        ns.push_back(receive(s, datagram, times, pending, out));
      tell(out, s, size, median(ns));
      if (size == 128 && s.name == std::string("ordered")) out.seconds = median(ns) * 1e-9;
    }
  }
  out.items = 1;
}
