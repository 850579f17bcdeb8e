// A node_peer, or another program that obeys as it does: a node in a process of its own, which is
// given orders, stopped and killed.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "support/places.hpp"

extern char** environ;  // NOLINT: the system's

namespace garrick::tests {

/// See above.
class other_process {
 public:
  explicit other_process(const std::string& where, int down_after_ms,
                         const char* program = places::node_peer) {
    std::array<int, 2> in{}, out{};
    REQUIRE(::pipe2(in.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out.data(), O_CLOEXEC) == 0);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    std::array<std::string, 3> words{program, where, std::to_string(down_after_ms)};
    std::array<char*, 4> argv{words[0].data(), words[1].data(), words[2].data(), nullptr};
    const int error = ::posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(in[0]), ::close(out[1]);
    orders_ = in[1], answers_ = out[0];
    REQUIRE(error == 0);
    const std::string first = answer();
    at = first.substr(0, first.find(' '));
    incarnation = first.substr(first.find(' ') + 1);
    if (at.empty()) kill();  // no other code would
    REQUIRE_MESSAGE(!at.empty(), "no node came up at ", where, ": is its port taken?");
  }
  ~other_process() {
    if (pid_ != 0) kill();
    ::close(orders_), ::close(answers_);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void go_on() { ::kill(pid_, SIGCONT); }
  /// Stops the other process. When this returns, that process does nothing any more.
  void stop() {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  void order(const std::string& line) {
    const std::string all = line + '\n';
    // If the reader of the pipe has gone, this test fails, and its program does not end.
    static const auto ignored = std::signal(SIGPIPE, SIG_IGN);
    static_cast<void>(ignored);
    REQUIRE(::write(orders_, all.data(), all.size()) == static_cast<ssize_t>(all.size()));
  }
  std::string answer() {
    std::string line;
    for (char c = 0;;) {
      const ssize_t n = ::read(answers_, &c, 1);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0 || c == '\n') return line;
      line += c;
    }
  }

  std::string at;
  std::string incarnation;

 private:
  pid_t pid_ = 0;
  int orders_ = -1;
  int answers_ = -1;
};

}  // namespace garrick::tests
