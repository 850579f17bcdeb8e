// An end of a link with `reliability` as its only layer. A test carries its datagrams by hand.
//
// Thread safety: none.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/net/layer/reliability.hpp"
#include "garrick/net/stack/stack.hpp"

namespace garrick::net::internal {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct hand_carried final : carrier, link_owner {
  explicit hand_carried(reliability_settings s = {}) : stack(*this, *this, reliability(s)) {
    stack.connected(now);
  }

  void send(std::string_view text, lane_number lane = 1) {
    REQUIRE(!stack.send({packet::copy_of(bytes_of(text)), lane}, now));
  }
  /// Carries the datagrams of this end to the other one.
  void flush_to(hand_carried& other) {
    for (packet& p : std::exchange(out, {})) other.stack.receive(p.bytes(), other.now);
  }
  void advance_to(base::instant t) {
    now = t;
    if (stack.deadline() <= now) stack.advance(now);
  }
  reliability& layer() { return stack.get<reliability>(); }
  reliability_counters counters() { return layer().counters(); }

  void transmit(packet p) override { out.push_back(std::move(p)); }
  [[nodiscard]] bool writable() const override { return takes_more; }
  [[nodiscard]] std::size_t largest() const override { return path; }
  void reopen() override {}
  void close() override { closed = true; }
  bool on_message(const incoming& m) override {
    come.push_back(text_of(m.bytes));
    return true;
  }
  void on_event(const link_event& e) override { events.push_back(e); }

  base::instant now = base::instant::at(base::duration::seconds(1));
  std::vector<packet> out;
  std::vector<std::string> come;
  std::vector<link_event> events;
  bool closed = false;
  bool takes_more = true;
  std::size_t path = 1200;
  net::stack<datagrams, reliability> stack;
};

}  // namespace garrick::net::internal
