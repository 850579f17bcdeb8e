// The record that a process of the guarantee programs keeps, in a pipe that outlives it.
//
// Both processes write to one pipe, an entry with one call each. So the kernel keeps the entries
// whole and in one order, and the entries that a process has written before it was killed are there
// to be read. That order is one of causes: a sender writes its entry before the message goes out,
// and a receiver before anything can be acknowledged.
//
// Thread safety: `write_entry` on any thread.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace garrick::tests {

/// The descriptor of the pipe to which a process writes.
inline constexpr int record_fd = 3;
/// Returns the descriptor of the orders for a role; the end of the pipe is the order to end.
constexpr int orders_fd(std::uint32_t role) { return 4 + static_cast<int>(role); }
inline constexpr char order_enough = 'e';   ///< send nothing more
inline constexpr char order_lose = 'l';     ///< the streams break
inline constexpr char order_another = 'n';  ///< a keeper may start the next life

/// The roles: the listener has the odd numbers of processes, the connector the even ones.
inline constexpr std::uint32_t listener_role = 0, connector_role = 1;
constexpr std::uint32_t role_of(std::uint32_t process) { return (process + 1) % 2; }

struct record_entry {
  enum class kind : std::uint8_t {
    started,     ///< `process`, a life of its role, has started with this `pid`
    listening,   ///< the process can be reached
    began,       ///< the process has made `end`
    sending,     ///< message `number` of `lane`, of `size` bytes, is about to be sent
    refused,     ///< a link that was writable did not take the message
    came,        ///< message `number` of `from`, in `lane`; `flag`: whole; `detail`: in its mailbox
    in_mailbox,  ///< the oldest message of `lane` that was not there
    happened,    ///< the event `detail`, about `number`; of `unknown` with a `doubt` in `flag`
    asked,       ///< question `number` is about to be sent
    handled,     ///< question `number` of `from` has come
    answered,    ///< question `number` has ended, with the `answer` in `detail`
    ended,       ///< the link is gone
    idle,        ///< the order to send nothing more was read
    fell,        ///< the process has ended by itself: status `number` or signal `detail`
  };
  kind what = kind::started;
  std::uint8_t lane = 0;
  std::uint8_t detail = 0;
  std::uint8_t flag = 0;
  std::uint8_t sent_in = 0;  ///< the lane that the message itself names
  std::uint32_t process = 0;
  std::uint32_t end = 0;
  std::uint32_t from = 0;
  std::uint32_t number = 0;
  std::uint32_t size = 0;
  std::int64_t pid = 0;
};

/// The reasons why a message is `unknown`.
enum class doubt : std::uint8_t { none, perhaps, never_sent, other };
/// The ends of a question.
enum class answer : std::uint8_t { right, wrong, perhaps, timeout, other };

/// Appends an entry. Without a reader the process has no purpose, and ends.
inline void write_entry(const record_entry& e) {
  for (;;) {
    const ssize_t n = ::write(record_fd, &e, sizeof e);
    if (n == sizeof e) return;
    if (n < 0 && errno == EINTR) continue;
    ::_exit(4);
  }
}

}  // namespace garrick::tests
