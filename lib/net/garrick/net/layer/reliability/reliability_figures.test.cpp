// The cost of reliability on a lossy link and on a narrow one, in virtual time, with the limits
// that also apply over real sockets.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "garrick/net/layer/reliability.hpp"
#include "garrick/net/stack/internal/simulated_link.hpp"
#include "garrick/net/stack/stack.hpp"

namespace reliability_figures_test {

using namespace garrick;
using namespace garrick::net;
using base::duration;
using base::instant;
using internal::link_faults;
using internal::timeline;
using internal::wire;

namespace {

constexpr duration us(std::int64_t n) { return duration::microseconds(n); }
constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }
double in_ms(duration d) { return static_cast<double>(d.count()) * 1e-6; }

using end = internal::simulated_end<stack<datagrams, reliability>>;

void send(end& e, std::size_t size) {
  packet p = packet::with_room(e.stack.header_size() + 8, size);
  std::ignore = p.append(size);
  REQUIRE(!e.stack.send({std::move(p)}, e.time.now()));
}

/// Returns the time for 4000 messages back and forth, one at a time (paper 004, figures 6 and 7).
duration bounce(double loss, duration delay, std::uint64_t seed) {
  timeline time;
  wire there(time, seed * 2), back(time, seed * 2 + 1);
  there.faults = back.faults = {.delay = delay, .loss = loss};
  end a(time, there, reliability()), b(time, back, reliability());
  a.talks_to(b);
  b.talks_to(a);
  int left = 4000;
  const instant begin = time.now();
  instant done = begin;
  b.message = [&](incoming) { send(b, 64); };
  a.message = [&](incoming) {
    left -= 2;
    done = time.now();
    if (left > 0) send(a, 64);
  };
  send(a, 64);
  a.wake();
  while (left > 0 && time.now() - begin < duration::seconds(600))
    time.run_until(time.now() + ms(10));
  REQUIRE(left == 0);
  return done - begin;
}

/// A sender that sends as much as it may, as in the transfer of a file.
struct flow {
  flow(timeline& time, wire& there, wire& back, std::size_t datagram)
      : sender(time, there, reliability()), receiver(time, back, reliability()) {
    sender.datagram = receiver.datagram = datagram;
    sender.stack.connected(time.now());
    sender.talks_to(receiver);
    receiver.talks_to(sender);
    receiver.message = [this](incoming m) { bytes += m.bytes.size(); };
    sender.event = [this](const link_event& e) {
      if (e.what == link_event::kind::writable) go();
    };
  }
  void go() {
    while (sender.stack.writable()) send(sender, sender.stack.largest_message());
    sender.wake();
  }
  [[nodiscard]] const reliability& layer() const { return sender.stack.get<reliability>(); }
  end sender, receiver;
  std::size_t bytes = 0;
};

/// TCP's CUBIC with acknowledgements that tell the sender everything, and without time-outs as long
/// as anything arrives: at least as good as a real TCP. It shares no code with `congestion`.
class reference_tcp {
 public:
  reference_tcp(timeline& time, wire& there, wire& back)
      : time_(time), there_(there), back_(back) {}
  void go() {
    while (static_cast<double>(flight_) < window_) {
      const std::uint64_t id = sent_.size();
      sent_.push_back({time_.now(), true});
      ++flight_;
      there_.carry(datagram(1472), [this, id](const packet&) { arrived(id); });
    }
    watch();
  }
  std::size_t arrivals = 0;

 private:
  struct transmission {
    instant when;
    bool in_flight;
  };
  static packet datagram(std::size_t size) {
    packet p = packet::with_room(0, size);
    std::ignore = p.append(size);
    return p;
  }
  void arrived(std::uint64_t id) {
    ++arrivals;
    log_.push_back(id);
    back_.carry(datagram(40), [this, upto = log_.size()](const packet&) { acknowledged(upto); });
  }
  void acknowledged(std::size_t upto) {
    for (; seen_ < upto; ++seen_) {
      transmission& t = sent_[log_[seen_]];
      if (!t.in_flight) continue;
      t.in_flight = false;
      --flight_;
      newest_ = std::max(newest_, log_[seen_]);
      const double trip = in_ms(time_.now() - t.when) * 1e-3;
      shortest_ = std::min(shortest_, trip);
      grow(trip);
    }
    for (; checked_ + 3 <= newest_; ++checked_)
      if (std::exchange(sent_[checked_].in_flight, false)) {
        --flight_;
        shrink(checked_);
      }
    progress_ = time_.now();
    go();
  }
  void grow(double trip) {
    if (window_ < threshold_) {
      window_ += 1;
      if (trip > shortest_ + std::clamp(shortest_ / 8, 0.004, 0.016)) threshold_ = most_ = window_;
      if (trip > shortest_ + 0.004) begin_ = time_.now();
      return;
    }
    const double t = in_ms(time_.now() - begin_) * 1e-3 + shortest_ - delay_;
    const double cubic = most_ + 0.4 * t * t * t;
    reno_ += (reno_ < most_ ? 0.53 : 1) / window_;
    if (cubic > window_) window_ += (std::min(cubic, 1.5 * window_) - window_) / window_;
    window_ = std::max(window_, reno_);
  }
  void shrink(std::uint64_t id) {
    if (id < recover_) return;
    recover_ = sent_.size();
    most_ = window_ < most_ ? window_ * 0.85 : window_;
    window_ = std::max(2.0, window_ * 0.7);
    threshold_ = reno_ = window_;
    delay_ = std::cbrt((most_ - window_) / 0.4);
    begin_ = time_.now();
  }
  void watch() {
    if (std::exchange(watched_, true)) return;
    time_.at(time_.now() + ms(50), [this] {
      watched_ = false;
      if (time_.now() - progress_ >= ms(200)) {
        for (transmission& t : sent_) t.in_flight = false;
        flight_ = 0;
        window_ = 2;
        progress_ = time_.now();
      }
      go();
    });
  }

  timeline& time_;
  wire& there_;
  wire& back_;
  std::deque<transmission> sent_;
  std::vector<std::uint64_t> log_;
  std::size_t seen_ = 0;
  std::uint64_t newest_ = 0, checked_ = 0, recover_ = 0;
  std::uint32_t flight_ = 0;
  double window_ = 10, threshold_ = 1e9, most_ = 0, reno_ = 0, delay_ = 0, shortest_ = 1e9;
  instant begin_, progress_;
  bool watched_ = false;
};

constexpr link_faults narrow{.delay = ms(10), .rate = 10e6, .queue = 50, .in_order = true};

double megabits(std::size_t bytes, duration in) {
  return static_cast<double>(bytes) * 8e-6 / (in_ms(in) * 1e-3);
}

double ours(link_faults faults, std::uint64_t seed, duration length) {
  timeline time;
  wire there(time, seed * 2), back(time, seed * 2 + 1);
  there.faults = back.faults = faults;
  flow f(time, there, back, 1472);
  f.go();
  time.run_until(time.now() + length);
  return megabits(f.bytes, length);
}

double tcps(link_faults faults, std::uint64_t seed, duration length) {
  timeline time;
  wire there(time, seed * 2), back(time, seed * 2 + 1);
  there.faults = back.faults = faults;
  reference_tcp tcp(time, there, back);
  tcp.go();
  time.run_until(time.now() + length);
  return megabits(tcp.arrivals * 1448, length);
}

}  // namespace

TEST_CASE("reliability: a lost packet costs at most 5 ms where the paper's costs 40") {
  for (const duration delay : {us(0), us(50)}) {
    const duration without = bounce(0, delay, 1);
    CHECK(without <= delay * 4000 + ms(1));
    for (const double loss : {0.01, 0.03, 0.05, 0.1}) {
      duration sum;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) sum = sum + bounce(loss, delay, seed);
      const double more = in_ms(sum / 3 - without);
      const double lost = 4000 * loss / (1 - loss);
      MESSAGE("bounce, delay " << delay.to_string() << ", loss " << loss << ": " << in_ms(sum / 3)
                               << " ms, a lost packet " << more / lost << " ms");
      CHECK(more / lost <= 5);
    }
  }
}

TEST_CASE("reliability: over 10 ms each way a first loss costs at most 1.5 round trips") {
  const duration trip = ms(20);
  const duration without = bounce(0, trip / 2, 1);
  CHECK(without <= trip * 2001);
  for (const double loss : {0.01, 0.03, 0.05, 0.1}) {
    duration sum;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) sum = sum + bounce(loss, trip / 2, seed);
    const double more = in_ms(sum / 5 - without) / in_ms(trip);
    MESSAGE("bounce, 10 ms each way, loss " << loss << ": " << in_ms(sum / 5)
                                            << " ms, a first loss " << more / (4000 * loss)
                                            << " round trips, with what is lost again");
    CHECK(more / (4000 * loss) <= 1.5);
  }
}

TEST_CASE("reliability: on a narrow link that loses it is as fast as TCP") {
  for (const double loss : {0.0, 0.005, 0.01, 0.02, 0.05}) {
    link_faults faults = narrow;
    faults.loss = loss;
    double mine = 0, theirs = 0;
    constexpr int runs = 5;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
      mine += ours(faults, seed, duration::seconds(20)) / runs;
      theirs += tcps(faults, seed, duration::seconds(20)) / runs;
    }
    MESSAGE("10 Mbit/s, 10 ms each way, loss " << loss << ": " << mine << " Mbit/s, CUBIC "
                                               << theirs);
    CHECK(mine >= 0.95 * theirs);
  }
}

TEST_CASE("reliability: two flows share a link, and its queue does not stand full") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    timeline time;
    wire there(time, seed * 2), back(time, seed * 2 + 1);
    there.faults = back.faults = narrow;
    flow first(time, there, back, 1472), second(time, there, back, 1472);
    first.go();
    time.run_until(time.now() + ms(static_cast<std::int64_t>(500 * seed)));
    second.go();
    // The start does not count.
    time.run_until(time.now() + duration::seconds(5));
    const std::size_t one = first.bytes, two = second.bytes;
    time.run_until(time.now() + duration::seconds(30));
    const auto a = static_cast<double>(first.bytes - one),
               b = static_cast<double>(second.bytes - two);
    const double sent_again =
        static_cast<double>(first.layer().counters().retransmitted +
                            second.layer().counters().retransmitted) /
        static_cast<double>(first.layer().counters().sent + second.layer().counters().sent);
    MESSAGE("two flows: " << 100 * a / (a + b) << " : " << 100 * b / (a + b) << ", together "
                          << megabits(static_cast<std::size_t>(a + b), duration::seconds(30))
                          << " Mbit/s, sent again " << 100 * sent_again << " %, round trip "
                          << first.layer().times().smoothed().count() / 1000 << " us, window "
                          << first.layer().window());
    CHECK(std::max(a, b) / (a + b) <= 0.6);
    CHECK(a + b >= 0.9 * 30 * 10e6 / 8);
    CHECK(sent_again < 0.03);
  }
}

TEST_CASE("reliability: it leaves room for TCP, and takes its own") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    timeline time;
    wire there(time, seed * 2), back(time, seed * 2 + 1);
    there.faults = back.faults = narrow;
    // Without jitter, drops at the full queue always hit the same of two flows.
    there.faults.jitter = back.faults.jitter = ms(3);
    flow f(time, there, back, 1472);
    reference_tcp tcp(time, there, back);
    f.go();
    tcp.go();
    time.run_until(time.now() + duration::seconds(60));
    const double a = megabits(f.bytes, duration::seconds(60));
    const double b = megabits(tcp.arrivals * 1448, duration::seconds(60));
    MESSAGE("beside a CUBIC flow: " << a << " Mbit/s and " << b);
    CHECK(a >= 3.8);
    CHECK(b >= 3.8);
  }
}

namespace {

/// A carrier that keeps its packets, as the batch of a socket does.
struct batch_end final : carrier, link_owner {
  std::vector<packet> out;
  std::size_t messages = 0;
  void transmit(packet p) override { out.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
  bool on_message(const incoming&) override {
    ++messages;
    return true;
  }
  void on_event(const link_event&) override {}
};

/// The datagrams of one way without loss.
struct traffic {
  std::size_t datagrams = 0, bytes = 0;  ///< of the sender
  std::size_t acknowledgements = 0;      ///< datagrams of the receiver
  std::uint64_t retransmitted = 0;
};

/// Sends messages of 64 bytes from one stack to another, `batch` at a time, all in order.
traffic traffic_of(std::size_t rounds, std::size_t batch) {
  batch_end a, b;
  stack<datagrams, reliability> from(a, a, reliability()), to(b, b, reliability());
  instant now = instant::at(duration::seconds(1));
  from.connected(now);
  to.connected(now);
  traffic all;
  for (std::size_t i = 0; i < rounds; ++i) {
    now = now + us(10);
    for (std::size_t k = 0; k < batch; ++k) {
      packet p = packet::with_room(from.header_size(), 64);
      std::ignore = p.append(64);
      REQUIRE(!from.send({std::move(p)}, now));
    }
    for (const packet& p : a.out) {
      ++all.datagrams;
      all.bytes += p.size();
      to.receive(p.bytes(), now);
    }
    a.out.clear();
    if (to.deadline() <= now) to.advance(now);
    all.acknowledgements += b.out.size();
    for (const packet& p : b.out) from.receive(p.bytes(), now);
    b.out.clear();
    if (from.deadline() <= now) from.advance(now);
  }
  CHECK(b.messages == rounds * batch);
  all.retransmitted = from.get<reliability>().counters().retransmitted;
  return all;
}

}  // namespace

TEST_CASE("reliability: in order and without loss a packet costs six bytes and half a datagram") {
  constexpr std::size_t rounds = 20000;
  for (const std::size_t batch : {1u, 2u, 8u, 40u}) {
    CAPTURE(batch);
    const traffic all = traffic_of(rounds, batch);
    const std::size_t packets = rounds * batch;
    CHECK(all.retransmitted == 0);
    CHECK(all.datagrams == packets);
    // The header is flags, number and attempt.
    CHECK(all.bytes == packets * (64 + 6));
    // An acknowledgement is for two packets, or for all that have come at once, up to sixteen.
    const std::size_t most = std::clamp<std::size_t>(batch, 2, 16);
    CHECK(all.acknowledgements <= (packets + most - 1) / most + (batch > 16 ? rounds : 0));
    CHECK(all.acknowledgements >= rounds / 2);
  }
}

}  // namespace reliability_figures_test
