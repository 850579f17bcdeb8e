// Thousands of links and monitors between the actors of two nodes: each is told of once, wherever
// it was set, and none is searched for among all others.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace many_watches_test {

using namespace garrick;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct leave {};
using target_type = protocol<void(leave)>;
class target : public actor<target_type> {
 public:
  void on(leave) { quit(make_error(errc::user, "target", "enough")); }
};

struct make_targets {
  std::uint32_t count = 0;
};
using maker_type = protocol<std::vector<ref<target_type>>(make_targets)>;
class maker : public actor<maker_type> {
 public:
  std::vector<ref<target_type>> on(make_targets m) {
    std::vector<ref<target_type>> all;
    for (std::uint32_t i = 0; i < m.count; ++i) all.push_back(spawn<target>());
    return all;
  }
};

struct heard {
  std::uint64_t downs = 0;
  std::uint64_t exits = 0;
  std::uint64_t others = 0;    // ends with an unexpected reason
  std::uint64_t too_many = 0;  // of those, the ones for too many watches
};

struct watch_all {
  bool by_link = false;
};
struct unwatch_every_second {};
/// Watches all actors, and takes half of the watches back.
class observer
    : public actor<
          protocol<void(watch_all), void(unwatch_every_second), void(down), void(exit_signal)>> {
 public:
  observer(std::vector<ref<target_type>> whom, heard& h) : whom_(std::move(whom)), heard_(h) {
    trap_exit(true);
  }
  void on(watch_all w) {
    for (const auto& one : whom_) {
      if (w.by_link)
        link(one);
      else
        ids_.push_back(monitor(one));
    }
  }
  void on(unwatch_every_second) {
    for (std::size_t i = 0; i < whom_.size(); i += 2) {
      unlink(whom_[i]);
      if (i < ids_.size()) demonitor(ids_[i]);
    }
  }
  void on(const down& d) {
    ++heard_.downs;
    note(d.reason);
  }
  void on(const exit_signal& x) {
    ++heard_.exits;
    note(x.reason);
  }

 private:
  void note(const exit_reason& why) {
    heard_.others += why.to_string().find("enough") == std::string::npos;
    heard_.too_many +=
        why.to_string().find("a limit was reached: a node: too many links and monitors") !=
        std::string::npos;
  }
  std::vector<ref<target_type>> whom_;
  heard& heard_;
  std::vector<monitor_id> ids_;
};

std::uint32_t many() {
  const char* const set = std::getenv("GARRICK_WATCHES");
  return set == nullptr ? 3000 : static_cast<std::uint32_t>(std::atoi(set));
}

TEST_CASE(
    "many watches: thousands of monitors and links, each told once, half of them taken back") {
  const std::uint32_t count = many();
  three_machines m;
  heard h;
  const auto far = m.b.shown_to(m.a, "maker", m.b.system.spawn<maker>());
  const auto all = m.a.system.request(far, make_targets{count}).get().value();
  const auto w = m.a.system.spawn<observer>(all, lent(h));
  send(w, watch_all{false});
  send(w, watch_all{true});
  m.a.system.run_for(ms(500));
  send(w, unwatch_every_second{});
  m.a.system.run_for(ms(500));
  CHECK(h.downs + h.exits == 0);
  for (const auto& one : all) send(one, leave{});
  m.a.system.run_for(ms(500));
  CHECK(h.downs == count / 2);
  CHECK(h.exits == count / 2);
  CHECK(h.others == 0);
}

TEST_CASE("many watches: a watcher of more than either node allows hears that, and of no end") {
  net::node_settings strict;
  strict.most_watches = 6;
  for (const int i : {0, 1, 2, 3}) {
    const bool by_link = i % 2 == 1;
    const bool limits_others = i / 2 == 1;  // the node of the watched actors has the limit
    CAPTURE(by_link);
    CAPTURE(limits_others);
    three_machines m(limits_others ? net::node_settings() : strict,
                     limits_others ? strict : net::node_settings());
    heard h;
    const auto far = m.b.shown_to(m.a, "maker", m.b.system.spawn<maker>());
    const auto all = m.a.system.request(far, make_targets{10}).get().value();
    const auto w = m.a.system.spawn<observer>(all, lent(h));
    send(w, watch_all{by_link});
    m.a.system.run_for(ms(500));
    CHECK((by_link ? h.exits : h.downs) == 4);
    CHECK(h.too_many == 4);
    for (const auto& one : all) send(one, leave{});
    m.a.system.run_for(ms(500));
    CHECK((by_link ? h.exits : h.downs) == 10);
    CHECK(h.others == 4);
  }
}

}  // namespace many_watches_test
