// The hook for a process' end: its arguments, the number of its calls, and the unchanged end.
#include "garrick/base/concurrency/fatal.hpp"

#include <doctest/doctest.h>
#include <unistd.h>
#include <support/in_child.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "garrick/base/concurrency/forked.hpp"
#include "garrick/base/platform/assert.hpp"
#include "garrick/base/platform/platform.hpp"

namespace fatal_test {

using namespace garrick::base;
using garrick::tests::has_aborted;
using garrick::tests::in_child;

namespace {

void put(std::string_view text) noexcept {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) std::_Exit(3);
}

void write_down(const fatal_end& end) noexcept {
  put("hook ");
  const char cause = static_cast<char>('0' + static_cast<int>(end.cause));
  put({&cause, 1});
  put(end.thread == platform::this_thread_id() ? " here: " : " elsewhere: ");
  put(end.reason);
  put("\n");
}

std::string heading(fatal_cause cause) {
  return "hook " + std::to_string(static_cast<int>(cause)) + " here: ";
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("the hook hears of every end that is decided here, after the message") {
  const auto told = [](auto end) {
    return in_child([end] {
      static_cast<void>(set_fatal_hook(write_down));
      end();
    });
  };
  const auto check = [&](auto end, fatal_cause cause, const std::string& reason) {
    const auto [text, status] = told(end);
    CHECK(has_aborted(status));
    CHECK(text.starts_with("garrick: " + reason));
    CHECK(text.find("\n" + heading(cause) + reason) != std::string::npos);
    CHECK(count(text, "hook ") == 1);  // the signal of abort() is not told again
  };
  check([] { GARRICK_ASSERT(1 + 1 == 3, "count again"); }, fatal_cause::assertion,
        "assertion failed: 1 + 1 == 3: ");
  check([] { out_of_memory("this test"); }, fatal_cause::out_of_memory, "out of memory: this test");
  check([] { refused_by_system("this test"); }, fatal_cause::refused_by_system,
        "the system refuses this test");
  check([] { refuse_in_child("this test"); }, fatal_cause::forked_child,
        "in a forked child: this test, but");
}

TEST_CASE("without a hook an end says the same, and no function hears of it") {
  const auto [text, status] = in_child([] {
    if (set_fatal_hook(write_down) != nullptr) put("a hook before the first\n");
    if (set_fatal_hook(nullptr) != write_down) put("not the hook before\n");
    refused_by_system("this test");
  });
  CHECK(has_aborted(status));
  CHECK(text == "garrick: the system refuses this test\n");
}

TEST_CASE("std::terminate is told with the exception's text; the program's handler comes after") {
  const auto [text, status] = in_child([] {
    std::set_terminate([] {
      put("the program's handler\n");
      std::abort();
    });
    static_cast<void>(set_fatal_hook(write_down));
    static_cast<void>(set_fatal_hook(write_down));  // installs nothing twice
    std::thread([] { throw std::runtime_error("spilt milk"); }).join();
  });
  CHECK(has_aborted(status));
  CHECK(text == heading(fatal_cause::terminate) +
                    "std::terminate after an exception: spilt milk\nthe program's handler\n");
  const auto [other_text, other_status] = in_child([] {
    static_cast<void>(set_fatal_hook(write_down));
    std::terminate();
  });
  CHECK(has_aborted(other_status));
  CHECK(other_text.starts_with(heading(fatal_cause::terminate) + "std::terminate\n"));
}

TEST_CASE("signals are told, and end the process as they would have" *
          doctest::skip(HAS_SANITIZER)) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    const auto [text, status] = in_child([signal] {
      static_cast<void>(set_fatal_hook(write_down));
      static_cast<void>(::raise(signal));
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(text.starts_with(heading(fatal_cause::signal) + "SIG"));
    CHECK(count(text, "hook ") == 1);
  }
  const auto [text, status] = in_child([] {
    static_cast<void>(set_fatal_hook(write_down));
    volatile int* volatile nothing = nullptr;
    *nothing = 1;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
  CHECK(text.starts_with(heading(fatal_cause::signal) + "SIGSEGV: "));
}

TEST_CASE("a signal that the program handles stays with it" * doctest::skip(HAS_SANITIZER)) {
  const auto [text, status] = in_child([] {
    std::signal(SIGFPE, [](int) { put("the program's\n"); });
    static_cast<void>(set_fatal_hook(write_down));
    static_cast<void>(::raise(SIGFPE));
    put("goes on\n");
  });
  CHECK(WIFEXITED(status));
  CHECK(text == "the program's\ngoes on\n");
}

TEST_CASE("a hook that fails itself ends the process, and is not called again") {
  const auto [text, status] = in_child([] {
    static_cast<void>(set_fatal_hook([](const fatal_end& end) noexcept {
      write_down(end);
      out_of_memory("the hook");
    }));
    out_of_memory("the program");
  });
  CHECK(has_aborted(status));
  CHECK(text == "garrick: out of memory: the program\n" + heading(fatal_cause::out_of_memory) +
                    "out of memory: the program\ngarrick: out of memory: the hook\n");
}

namespace {

std::atomic<int> failing{0};

void slow_hook(const fatal_end& end) noexcept {
  failing.store(2);
  failing.notify_all();
  failing.wait(2);
  // The other thread is about to abort. If it did not have to wait, it would abort before the line
  // below.
  platform::sleep_ns(20'000'000);
  write_down(end);
}

}  // namespace

TEST_CASE("a second thread that fails waits until the hook has returned, and calls none") {
  const auto [text, status] = in_child([] {
    failing.store(1);
    static_cast<void>(set_fatal_hook(slow_hook));
    std::thread second([] {
      failing.wait(1);
      failing.store(3);
      failing.notify_all();
      out_of_memory("the second");
    });
    out_of_memory("the first");
  });
  CHECK(has_aborted(status));
  CHECK(count(text, "garrick: out of memory: the second\n") == 1);
  CHECK(count(text, "hook ") == 1);
  CHECK(text.ends_with(heading(fatal_cause::out_of_memory) + "out of memory: the first\n"));
}

TEST_CASE("many threads that fail at once call the hook once") {
  const auto [text, status] = in_child([] {
    static_cast<void>(set_fatal_hook(write_down));
    std::atomic<bool> go{false};
    for (int i = 0; i != 4; ++i)
      std::thread([&] {
        go.wait(false);
        out_of_memory("a thread");
      }).detach();
    go.store(true);
    go.notify_all();
    for (;;) ::pause();
  });
  CHECK(has_aborted(status));
  CHECK(count(text, "hook ") == 1);
}

TEST_CASE("a reason that is too long is cut") {
  const auto [text, status] = in_child([] {
    static_cast<void>(set_fatal_hook(write_down));
    const std::string much(3 * longest_fatal_reason, 'x');
    end_process(fatal_cause::assertion, {"begin ", much, " end"});
  });
  CHECK(has_aborted(status));
  CHECK(count(text, "x") == 2 * (longest_fatal_reason - std::string_view("begin ").size()));
}

}  // namespace fatal_test
