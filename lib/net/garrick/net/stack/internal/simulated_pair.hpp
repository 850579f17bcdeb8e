// Two links and the network between them, for tests: bytes in flight, virtual time, and faults that
// a test chooses. The seed and the test determine everything.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/random.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/stack/any_link.hpp"

namespace garrick::net::tests {

/// Milliseconds.
constexpr base::duration operator""_ms(unsigned long long n) {
  return base::duration::milliseconds(static_cast<std::int64_t>(n));
}
/// Seconds.
constexpr base::duration operator""_s(unsigned long long n) {
  return base::duration::seconds(static_cast<std::int64_t>(n));
}

/// Returns the number of seeds for a random test.
inline std::uint64_t seeds(std::uint64_t otherwise = 200) {
  const char* text = std::getenv("GARRICK_SEEDS");
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline outgoing message(std::string_view text, lane_number lane = 1, std::uint64_t report = 0) {
  return {packet::copy_of(bytes_of(text), 64), lane, report};
}

/// Returns the numbers of the events of this kind, in their order.
template <class Events>
std::vector<std::uint64_t> numbers_of(const Events& events, link_event::kind what) {
  std::vector<std::uint64_t> numbers;
  for (const link_event& e : events)
    if (e.what == what) numbers.push_back(e.number);
  return numbers;
}

/// An end: the carrier below its link, and the link's owner.
struct test_end final : carrier, link_owner {
  using bytes = std::vector<std::byte>;

  std::unique_ptr<any_link> stack;
  std::vector<std::pair<lane_number, std::string>> messages;
  std::vector<link_event> events;
  bool closed = false;
  bool room = true;
  bool connected = false;
  std::size_t limit = 1u << 30;
  std::uint64_t reopened = 0;
  std::uint64_t reopened_beside = 0;
  std::function<void(bytes)> on_transmit;
  std::function<void()> on_reopen;
  std::function<bool(incoming)> on_incoming;
  std::function<void(const link_event&)> on_notice;

  void transmit(packet p) override {
    if (connected && !closed) on_transmit({p.bytes().begin(), p.bytes().end()});
  }
  [[nodiscard]] bool writable() const override { return room; }
  [[nodiscard]] std::size_t largest() const override { return limit; }
  void reopen() override {
    ++reopened;
    on_reopen();
  }
  void reopen_beside() override { ++reopened_beside; }
  void close() override { closed = true; }
  bool on_message(const incoming& m) override {
    messages.emplace_back(m.lane, text_of(m.bytes));
    return on_incoming ? on_incoming(m) : true;
  }
  void on_event(const link_event& e) override {
    events.push_back(e);
    if (on_notice) on_notice(e);
  }

  [[nodiscard]] std::size_t count(link_event::kind k) const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [k](const auto& e) { return e.what == k; }));
  }
  [[nodiscard]] bool has(link_event::kind k) const { return count(k) != 0; }
  /// Returns the reason of its `down`; no error if it is not down.
  [[nodiscard]] base::error down() const {
    if (events.empty() || events.back().what != link_event::kind::down) return {};
    return events.back().why;
  }
};

/// Ends 0 and 1, and the network between them.
class simulated_pair {
 public:
  std::array<test_end, 2> ends;
  base::instant now = base::instant::at(base::duration::seconds(1000));
  base::duration latency = base::duration::milliseconds(1);
  base::random_source random;
  /// Returns the arrival times of a packet of end `from`; none: never. Only for datagrams.
  std::function<std::vector<base::duration>(int from, const test_end::bytes&)> fate;
  /// The time until which each end is not called.
  std::array<base::instant, 2> frozen{};

  simulated_pair(bool stream, std::uint64_t seed) : random(seed), stream_(stream) {
    for (int i : {0, 1}) {
      ends[at(i)].on_transmit = [this, i](test_end::bytes b) { fly(i, std::move(b)); };
      // Only end 0 has connected, so only it can connect again.
      ends[at(i)].on_reopen = [this, i] {
        if (i == 0 && stream_) connect_at_ = now + latency;
      };
    }
  }
  simulated_pair(const simulated_pair&) = delete;
  simulated_pair& operator=(const simulated_pair&) = delete;

  /// Gives both ends a connection.
  void connect() {
    ++generation_;
    std::array<bool, 2> before{};
    for (std::size_t i : {0u, 1u}) before[i] = std::exchange(ends[i].connected, true);
    for (std::size_t i : {1u, 0u}) {
      if (before[i] && stream_) ends[i].stack->disconnected(net_errc::connection_lost, now);
      ends[i].stack->connected(now);
    }
  }

  /// Cuts the stream: each end still gets some of the first bytes in flight, and end 1 may notice
  /// the cut only when there is a new stream.
  void cut() {
    for (int to : {0, 1}) {
      test_end::bytes left;
      for (flight& f : flights_)
        if (f.to == to) left.insert(left.end(), f.bytes.begin(), f.bytes.end());
      left.resize(random.below(static_cast<std::uint32_t>(left.size() + 1)));
      give(to, left);
    }
    flights_.clear();
    ++generation_;
    for (int i : {0, 1}) {
      if (i == 1 && random.below(3) == 0) continue;
      lose(i);
    }
  }
  /// Tells end `i` that its stream is lost.
  void lose(int i) {
    if (std::exchange(ends[at(i)].connected, false))
      ends[at(i)].stack->disconnected(net_errc::connection_lost, now);
  }

  /// Delivers bytes and lets time pass until `until`.
  void run(base::instant until) {
    for (;;) {
      const base::instant next = std::min(next_arrival(), next_deadline());
      if (next > until) break;
      now = std::max(now, next);
      step();
    }
    now = std::max(now, until);
  }
  void run(base::duration d) { run(now + d); }

  [[nodiscard]] std::size_t in_flight() const { return flights_.size(); }
  /// Gives bytes to end `i` that the other end has not sent.
  void inject(int i, std::span<const std::byte> bytes) { ends[at(i)].stack->receive(bytes, now); }

 private:
  struct flight {
    base::instant when;
    int to;
    test_end::bytes bytes;
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void fly(int from, test_end::bytes b) {
    std::vector<base::duration> times{latency};
    if (fate && !stream_) times = fate(from, b);
    if (stream_ && !ends[at(1 - from)].connected) return;
    for (const base::duration d : times) {
      const flight f{now + d, 1 - from, b};
      const auto later = [](const flight& x, const flight& y) { return x.when < y.when; };
      flights_.insert(std::upper_bound(flights_.begin(), flights_.end(), f, later), f);
    }
  }
  [[nodiscard]] base::instant next_arrival() const {
    base::instant first = connect_at_;
    for (const flight& f : flights_) first = std::min(first, std::max(f.when, frozen[at(f.to)]));
    return first;
  }
  [[nodiscard]] base::instant next_deadline() const {
    base::instant first = base::instant::never();
    for (std::size_t i : {0u, 1u})
      if (ends[i].stack) first = std::min(first, std::max(ends[i].stack->deadline(), frozen[i]));
    return first;
  }
  void step() {
    if (connect_at_ <= now) {
      connect_at_ = base::instant::never();
      if (ends[1].closed) {
        ends[0].stack->disconnected(net_errc::unreachable, now);
      } else {
        flights_.clear();
        connect();
      }
    }
    notice_closed();
    const std::uint64_t generation = generation_;
    for (std::size_t i = 0; i < flights_.size() && generation == generation_;) {
      if (std::max(flights_[i].when, frozen[at(flights_[i].to)]) > now) {
        ++i;
        continue;
      }
      const flight f = std::move(flights_[i]);
      flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(i));
      give(f.to, f.bytes);
    }
    for (std::size_t i : {0u, 1u})
      if (ends[i].stack && frozen[i] <= now && ends[i].stack->deadline() <= now)
        ends[i].stack->advance(now);
  }
  /// Tells an end that the other end has closed its stream, once all bytes have arrived.
  void notice_closed() {
    for (int i : {0, 1}) {
      const auto to_other = [i](const flight& f) { return f.to == 1 - i; };
      if (!stream_ || !ends[at(i)].closed || !ends[at(i)].connected) continue;
      if (std::any_of(flights_.begin(), flights_.end(), to_other)) continue;
      ends[at(i)].connected = false;
      lose(1 - i);
    }
  }
  void give(int to, std::span<const std::byte> bytes) {
    test_end& e = ends[at(to)];
    if (e.closed || !e.connected) return;
    if (!stream_) return e.stack->receive(bytes, now);
    const std::uint64_t generation = generation_;
    while (!bytes.empty() && generation == generation_) {
      const std::size_t n = 1 + random.below(static_cast<std::uint32_t>(bytes.size()));
      e.stack->receive(bytes.first(n), now);
      bytes = bytes.subspan(n);
    }
  }

  bool stream_;
  std::uint64_t generation_ = 0;
  std::deque<flight> flights_;
  base::instant connect_at_ = base::instant::never();
};

}  // namespace garrick::net::tests
