// Large messages to an actor of another node: their bytes are credit, too, so that an actor which
// reads nothing costs its node a bounded number of bytes.
#include <doctest/doctest.h>
#include <garrick/core/seam/handles.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/node/proxy/internal/remote_cell.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <support/by_hand.hpp>

#include "net/node/simulated_machines.hpp"

namespace bytes_ahead_test {

using namespace garrick;
using tests::three_machines;

constexpr std::size_t mib = 1u << 20;
constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct parcel {
  std::int64_t number = 0;
  std::string content;
};
struct many_numbers {
  std::vector<std::uint64_t> all;  // each takes a byte on the wire, and 8 in memory
};
struct note {
  std::int64_t number = 0;
};
struct keep {
  ref<protocol<void(note)>> who;
  std::string content;
};
using store_type = protocol<void(parcel), void(many_numbers), void(note), void(keep)>;

class store : public actor<store_type> {
 public:
  explicit store(std::vector<std::int64_t>& numbers) : numbers_(numbers) {}
  void on(const parcel& p) { numbers_.push_back(p.number); }
  void on(const many_numbers&) {}
  void on(const note& n) { numbers_.push_back(n.number); }
  void on(const keep&) {}

 private:
  std::vector<std::int64_t>& numbers_;
};

core::cell& cell_of(const ref<store_type>& x) { return *core::handle_access::get(x); }
std::int64_t credit_of(const ref<store_type>& far) {
  return static_cast<core::proxy_cell&>(cell_of(far)).credit();
}
std::int64_t bytes_of(const ref<store_type>& far) {
  return static_cast<net::internal::remote_cell&>(cell_of(far)).bytes_left();
}

/// A store at "b" that reads when it is told to, and its handle at "a".
struct sleeping_store {
  std::vector<std::int64_t> numbers;
  tests::by_hand loop;
  three_machines m;
  ref<store_type> own =
      m.b.system.spawn<store>(spawn_options{.executor = &loop.executor}, lent(numbers));
  ref<store_type> to = m.b.shown_to(m.a, "store", own);
  std::int64_t sent = 0;

  ~sleeping_store() {
    static_cast<void>(m.b.node.unpublish("store"));
    to = {};
    own = {};
    run(ms(100));
    loop.run();
  }
  void run(duration d) { m.a.system.run_for(d); }
  /// Sends messages as long as there is credit. Returns their number.
  template <class Make>
  int send_ahead(Make make, int most = 1000) {
    int n = 0;
    for (; n < most && credit_of(to) > 0; ++n) {
      send(to, make(sent++));
      run(ms(1));
    }
    return n;
  }
  /// Returns true if all numbers have come, in order and once.
  [[nodiscard]] bool has_all() const {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != static_cast<std::int64_t>(i)) return false;
    return numbers.size() == static_cast<std::size_t>(sent);
  }
};

parcel of_a_mib(std::int64_t n) { return {n, std::string(mib - 100, 'x')}; }

TEST_CASE("bytes ahead: to an actor that reads nothing go 16 MiB and a message, and later all") {
  sleeping_store s;
  CHECK(s.send_ahead(of_a_mib) == 17);
  for (int i = 0; i < 50; ++i) {
    s.run(ms(200));
    CHECK(s.send_ahead(of_a_mib) == 0);
  }
  CHECK(cell_of(s.own).mailbox_length() == 17);
  CHECK(tests::letters(s.m.a.system) == 0);
  for (int i = 0; i < 20; ++i) {
    s.loop.run();
    s.run(ms(10));
    CHECK(s.send_ahead(of_a_mib) > 0);
    s.run(duration::seconds(5));
  }
  s.loop.run();
  CHECK(s.sent > 200);
  CHECK(s.has_all());
}

TEST_CASE("bytes ahead: a sender that may not wait loses messages beyond twice the credit") {
  sleeping_store s;
  for (int i = 0; i < 100; ++i) {
    send(s.to, of_a_mib(s.sent++));
    s.run(ms(1));
  }
  s.run(duration::seconds(10));
  const std::uint64_t arrived = cell_of(s.own).mailbox_length();
  CHECK(arrived == 33);
  CHECK(tests::letters(s.m.a.system, errc::overload) == 67);
  send(s.to, note{-1});  // small messages go on
  s.run(ms(10));
  CHECK(cell_of(s.own).mailbox_length() == 34);
  s.loop.run();
  s.run(ms(100));
  CHECK(s.numbers.size() == 34);
  CHECK(bytes_of(s.to) > 14 * std::int64_t{mib});
  CHECK(credit_of(s.to) > 0);
}

TEST_CASE("bytes ahead: a large message goes at once, whatever its size, and alone") {
  sleeping_store s;
  CHECK(s.send_ahead([](std::int64_t n) { return parcel{n, std::string(15 * mib, 'x')}; }) == 2);
  s.run(duration::seconds(10));
  CHECK(cell_of(s.own).mailbox_length() == 2);
  CHECK(credit_of(s.to) < 0);
  s.loop.run();
  s.run(ms(100));
  CHECK(s.has_all());
  CHECK(bytes_of(s.to) > 14 * std::int64_t{mib});
}

TEST_CASE("bytes ahead: messages that take more memory than bytes are granted as they are") {
  sleeping_store s;
  const auto numbers = [](std::int64_t) {
    return many_numbers{std::vector<std::uint64_t>(mib / 4)};
  };
  for (int i = 0; i < 150; ++i) {  // it keeps up, so their size becomes known
    s.send_ahead(numbers, 1);
    s.run(ms(5));
    s.loop.run();
    s.run(ms(5));
  }
  CHECK(s.sent > 100);
  s.send_ahead(numbers);
  s.run(ms(100));
  CHECK(s.send_ahead(numbers) == 0);
  CHECK(cell_of(s.own).mailbox_length() <= 10);  // of 2 MiB each
}

TEST_CASE("bytes ahead: a message that does not leave gives its bytes back") {
  sleeping_store s;
  s.m.net.cut("a", "b");
  s.m.net.cut("b", "a");
  s.run(ms(10));
  const std::int64_t before = bytes_of(s.to);
  for (int i = 0; i < 20; ++i) {
    auto asked = s.m.a.system.request(s.to, of_a_mib(i), ms(20));
    CHECK(asked.get().error() == errc::timeout);
  }
  s.m.net.heal("a", "b");
  s.m.net.heal("b", "a");
  s.run(duration::seconds(2));
  s.loop.run();
  s.run(ms(100));
  CHECK(bytes_of(s.to) > before - 3 * std::int64_t{mib});
}

TEST_CASE("bytes ahead: a node in between takes no more bytes than the third one does") {
  sleeping_store s;
  const auto far = s.m.b.shown_to(s.m.c, "far", s.own);
  const auto by_way = s.m.c.shown_to(s.m.a, "relayed", far);
  int n = 0;
  for (int i = 0; i < 200; ++i) {
    for (; credit_of(by_way) > 0; ++n) send(by_way, of_a_mib(s.sent++));
    s.run(ms(100));
  }
  CHECK(n <= 34);
  CHECK(credit_of(by_way) < 0);
  CHECK(cell_of(s.own).mailbox_length() <= 34);
  for (int i = 0; i < 10; ++i) {
    s.loop.run();
    s.run(duration::seconds(2));
  }
  CHECK(s.has_all());
  CHECK(credit_of(by_way) > 0);
  CHECK(s.m.c.node.unpublish("relayed"));
  CHECK(s.m.b.node.unpublish("far"));
}

TEST_CASE("bytes ahead: small messages do not count") {
  sleeping_store s;
  for (int i = 0; i < 250; ++i) send(s.to, parcel{s.sent++, std::string(2000, 'x')});
  s.run(ms(10));
  CHECK(bytes_of(s.to) == 16 * std::int64_t{mib});
  send(s.to, parcel{s.sent++, std::string(2100, 'x')});
  s.run(ms(10));
  CHECK(bytes_of(s.to) < 16 * std::int64_t{mib});
  s.loop.run();
  CHECK(s.has_all());
}

}  // namespace bytes_ahead_test
