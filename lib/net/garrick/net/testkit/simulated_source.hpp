// Links of a simulated host for users of `hosted` objects: a node above all.
//
//   test_world world(17);
//   simulated_network net(world);
//   test_system bank(world, {.clock = &net.host("bank").clock()});
//   node n(bank.env(), {.insecure = true,  // its name is none of this machine
//                       .source = std::make_shared<simulated_source>(net.host("bank"))});
//   const endpoint at = n.listen("tcp://bank:7").value();
//
// In an endpoint, the host is a simulated host's name. Nodes draw their numbers from the network's
// seed, so the same seed gives the same history. The objects of a source end with it, as they end
// with the process when the host crashes. A visit is made at once, or after the call in which it
// was requested.
//
// Thread safety: its network's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "garrick/net/node/link_source.hpp"
#include "garrick/net/testkit/simulated_host.hpp"

namespace garrick::net::testkit {

/// A link source of a simulated host; see above.
class simulated_source final : public link_source {
 public:
  /// Makes the source of this host, which must outlive it.
  explicit simulated_source(simulated_host& host);
  ~simulated_source() override;

  /// Opens a link and returns it, as `net::connect` does. Errors: `errc::invalid_setting` if the
  /// network has no host of this name (`simulated_network::host` makes hosts), or for a path;
  /// `net_errc::bad_endpoint` for port 0.
  base::result<connection> connect(const net::endpoint& to,
                                   std::unique_ptr<hosted_maker> make) override;
  /// Listens and returns the listener, as `net::listen` does. The endpoint's host is this host's
  /// name, or an address. With port 0, the listener has a free port. Errors:
  /// `errc::invalid_setting` for another host's name or a path; `net_errc::address_in_use`.
  base::result<net::listener> listen(const net::endpoint& at,
                                     std::shared_ptr<accept_policy> policy) override;
  /// Returns a seed from the network's, another one for each host and for each source that a host
  /// has had.
  std::uint64_t seed() const noexcept override;
  /// Returns the host's time.
  base::instant now() const noexcept override;
  /// Returns at once: no caller can wait in a simulation.
  void wait_for_end(const std::vector<connection>& links, base::duration limit) override;
  void stop() noexcept override;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace garrick::net::testkit
