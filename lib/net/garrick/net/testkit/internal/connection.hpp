// A connection between two ends of a stream, as the two machines know it.
//
// Each direction is a chain: taken (by `send`) > waiting > flying > come > received. Bytes fly in
// segments whose borders the seed chooses. While the way is cut, or the other machine is off,
// flying bytes fall back to the waiting ones. Bytes are acknowledged when the process receives
// them: a sender cannot fill a receiver that is paused. A connection acts only on ends that have
// not dropped it.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "garrick/net/testkit/internal/stream_end.hpp"

namespace garrick::net::testkit::internal {

class connection final : public two_way, public std::enable_shared_from_this<connection> {
 public:
  connection(engine& net, const std::shared_ptr<stream_end>& client, host& server);
  void accepted_by(const std::shared_ptr<stream_end>& server) { sides_[1].holder = server; }

  void send(std::uint32_t side, std::span<const std::byte> b) override;
  [[nodiscard]] bool takes_more(std::uint32_t side) const override;
  void finish(std::uint32_t side) override;
  void reset() override;
  void stall() override;
  void forget(std::uint32_t side, const char* why) override;
  /// Returns true if this side sends nothing more.
  [[nodiscard]] bool is_broken(std::uint32_t side) const noexcept { return sides_[side].broken; }
  [[nodiscard]] bool is_over() const noexcept override {
    return sides_[0].broken && sides_[1].broken;
  }
  [[nodiscard]] std::uint32_t side_of(const stream_end& e) const noexcept override;
  [[nodiscard]] bool is_at(std::uint32_t side, const host& h) const noexcept override {
    return sides_[side].place == &h;
  }
  void receive_soon(std::uint32_t side) override;
  void way_changed(const host& from, const host& to) override;
  void host_crashed(const host& h) override;
  void host_restarted(const host& h) override;
  /// Sets the earliest time for the first news to side 0.
  void begins_at(base::instant when) noexcept { sides_[1].last_arrival = when; }

 private:
  struct segment {
    bytes content;
    base::instant arrival;
    std::uint64_t number = 0;
    bool last = false;  ///< no byte follows: the other end has closed
  };
  /// A side, and the direction that leads away from it.
  struct half {
    host* place = nullptr;
    std::weak_ptr<stream_end> holder;
    bytes waiting;
    std::deque<segment> flying;
    std::deque<segment> come;
    std::uint64_t taken = 0;
    std::uint64_t received = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t fall_backs = 0;  ///< the number so far; segments from before do not arrive
    base::instant last_arrival{};
    bool finished = false;     ///< nothing more will be taken
    bool finish_sent = false;  ///< the end of the bytes is on its way
    bool broken = false;       ///< nothing more is sent
    bool pump_is_due = false;
    bool is_watched = false;
  };

  [[nodiscard]] engine& net() const noexcept { return net_; }
  [[nodiscard]] way& way_from(std::uint32_t s) const;
  [[nodiscard]] bool is_blocked(std::uint32_t s) const;
  void tell(std::uint32_t s, const char* what, std::uint64_t number = 0,
            std::uint64_t size = 0) const;
  void pump_soon(std::uint32_t s);
  void pump(std::uint32_t s);
  void depart(std::uint32_t s, segment one);
  void arrive(std::uint32_t s, std::uint64_t fall_backs);
  void take(std::uint32_t s);
  void acknowledge(std::uint32_t s);
  void fall_back(std::uint32_t s);
  void watch(std::uint32_t s);
  void lose_at(base::instant when, std::uint32_t s, const char* why);
  /// Lets the machine at the other side report to side `s` that the process is gone, until side `s`
  /// receives the report.
  void say_gone(std::uint32_t s, const char* why);
  void break_off(std::uint32_t s, base::instant at_the_earliest, const char* why);

  engine& net_;
  half sides_[2];
  bool stalled_ = false;
};

}  // namespace garrick::net::testkit::internal
