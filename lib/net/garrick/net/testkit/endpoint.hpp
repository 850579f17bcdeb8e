// A simulated transport's end, as a stack sees it: a carrier of datagrams or of a stream.
//
//   socket_ = network.host("a").datagrams(0, {"b", 7});   // lives longer than the link
//   link_ = net::standard_stacks().find("datagrams")->make(*this, *socket_, settings);
//   socket_->drive(*link_);
//
// Thread safety: its network's.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "garrick/net/testkit/settings.hpp"
#include "garrick/net/transport/carrier.hpp"

namespace garrick::net::testkit {

namespace internal {
class end;
class listening;
}  // namespace internal

/// An end of a simulated way. It calls the stack that it drives: `connected` first, then `receive`,
/// and `advance` at the deadline, by its host's clock. At a given instant arrived bytes are
/// received first.
///
/// It may be destroyed at any time, also within a call to its stack; then it makes no more calls.
/// Destroying a stream's end closes it: bytes that it has taken are still sent. An end on a host
/// that has crashed does nothing any more.
class endpoint final : public carrier {
 public:
  /// For the framework: a view of this end; `simulated_host` makes it.
  explicit endpoint(std::shared_ptr<internal::end> e) noexcept : end_(std::move(e)) {}
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// Passes arriving bytes to `upper` from now on. `upper` must live as long as this, or until
  /// `release`. May be called once; a connecting end then begins to connect. `upper` is not called
  /// before `drive` returns.
  void drive(carried& upper);
  /// Makes no more calls.
  void release();
  /// Returns true if sent bytes may arrive; for a stream, if it is connected.
  [[nodiscard]] bool is_open() const;
  /// Returns the address of this end.
  [[nodiscard]] const address& local() const;
  /// Returns the address of the other end.
  [[nodiscard]] const address& peer() const;

  void transmit(packet bytes) override;
  [[nodiscard]] bool writable() const override;
  [[nodiscard]] std::size_t largest() const override;
  void reopen() override;
  void reopen_beside() override;
  void close() override;
  [[nodiscard]] bool is_closed() const override;
  [[nodiscard]] std::optional<carrier_kind> carries() const override;

 private:
  std::shared_ptr<internal::end> end_;
};

/// Accepts newcomers as long as it lives.
class listener final {
 public:
  /// For the framework: a view of this listening socket; `simulated_host` makes it.
  explicit listener(std::shared_ptr<internal::listening> l) noexcept : listening_(std::move(l)) {}
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

 private:
  std::shared_ptr<internal::listening> listening_;
};

}  // namespace garrick::net::testkit
