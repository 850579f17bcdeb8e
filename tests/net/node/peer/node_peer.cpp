// The other process of processes_of_nodes.test.cpp: a node with a service.
//
//   node_peer ENDPOINT DOWN_AFTER_MS
//
// Says where it listens and which incarnation it is, in a line of standard output. Then it obeys
// lines of standard input until that ends: "visit ENDPOINT SENDER NUMBERS" is answered with what
// `visit` says, "pauses" with how often this process has noticed that it was stopped.
#include <sys/prctl.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include <support/quiet.hpp>

#include "net/node/peer/service.hpp"

using namespace garrick;
using namespace garrick::tests;

namespace {

class pause_counter : public net::peer_listener {
 public:
  void changed(const net::peer_identity&, net::peer_change, const error&) override {}
  void noticed(const net::peer_identity&, const net::peer_evidence& e) override {
    if (e.what == net::peer_evidence::kind::observer_paused) ++pauses;
  }
  std::atomic<int> pauses{0};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also while it is stopped
  actor_system system(quiet());
  net::node_settings s = node_with(std::atoi(argv[2]));
  s.id = {7, 7};  // of all its lives
  net::node node(system, s);
  const auto counter = std::make_shared<pause_counter>();
  node.subscribe(counter);
  const auto at = node.listen(argv[1]);
  if (!at || !node.publish(service_name, system.spawn<service>())) return 1;
  std::cout << at->to_string() << ' ' << node.self().incarnation << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string order, where;
    std::uint64_t sender = 0, numbers = 0;
    if (line == "pauses") {
      std::cout << counter->pauses << std::endl;
      continue;
    }
    if (!(words >> order >> where >> sender >> numbers)) return 1;
    std::cout << visit(system, node, where, sender, numbers) << std::endl;
  }
  return 0;
}
