// The source of a node's links: real sockets, or a simulated network.
//
// An extension point: a node that is given another source runs over it unchanged.
//
// Thread safety: any thread, unless a source says otherwise.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/net/transport/sockets.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace garrick::net {

/// Opens links and lets other nodes in.
///
///     testkit::test_world world(17);
///     net::testkit::simulated_network network(world);
///     net::testkit::simulated_host& host = network.host("a");
///     testkit::test_system system(world, {.clock = &host.clock()});
///     net::node node(system.env(),
///                    {.insecure = true,
///                     .source = std::make_shared<net::testkit::simulated_source>(host)});
class link_source {
 public:
  virtual ~link_source() = default;

  /// Opens a link and returns it, as `net::connect` does. May throw a std::exception: the callers
  /// that wait for the link get its text.
  [[nodiscard]] virtual base::result<connection> connect(const endpoint& to,
                                                         std::unique_ptr<hosted_maker> make) = 0;
  /// Listens and returns the listener, as `net::listen` does.
  [[nodiscard]] virtual base::result<listener> listen(const endpoint& at,
                                                      std::shared_ptr<accept_policy> policy) = 0;
  /// Gives the source the workers of the node's actors, which may wait for its events while they
  /// are idle. Called once at most, by the node's constructor, if
  /// `node_settings::idle_workers_read`. May throw.
  virtual void share_with(base::executor&) {}
  /// Returns the seed of all the node's numbers, for a source in which equal seeds give equal
  /// histories. With 0 the node draws the numbers from the system's randomness, so that they cannot
  /// be guessed.
  [[nodiscard]] virtual std::uint64_t seed() const noexcept { return 0; }
  /// Returns the time of the source's links.
  [[nodiscard]] virtual base::instant now() const noexcept = 0;
  /// Waits until these links are over, but no longer than `limit`. The links keep working
  /// meanwhile. A source with simulated time returns at once.
  virtual void wait_for_end(const std::vector<connection>& links, base::duration limit) = 0;
  /// Ends all links. After its return no thread is in a link, and none enters any more.
  virtual void stop() noexcept = 0;

 protected:
  link_source() = default;
};

/// Links over sockets, on threads of its own.
class socket_source final : public link_source {
 public:
  /// Starts the threads. The listeners share one limit of connections
  /// (`accept_limits::together`). Throws the exceptions of the constructor of `io_threads`.
  explicit socket_source(io_settings io = {}, transport_settings transport = {},
                         accept_limits accept = {});

  base::result<connection> connect(const endpoint& to, std::unique_ptr<hosted_maker> make) override;
  base::result<listener> listen(const endpoint& at, std::shared_ptr<accept_policy> policy) override;
  void share_with(base::executor& workers) override;
  base::instant now() const noexcept override;
  void wait_for_end(const std::vector<connection>& links, base::duration limit) override;
  void stop() noexcept override;

 private:
  io_threads io_;
  const transport_settings transport_;
  accept_limits accept_;
};

}  // namespace garrick::net
