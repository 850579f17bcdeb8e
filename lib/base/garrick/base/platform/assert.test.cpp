// Assertions: what they evaluate, what they print before they abort, and which are on.
#include "garrick/base/platform/assert.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include <doctest/doctest.h>

namespace {

struct ending {
  std::string text;
  bool aborted = false;
};

/// Runs f in a child process and returns how that ended and what it wrote to its error stream.
template <class F>
ending in_child(F f) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    ::dup2(ends[1], STDERR_FILENO);
    f();
    ::_exit(0);
  }
  ::close(ends[1]);
  ending out;
  char buffer[256];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;)
    out.text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  out.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return out;
}

}  // namespace

TEST_CASE("an assertion that holds evaluates its condition once and does nothing") {
  int evaluated = 0;
  GARRICK_ASSERT(++evaluated == 1);
  GARRICK_ASSERT(++evaluated == 2, "advice");
  CHECK(evaluated == 2);
}

TEST_CASE("an assertion that fails names the condition, the place and the advice, and aborts") {
  const ending end = in_child([] { GARRICK_ASSERT(1 + 1 == 3, "count again"); });
  CHECK(end.aborted);
  CHECK(end.text.starts_with("garrick: assertion failed: 1 + 1 == 3: "));
  CHECK(end.text.find("assert.test.cpp:") != std::string::npos);
  CHECK(end.text.find(": count again\n") != std::string::npos);
}

TEST_CASE("advice may be left out") {
  const ending end = in_child([] { GARRICK_ASSERT(false); });
  CHECK(end.aborted);
  CHECK(end.text.find("assertion failed: false: ") != std::string::npos);
}

TEST_CASE("slow assertions are checked where they are on, and compiled everywhere") {
  int evaluated = 0;
  const ending end = in_child([] { GARRICK_ASSERT_SLOW(false, "slow"); });
  GARRICK_ASSERT_SLOW(++evaluated == 1);
  CHECK(end.aborted == (GARRICK_SLOW_ASSERTS == 1));
  CHECK(evaluated == GARRICK_SLOW_ASSERTS);
}
