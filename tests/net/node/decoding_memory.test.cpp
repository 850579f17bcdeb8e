// Messages decoded while there is no memory, and the memory of one that waits for a worker.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"
#include "support/failing_memory.hpp"
#include "support/quiet.hpp"
#include "support/resident_bytes.hpp"

namespace decoding_memory_test {

using namespace garrick;

/// A message with a codec that throws while there is no memory for the text of the error.
struct fails_twice {
  using garrick_sendable = void;
  std::vector<std::uint8_t> all;
};
struct long_text final : std::exception {
  [[nodiscard]] const char* what() const noexcept override {
    return "a text that is too long to lie inside of a string";
  }
};

}  // namespace decoding_memory_test

template <>
struct garrick::net::codec<decoding_memory_test::fails_twice> {
  static void encode(byte_writer& out, const decoding_memory_test::fails_twice& x) {
    encode_value(out, x.all);
  }
  static void decode(byte_reader& in, decoding_memory_test::fails_twice& x) {
    decode_value(in, x.all);
    garrick::tests::failing_allocation = 1;
    throw decoding_memory_test::long_text();
  }
};

namespace decoding_memory_test {

struct counter : actor<protocol<void(fails_twice), int(fails_twice, bool), int(int)>> {
  int came = 0;
  void on(const fails_twice&) { ++came; }
  int on(const fails_twice&, bool) { return ++came; }
  int on(int) { return came; }
};

TEST_CASE("decoding memory: a codec that throws without memory for its text is told all the same") {
  std::size_t size = 0;
  SUBCASE("by the link") { size = 1000; }
  SUBCASE("by a worker") { size = 1'000'000; }
  garrick::testkit::test_world world(7);
  net::testkit::simulated_network net(world);
  net.both("a", "b", {.delay = duration::milliseconds(1), .rate = 100'000'000});
  tests::listening_machine a(world, net, "a", 1), b(world, net, "b", 2);
  const auto far = b.shown_to(a, "counter", b.system.spawn<counter>());
  send(far, fails_twice{std::vector<std::uint8_t>(size)});
  CHECK(a.system.request(far, 0).get().value() == 0);
  REQUIRE(a.system.dead_letters().size() == 1);
  CHECK(a.system.dead_letters()[0].reason == net::net_errc::decode_failed);
  const auto asked =
      a.system.request(far, fails_twice{std::vector<std::uint8_t>(size)}, true).get();
  CHECK(asked.error() == net::net_errc::decode_failed);
  CHECK(tests::failing_allocation == 0);
}

using bytes = std::vector<std::uint8_t>;
class sizes : public actor<protocol<std::uint64_t(bytes)>> {
 public:
  explicit sizes(std::atomic<int>& came) : came_(came) {}
  std::uint64_t on(const bytes& b) {
    ++came_;
    return b.size();
  }

 private:
  std::atomic<int>& came_;
};
/// Holds its worker until it is free.
class holder : public actor<protocol<void(int)>> {
 public:
  holder(std::atomic<bool>& holds, std::atomic<bool>& free) : holds_(holds), free_(free) {}
  void on(int) {
    holds_ = true;
    free_.wait(false);
  }

 private:
  std::atomic<bool>& holds_;
  std::atomic<bool>& free_;
};

std::uint64_t count(net::node& at, net::node& of, std::string_view name) {
  for (const net::link_count& c : at.counters(of.self()))
    if (c.name == name) return c.value;
  return 0;
}

TEST_CASE("decoding memory: a message for which a worker has no time keeps no memory") {
  constexpr std::size_t large = 48'000'000;  // a mapping of its own, which is given back at once
  std::atomic<int> came{0};
  std::atomic<bool> holds{false}, free{false};
  actor_system near(tests::quiet()), far(tests::quiet(1));
  net::node_settings s;
  s.leave_limit = {};
  s.patience = duration::seconds(60);
  std::optional<net::node> a(std::in_place, near, s);
  net::node b(far, s);
  const auto at_b = b.listen("tcp://127.0.0.1:0");
  const auto there = far.spawn<sizes>(spawn_options{.detached = true}, lent(came));
  REQUIRE((at_b && b.publish("sizes", there)));
  const auto asked = a->remote<sizes::protocol_type>(at_b->to_string(), "sizes").value();
  const auto ask = [&] { return near.request(asked, bytes(large), duration::seconds(60)); };
  CHECK(ask().get().value() == large);
  while (count(*a, b, "under_way") != 0) std::this_thread::yield();
  const std::size_t before = tests::resident_bytes();

  send(far.spawn<holder>(lent(holds), lent(free)), 1);
  while (!holds) std::this_thread::yield();
  SUBCASE("after the link has read it") { CHECK(ask().get().value() == large); }
  SUBCASE("after the link has ended") {
    auto answer = ask();
    while (count(b, *a, "held_lanes") == 0 && came == 1) std::this_thread::yield();
    a.reset();
  }
  while (tests::resident_bytes() > before + large / 2) std::this_thread::yield();
  free = true;
  free.notify_all();
}

}  // namespace decoding_memory_test
