// An end of a stream: what a process holds. The connection that it has may be lost, and a new one
// may take its place.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "garrick/base/values/error.hpp"
#include "garrick/net/testkit/internal/engine.hpp"
#include "garrick/net/testkit/internal/host.hpp"

namespace garrick::net::testkit::internal {

class stream_end;

/// A connection, as its ends see it.
class two_way : public stream {
 public:
  /// More bytes from this side.
  virtual void send(std::uint32_t side, std::span<const std::byte> b) = 0;
  [[nodiscard]] virtual bool takes_more(std::uint32_t side) const = 0;
  /// No more is sent from this side; what waits still goes.
  virtual void finish(std::uint32_t side) = 0;
  [[nodiscard]] virtual std::uint32_t side_of(const stream_end& e) const noexcept = 0;
  /// What has come to this side is received, if that can be.
  virtual void receive_soon(std::uint32_t side) = 0;
};

class stream_end final : public end {
 public:
  /// Asks the peer for a connection: ends with `join` or `refused`, unless that attempt is not
  /// wanted any more.
  using knocking = std::function<void(std::shared_ptr<stream_end>, std::uint64_t attempt)>;
  /// `knock` is empty: an end that has accepted.
  stream_end(host& h, address local, address peer, knocking knock = {})
      : end(h, std::move(local), std::move(peer)), knock_(std::move(knock)) {}
  void started() override;
  void transmit(packet bytes) override;
  [[nodiscard]] bool is_open() const override { return told_ && !is_dead(); }
  [[nodiscard]] bool writable() const override;
  [[nodiscard]] std::size_t largest() const override { return 1u << 30; }
  void reopen() override;
  void close() override;
  void died() override;

  /// The connection is made, from this side's view. One that it had is lost.
  void join(std::shared_ptr<two_way> c);
  /// The connection is lost, and whom it drives is told, if it still has this one.
  void lose(const two_way* c, const base::error& why);
  [[nodiscard]] bool has(const two_way* c) const noexcept { return connection_.get() == c; }
  /// True if whom it drives has heard that it is connected, and may get bytes.
  [[nodiscard]] bool takes_bytes() const noexcept { return told_ && upper() != nullptr; }
  [[nodiscard]] bool wants(std::uint64_t attempt) const noexcept {
    return attempt == attempt_ && connecting_ && !is_dead();
  }
  /// A connection attempt has ended without one.
  void refused(std::uint64_t attempt, const base::error& why);

 private:
  void tell_connected();

  [[nodiscard]] bool connects() const noexcept { return static_cast<bool>(knock_); }

  const knocking knock_;
  bool told_ = false;  ///< that it has `connection_`
  bool connecting_ = false;
  std::uint64_t attempt_ = 0;
  std::shared_ptr<two_way> connection_;
};

}  // namespace garrick::net::testkit::internal
