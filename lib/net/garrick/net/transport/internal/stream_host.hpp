// A link over TCP or a Unix domain socket.
//
// Its states: closed, opening (stream_attempt.hpp), connected. Each attempt and each connection has
// a number, which is part of each wait; events of an earlier one are ignored.
//
// While it is connected, or has just lost that connection, there may be a second one beside it. The
// stack writes the first bytes of the second one, and decides whether the answer lets it take the
// place of the first (carrier::reopen_beside). Before that no other bytes are written to the second
// one, and none of its bytes are passed up.
//
// Invariants:
//   C1  socket_ is non-null exactly in the state connected, and opening_ exactly in the state
//       opening.
//   C2  While connected, one read is under way, or begins before the loop's next turn; its bytes
//       are passed up before the next begins. A stack without room of its own waits until there are
//       bytes, and reads into the loop's room: an idle connection needs none. After a large read
//       the link looks at once for more bytes, which belong to the same burst (hosted::burst).
//   C3  blocked_ means that the socket took no more bytes. The next write waits until the socket is
//       writable.
//   C4  Packets wait only while connected.
//   C5  After most_in_turn bytes in one turn (a visit, or the loop's between two rounds of visits
//       in line) the link is not writable until the next turn, even if the socket has taken all of
//       them. A visit in line therefore waits for one turn, and not for all bytes of the stack.
//   C6  beside_ is null in the state opening, and at an end that does not open the link. It has a
//       time limit: that of its attempt, or of the wait for an answer.
//
// Thread safety: as host.hpp says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "garrick/net/transport/internal/host.hpp"
#include "garrick/net/transport/internal/send_queue.hpp"
#include "garrick/net/transport/internal/socket_calls.hpp"
#include "garrick/net/transport/internal/stream_attempt.hpp"

namespace garrick::net::internal {

class stream_host final : public host, public resolution {
 public:
  /// Makes a link that this end opens.
  stream_host(io_loop& loop, const transport_settings& s, endpoint to)
      : host(loop, s, nullptr), to_(std::move(to)), opens_(true) {}
  /// Makes a link for an accepted connection, which `accept` brings.
  stream_host(io_loop& loop, const transport_settings& s, std::unique_ptr<ticket> t)
      : host(loop, s, std::move(t)), opens_(false) {
    connected(true);
  }
  /// Before `begin`: takes the connection, of which these bytes have been read.
  void accept(unique_fd fd, std::vector<std::byte> first) noexcept {
    accepted_ = std::move(fd);
    first_ = std::move(first);
  }

  void transmit(packet bytes) override;
  [[nodiscard]] bool writable() const override;
  [[nodiscard]] bool sends() const override;
  [[nodiscard]] std::size_t largest() const override;
  [[nodiscard]] std::optional<carrier_kind> carries() const override {
    return carrier_kind::stream;
  }
  void reopen() override;
  void reopen_beside() override;
  void keep_alive(base::duration after) override;
  void read_on() override;
  [[nodiscard]] std::size_t queued() const override { return queue_.bytes(); }
  void adopt(int fd, std::vector<std::byte> first) override;
  void resolved(std::uint64_t what, std::vector<socket_address> found, std::string failed) override;

 protected:
  void open() override;
  bool attend() override;
  void attend_elsewhere() override;
  void event(std::uint64_t what, int failed, std::size_t bytes) override;
  void loop_waits(std::uint64_t what) override;
  bool bytes_before_time(base::instant at) override;
  [[nodiscard]] base::instant due() const override;
  void on_time(base::instant at) override;
  void farewell() noexcept override;

 private:
  enum class state : std::uint8_t { closed, opening, connected };
  /// A second connection beside the present one, or the attempt at it.
  struct second {
    second(io_loop& loop, const transport_settings& s, const endpoint& to, std::uint64_t& numbers)
        : attempt(loop, s, to, numbers) {}
    stream_attempt attempt;
    std::unique_ptr<io_socket> socket;            ///< null: not connected yet
    std::uint64_t number = 0;                     ///< of the socket
    std::vector<std::byte> come;                  ///< its bytes
    base::instant ends = base::instant::never();  ///< the wait for an answer
  };
  /// After a read of this many bytes, more are likely to have arrived by the time they are handled.
  static constexpr std::ptrdiff_t least_in_burst = 2048;
  /// After this many bytes other links, and the layers above, have their turn.
  static constexpr std::ptrdiff_t most_in_burst = std::ptrdiff_t{64} << 10;
  /// See C5.
  static constexpr std::size_t most_in_turn = std::size_t{256} << 10;

  [[nodiscard]] std::uint64_t number(stream_wait w) const noexcept {
    return wait_number(number_, w);
  }
  [[nodiscard]] stream_attempt::waiter waiter() { return {self(), self()}; }
  void start_opening();
  void opened(stream_attempt::outcome how);
  void start_beside();
  void opened_beside(stream_attempt::outcome how);
  void greet_beside();
  void read_beside();
  void event_of_attempt(std::uint64_t what, int failed);
  /// Makes this connection, of which these bytes have been read, the link's own.
  void replace(unique_fd fd, std::vector<std::byte> first);
  void established(std::unique_ptr<io_socket> socket);
  void take_accepted(unique_fd fd, std::vector<std::byte> first);
  void read_some(bool behind = false);
  void read_now(int failed);
  void have_read(int failed, std::size_t bytes);
  /// Like `receive_stream`, to the loop's room.
  [[nodiscard]] std::ptrdiff_t read_to_loop(int& failed);
  /// Passes up the bytes that were read, and those that have arrived meanwhile. Returns the result
  /// of the last read.
  [[nodiscard]] std::ptrdiff_t read_burst(std::ptrdiff_t bytes, int& failed);
  void pass_up(std::size_t bytes);
  /// Closes the connection and tells the stack.
  void lose(const base::error& why);
  /// Forgets the socket, or the attempt, and all waits; not the connection beside it.
  void forget() noexcept;
  void flush();
  /// Returns true if no byte can be written any more, and no bytes are read, so the connection's
  /// end would not be noticed.
  [[nodiscard]] bool ends_unread() const noexcept;
  [[nodiscard]] std::shared_ptr<stream_host> self() {
    return std::static_pointer_cast<stream_host>(shared_from_this());
  }

  const endpoint to_;
  const bool opens_;  ///< this end opens it, and may do so again

  // For the thread that is in.
  unique_fd accepted_;
  std::vector<std::byte> first_;
  std::unique_ptr<stream_attempt> opening_;
  std::unique_ptr<second> beside_;
  std::unique_ptr<io_socket> socket_;
  bool has_room_ = false;  ///< the stack provides the memory for reads
  receive_room room_;      ///< of the stack; a read writes to it, also when the link has ended
  send_queue queue_;
  std::size_t in_turn_ = 0;    ///< bytes that were transmitted in this turn
  std::uint64_t numbers_ = 0;  ///< the newest number
  std::uint64_t number_ = 0;   ///< of the connection
  base::instant last_flush_;
  base::duration flush_took_;
  base::error broken_;    ///< writing is over; the stack is told on the loop
  int write_failed_ = 0;  ///< the reason, if reading tells only that it is over
  state state_ = state::closed;
  bool blocked_ = false;
  bool waits_writable_ = false;
  bool is_full_ = false;  ///< the stack waits for `carrier_writable`
  bool reopens_ = false;
  bool tries_beside_ = false;
  bool flush_posted_ = false;
  bool time_waits_ = false;   ///< for bytes that arrived before it
  bool rests_ = false;        ///< the stack has no room
  bool input_ended_ = false;  ///< the other end sends no more
};

}  // namespace garrick::net::internal
