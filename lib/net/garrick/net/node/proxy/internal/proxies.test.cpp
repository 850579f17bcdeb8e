// The table of a peer's actors: one proxy for each number, which the table does not keep alive.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/proxy/internal/proxies.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>

namespace proxies_test {

using namespace garrick;
using namespace garrick::net;
using internal::proxies;
using internal::remote_cell;

class listener : public actor<protocol<void(int)>> {
 public:
  void on(int) {}
};

/// The door of a link that is over: each visit is dropped.
struct closed_door final : net::detail::entrance {
  answer enter() noexcept override { return answer::over; }
  void leave() noexcept override {}
  visit_result wait_in_line(std::unique_ptr<net::detail::visit>, bool) override {
    return visit_result::over;
  }
  hosted& occupant() noexcept override { std::abort(); }
  transport_counters counters() const override { return {}; }
  bool is_over() const noexcept override { return true; }
  bool is_connected() const noexcept override { return false; }
  bool was_admitted() const noexcept override { return true; }
};

struct fixture {
  actor_system system;
  std::shared_ptr<closed_door> door = std::make_shared<closed_door>();
  const connection self{door};
  internal::answering_cell* const senders =
      new internal::answering_cell(system.env(), self, {}, {});
  const long before = door.use_count();
  proxies of{self, *senders, internal::peer_hash(1), base::duration()};

  fixture() = default;
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;
  ~fixture() {
    of.clear();
    CHECK(alive() == 0);
    senders->drop_strong();
  }
  /// Returns the number of proxies that were not freed: each has the link.
  [[nodiscard]] long alive() const { return door.use_count() - before; }
  /// Returns a handle to the proxy of this actor.
  [[nodiscard]] any_ref handle_of(const actor_id& id) {
    return core::handle_access::adopt<core::any_protocol>(&of.of(id));
  }
};

remote_cell& cell_of(const any_ref& who) {
  return static_cast<remote_cell&>(*core::handle_access::get(who));
}

constexpr actor_id first{1, 9};
constexpr actor_id second{2, 9};

TEST_CASE("proxies: an actor of the peer has one proxy, which each of its handles holds") {
  fixture f;
  CHECK(f.of.find(first) == nullptr);
  any_ref one = f.handle_of(first);
  any_ref again = f.handle_of(first);
  const any_ref other = f.handle_of(second);
  CHECK(one == again);
  CHECK(one != other);
  CHECK(cell_of(one).id() == first);
  CHECK(cell_of(one).link() == f.self);
  CHECK(f.of.find(first) == &cell_of(one));
  CHECK(f.of.find({9, 1}) == nullptr);
  CHECK(f.of.size() == 2);
  CHECK(f.alive() == 2);
  one = {};
  CHECK(f.handle_of(first) == again);  // so the second handle holds it
  CHECK(f.alive() == 2);
}

TEST_CASE("proxies: the table holds none, and knows each until its release has come") {
  fixture f;
  any_ref one = f.handle_of(first);
  const core::address known = one.address();
  remote_cell& cell = cell_of(one);
  one = {};
  CHECK_FALSE(cell.lock());
  CHECK(f.of.find(first) == &cell);  // P1
  CHECK(f.of.size() == 1);
  f.of.forget(cell);
  CHECK(f.of.find(first) == nullptr);
  CHECK(f.of.size() == 0);
  CHECK(f.alive() == 1);
  f.of.forget(cell);  // a second time it does nothing
  CHECK(f.alive() == 1);
}

TEST_CASE("proxies: a forgotten proxy is freed with its last address") {
  fixture f;
  any_ref one = f.handle_of(first);
  core::address known = one.address();
  remote_cell& cell = cell_of(one);
  one = {};
  SUBCASE("it is forgotten first") {
    f.of.forget(cell);
    CHECK(f.alive() == 1);
    known = {};
  }
  SUBCASE("the address goes first") {
    known = {};
    CHECK(f.alive() == 1);
    cell.add_weak();  // of the caller
    f.of.forget(cell);
    CHECK(f.alive() == 1);
    cell.drop_weak();
  }
  CHECK(f.alive() == 0);
}

TEST_CASE("proxies: a proxy that no handle holds is replaced, and its release is not the next's") {
  fixture f;
  any_ref one = f.handle_of(first);
  core::address known = one.address();
  remote_cell& old = cell_of(one);
  old.received = 3;
  one = {};
  const any_ref next = f.handle_of(first);
  remote_cell& made = cell_of(next);
  REQUIRE(&made != &old);
  CHECK(f.of.size() == 1);
  CHECK(f.of.find(first) == &made);
  CHECK(f.alive() == 2);
  CHECK(made.received == 0);
  CHECK(old.received == 3);  // P2: it can still be released
  CHECK(old.id() == first);
  f.of.forget(old);
  CHECK(f.of.find(first) == &made);  // P2
  known = {};
  CHECK(f.alive() == 1);  // the table keeps the old one no more
  CHECK(f.handle_of(first) == next);
}

TEST_CASE("proxies: many proxies are replaced one after the other, and none is left") {
  fixture f;
  for (int i = 0; i != 100; ++i) {
    const any_ref one = f.handle_of(first);
    CHECK(f.of.find(first) == &cell_of(one));
    CHECK(f.of.size() == 1);
    CHECK(f.alive() == 1);
  }
}

TEST_CASE("proxies: only living actors of this very peer are the peer's") {
  fixture f;
  fixture other;
  const any_ref one = f.handle_of(first);
  const any_ref elsewhere = other.handle_of(first);
  CHECK(f.of.as_peers(cell_of(one)) == &cell_of(one));
  CHECK(other.of.as_peers(cell_of(elsewhere)) == &cell_of(elsewhere));
  CHECK(f.of.as_peers(cell_of(elsewhere)) == nullptr);
  CHECK(f.of.as_peers(*f.senders) == nullptr);  // a cell of this link, and no actor
  const auto local = f.system.spawn<listener>();
  CHECK(f.of.as_peers(*core::handle_access::get(local)) == nullptr);
  cell_of(one).end(net_errc::node_down);
  CHECK(f.of.as_peers(cell_of(one)) == nullptr);
  CHECK(f.of.find(first) == &cell_of(one));
}

TEST_CASE("proxies: a table that is cleared knows none, and handles stay") {
  fixture f;
  std::set<const remote_cell*> held;
  any_ref handles[10];
  for (std::uint64_t i = 0; i != 10; ++i) {
    handles[i] = f.handle_of({i, 9});
    held.insert(&cell_of(handles[i]));
  }
  CHECK(held.size() == 10);
  std::set<const remote_cell*> listed;
  for (const auto& [id, proxy] : f.of) {
    CHECK(proxy->id() == id);
    listed.insert(proxy);
  }
  CHECK(listed == held);
  handles[0] = {};
  CHECK(f.alive() == 10);
  f.of.clear();
  CHECK(f.of.size() == 0);
  CHECK(f.of.begin() == f.of.end());
  CHECK(f.alive() == 9);
  f.of.forget(cell_of(handles[1]));  // the release comes late
  CHECK(f.alive() == 9);
  CHECK(f.handle_of({1, 9}) != handles[1]);
  f.of.clear();
  CHECK(f.alive() == 9);
  for (any_ref& h : handles) h = {};
  CHECK(f.alive() == 0);
}

}  // namespace proxies_test
