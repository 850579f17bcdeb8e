// A stream of a broker, on its I/O thread: it reads through the receiver, sends events to the
// broker, and writes.
//
// Invariants:
//   C1  A broker is sent at most one `connection_closed`, after all data, and none after `close`. A
//       broker that adopts a connection after its last owner was told of the end gets one, too.
//   C2  `who_.to` gets the events; `broker_io::adopt` changes it by a visit.
//   C3  Bytes that are written before the stream is established wait in `early_`, which is empty
//       from then on. If the broker closes the connection before that, the bytes are sent if the
//       stream is established within `close_limit`, and no actor is told. `io_threads::finish`
//       waits for this.
//   C4  An established stream in which nothing moves for twice the idle limit is closed, also if
//       the broker has stopped reading.
//
// Thread safety: for the thread in the link (hosted.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "garrick/net/broker/internal/entries.hpp"
#include "garrick/net/broker/internal/receiver.hpp"
#include "garrick/net/transport/carrier.hpp"
#include "garrick/net/transport/endpoint.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"

namespace garrick::net::internal {

class raw_connection final : public hosted, public carried {
 public:
  /// Its entry and its broker.
  struct identity {
    std::shared_ptr<connection_entry> entry;
    std::weak_ptr<broker_core> core;
    core::any_ref to;
    acceptor_handle acceptor;
    endpoint peer;
    io_loop& loop;
  };
  raw_connection(carrier& below, const connection& self, identity who, const socket_settings& s);

  // For visits of the broker.
  void set(const receive_policy& p);
  /// Writes a packet. Returns an error, and takes nothing, if there is no room or the other end is
  /// known to take nothing.
  [[nodiscard]] base::error write(packet p);
  /// Writes bytes that `connection_entry::in_line` counts.
  void write_from_line(packet p, std::size_t counted);
  /// If a write was refused because of bytes in line, tells the broker when these have been sent.
  void check_writable();
  void close() noexcept;
  /// Closes when `last` is sent, for which there is room beyond the broker's limit.
  void close_after(packet last);
  void give_to(std::weak_ptr<broker_core> core, core::any_ref to);
  /// Passes on more messages, and reads more bytes, after a part of a block was returned.
  void parts_returned();

  [[nodiscard]] carried& stack() override { return *this; }
  void ended(const base::error& why) noexcept override;

  void connected(base::instant) override;
  void disconnected(const base::error& why, base::instant) override;
  void receive(std::span<const std::byte> bytes, base::instant) override;
  [[nodiscard]] bool has_room() const override { return true; }
  [[nodiscard]] std::optional<receive_room> room() override;
  [[nodiscard]] bool input_ended(base::instant) override;
  void carrier_writable(base::instant) override;
  void over(const base::error& why, base::instant) override;
  void path_changed(std::size_t, base::instant) override {}
  [[nodiscard]] base::instant deadline() const override { return std::min(gives_up_, idle_at_); }
  void advance(base::instant now) override;

 private:
  class blocks;
  void begin_silence(base::instant now) noexcept;
  void look_for_silence(base::instant now);
  void transmit(packet p);
  void pass_on();
  void tell_closed(const base::error& why, bool half);
  [[nodiscard]] connection_handle handle() const {
    return handle_maker::make<connection_kind>(who_.entry);
  }

  carrier& below_;
  identity who_;
  const std::shared_ptr<blocks> blocks_;
  receiver receiver_;
  packet early_;
  const base::duration close_limit_;
  const base::duration keep_alive_;
  const base::duration idle_limit_;
  base::instant idle_at_ = base::instant::never();  ///< the end of the silence that is allowed
  std::uint64_t written_ = 0;                       ///< bytes, since it stands
  std::uint64_t left_ = 0;  ///< those that had left at the last look, which `idle_at_` makes
  base::instant gives_up_ = base::instant::never();  ///< the end of connecting, after a close
  bool is_connected_ = false;
  bool is_open_ = true;  ///< the broker was not told of the end, and has not closed the stream
};

}  // namespace garrick::net::internal
