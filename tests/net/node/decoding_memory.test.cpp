// Large and small messages are decoded while there is no memory.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <support/failing_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace decoding_memory_test {

using namespace garrick;

/// Its codec throws, and there is no memory for the text of that.
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
    tests::failing_allocation = 1;
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

}  // namespace decoding_memory_test
