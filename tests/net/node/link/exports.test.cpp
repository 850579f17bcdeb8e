// The actors that a peer knows: each is held as long as the peer has handles to it, and is sent
// messages as far ahead as it keeps up.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/link/internal/exports.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace exports_test {

using namespace garrick;
using namespace garrick::net;
using internal::exports;

using reader_type = protocol<void(std::int32_t)>;
using teller_type = protocol<void(std::int64_t)>;

class reader : public actor<reader_type> {
 public:
  void on(std::int32_t) {}
};

const protocol_table& as_reader = protocol_table_of<reader_type>();
const protocol_table& as_teller = protocol_table_of<teller_type>();

struct fixture {
  garrick::testkit::test_system system;
  exports of{1};
  ref<reader_type> one = system.spawn<reader>();

  [[nodiscard]] core::cell& cell() const { return *core::handle_access::get(one); }
  [[nodiscard]] core::address address() const { return core::handle_access::make_address(&cell()); }
  /// Takes so many messages of the peer, which the actor has not read.
  void take(exports::entry& x, std::uint32_t number, std::size_t bytes = 8) {
    for (std::uint32_t i = 0; i != number; ++i) {
      static_cast<void>(exports::took(x, bytes));
      send(one, std::int32_t{1});
    }
  }
  [[nodiscard]] static bool keeps_up(const exports::entry& x, std::uint64_t fresh = 0) {
    return exports::keeps_up(x, [fresh] { return fresh; });
  }
  /// Returns the number of messages after which a grant is due.
  [[nodiscard]] static std::uint32_t left_until_due(const exports::entry& x) {
    REQUIRE(x.taken <= x.due);
    return x.due - x.taken;
  }
  /// Lets the actor read so many messages. Returns the grant if one is due.
  std::uint32_t grant_read(const actor_id& id, std::uint32_t number, std::size_t bytes = 8) {
    exports::entry& x = *of.find(id);
    take(x, number, bytes);
    system.run();
    if (!exports::is_due(x)) return 0;
    return of.grant(id, x, keeps_up(x));
  }
};

TEST_CASE("exports: an actor has one number, and is held from its first handle to its last") {
  fixture f;
  const actor_id id = f.of.hold(f.cell(), as_reader);
  CHECK(f.of.hold(f.cell(), as_teller) == id);
  CHECK(f.of.size() == 1);
  CHECK(f.of.find_given(id) == f.of.find(id));
  CHECK(f.of.number_of(f.address()).value() == id);
  CHECK(f.of.find(id)->tables.size() == 2);
  CHECK_FALSE(f.of.release(id, 3));  // the peer never had so many handles
  CHECK(f.of.release(id, 1));
  f.one = {};
  CHECK(f.of.find_given(id) != nullptr);
  CHECK_FALSE(core::handle_access::get(f.of.find(id)->who)->has_ended());
  CHECK(f.of.release(id, 1));
  CHECK(f.of.find(id) == nullptr);
  CHECK(f.of.size() == 0);
}

TEST_CASE("exports: an actor is sent again with the same protocol, which is kept once") {
  fixture f;
  const actor_id id = f.of.hold(f.cell(), as_reader);
  for (int i = 0; i < 3; ++i) CHECK(f.of.hold(f.cell(), as_reader) == id);
  CHECK(f.of.find(id)->tables.size() == 1);
  CHECK(f.of.release(id, 4));
}

TEST_CASE("exports: when all are let go none is found, also not the one that was found last") {
  fixture f;
  const actor_id id = f.of.hold_spawned(f.cell(), as_reader);
  REQUIRE(f.of.find(id) != nullptr);
  f.of.clear();
  CHECK(f.of.find(id) == nullptr);
  CHECK_FALSE(f.of.number_of(f.address()));
  CHECK_FALSE(f.of.release(id, 1));
  CHECK(f.of.size() == 0);
  CHECK(f.of.spawned() == 0);
}

TEST_CASE("exports: an actor that is only named is known, and not given") {
  fixture f;
  const actor_id id = f.of.name(f.address());
  CHECK(f.of.name(f.address()) == id);
  CHECK(f.of.find(id) != nullptr);
  CHECK(f.of.find_given(id) == nullptr);
  CHECK_FALSE(f.of.release(id, 1));
  CHECK(f.of.hold(f.cell(), as_reader) == id);
  f.of.forget(id);
  f.of.forget(id);
  f.of.forget(id);  // more often than `name` was called
  CHECK(f.of.find_given(id) != nullptr);
  CHECK(f.of.release(id, 1));
  CHECK(f.of.find(id) == nullptr);
}

TEST_CASE("exports: a peer that spawns holds its actor, and it is counted") {
  fixture f;
  const actor_id id = f.of.hold_spawned(f.cell(), as_reader);
  CHECK(f.of.spawned() == 1);
  CHECK(f.of.hold_spawned(f.cell(), as_reader) == id);
  CHECK(f.of.spawned() == 1);
  CHECK(f.of.released_by_peer(id, 0) == nullptr);
  CHECK(f.of.released_by_peer(id, 1) == f.of.find(id));
  CHECK(f.of.released_by_peer(id, 1) == nullptr);
  CHECK(f.of.spawned() == 0);
}

TEST_CASE("exports: an actor that keeps up is sent twice as many ahead, up to a limit") {
  fixture f;
  const actor_id id = f.of.hold(f.cell(), as_reader);
  exports::entry& x = *f.of.find(id);
  CHECK(f.grant_read(id, first_credit / 2 - 1) == 0);  // not due
  std::uint64_t granted = first_credit;
  std::uint64_t taken = first_credit / 2 - 1;
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t number = f.left_until_due(x);
    taken += number;
    granted += f.grant_read(id, number);
    CHECK(granted - taken <= x.window);  // E2
  }
  CHECK(x.window == 8192);
  CHECK_FALSE(f.of.owes());
}

TEST_CASE("exports: large messages are not sent further ahead") {
  fixture f;
  const actor_id id = f.of.hold(f.cell(), as_reader);
  CHECK(f.grant_read(id, first_credit / 2, 1u << 20) == first_credit / 2);
  CHECK(f.of.find(id)->window == first_credit);
  f.grant_read(id, first_credit / 2);  // these are small
  CHECK(f.of.find(id)->window == 2 * first_credit);
}

TEST_CASE("exports: an actor that has read nothing yet does not keep up") {
  fixture f;
  const actor_id id = f.of.hold(f.cell(), as_reader);
  exports::entry& x = *f.of.find(id);
  f.take(x, x.due);
  CHECK_FALSE(f.keeps_up(x, x.due));  // although all of these have just come
}

TEST_CASE("exports: a mailbox that lets its senders wait is short only below its bound") {
  constexpr std::uint32_t bound = 10;
  fixture f;
  f.one = f.system.spawn<reader>(spawn_options{.policy = mailbox_policy::wait, .bound = bound});
  exports::entry& x = *f.of.find(f.of.hold(f.cell(), as_reader));
  f.take(x, bound - 1);
  CHECK(f.keeps_up(x));
  f.take(x, 1);
  CHECK_FALSE(f.keeps_up(x));  // senders here wait now, and have the next room
  f.system.run();
  CHECK(f.keeps_up(x));
}

TEST_CASE("exports: an actor that does not keep up is owed its grant, once, and sent less ahead") {
  fixture f;
  const actor_id id = f.of.hold(f.cell(), as_reader);
  exports::entry& x = *f.of.find(id);
  for (int i = 0; i < 3; ++i) f.grant_read(id, x.due);
  f.take(x, x.window / 2 + 1);
  if (x.taken < x.due) f.take(x, x.due - x.taken);
  REQUIRE(exports::is_due(x));
  CHECK_FALSE(f.keeps_up(x));
  CHECK(f.keeps_up(x, x.window));  // but all of these have just come
  const std::uint32_t half = x.window / 2;
  CHECK(f.of.grant(id, x, false) == 0);
  CHECK(x.window == half);
  CHECK(x.taken == 1);  // half a window was taken, and is not granted again
  CHECK(f.of.owes());
  f.system.run();
  CHECK(f.of.take_owed() == std::vector<actor_id>{id});
  CHECK_FALSE(f.of.owes());
  CHECK_FALSE(exports::is_due(x));
  CHECK(f.grant_read(id, f.left_until_due(x)) == half / 2 + half);  // it keeps up again
}

TEST_CASE("exports: a grant at the first credit is owed until it is taken, and is due then") {
  fixture f;
  const actor_id id = f.of.hold(f.cell(), as_reader);
  exports::entry& x = *f.of.find(id);
  f.take(x, x.due);
  REQUIRE(exports::is_due(x));
  CHECK_FALSE(f.keeps_up(x));
  CHECK(f.of.grant(id, x, false) == 0);
  CHECK(x.window == first_credit);
  CHECK_FALSE(exports::is_due(x));  // E3
  f.system.run();
  CHECK_FALSE(exports::is_due(x));
  CHECK(f.of.take_owed() == std::vector<actor_id>{id});
  CHECK(f.of.take_owed().empty());
  REQUIRE(exports::is_due(x));
  CHECK(f.keeps_up(x));
  CHECK(f.of.grant(id, x, true) == first_credit / 2 + first_credit);
}

TEST_CASE("exports: after a release the next grant is due after the first credit") {
  fixture f;
  const actor_id id = f.of.hold(f.cell(), as_reader);
  static_cast<void>(f.of.hold(f.cell(), as_reader));
  exports::entry& x = *f.of.find(id);
  for (int i = 0; i < 4; ++i) f.grant_read(id, x.due);
  const std::uint32_t window = x.window;
  REQUIRE(x.due > first_credit / 2);
  REQUIRE(f.of.released_by_peer(id, 1) == &x);
  CHECK(x.due == first_credit / 2);
  CHECK(x.window == window);
  f.take(x, x.due);
  CHECK(f.of.grant(id, x, false) == 0);
  CHECK(x.window == window);  // the peer perhaps may not send so many
}

}  // namespace exports_test
