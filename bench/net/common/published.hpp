// The common part of both programs of a benchmark over nodes, apart from measuring.
#pragma once

#include <garrick/net/node/node.hpp>

#include <string>

#include "net/common/served.hpp"

namespace bench {

// For `served`: a node that publishes a `Actor` under `name`, on this machine alone.
template <class Actor>
auto published(const garrick::settings& settings, const char* name) {
  return [&settings, name](auto tell) {
    static garrick::actor_system system(settings);
    static garrick::net::node node(system);
    if (!node.publish(name, system.spawn<Actor>())) return;
    if (const auto at = node.listen("tcp://127.0.0.1:0")) tell(at->port());
  };
}

template <class Protocol>
auto published_by(garrick::net::node& node, const served& server, const char* name) {
  return node.remote<Protocol>("tcp://127.0.0.1:" + std::to_string(server.port()), name);
}

}  // namespace bench
