// An end of a stream, which a process holds. Its connection may be lost, and a new one may take its
// place.
//
// A connection may be lost while the stack is in a call or its process is stopped. The stack is
// then told of the loss later.
//
// Invariant:
//   E1  A stack that is connected gets `disconnected` before `connected` of the next connection.
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
  /// Sends more bytes from this side.
  virtual void send(std::uint32_t side, std::span<const std::byte> b) = 0;
  [[nodiscard]] virtual bool takes_more(std::uint32_t side) const = 0;
  /// Ends the sending of this side; waiting bytes still go.
  virtual void finish(std::uint32_t side) = 0;
  [[nodiscard]] virtual std::uint32_t side_of(const stream_end& e) const noexcept = 0;
  /// Receives the bytes that have arrived at this side, if that is possible.
  virtual void receive_soon(std::uint32_t side) = 0;
};

class stream_end final : public end {
 public:
  /// Asks the peer for a connection: ends with `join` or `refused`, unless a newer attempt has
  /// replaced this one.
  using knocking = std::function<void(std::shared_ptr<stream_end>, std::uint64_t attempt)>;
  /// `knock` is empty for an end that has accepted.
  stream_end(host& h, address local, address peer, knocking knock = {})
      : end(h, std::move(local), std::move(peer)), knock_(std::move(knock)) {}
  void started() override;
  void transmit(packet bytes) override;
  [[nodiscard]] bool is_open() const override { return told_ && !is_dead(); }
  [[nodiscard]] bool writable() const override;
  [[nodiscard]] std::size_t largest() const override { return 1u << 30; }
  void reopen() override;
  void reopen_beside() override;
  void close() override;
  void died() override;

  /// Takes the connection, at the end that has accepted. An earlier connection of this end is lost.
  void join(std::shared_ptr<two_way> c);
  /// Takes the connection, or one beside it, at the end that has asked.
  void join(std::shared_ptr<two_way> c, std::uint64_t attempt);
  /// Takes bytes of one of its connections.
  void received(const two_way* c, std::span<const std::byte> b);
  /// Loses the connection and tells the stack, if it still has this one.
  void lose(const two_way* c, const base::error& why);
  [[nodiscard]] bool has(const two_way* c) const noexcept {
    return connection_.get() == c || beside_.get() == c;
  }
  /// Returns true if the stack was told that it is connected, and may get bytes.
  [[nodiscard]] bool takes_bytes(const two_way* c) const noexcept {
    return (told_ || beside_.get() == c) && upper() != nullptr;
  }
  [[nodiscard]] bool wants(std::uint64_t attempt) const noexcept {
    const bool is_wanted = attempt == beside_attempt_ || (attempt == attempt_ && connecting_);
    return attempt != 0 && is_wanted && !is_dead();
  }
  /// Notes that a connection attempt has failed.
  void refused(std::uint64_t attempt, const base::error& why);

 private:
  void tell_connected();
  void tell_loss_later(const base::error& why);
  /// Tells the stack of a loss that it was not told, if there is one.
  void tell_loss();
  void knock(std::uint64_t attempt);
  void greet_beside();
  /// Gives up the connection beside this one, or the attempt to make one.
  void drop_beside();
  void take_beside();

  [[nodiscard]] bool connects() const noexcept { return static_cast<bool>(knock_); }

  const knocking knock_;
  bool told_ = false;   ///< the stack knows of `connection_`, and so of all losses before (E1)
  base::error untold_;  ///< the reason of a loss, or a refusal, that the stack was not told
  bool connecting_ = false;
  std::uint64_t attempts_ = 0;        ///< so far
  std::uint64_t attempt_ = 0;         ///< the newest for `connection_`
  std::uint64_t beside_attempt_ = 0;  ///< under way for `beside_`; 0: none
  std::shared_ptr<two_way> connection_;
  std::shared_ptr<two_way> beside_;  ///< has asked the stack for a greeting, or will
  bytes beside_bytes_;               ///< bytes that have arrived by it
};

}  // namespace garrick::net::testkit::internal
