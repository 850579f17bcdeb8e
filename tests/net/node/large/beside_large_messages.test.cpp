// A large message holds up its own lane, and no other: messages of other actors meanwhile wait for
// a few of its pieces, for any size and type of it.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "net/node/large/noted_encoding.hpp"
#include "net/node/simulated_machines.hpp"

namespace beside_large_messages_test {

using namespace garrick;
using net::testkit::simulated_network;
using tests::at_encoding;
using tests::listening_machine;
using tests::noted;

struct large {
  std::vector<std::uint8_t> bytes;
};

struct wanted {
  std::uint64_t bytes = 0;
};
struct bytes_so_far {};
using store_type =
    protocol<void(large), std::uint64_t(large, bool), large(wanted), std::uint64_t(bytes_so_far)>;
class store : public actor<store_type> {
 public:
  void on(const large& l) { bytes_ += l.bytes.size(); }
  std::uint64_t on(const large& l, bool) { return bytes_ += l.bytes.size(); }
  large on(const wanted& w) { return {std::vector<std::uint8_t>(w.bytes, 1)}; }
  std::uint64_t on(bytes_so_far) { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

using echo_type = protocol<std::uint64_t(std::uint64_t)>;
struct echo : actor<echo_type> {
  std::uint64_t on(std::uint64_t n) { return n + 1; }
};

/// Two machines, 1 ms and 100 MB a second from each other.
struct two_machines {
  garrick::testkit::test_world world;
  simulated_network net;
  listening_machine a, b;
  ref<store_type> far_store;
  ref<echo_type> far_echo;

  explicit two_machines(const net::node_settings& s = {})
      : world(7), net(world), a(world, way(), "a", 1, s), b(world, net, "b", 2, s) {
    far_store = b.shown_to(a, "store", b.system.spawn<store>());
    far_echo = b.shown_to(a, "echo", b.system.spawn<echo>());
  }
  /// Returns the longest time of ten small requests, one after the other.
  duration longest_small_request() {
    duration longest;
    for (std::uint64_t i = 0; i != 10; ++i) {
      const base::instant before = a.system.now();
      CHECK(a.system.request(far_echo, i).get().value() == i + 1);
      longest = std::max(longest, a.system.now() - before);
    }
    return longest;
  }

 private:
  simulated_network& way() {
    net.both("a", "b", {.delay = duration::milliseconds(1), .rate = 100'000'000});
    return net;
  }
};

constexpr std::uint64_t size = 30'000'000;
/// The time for the way there and back, for some pieces, and for twice the 256 KiB that a stream
/// takes before it is full.
constexpr duration allowed = duration::milliseconds(10);

large some(std::uint64_t bytes) { return {std::vector<std::uint8_t>(bytes, 1)}; }

TEST_CASE("beside large messages: small requests wait for a few pieces") {
  two_machines m;
  const duration alone = m.longest_small_request();
  CHECK(alone < duration::milliseconds(3));
  SUBCASE("of a message") { send(m.far_store, some(size)); }
  SUBCASE("of a larger one") { send(m.far_store, some(60'000'000)); }
  SUBCASE("of several messages from one sender") {
    for (int i = 0; i != 3; ++i) send(m.far_store, some(size));
  }
  const duration beside = m.longest_small_request();
  CAPTURE(beside.count());
  CHECK(beside < allowed);
  // The first large message was under way all the time, and none is lost.
  CHECK(m.a.system.request(m.far_store, bytes_so_far{}).get().value() >= size);
}

TEST_CASE("beside large messages: large answers, too, hold up no other actor") {
  two_machines m;
  const ref<store_type> near_store = m.a.shown_to(m.b, "near", m.a.system.spawn<store>());
  int answers = 0;
  auto asked = m.b.system.request(near_store, wanted{size});
  for (int i = 0; i != 3; ++i) {
    const duration beside = m.longest_small_request();
    CAPTURE(i);
    CAPTURE(beside.count());
    CHECK(beside < allowed);
  }
  answers += asked.get().value().bytes.size() == size;
  CHECK(answers == 1);
}

using log_type = protocol<void(noted), std::uint64_t(noted, bool), void(std::uint64_t),
                          std::vector<std::uint64_t>(wanted)>;
/// The sizes of its messages, and numbers.
class log : public actor<log_type> {
 public:
  void on(const noted& n) { all_.push_back(n.bytes.size()); }
  std::uint64_t on(const noted& n, bool) { return all_.emplace_back(n.bytes.size()); }
  void on(std::uint64_t n) { all_.push_back(n); }
  std::vector<std::uint64_t> on(const wanted&) { return all_; }

 private:
  std::vector<std::uint64_t> all_;
};

TEST_CASE("beside large messages: no thread is in the link while one is encoded") {
  two_machines m;
  const ref<log_type> far = m.b.shown_to(m.a, "log", m.b.system.spawn<log>());
  const noted big{std::vector<std::uint8_t>(1'000'000)};
  std::vector<std::uint64_t> expected{1'000'000, 7, 1'000'000};
  SUBCASE("a message") {
    send(far, big);  // from here on its type is known to be large
    at_encoding = [&] { send(far, std::uint64_t{7}); };
    send(far, big);
  }
  SUBCASE("a request") {
    CHECK(m.a.system.request(far, big, true).get().value() == 1'000'000);
    at_encoding = [&] { send(far, std::uint64_t{7}); };
    CHECK(m.a.system.request(far, big, true).get().value() == 1'000'000);
  }
  SUBCASE("until one of its type is small") {
    send(far, big);
    send(far, noted{{1, 2, 3}});
    at_encoding = [&] { send(far, std::uint64_t{7}); };
    send(far, noted{{1, 2, 3}});
    expected = {1'000'000, 3, 3, 7};
  }
  at_encoding = nullptr;
  CHECK(m.a.system.request(far, wanted{}).get().value() == expected);
}

TEST_CASE("beside large messages: those that no peer takes do not grow beyond a limit") {
  net::node_settings s;
  s.most_bytes_waiting = 2u << 20;
  s.link.mailbox.large_bytes = 1u << 20;
  two_machines m(s);
  m.net.cut("a", "b");
  for (int i = 0; i != 100; ++i) send(m.far_store, some(100'000));
  const std::uint64_t lost = tests::letters(m.a.system, errc::overload);
  const std::uint64_t kept = 100 - lost;
  CHECK(kept >= 21);  // the layers take no less than may be under way
  CHECK(kept <= 50);
  m.net.heal("a", "b");
  m.a.system.run_for(duration::seconds(5));
  CHECK(m.a.system.request(m.far_store, bytes_so_far{}).get().value() == kept * 100'000);
}

}  // namespace beside_large_messages_test
