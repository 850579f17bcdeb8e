// An end of datagrams, and the fate of a datagram under way.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "garrick/net/testkit/internal/engine.hpp"
#include "garrick/net/testkit/internal/host.hpp"

namespace garrick::net::testkit::internal {

class datagram_end final : public end {
 public:
  datagram_end(engine& net, host& h, address local, address peer)
      : end(h, std::move(local), std::move(peer)), net_(net) {}
  void started() override;
  [[nodiscard]] bool takes_datagrams() const noexcept override { return true; }
  void transmit(packet bytes) override;
  [[nodiscard]] bool is_open() const override { return open_ && !is_dead(); }
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override;
  void reopen() override {}
  void close() override { bury(); }

 private:
  engine& net_;
  bool open_ = false;
};

}  // namespace garrick::net::testkit::internal
