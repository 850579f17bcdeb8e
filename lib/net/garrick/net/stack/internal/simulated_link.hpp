// Two ends of a link that delays, loses, repeats and reorders datagrams, under virtual time: for
// the tests of layers, before there are sockets.
//
// Datagrams in flight are the sender's own packets, as in a socket's queue: a layer that writes to
// bytes under way damages them.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/random.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/stack/any_link.hpp"

namespace garrick::net::internal {

/// Properties of a simulated link, alike in both directions.
struct link_faults {
  base::duration delay{};  ///< each way
  base::duration
      jitter{};     ///< the most additional delay, evenly spread: datagrams may overtake others
  double loss = 0;  ///< probability
  double duplication = 0;        ///< probability
  double rate = 0;               ///< bits a second; 0: any
  std::size_t queue = 50;        ///< datagrams that wait for the rate; more are dropped
  std::size_t largest = 65'507;  ///< bytes of a datagram; larger ones vanish
  std::size_t headers = 28;      ///< bytes that each datagram has beyond its own, for the rate
  bool in_order = false;         ///< jitter does not let datagrams overtake each other
};

/// Events in order of time.
class timeline {
 public:
  /// Returns the time.
  [[nodiscard]] base::instant now() const noexcept { return now_; }
  /// Calls `what` at `when`, in the order of calls if at the same time.
  void at(base::instant when, std::function<void()> what) {
    events_.push({when, order_++, std::move(what)});
  }
  /// Returns the time of the next event.
  [[nodiscard]] base::instant next() const {
    return events_.empty() ? base::instant::never() : events_.top().when;
  }
  /// Runs all events until `when`, and sets the time to it.
  void run_until(base::instant when) {
    while (!events_.empty() && events_.top().when <= when) {
      event e = std::move(const_cast<event&>(events_.top()));
      events_.pop();
      now_ = e.when;
      e.what();
    }
    now_ = when;
  }

 private:
  struct event {
    base::instant when;
    std::uint64_t order;
    std::function<void()> what;
    friend bool operator<(const event& a, const event& b) {
      return std::pair(a.when, a.order) > std::pair(b.when, b.order);
    }
  };
  base::instant now_ = base::instant::at(base::duration::seconds(1));
  std::uint64_t order_ = 0;
  std::priority_queue<event> events_;
};

/// A direction of a link that several senders may share.
class wire {
 public:
  wire(timeline& t, std::uint64_t seed) : time_(t), random_(seed) {}

  /// Takes a datagram, and hands it to `arrive` when it has arrived.
  void carry(packet p, const std::function<void(const packet&)>& arrive) {
    ++carried;
    if (p.size() > faults.largest) {
      ++too_large;
      return;
    }
    if (cut || random_.unit() < faults.loss) return;
    base::instant out = time_.now();
    if (faults.rate != 0) {
      if (waiting_ >= faults.queue) {
        ++dropped;
        return;
      }
      const double bits = 8.0 * static_cast<double>(p.size() + faults.headers);
      free_ = std::max(free_, out) +
              base::duration::nanoseconds(static_cast<std::int64_t>(bits * 1e9 / faults.rate));
      out = free_;
      ++waiting_;
      longest_queue = std::max(longest_queue, waiting_);
      time_.at(out, [this] { --waiting_; });
    }
    if (random_.unit() < faults.duplication) deliver(p.share(), out, arrive);
    deliver(std::move(p), out, arrive);
  }

  link_faults faults;             ///< may be changed at any time
  bool cut = false;               ///< nothing arrives
  std::uint64_t carried = 0;      ///< datagrams taken
  std::uint64_t dropped = 0;      ///< because the queue was full
  std::uint64_t too_large = 0;    ///< datagrams that vanished
  std::size_t longest_queue = 0;  ///< datagrams

 private:
  void deliver(packet p, base::instant out, const std::function<void(const packet&)>& arrive) {
    base::instant when = out + faults.delay;
    if (faults.jitter > base::duration())
      when = when + base::duration::nanoseconds(static_cast<std::int64_t>(
                        random_.unit() * static_cast<double>(faults.jitter.count())));
    if (faults.in_order) when = last_ = std::max(last_, when);
    auto held = std::make_shared<packet>(std::move(p));
    time_.at(when, [held, arrive] { arrive(*held); });
  }

  timeline& time_;
  base::random_source random_;
  base::instant free_;
  base::instant last_;
  std::size_t waiting_ = 0;
};

/// An end: carries its stack's datagrams over a wire to the other end, and drives the stack.
template <class Stack>
class simulated_end : public carrier, public link_owner {
 public:
  template <class... Ls>
  simulated_end(timeline& t, wire& out, Ls... layers)
      : time(t), out_(out), stack(*this, *this, std::move(layers)...) {
    stack.connected(t.now());
  }
  simulated_end(const simulated_end&) = delete;
  simulated_end& operator=(const simulated_end&) = delete;
  virtual ~simulated_end() = default;

  /// Sends to the `arrive` of this end.
  void talks_to(simulated_end& other) {
    arrive_there_ = [&other](const packet& p) { other.arrive(p.bytes()); };
  }
  /// Receives bytes, after those that arrived while the process was paused.
  void arrive(std::span<const std::byte> bytes) {
    if (paused) {
      arrived_meanwhile_.emplace_back(bytes.begin(), bytes.end());
      return;
    }
    stack.receive(bytes, time.now());
    wake();
  }
  /// Stops reading and the clock until `go_on`.
  void pause() { paused = true; }
  /// Resumes the process, which first reads the bytes that have arrived meanwhile.
  void go_on() {
    paused = false;
    for (const auto& bytes : std::exchange(arrived_meanwhile_, {}))
      stack.receive(bytes, time.now());
    wake();
  }
  /// Makes sure that `advance` is called when it is due. Call it after each call of the stack.
  void wake() {
    const base::instant due = stack.deadline();
    if (due.is_never() || due >= armed_) return;
    armed_ = due;
    // Bytes that arrive at the same instant are fed first: they are in the timeline already, unless
    // they take no time at all.
    time.at(std::max(due, time.now()), [this, mine = ++alarms_] {
      if (mine != alarms_) return;  // an earlier alarm was set meanwhile
      armed_ = base::instant::never();
      if (!paused && stack.deadline() <= time.now()) stack.advance(time.now());
      if (!paused) wake();
    });
  }

  void transmit(packet p) override {
    ++transmitted;
    out_.carry(std::move(p), arrive_there_);
  }
  [[nodiscard]] bool writable() const override { return carrier_writable; }
  [[nodiscard]] std::size_t largest() const override { return datagram; }
  void reopen() override {}
  void close() override { closed = true; }
  bool on_message(const incoming& m) override {
    if (message) message(m);
    return true;
  }
  void on_event(const link_event& e) override {
    events.push_back(e);
    if (event) event(e);
  }

  timeline& time;                                ///< of both ends
  bool paused = false;                           ///< see `pause`
  bool carrier_writable = true;                  ///< the carrier's answer
  bool closed = false;                           ///< `close` was called
  std::size_t datagram = 1200;                   ///< the largest
  std::uint64_t transmitted = 0;                 ///< datagrams
  std::function<void(incoming)> message;         ///< called for each message
  std::function<void(const link_event&)> event;  ///< called for each event
  std::vector<link_event> events;                ///< all so far

 private:
  wire& out_;
  std::function<void(const packet&)> arrive_there_ = [](const packet&) {};
  std::vector<std::vector<std::byte>> arrived_meanwhile_;
  base::instant armed_ = base::instant::never();
  std::uint64_t alarms_ = 0;

 public:
  Stack stack;  ///< the stack
};

}  // namespace garrick::net::internal
