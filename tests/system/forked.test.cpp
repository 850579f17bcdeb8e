// Processes forked from one with actors: they may allocate and call exec, and are told what they
// may not do.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../support/in_child.hpp"

namespace {

using namespace garrick;
using tests::has_aborted;
using tests::in_child;

struct sized {
  std::vector<int> numbers;
};
using echo = protocol<int(sized), void(int)>;

class echo_actor : public actor<echo> {
 public:
  int on(const sized& s) { return static_cast<int>(s.numbers.size()); }
  void on(int) {}
};

/// Forks on its own turn, and lets the child return from the handler.
class forking_actor : public actor<protocol<int(int)>> {
 public:
  int on(int) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (const int s : {SIGSEGV, SIGABRT, SIGBUS}) std::signal(s, SIG_DFL);
      ::alarm(20);  // a child that hangs dies of it
      return 0;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return has_aborted(status) ? 1 : 2;
  }
};

}  // namespace

TEST_CASE("200 children allocate and call exec while actors work" * doctest::skip(HAS_SANITIZER)) {
  settings o;
  o.scheduler.workers = 2;
  actor_system system(o);
  const auto worker = system.spawn<echo_actor>();
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) {
      if (system.request(worker, sized{std::vector<int>(100)}).get().value() != 100) std::abort();
    }
  });
  int failed = 0;
  for (int i = 0; i < 200 && failed == 0; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::alarm(20);
      { const auto m = make_message(sized{std::vector<int>(1000)}); }
      if (i % 4 == 0) ::execl("/bin/true", "true", nullptr);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    failed += status != 0;
  }
  over = true;
  busy.join();
  CHECK(failed == 0);
}

TEST_CASE("a spawn in a forked child fails and says why, and so does waiting for the system") {
  actor_system system;
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    const auto spawned = system.try_spawn<echo_actor>();
    const std::string why = spawned ? "" : spawned.error().to_string();
    if (spawned.error() != errc::spawn_failed) ::_exit(2);
    if (why.find("fork of the one that made the system") == std::string::npos) ::_exit(3);
    if (system.await_all().error() != errc::would_block) ::_exit(4);
    if (system.shutdown(duration::seconds(1)).complete) ::_exit(5);
    if (system.stop_now(duration::seconds(1)).error != errc::would_block) ::_exit(6);
  });
  CHECK(text == "");
  CHECK(status == 0);
}

TEST_CASE("a send in a forked child ends it with a sentence") {
  actor_system system;
  const auto to = system.spawn<echo_actor>();
  CHECK(system.request(to, sized{}).get().value() == 0);
  // A message to an actor that still runs, or seems to in the child, wakes nobody.
  while ((core::handle_access::get(to)->gate().peek() & core::mailbox_word::idle) == 0)
    std::this_thread::yield();
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    send(to, 1);
  });
  CHECK(has_aborted(status));
  CHECK(text.find("in a forked child: a message was sent") != std::string::npos);
  CHECK(text.find("a child may allocate, call exec, and end") != std::string::npos);
}

TEST_CASE("a forked child may leave the block that made the system") {
  auto system = std::make_unique<actor_system>();
  const auto to = system->spawn<echo_actor>();
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    system.reset();
  });
  CHECK(text == "");
  CHECK(status == 0);
}

TEST_CASE("a child that was forked in a handler does not run on as a worker") {
  actor_system system;
  const auto event = system.spawn<forking_actor>();
  CHECK(system.request(event, 1).get().value() == 1);
  const auto detached = system.spawn<forking_actor>(spawn_options{.detached = true});
  CHECK(system.request(detached, 1).get().value() == 1);
}

TEST_CASE("a forked child may have a system of its own" * doctest::skip(HAS_SANITIZER)) {
  actor_system system;
  const auto parents = system.spawn<echo_actor>();
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    actor_system own;
    const auto to = own.spawn<echo_actor>();
    if (own.request(to, sized{std::vector<int>(3)}).get().value() != 3) ::_exit(2);
  });
  CHECK(text == "");
  CHECK(status == 0);
}
