// A handle to what listens on an I/O thread.
//
// Thread safety: a listener is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "garrick/net/transport/endpoint.hpp"

namespace garrick::net {

/// What a listener has counted.
struct listener_counters {
  std::uint64_t started = 0;    ///< links that were started
  std::uint64_t joined = 0;     ///< connections that were handed to links
  std::uint64_t refused = 0;    ///< newcomers that were refused, by the policy or by a limit;
                                ///< also started ones for which `make` has made nothing
  std::uint64_t too_late = 0;   ///< of them those that were not admitted in time
  std::size_t connections = 0;  ///< newcomers and links that there are
  std::size_t pending = 0;      ///< of them those that are not admitted
};

namespace detail {

/// What listens.
class listening {
 public:
  virtual ~listening() = default;
  [[nodiscard]] virtual const endpoint& local() const noexcept = 0;
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual listener_counters counters() const noexcept = 0;
};

}  // namespace detail

/// Lets others in while it lives.
class listener {
 public:
  /// For the framework: see `listen`.
  explicit listener(std::shared_ptr<detail::listening> at) noexcept : at_(std::move(at)) {}
  /// The other one is nothing any more, and may only be destroyed or assigned to.
  listener(listener&&) noexcept = default;
  /// Closes the own one first.
  listener& operator=(listener&& other) noexcept {
    if (this != &other) {
      if (at_) at_->close();
      at_ = std::move(other.at_);
    }
    return *this;
  }
  /// As `close`.
  ~listener() {
    if (at_) at_->close();
  }

  /// Where it listens: with the port that the system has chosen, if it was to. Valid as long as it
  /// lives.
  [[nodiscard]] const endpoint& local() const noexcept { return at_->local(); }
  /// Lets nobody in any more, from now on. Who is in stays, and datagrams of known peers still
  /// come.
  void close() noexcept { at_->close(); }
  /// What was counted so far.
  [[nodiscard]] listener_counters counters() const noexcept { return at_->counters(); }

 private:
  std::shared_ptr<detail::listening> at_;
};

}  // namespace garrick::net
