// Two ends in memory; every byte between them is written down.
//
// A capture is determined by the settings and by the test's calls: time is virtual, and all seeds
// are fixed.
#pragma once

#include <garrick/base/platform/assert.hpp>
#include <garrick/net/stack/any_link.hpp>
#include <garrick/net/stack/internal/simulated_pair.hpp>
#include <garrick/net/stack/stacks.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/capture.hpp"

namespace garrick_test {

/// A link that writes down the calls of its transport.
class captured_link final : public garrick::net::any_link {
 public:
  using instant = garrick::base::instant;

  captured_link(std::unique_ptr<garrick::net::any_link> real, capture& to, std::size_t i)
      : real_(std::move(real)), to_(&to), end_(i) {}

  garrick::base::error send(garrick::net::outgoing&& m, instant now) override {
    return real_->send(std::move(m), now);
  }
  bool writable() const override { return real_->writable(); }
  void delivered(garrick::net::lane_number lane, instant now) override {
    real_->delivered(lane, now);
  }
  std::size_t header_size() const override { return real_->header_size(); }
  void leave(instant now) override { real_->leave(now); }
  [[nodiscard]] const garrick::net::hello* peer() const noexcept override { return real_->peer(); }

  void connected(instant now) override {
    to_->note(now, "up", end_);
    real_->connected(now);
  }
  void disconnected(const garrick::base::error& why, instant now) override {
    to_->note(now, "lost", end_);
    real_->disconnected(why, now);
  }
  void receive(std::span<const std::byte> bytes, instant now) override {
    to_->bytes(now, end_, bytes);
    real_->receive(bytes, now);
  }
  void carrier_writable(instant now) override { real_->carrier_writable(now); }
  void path_changed(std::size_t largest, instant now) override {
    real_->path_changed(largest, now);
  }
  instant deadline() const override { return real_->deadline(); }
  void advance(instant now) override { real_->advance(now); }

 private:
  std::unique_ptr<garrick::net::any_link> real_;
  capture* to_;
  std::size_t end_;
};

/// Two ends of a stack. End `a`, number 0, connects.
struct captured_pair : garrick::net::tests::simulated_pair {
  using bytes = garrick::net::tests::test_end::bytes;
  using durations = std::vector<garrick::base::duration>;

  const garrick::net::named_stack& kind;
  /// The settings of ends that are made from now on; the identities are put in.
  garrick::net::link_settings settings;
  capture written;
  /// The fates of the next datagrams with at least `spared_below` bytes: when each arrives, or
  /// never.
  std::deque<durations> fates;
  std::size_t spared_below = 0;

  captured_pair(const garrick::net::named_stack& stack, const garrick::net::link_settings& both)
      : simulated_pair(stack.transport == garrick::net::carrier_kind::stream, 1),
        kind(stack),
        settings(both),
        written(stack.name, now) {
    make(0, a);
    make(1, b);
    fate = [this](int from, const bytes& datagram) {
      if (fates.empty() || datagram.size() < spared_below) return durations{latency};
      durations times = std::move(fates.front());
      fates.pop_front();
      if (times.empty()) written.bytes(now, from == 0 ? 1 : 0, datagram, false);
      return times;
    };
  }
  /// The identities of the two, unless a test sets others.
  static constexpr garrick::net::peer_identity a{{0x1716151413121110, 0xa}, 0xaabbccdd};
  static constexpr garrick::net::peer_identity b{{0, 0xb}, 0x8877665544332211};

  /// Begins a life of end `i`.
  void make(std::size_t i, const garrick::net::peer_identity& self) { make(i, self, kind); }
  /// The same with another stack than the capture names.
  void make(std::size_t i, const garrick::net::peer_identity& self,
            const garrick::net::named_stack& of) {
    garrick::net::link_settings s = settings;
    s.session.self = self;
    s.session.connects = i == 0;
    s.session.program = i == 0 ? "caller 1.0" : "";
    s.session.seed = i + 1;
    s.session.secret = 0x1111 * (i + 1);
    if (i == 0) s.session.capabilities.add(9);
    GARRICK_ASSERT(!garrick::net::check(s), "settings that make no sense");
    ends[i].closed = false;
    ends[i].stack = std::make_unique<captured_link>(of.make(ends[i], ends[i], s), written, i);
  }
  /// Begins another life of end `i`, after an earlier one.
  void restart(std::size_t i, const garrick::net::peer_identity& self) {
    written.note(now, "lost", i);
    make(i, self);
    ends[i].stack->connected(now);
  }
  /// Sets the largest datagram of the path from end `i`, and tells the end.
  void narrow(std::size_t i, std::size_t largest) {
    ends[i].limit = largest;
    ends[i].stack->path_changed(largest, now);
  }
};

}  // namespace garrick_test
