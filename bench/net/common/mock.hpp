// A carrier that carries nothing, and an owner that does nothing, but count.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "garrick/net/stack/any_link.hpp"

namespace bench {

// Takes everything and sends it nowhere.
struct mock_carrier : garrick::net::carrier {
  void transmit(garrick::net::packet) override {}
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1u << 20; }
  void reopen() override {}
  void close() override {}
};

// Both ends of a link in one.
struct mock : mock_carrier, garrick::net::link_owner {
  std::uint64_t datagrams = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  // of both
  std::uint64_t sum = 0;    // of their last bytes

  void transmit(garrick::net::packet p) override {
    ++datagrams;
    count(p.bytes());
  }
  bool on_message(const garrick::net::incoming& m) override {
    ++messages;
    count(m.bytes);
    return true;
  }
  void on_event(const garrick::net::link_event&) override {}

 private:
  void count(std::span<const std::byte> all) {
    bytes += all.size();
    sum += static_cast<std::uint64_t>(all.back());
  }
};

}  // namespace bench
