// The hook for a process' end gets the actor of the turn, and its message.
#include <doctest/doctest.h>
#include <garrick/base/concurrency/fatal.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/garrick.hpp>

#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "../support/in_child.hpp"

namespace fatal_ends_test {

namespace {

using namespace garrick;
using tests::has_aborted;
using tests::in_child;

struct fall {
  int how;
};

struct clumsy : actor<protocol<void(fall)>> {
  static void spill() { throw std::runtime_error("spilt milk"); }
  static void never_throws() noexcept { spill(); }
  static int recurse(int n) {  // NOLINT(misc-no-recursion): the subject of the test
    volatile char space[1024];
    space[0] = static_cast<char>(n);
    return n == 0 ? space[0] : recurse(n - 1) + space[0];
  }
  void on(fall f) {
    switch (f.how) {
      case 0: GARRICK_ASSERT(f.how != 0, "stand up"); break;
      case 1: never_throws(); break;
      default: static_cast<void>(recurse(f.how)); break;
    }
  }
};

void write_down(const base::fatal_end& end) noexcept {
  char text[1400];
  const int n =
      std::snprintf(text, sizeof text, "hook: actor %llu worker %d thread %d handling %.*s: %.*s\n",
                    static_cast<unsigned long long>(end.actor),
                    end.worker == base::fatal_end::no_worker ? -1 : static_cast<int>(end.worker),
                    end.thread == base::platform::this_thread_id(),
                    end.message != nullptr ? static_cast<int>(end.message->name.size()) : 0,
                    end.message != nullptr ? end.message->name.data() : "",
                    static_cast<int>(end.reason.size()), end.reason.data());
  if (::write(STDERR_FILENO, text, static_cast<std::size_t>(n)) != n) ::_exit(3);
}

std::pair<std::string, int> told(int how, bool detached) {
  return in_child([=] {
    static_cast<void>(base::set_fatal_hook(write_down));
    settings o;
    o.scheduler.workers = 1;
    actor_system system(o);
    const auto who = system.spawn<clumsy>(spawn_options{.name = "clumsy", .detached = detached});
    std::fprintf(stderr, "spawned %llu\n", static_cast<unsigned long long>(who.id()));
    send(who, fall{how});
    static_cast<void>(system.await_all());
  });
}

void check(int how, bool detached, const std::string& reason) {
  const auto [text, status] = told(how, detached);
  CAPTURE(text);
  CHECK(has_aborted(status));
  REQUIRE(text.starts_with("spawned "));
  const std::string id = text.substr(8, text.find('\n') - 8);
  const std::string expected =
      "hook: actor " + id + " worker " + (detached ? "-1" : "0") + " thread 1 handling ";
  const std::size_t at = text.find(expected);
  REQUIRE(at != std::string::npos);
  const std::string line = text.substr(at, text.find('\n', at) - at);
  CHECK(line.find("fall: " + reason) != std::string::npos);
  CHECK(text.find("hook: ", at + 1) == std::string::npos);
}

}  // namespace

TEST_CASE("a failed assertion in a handler is told with actor, worker and message") {
  for (const bool detached : {false, true}) check(0, detached, "assertion failed: f.how != 0: ");
}

TEST_CASE("an exception that leaves a noexcept function of a handler is told") {
  check(1, false, "std::terminate after an exception: spilt milk");
}

TEST_CASE("a stack overflow is told once, whichever handler of the signal came first" *
          doctest::skip(HAS_SANITIZER)) {
  for (const bool detached : {false, true})
    check(10'000'000, detached, "stack overflow in actor clumsy#");
}

}  // namespace fatal_ends_test
