// A machine with one process in a simulated network.
//
// Thread safety: its network's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/testkit/endpoint.hpp"

namespace garrick::net::testkit {

namespace internal {
class engine;
class host;
}  // namespace internal

/// A host: a clock of its own, endpoints, and a program that it runs.
///
///     simulated_host& a = net.host("a");
///     a.runs([](simulated_host& h) { return std::make_shared<server>(h); });
class simulated_host {
 public:
  /// Makes a host's program. The result is held until the host crashes, and destroyed then.
  using program = std::function<std::shared_ptr<void>(simulated_host&)>;
  /// Takes a new connection. Destroying the endpoint refuses it.
  using accept = std::function<void(std::unique_ptr<endpoint>)>;

  /// For the framework: a view of the host `h` of the network `net`.
  simulated_host(internal::engine& net, internal::host& h) noexcept : net_(net), host_(h) {}
  simulated_host(const simulated_host&) = delete;
  simulated_host& operator=(const simulated_host&) = delete;

  /// Returns its name.
  [[nodiscard]] const std::string& name() const noexcept;
  /// Returns true if its network has a host of this name, made by an earlier call.
  [[nodiscard]] bool sees(std::string_view other) const noexcept;
  /// Returns the number of its crashes.
  [[nodiscard]] std::uint32_t lives() const noexcept;

  // ---- its program and endpoints ----------------------------------------------------------------

  /// Runs this program from now on: it is made now, and rebuilt by `restart` after each crash. The
  /// program before it is destroyed first. With an empty function the host runs nothing.
  void runs(program what);
  /// Calls `what` after `d` by this host's clock, unless the host crashes before. A pause delays
  /// the call.
  void after(base::duration d, std::function<void()> what);
  /// Returns an end of datagrams between this port, 0 for a free one, and that address. Throws
  /// std::invalid_argument if there is one already.
  [[nodiscard]] std::unique_ptr<endpoint> datagrams(std::uint16_t port, address peer);
  /// Returns a listener for datagrams to this port from addresses without an endpoint here: `taken`
  /// gets an endpoint for each, which then gets the datagram. Throws std::invalid_argument if the
  /// port is taken or the function empty.
  [[nodiscard]] std::unique_ptr<listener> listen_datagrams(std::uint16_t port, accept taken);
  /// Returns an end of a stream to that address. It connects when it drives a stack, and again when
  /// it is asked to reopen.
  [[nodiscard]] std::unique_ptr<endpoint> connect(address peer);
  /// Returns a listener for streams to this port. With `resumes`, a reopening end gets its former
  /// endpoint here, if that still exists, as under an accept policy that knows its peers; that
  /// endpoint gets `disconnected` and `connected`. Otherwise each connection is a new endpoint.
  /// Throws std::invalid_argument if the port is taken or the function empty.
  [[nodiscard]] std::unique_ptr<listener> listen(std::uint16_t port, accept taken,
                                                 bool resumes = true);

  // ---- its clock --------------------------------------------------------------------------------

  /// Returns the host's time.
  [[nodiscard]] base::instant now() const noexcept;
  /// Returns its clock, with timers: for an actor system on this host (`testkit::settings::clock`).
  /// Timers wait while the host is paused, and are dropped when it crashes or the network ends.
  /// Unlike other clocks it is used by one thread at a time.
  [[nodiscard]] base::clock_service& clock() noexcept;
  /// Sets the clock ahead by `d`. Throws std::invalid_argument below zero: steady clocks do not go
  /// back.
  void jump(base::duration d);
  /// Makes the clock this many millionths faster, or slower, than time. Throws
  /// std::invalid_argument unless `ppm` is from -500000 to 1000000.
  void set_rate(std::int64_t ppm);

  // ---- pauses and crashes -----------------------------------------------------------------------

  /// Stops the process: arriving bytes wait, and no timer is called.
  void pause();
  /// Resumes the process: arrived bytes are received first, in order, then deadlines and timers are
  /// called.
  void resume();
  /// Returns true between `pause` and `resume`.
  [[nodiscard]] bool is_paused() const noexcept;
  /// Ends the process, or the whole machine, silently: its endpoints, listeners and timers do
  /// nothing any more, and its program is destroyed. Within a call of the network, this happens
  /// when that call has returned.
  void crash(crash_kind what = crash_kind::process);
  /// Starts the machine and rebuilds its program. Does nothing if it runs.
  void restart();
  /// Returns false from a crash to a restart.
  [[nodiscard]] bool is_up() const noexcept;

  /// For the framework: returns the host's state.
  [[nodiscard]] internal::host& inside() noexcept { return host_; }

 private:
  internal::engine& net_;
  internal::host& host_;
};

}  // namespace garrick::net::testkit
