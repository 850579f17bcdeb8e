// Runs a part of a test in a process of its own: for code that ends a process, and for output to
// the standard error stream.
//
// Code that faults or limits its address space does not run under sanitizers, which take both for
// themselves: `doctest::skip(HAS_SANITIZER)`. A process that aborts does.
//
// QEMU's emulation of a program (`IS_EMULATED`, the preset `arm`) has no filters of system calls
// and no limits on the address space, and a child of a process with threads cannot have any.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

#if defined(GARRICK_EMULATED)
#define IS_EMULATED 1
#else
#define IS_EMULATED 0
#endif

namespace garrick::tests {

/// Runs `body` in a process of its own. Returns its output on the standard error stream, and its
/// status as `waitpid` gives it.
template <class F>
std::pair<std::string, int> in_child(F body) {
  std::array<int, 2> pipe_ends{};
  REQUIRE(::pipe(pipe_ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // the test framework's handlers
    for (const int s : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) std::signal(s, SIG_DFL);
    ::dup2(pipe_ends[1], STDERR_FILENO);
    ::close(pipe_ends[0]);
    body();
    ::_exit(0);
  }
  ::close(pipe_ends[1]);
  std::string text;
  std::array<char, 512> part{};
  for (ssize_t n = 0; (n = ::read(pipe_ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  ::close(pipe_ends[0]);
  // QEMU's own text when its program ends by a signal is not the program's.
  if (const auto at = text.find("qemu: uncaught target signal"); at != std::string::npos)
    text.erase(at);
  int status = 0;
  ::waitpid(child, &status, 0);
  return {text, status};
}

/// Returns true if the process that ended with this status has aborted.
[[nodiscard]] inline bool has_aborted(int status) noexcept {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace garrick::tests
