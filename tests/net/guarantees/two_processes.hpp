// Starts the two processes of a guarantee program, lets them suffer, and watches (witness.hpp).
//
// Each process is a keeper with a child that it starts again when it was killed. Nothing here waits
// for a time: a fault lasts until the record shows that it was felt. A run that shows nothing for a
// minute has hung, and fails. No process is left in any case.
//
// Thread safety: a run is one thread's; several run side by side.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "net/guarantees/record.hpp"
#include "net/guarantees/witness.hpp"
#include "support/places.hpp"

extern char** environ;  // NOLINT: the system's

namespace garrick::tests {

/// Two ends, and the way between them.
struct pair_settings {
  std::string stack;
  std::string where;  ///< the endpoint
  std::uint64_t seed = 1;
  std::uint32_t messages = 4000;  ///< the most that each end sends
  int down_after_ms = 20'000;
  std::string via{};                ///< the endpoint to connect to, if it is another one
  std::vector<std::string> link{};  ///< a program that joins two networks, with its options
  int answer_within_ms = 500;       ///< a question's time over a stack that may lose it
};

/// The promise of a stack of this name.
inline net::testkit::promise promise_of(const std::string& stack) {
  if (stack == "plain_datagrams") return net::testkit::at_most_once;
  if (stack == "plain_stream" || stack == "ordered_datagrams") return net::testkit::in_order;
  return net::testkit::to_mailbox;
}

/// A pipe with ends that have no small numbers, and that no other process inherits.
class high_pipe {
 public:
  high_pipe() {
    std::array<int, 2> low{};
    if (::pipe2(low.data(), O_CLOEXEC) != 0) return;
    for (std::size_t i : {0u, 1u}) {
      ends_[i] = ::fcntl(low[i], F_DUPFD_CLOEXEC, 64);
      ::close(low[i]);
    }
  }
  ~high_pipe() { close_read(), close_write(); }
  high_pipe(const high_pipe&) = delete;
  high_pipe& operator=(const high_pipe&) = delete;
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_read() { close(0); }
  void close_write() { close(1); }

 private:
  void close(std::size_t i) {
    if (ends_[i] >= 0) ::close(std::exchange(ends_[i], -1));
  }
  std::array<int, 2> ends_{-1, -1};
};

class two_processes {
 public:
  explicit two_processes(const pair_settings& s) : s_(s), seen_(promise_of(s.stack)) {
    if (!s.link.empty()) {
      std::vector<std::string> words{garrick::tests::places::guarantee_peer, "tethered"};
      words.insert(words.end(), s.link.begin(), s.link.end());
      words.insert(words.end(), {"--both-end", "--"});
      append(words, command(listener_role));
      words.push_back(":::");
      append(words, command(connector_role));
      start(words);
    } else {
      start(command(listener_role));
      if (until([this] { return seen_.of(listener_role).listening; }, "it listens"))
        start(command(connector_role));
    }
    orders_[0].close_read(), orders_[1].close_read();
    record_.close_write();
  }
  ~two_processes() { end(); }
  two_processes(const two_processes&) = delete;
  two_processes& operator=(const two_processes&) = delete;

  [[nodiscard]] const witness& seen() const { return seen_; }
  /// Returns true over a stream: both ends hear at once when it is lost.
  [[nodiscard]] bool is_unix_stream() const {
    return s_.link.empty() && !s_.where.starts_with("udp");
  }
  /// Returns true if the stack is datagrams without order.
  [[nodiscard]] bool is_bare() const { return s_.stack == "plain_datagrams"; }
  [[nodiscard]] bool ok() const { return failure_.empty(); }
  /// Returns the failure, or an empty text.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  void require(bool is_so, const std::string& text) {
    if (!is_so) fail(text);
  }

  /// Reads until `p()`. Returns false if something is wrong.
  template <class P>
  bool until(P p, const char* text) {
    const auto end = clock::now() + std::chrono::seconds(60);
    while (ok() && !p()) {
      if (!read_some(end)) {
        fail(std::string("waited in vain until ") + text);
        break;
      }
    }
    return ok();
  }

  void kill(std::uint32_t role) { signal(role, SIGKILL); }
  void stop(std::uint32_t role) { signal(role, SIGSTOP); }
  void go_on(std::uint32_t role) { signal(role, SIGCONT); }
  /// Breaks the streams of this role.
  void lose_streams(std::uint32_t role) { order(role, order_lose); }
  /// Starts another life in place of the killed one.
  void start_again(std::uint32_t role) {
    const std::uint32_t before = seen_.of(role).process;
    order(role, order_another);
    until([&] { return seen_.of(role).process != before; }, "it was started again");
  }
  /// Tells both to send nothing more, waits until nothing is under way, and makes the checks that
  /// are possible then.
  void settle() {
    order(0, order_enough), order(1, order_enough);
    if (!until([this] { return seen_.settled(); }, "everything was reported and answered")) return;
    seen_.finish();
    check();
  }
  /// Ends both processes. The entries that are still written are checked, too.
  const std::string& end() {
    if (children_.empty()) return failure_;
    orders_[0].close_write(), orders_[1].close_write();
    if (ok()) until([this] { return is_over_; }, "both processes had ended");
    if (!ok()) end_at_once();
    for (const pid_t p : children_) {
      int status = 0;
      ::waitpid(p, &status, 0);
      if (ok() && status != 0) fail("a process has ended with status " + std::to_string(status));
    }
    children_.clear();
    return failure_;
  }

 private:
  using clock = std::chrono::steady_clock;

  static void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  [[nodiscard]] std::vector<std::string> command(std::uint32_t role) const {
    const bool connects = role == connector_role;
    return {garrick::tests::places::guarantee_peer,
            "keep",
            std::to_string(role + 1),
            connects ? "connect" : "listen",
            connects && !s_.via.empty() ? s_.via : s_.where,
            s_.stack,
            std::to_string(s_.seed),
            std::to_string(s_.messages),
            std::to_string(s_.down_after_ms),
            std::to_string(s_.answer_within_ms)};
  }
  void start(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, record_.write_end(), record_fd);
    for (std::uint32_t role : {0u, 1u})
      ::posix_spawn_file_actions_adddup2(&files, orders_[role].read_end(), orders_fd(role));
    pid_t made = 0;
    const int error = ::posix_spawn(&made, argv[0], &files, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (error == 0)
      children_.push_back(made);
    else
      fail(words[0] + ": " + std::strerror(error));
  }
  /// All processes that were started end with their keepers. The record ends with the last of them.
  void end_at_once() {
    for (const pid_t p : children_) ::kill(p, SIGKILL);
    const auto end = clock::now() + std::chrono::seconds(10);
    while (read_some(end)) {}
  }
  void signal(std::uint32_t role, int number) {
    if (ok()) ::kill(static_cast<pid_t>(seen_.of(role).pid), number);
  }
  void order(std::uint32_t role, char what) {
    if (ok()) require(::write(orders_[role].write_end(), &what, 1) == 1, "it takes no orders");
  }
  /// Reads the entries that have come. Returns false at `end`.
  bool read_some(clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
    pollfd waits{record_.read_end(), POLLIN, 0};
    if (is_over_ || left.count() <= 0) return false;
    const int ready = ::poll(&waits, 1, static_cast<int>(left.count()) + 1);
    if (ready <= 0) return ready < 0 && errno == EINTR;
    // Entries are written whole and not longer than a page, so they are read whole.
    std::array<record_entry, 64> entries;
    const ssize_t n = ::read(record_.read_end(), entries.data(), sizeof entries);
    if (n <= 0) return is_over_ = true;
    for (std::size_t i = 0; i != static_cast<std::size_t>(n) / sizeof(record_entry); ++i)
      seen_.take(entries[i]);
    check();
    return true;
  }
  void check() {
    if (ok() && !seen_.violation().empty()) fail(seen_.violation());
  }
  void fail(const std::string& text) {
    if (!ok()) return;
    failure_ = s_.stack + " at " + s_.where + " with seed " + std::to_string(s_.seed) + ": " +
               text + "\n the last entries of the record:\n" + seen_.history();
  }

  pair_settings s_;
  witness seen_;
  std::string failure_;
  high_pipe record_;
  std::array<high_pipe, 2> orders_;
  std::vector<pid_t> children_;
  bool is_over_ = false;
};

}  // namespace garrick::tests
