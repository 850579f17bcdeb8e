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
  /// Makes what a host runs; what it returns is held until the host crashes, and destroyed then.
  using program = std::function<std::shared_ptr<void>(simulated_host&)>;
  /// Takes a new connection. Who does not want it destroys it.
  using accept = std::function<void(std::unique_ptr<endpoint>)>;

  /// For the framework.
  simulated_host(internal::engine& net, internal::host& h) noexcept : net_(net), host_(h) {}
  simulated_host(const simulated_host&) = delete;
  simulated_host& operator=(const simulated_host&) = delete;

  /// As it was named.
  [[nodiscard]] const std::string& name() const noexcept;
  /// True if its network has a host of this name, which somebody has named before.
  [[nodiscard]] bool sees(std::string_view other) const noexcept;
  /// How often it has crashed.
  [[nodiscard]] std::uint32_t lives() const noexcept;

  // ---- what runs on it --------------------------------------------------------------------------

  /// Runs this program from now on: it is made now, and made anew after each crash, by `restart`.
  /// The one before is destroyed first. An empty function: it runs nothing.
  void runs(program what);
  /// Calls `what` after `d` by this host's clock, unless the host crashes before. While it is
  /// paused, that waits.
  void after(base::duration d, std::function<void()> what);
  /// An end of datagrams between this port, 0 for a free one, and that address. Throws
  /// std::invalid_argument if there is one already.
  [[nodiscard]] std::unique_ptr<endpoint> datagrams(std::uint16_t port, address peer);
  /// Datagrams to this port from an address that no endpoint here has: `taken` gets an endpoint for
  /// it, and then that the datagram. Throws std::invalid_argument if the port is taken or
  /// the function empty.
  [[nodiscard]] std::unique_ptr<listener> listen_datagrams(std::uint16_t port, accept taken);
  /// An end of a stream to that address. It connects when it drives somebody, and again when it is
  /// asked to reopen.
  [[nodiscard]] std::unique_ptr<endpoint> connect(address peer);
  /// Streams to this port. `resumes`: an end that reopens meets the endpoint here that it had
  /// before, if that is still there, as under an accept policy that knows its peers; it sees
  /// `disconnected` and `connected`. Otherwise each connection is a new endpoint. Throws
  /// std::invalid_argument if the port is taken or the function empty.
  [[nodiscard]] std::unique_ptr<listener> listen(std::uint16_t port, accept taken,
                                                 bool resumes = true);

  // ---- its clock --------------------------------------------------------------------------------

  /// What time it is here.
  [[nodiscard]] base::instant now() const noexcept;
  /// Its clock, with timers: for an actor system on this host (`testkit::settings::clock`). Timers
  /// wait while the host is paused, and are dropped when it crashes or the network ends. Unlike
  /// others it is one thread's at a time.
  [[nodiscard]] base::clock_service& clock() noexcept;
  /// The clock goes ahead by `d`. Throws std::invalid_argument below zero: steady clocks do not go
  /// back.
  void jump(base::duration d);
  /// The clock is so many millionths faster, or slower, than time. Throws std::invalid_argument
  /// unless it is from -500000 to 1000000.
  void set_rate(std::int64_t ppm);

  // ---- pauses and crashes -----------------------------------------------------------------------

  /// The process is stopped: what comes waits, and no timer is called.
  void pause();
  /// It goes on: first what has come, in order, then what time brings.
  void resume();
  /// True between the two.
  [[nodiscard]] bool is_paused() const noexcept;
  /// The process, or the whole machine, ends without a word: its endpoints, listeners and timers do
  /// nothing any more, and its program is destroyed. Within a call of the network it happens when
  /// that has returned.
  void crash(crash_kind what = crash_kind::process);
  /// The machine is on, and its program is made anew. Nothing happens if it runs.
  void restart();
  /// False from a crash to a restart.
  [[nodiscard]] bool is_up() const noexcept;

  /// For the framework.
  [[nodiscard]] internal::host& inside() noexcept { return host_; }

 private:
  internal::engine& net_;
  internal::host& host_;
};

}  // namespace garrick::net::testkit
