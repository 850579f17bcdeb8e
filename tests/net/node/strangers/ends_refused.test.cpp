// Peers without the right to end actors here (`let_peers_end` is false): by an order, by a link
// that a peer's actor has set, and by the loss of the peer. Links that actors here set work on.
#include <doctest/doctest.h>
#include <garrick/core/seam/running.hpp>
#include <garrick/garrick.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace ends_refused_test {

using namespace garrick;
using tests::listening_machine;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct tie;
struct untie {};
struct leave {};
struct alive {};
using member_type = protocol<void(tie), void(untie), void(leave), bool(alive)>;
struct tie {
  ref<member_type> to;
};

/// Links with another actor, and ends if it is told to. With a log it traps exits.
class member
    : public actor<protocol<void(tie), void(untie), void(leave), bool(alive), void(exit_signal)>> {
 public:
  explicit member(std::vector<std::string>* log = nullptr) : log_(log) {
    trap_exit(log != nullptr);
  }
  void on(const tie& t) {
    to_ = t.to;
    link(to_);
  }
  void on(untie) { unlink(to_); }
  void on(leave) { quit(make_error(errc::user, "member", "enough")); }
  bool on(alive) { return true; }
  void on(const exit_signal& x) { log_->push_back(x.reason.to_string()); }

 private:
  std::vector<std::string>* log_;
  ref<member_type> to_;
};

/// Peer "a" may end no actor of "b".
struct machines : three_machines {
  machines() : three_machines({}, {.let_peers_end = false}) {}
  ref<member_type> mine{b.system.spawn<member>()};
  ref<member_type> at_a = b.shown_to(a, "mine", mine);
  ref<member_type> theirs{a.system.spawn<member>()};
  ref<member_type> at_b = a.shown_to(b, "theirs", theirs);

  void settle() { a.system.run_for(ms(50)); }
  /// The actor of "a" links with the actor of "b".
  void link_by_peer() {
    send(theirs, tie{at_a});
    settle();
    REQUIRE(tests::counted(b, a, "links") == 1);
  }
  [[nodiscard]] std::size_t watchers() const {
    const auto* const x = core::handle_access::get(mine)->ext_if();
    return x == nullptr || x->watching == nullptr ? 0 : x->watching->watchers.size();
  }
};

TEST_CASE("ends refused: an order of a peer is ignored and counted") {
  machines m;
  m.a.system.exit(m.at_a);
  m.a.system.kill(m.at_a);
  m.settle();
  m.b.system.expect_alive(m.mine);
  CHECK(tests::counted(m.b, m.a, "ends_refused") == 2);
  CHECK(m.a.system.request(m.at_a, alive{}).get().has_value());
  m.b.system.kill(m.at_b);  // the other direction is allowed
  m.settle();
  m.a.system.expect_down(m.theirs, exit_code::kill);
}

TEST_CASE("ends refused: the end of a peer's actor ends the link that it has set, and no more") {
  for (const bool killed : {false, true}) {
    CAPTURE(killed);
    machines m;
    m.link_by_peer();
    const std::size_t watched = m.watchers();
    if (killed)
      m.a.system.kill(m.theirs);
    else
      send(m.theirs, leave{});
    m.settle();
    m.b.system.expect_alive(m.mine);
    CHECK(tests::counted(m.b, m.a, "links") == 0);
    CHECK(tests::counted(m.b, m.a, "ends_refused") == 1);
    CHECK(m.watchers() == watched - 1);
    CHECK(m.a.system.request(m.at_a, alive{}).get().has_value());
  }
}

TEST_CASE("ends refused: a peer that leaves or is lost ends no actor by its links") {
  for (const bool crashes : {false, true}) {
    CAPTURE(crashes);
    machines m;
    const std::size_t watched = m.watchers();
    {
      listening_machine d(m.world, m.net, "d", 9);
      m.net.both("d", "b", {.delay = ms(3)});
      const ref<member_type> theirs(d.system.spawn<member>());
      const auto at_d = d.node.remote<member_type>(m.b.at, "mine");
      REQUIRE(at_d.has_value());
      send(theirs, tie{*at_d});
      m.settle();
      REQUIRE(tests::counted(m.b, d, "links") == 1);
      CHECK(m.watchers() == watched + 1);
      if (crashes) m.net.host("d").crash();
    }
    m.b.system.run_for(duration::seconds(40));
    m.b.system.expect_alive(m.mine);
    CHECK(m.watchers() == watched);
  }
}

TEST_CASE("ends refused: a link of a peer's actor tells it the end of the actor here") {
  three_machines m({}, {.let_peers_end = false});
  std::vector<std::string> log;
  const ref<member_type> mine(m.b.system.spawn<member>());
  const ref<member_type> theirs(m.a.system.spawn<member>(lent(&log)));
  send(theirs, tie{m.b.shown_to(m.a, "mine", mine)});
  m.a.system.run_for(ms(50));
  send(mine, leave{});
  m.a.system.run_for(ms(50));
  REQUIRE(log.size() == 1);
  CHECK(log[0].find("enough") != std::string::npos);
}

TEST_CASE("ends refused: an actor here that has linked itself ends with the peer's actor") {
  for (const char* first : {"here", "there", "here alone"})
    for (const bool crashes : {false, true}) {
      CAPTURE(first);
      CAPTURE(crashes);
      machines m;
      const std::string_view by = first;
      if (by == "there") m.link_by_peer();
      send(m.mine, tie{m.at_b});
      m.settle();
      if (by == "here") m.link_by_peer();
      if (crashes)
        m.net.host("a").crash();
      else
        send(m.theirs, leave{});
      m.b.system.run_for(duration::seconds(40));
      m.b.system.expect_down(m.mine);
      CHECK(tests::counted(m.b, m.a, "ends_refused") == (crashes ? ~std::uint64_t{0} : 0));
    }
}

TEST_CASE("ends refused: a link that is set by both and taken back here is no link any more") {
  machines m;
  m.link_by_peer();
  send(m.mine, tie{m.at_b});
  m.settle();
  send(m.mine, untie{});
  m.settle();
  CHECK(tests::counted(m.a, m.b, "links") == 0);
  send(m.theirs, leave{});
  m.settle();
  m.b.system.expect_alive(m.mine);
}

}  // namespace ends_refused_test
