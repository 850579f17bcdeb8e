// The other process of tests of nodes: a node with a service, a host, and guests to be spawned.
//
//   node_peer ENDPOINT DOWN_AFTER_MS
//
// Says where it listens and which incarnation it is, in a line of standard output. Then it obeys
// lines of standard input until that ends: "visit ENDPOINT SENDER NUMBERS" is answered with the
// result of `visit`, "pauses" with how often this process has noticed that it was stopped, "downs"
// with how many peers were down, and the reason of the last, "count NAME" with the sum of the
// node's counts by that name of its peers.
#include <sys/prctl.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>

#include <support/quiet.hpp>

#include "net/node/peer/conversation.hpp"
#include "net/node/peer/service.hpp"

using namespace garrick;
using namespace garrick::tests;

namespace {

class ears : public net::peer_listener {
 public:
  void changed(const net::peer_identity&, net::peer_change what, const error& why) override {
    if (what != net::peer_change::down) return;
    const std::lock_guard lock(mutex_);
    ++downs_;
    last_ = why.to_string();
  }
  void noticed(const net::peer_identity&, const net::peer_evidence& e) override {
    if (e.what == net::peer_evidence::kind::observer_paused) ++pauses;
  }
  [[nodiscard]] std::string downs() const {
    const std::lock_guard lock(mutex_);
    return std::to_string(downs_) + ' ' + last_;
  }
  std::atomic<int> pauses{0};

 private:
  mutable std::mutex mutex_;
  int downs_ = 0;     // under mutex_
  std::string last_;  // under mutex_: the reason
};

std::uint64_t count(const net::node& node, const std::string& name) {
  std::uint64_t sum = 0;
  for (const net::peer_identity& p : node.peers())
    for (const net::link_count& c : node.counters(p))
      if (c.layer == "node" && c.name == name) sum += c.value;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also while it is stopped
  actor_system system(quiet());
  net::node_settings s = node_with(std::atoi(argv[2]));
  s.id = {7, 7};  // of all its lives
  net::node node(system, s);
  const auto heard = std::make_shared<ears>();
  node.subscribe(heard);
  const auto at = node.listen(argv[1]);
  if (!at || !node.publish(service_name, system.spawn<service>()) ||
      !node.publish(host_name, system.spawn<host>(lent(node))) ||
      !node.allow<guest, std::string, std::int64_t>(guest_name))
    return 1;
  std::cout << at->to_string() << ' ' << node.self().incarnation << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string order, where;
    std::uint64_t sender = 0, numbers = 0;
    if (line == "pauses" || line == "downs") {
      std::cout << (line == "pauses" ? std::to_string(heard->pauses) : heard->downs()) << std::endl;
      continue;
    }
    if (line.starts_with("count ")) {
      std::cout << count(node, line.substr(6)) << std::endl;
      continue;
    }
    if (!(words >> order >> where >> sender >> numbers)) return 1;
    std::cout << visit(system, node, where, sender, numbers) << std::endl;
  }
  return 0;
}
