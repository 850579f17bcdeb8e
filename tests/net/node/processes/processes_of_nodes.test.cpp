// Nodes in processes of their own, which are killed, started again, and connected to from
// both sides at once. The other process is a node_peer.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <support/in_child.hpp>

#include "net/node/processes/killed_and_stopped.hpp"

namespace processes_of_nodes {

using namespace killed_and_stopped;

/// Asks once, and monitors.
class one_of_many : public actor<protocol<void(down)>> {
 public:
  one_of_many(ref<echo_type> whom, seen& s) : whom_(std::move(whom)), seen_(s) {}
  void on_start() {
    monitor(whom_);
    request(whom_, question{seen_.asked++})
        .then([this](std::uint64_t n) { seen_.wrong += n == 0, ++seen_.values; },
              [this](const error&) { ++seen_.errors; });
  }
  void on(const down& d) {
    seen_.other_reasons += d.reason.to_string().find("node is down") == std::string::npos;
    ++seen_.downs;
  }

 private:
  ref<echo_type> whom_;
  seen& seen_;
};

TEST_CASE("processes of nodes: a process killed in mid-stream is heard of once, by each watcher") {
  kill_in_mid_stream("tcp://127.0.0.1:0", times(4));
}

TEST_CASE("processes of nodes: a process stopped for too long is down once, and connected anew") {
  stop_for_too_long("tcp://127.0.0.1:0", times(2));
}

TEST_CASE(
    "processes of nodes: one that was stopped for too long learns that, and may remain outside") {
  quarantine_who_was_stopped("tcp://127.0.0.1:0");
}

TEST_CASE("processes of nodes: each message that a dead process has not read is told, once") {
  kill_with_unread_messages("tcp://127.0.0.1:0", times(3));
}

TEST_CASE(
    "processes of nodes: a process that is started again is found, and old handles stay dead") {
  scratch_folder folder;
  start_again("unix://" + folder.file("socket"), times(3));
  start_again("tcp://127.0.0.1:0", times(3));
}

TEST_CASE("processes of nodes: both connect at once, one link is used, and nothing is lost") {
  other_process other("tcp://127.0.0.1:0", never);
  actor_system system(quiet());
  for (std::uint64_t round = 0; round < times(100); ++round) {
    CAPTURE(round);
    node here(system, node_with(never));
    const auto door = here.listen("tcp://127.0.0.1:0");
    REQUIRE(door.has_value());
    REQUIRE(here.publish(service_name, system.spawn<service>()).has_value());
    other.order("visit " + door->to_string() + " 1 30");
    const std::string to_there = visit(system, here, other.at, 1, 30);
    CHECK_MESSAGE(to_there == "ok", to_there);
    const std::string to_here = other.answer();
    CHECK_MESSAGE(to_here == "ok", to_here);
    CHECK(here.peers().size() == 1);
  }
}

TEST_CASE("processes of nodes: thousands of nodes come and go, and leave nothing behind") {
  other_process other("tcp://127.0.0.1:0", never);
  this_end here(never);
  const auto there = here.find(other.at);
  const std::uint64_t rounds = HAS_SANITIZER ? 200 : times(2000);
  usage first_here, first_there;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    CAPTURE(round);
    if (round == rounds / 2) {
      first_here = usage_of_this_process();
      first_there = here.system.request(there, look{}).get().value();
    }
    actor_system& system = here.system;
    node another(system, node_with(never));
    const std::string result = visit(system, another, other.at, round, 3);
    REQUIRE_MESSAGE(result == "ok", result);
  }
  usage last_there;
  tests::wait_until([&] {  // the other process may still be closing the last connections
    last_there = here.system.request(there, look{}).get().value();
    return last_there.descriptors <= first_there.descriptors + 1;
  });
  const usage last_here = usage_of_this_process();
  CHECK(last_here.descriptors <= first_here.descriptors);
  if (HAS_SANITIZER) return;  // a sanitizer takes memory of its own
  CHECK(last_here.resident < first_here.resident + (4u << 20));
  CHECK(last_there.resident < first_there.resident + (4u << 20));
}

TEST_CASE("processes of nodes: thousands of actors over one connection, each heard of") {
  const std::uint32_t count = 5000;
  seen s;
  other_process other("tcp://127.0.0.1:0", soon);
  this_end here(2 * soon);
  const auto there = here.find(other.at);
  const auto echoes = here.system.request(there, make_echoes{count}).get();
  REQUIRE(echoes.has_value());
  REQUIRE(echoes->size() == count);
  std::vector<any_ref> watchers;
  for (const ref<echo_type>& one : *echoes)
    watchers.emplace_back(here.system.spawn<one_of_many>(one, lent(s)));
  tests::wait_until([&] { return s.values == count; });
  CHECK(s.wrong == 0);
  CHECK(here.self->peers().size() == 1);
  other.kill();
  tests::wait_until([&] { return s.downs == count; });
  here.self.reset();
  CHECK(s.downs == count);
  CHECK(s.errors == 0);
  CHECK(s.other_reasons == 0);
}

}  // namespace processes_of_nodes
