// More signals at once than a link's layers take within one call: each of them gets there.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include "net/node/simulated_machines.hpp"

namespace many_signals_test {

using namespace garrick;
using tests::three_machines;

constexpr int monitors = 2200;
constexpr int exits = 900;

struct note {};
using target_type = protocol<void(note)>;
class target : public actor<protocol<void(note), void(exit_signal)>> {
 public:
  explicit target(int& heard) : heard_(heard) { trap_exit(true); }
  void on(note) {}
  void on(const exit_signal&) { ++heard_; }

 private:
  int& heard_;
};

struct begin {
  ref<target_type> whom;
};
class watcher : public actor<protocol<void(begin), void(down)>> {
 public:
  explicit watcher(int& downs) : downs_(downs) {}
  void on(const begin& b) {
    for (int i = 0; i < monitors; ++i) monitor(b.whom);
  }
  void on(const down&) { ++downs_; }

 private:
  int& downs_;
};

TEST_CASE("many signals: large ones that follow many small ones when these are confirmed at once") {
  int heard = 0;
  int downs = 0;
  net::node_settings seldom;
  seldom.link.mailbox.ack_every = 100'000;  // so all signals of 5 ms are confirmed together
  three_machines m({}, seldom);
  const auto there = m.b.system.spawn<target>(lent(heard));
  const auto to = m.b.shown_to(m.a, "target", ref<target_type>(there));
  const auto w = m.a.system.spawn<watcher>(lent(downs));
  send(w, begin{to});
  m.a.system.run_for(duration());
  const exit_reason long_one(make_error(errc::user, "many_signals", std::string(3000, 'x')));
  for (int i = 0; i < exits; ++i) m.a.system.exit(to, long_one);
  m.a.system.run_for(duration::seconds(5));
  CHECK(heard == exits);
  m.b.system.kill(there);
  m.a.system.run_for(duration::seconds(5));
  CHECK(downs == monitors);
}

}  // namespace many_signals_test
