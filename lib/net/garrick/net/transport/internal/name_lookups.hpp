// Looks names up, so that no I/O thread waits for a name, and no link for another link's name.
//
// The system's function (`getaddrinfo`) blocks, for half a minute if a server is silent, and cannot
// be stopped. So each name is looked up on a detached thread, which shares a table with this
// object. The thread ends when the system answers, even if everything else has ended by then.
//
// Invariants:
//   N1  At most one thread looks a name up. Links that ask meanwhile get the same answer: a name
//       with a silent server takes one thread, however often links try again.
//   N2  At most `most` threads exist at once. A request for another name fails then.
//   N3  A waiter stays on its loop until it was answered or has withdrawn. So each loop in the
//       table still takes jobs.
//   N4  A thread without waiters left uses the table and nothing else.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "garrick/net/transport/internal/loop/io_loop.hpp"

namespace garrick::net::internal {

/// The look-ups for all loops of an `io_threads`.
class name_lookups {
 public:
  explicit name_lookups(std::size_t most) : most_(most), table_(std::make_shared<table>()) {}

  /// Tells `who` the addresses of the host, with this port, by a job of the loop. `who` has set a
  /// limit of its own, and withdraws when that is over. Requires that `who` lives on the loop. If
  /// there are `most` look-ups, or if the system has no thread for another one, `who` gets that
  /// error.
  void begin(io_loop& loop, const std::string& host, std::uint16_t port,
             std::shared_ptr<resolution> who, std::uint64_t what);
  /// Removes `who` from the table. A job that was posted before still runs.
  void withdraw(const std::string& host, const resolution& who) noexcept;

 private:
  struct waiter {
    io_loop* loop;
    std::uint16_t port;
    std::shared_ptr<resolution> who;
    std::uint64_t what;
  };
  struct table {
    std::mutex mutex;
    std::map<std::string, std::vector<waiter>> names;  // under mutex: by the host
  };

  /// Looks the host up and answers its waiters. Runs on a detached thread.
  static void look_up_host(const std::shared_ptr<table>& in, const std::string& host) noexcept;
  /// Under the table's mutex: posts the answer to the waiter's loop.
  static void answer(waiter& to, std::vector<socket_address> found, std::string failed);

  const std::size_t most_;
  const std::shared_ptr<table> table_;
};

}  // namespace garrick::net::internal
