// An actor that connects to other nodes.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace garrick::tests {

/// Asks which node is at an endpoint, as actors do.
class caller : public actor<protocol<std::uint64_t(std::string)>> {
 public:
  explicit caller(net::node& n) : node_(n) {}
  task<std::uint64_t> on(std::string at) {
    auto asked = node_.connect(*this, at);
    const result<net::peer_identity> who = co_await std::move(asked);
    if (!who) co_return who.error();
    co_return who->incarnation;
  }

 private:
  net::node& node_;
};

}  // namespace garrick::tests
