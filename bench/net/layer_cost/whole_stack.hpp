// The cost of a message through a whole stack, by its name: two ends in one thread, each of which
// gets the packets that the other transmits, at a time that the program makes up.
//
// To send is also to take the acknowledgements in, and to receive is also to send them. So the two
// together are the whole cost of a message at both ends, without transport and user.
//
// Thread safety: none.
#pragma once

#include <stdlib.h>  // with glibc: says that it is glibc
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/measure.hpp"
#include "garrick/net/stack/stacks.hpp"
#include "garrick/net/wire/frame.hpp"

namespace bench {

// One end: the carrier below its stack, and the owner above.
class stack_end final : garrick::net::carrier, garrick::net::link_owner {
 public:
  stack_end(const garrick::net::named_stack& kind, std::uint64_t incarnation, bool connects)
      : kind_(kind.transport) {
    garrick::net::link_settings s;
    s.session.self.incarnation = incarnation;
    s.session.connects = connects;
    s.session.probing.enabled = false;  // the path takes packets of `largest`
    link_ = kind.make(*this, *this, s);
  }
  [[nodiscard]] garrick::net::any_link& link() noexcept { return *link_; }
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t confirmed() const noexcept { return confirmed_; }
  // Takes the packets sent since the last call to the other end. Returns false if there were none.
  bool deliver_to(stack_end& other, garrick::base::instant now) {
    if (transmitted_.empty()) return false;
    for (const garrick::net::packet& p : std::exchange(transmitted_, {}))
      other.link_->receive(p.bytes(), now);
    return true;
  }
  void advance_if_due(garrick::base::instant now) {
    if (link_->deadline() <= now) link_->advance(now);
  }

 private:
  void transmit(garrick::net::packet p) override { transmitted_.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 60'000; }
  [[nodiscard]] std::optional<garrick::net::carrier_kind> carries() const override { return kind_; }
  void reopen() override {}
  void close() override {}
  bool on_message(const garrick::net::incoming& m) override {
    ++messages_;
    bytes_ += m.decoded != nullptr ? m.decoded->payload.size() : 0;
    return true;
  }
  void on_event(const garrick::net::link_event& e) override {
    open_ = open_ || e.what == garrick::net::link_event::kind::opened;
    confirmed_ += e.what == garrick::net::link_event::kind::delivered ? 1 : 0;
  }

  const garrick::net::carrier_kind kind_;
  std::unique_ptr<garrick::net::any_link> link_;
  std::vector<garrick::net::packet> transmitted_;
  bool open_ = false;
  std::uint64_t messages_ = 0, bytes_ = 0, confirmed_ = 0;
};

// By itself glibc gives memory back to the system after each batch of large messages, and then each
// page of the next one is a fault: ten microseconds for a message that no layer has caused.
inline void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

// Two ends.
class whole_stack {
 public:
  explicit whole_stack(const garrick::net::named_stack& kind)
      : confirms_(kind.provides.confirmed), here_(kind, 1, true), there_(kind, 2, false) {
    there_.link().connected(now_);
    here_.link().connected(now_);
    for (int i = 0; i < 10 && !(here_.is_open() && there_.is_open()); ++i) meet();
  }
  struct spent {
    double to_send = 0, to_receive = 0;  // nanoseconds of a message
  };
  // This many frames of that payload, in batches as a busy link has them.
  spent run(std::size_t size, std::uint64_t messages, result& out) {
    const std::vector<std::byte> payload(size, std::byte{7});
    const std::size_t room = garrick::net::frame_room + here_.link().header_size();
    const std::uint64_t came = there_.messages(), bytes = there_.bytes(), told = here_.confirmed();
    std::uint64_t refused = 0;
    std::int64_t to_send = 0, to_receive = 0;
    for (std::uint64_t sent = 0; sent < messages;) {
      const std::int64_t begin = now_ns();
      for (std::uint64_t end = std::min(messages, sent + batch); sent < end; ++sent) {
        garrick::net::outgoing m =
            garrick::net::to_outgoing({.kind = garrick::net::frame_kind::message,
                                       .receiver = {1, 11},
                                       .sender = {2, 22},
                                       .type = 0x0123456789abcdef},
                                      garrick::net::packet::copy_of(payload, room));
        m.report = confirms_ ? ++report_ : 0;
        refused += here_.link().send(std::move(m), now_) ? 1 : 0;
      }
      const std::int64_t sent_at = now_ns();
      now_ = now_ + garrick::base::duration::microseconds(100);
      here_.deliver_to(there_, now_);
      there_.advance_if_due(now_);
      const std::int64_t received_at = now_ns();
      there_.deliver_to(here_, now_);
      here_.advance_if_due(now_);
      to_send += now_ns() - received_at + sent_at - begin;
      to_receive += received_at - sent_at;
    }
    for (int i = 0; i < 20; ++i) meet();
    out.expect("messages that were refused", 0, refused);
    out.expect("messages that have come", messages, there_.messages() - came);
    out.expect("bytes that have come", messages * size, there_.bytes() - bytes);
    out.expect("messages that are known to have come", confirms_ ? messages : 0,
               here_.confirmed() - told);
    return {static_cast<double>(to_send) / static_cast<double>(messages),
            static_cast<double>(to_receive) / static_cast<double>(messages)};
  }

 private:
  static constexpr std::uint64_t batch = 32;

  // Outside of the measurement: work that still waits for time.
  void meet() {
    now_ = now_ + garrick::base::duration::milliseconds(1);
    here_.advance_if_due(now_);
    there_.advance_if_due(now_);
    while (here_.deliver_to(there_, now_) | there_.deliver_to(here_, now_)) {}
  }

  const bool confirms_;
  garrick::base::instant now_{};
  stack_end here_, there_;
  std::uint64_t report_ = 0;
};

}  // namespace bench
