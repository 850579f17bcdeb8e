// A handle to a listening socket on an I/O thread.
//
// Thread safety: a listener is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "garrick/net/transport/endpoint.hpp"

namespace garrick::net {

/// Counters of a listener.
struct listener_counters {
  std::uint64_t started = 0;    ///< links that were started
  std::uint64_t joined = 0;     ///< connections that were handed to links
  std::uint64_t refused = 0;    ///< newcomers that were refused, by the policy or by a limit;
                                ///< also started ones for which `make` returned null
  std::uint64_t too_late = 0;   ///< the refused ones that were not admitted in time
  std::uint64_t dropped = 0;    ///< the refused ones that waited, and whose place at a full door
                                ///< a newcomer got; see `accept_limits`
  std::size_t connections = 0;  ///< present newcomers and links
  std::size_t pending = 0;      ///< newcomers and links that are not admitted
  /// The limit in place of `accept_limits::connections`, if the process may have too few
  /// descriptors for that; 0: the limit is as set.
  std::size_t lowered_to = 0;
};

namespace detail {

/// A listening socket.
class listening {
 public:
  virtual ~listening() = default;
  [[nodiscard]] virtual const endpoint& local() const noexcept = 0;
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual listener_counters counters() const noexcept = 0;
};

}  // namespace detail

/// Accepts newcomers while it lives.
///
///     auto door = net::listen(io, at, std::make_shared<sessions>(*kind));
///     const net::endpoint there = door.value().local();
class listener {
 public:
  /// For the framework: takes over the listening socket; `listen` calls it.
  explicit listener(std::shared_ptr<detail::listening> at) noexcept : at_(std::move(at)) {}
  /// Takes the other handle's socket. The other may then only be destroyed or assigned to.
  listener(listener&&) noexcept = default;
  /// Closes the own socket first, then takes the other handle's.
  listener& operator=(listener&& other) noexcept {
    if (this != &other) {
      if (at_) at_->close();
      at_ = std::move(other.at_);
    }
    return *this;
  }
  /// Closes the listener, as `close`.
  ~listener() {
    if (at_) at_->close();
  }

  /// Returns the address, with the port that the system has chosen for port 0. Valid as long as the
  /// listener lives.
  [[nodiscard]] const endpoint& local() const noexcept { return at_->local(); }
  /// Accepts no newcomer from now on. Existing links stay, and datagrams of known peers still
  /// arrive.
  void close() noexcept { at_->close(); }
  /// Returns the counters.
  [[nodiscard]] listener_counters counters() const noexcept { return at_->counters(); }

 private:
  std::shared_ptr<detail::listening> at_;
};

}  // namespace garrick::net
