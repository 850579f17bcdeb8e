// Nodes in processes of their own, which talk by datagrams: nothing but silence and the network's
// hints tells that the other process is gone. The other process is a node_peer.
#include <doctest/doctest.h>

#include "net/node/processes/killed_and_stopped.hpp"

namespace processes_over_datagrams_test {

using namespace killed_and_stopped;

TEST_CASE(
    "processes over datagrams: a process killed in mid-stream is heard of once, by each watcher") {
  kill_in_mid_stream("udp://127.0.0.1:0", times(2));
}

TEST_CASE(
    "processes over datagrams: a process stopped for too long is down once, and connected anew") {
  stop_for_too_long("udp://127.0.0.1:0", times(1));
}

TEST_CASE(
    "processes over datagrams: one that was stopped for too long learns it, may remain outside") {
  quarantine_who_was_stopped("udp://127.0.0.1:0");
}

TEST_CASE("processes over datagrams: each message that a dead process has not read is told once") {
  kill_with_unread_messages("udp://127.0.0.1:0", times(1));
}

TEST_CASE(
    "processes over datagrams: a process that is started again is found, and old handles stay "
    "dead") {
  start_again("udp://127.0.0.1:0", times(2));
}

}  // namespace processes_over_datagrams_test
