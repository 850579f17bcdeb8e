// Processes forked from one with actors: they may allocate and call exec, and other actions are
// refused with a message.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../support/in_child.hpp"

namespace forked_test {

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

/// Actors on a loop that runs when it is told to.
struct loop_fixture {
  std::vector<loop_job> jobs;
  loop_executor executor{[this](loop_job job) { jobs.push_back(job); }};
  std::optional<actor_system> system{std::in_place};

  loop_fixture() = default;
  loop_fixture(const loop_fixture&) = delete;
  loop_fixture& operator=(const loop_fixture&) = delete;
  ~loop_fixture() {
    while (!system->shutdown(duration::milliseconds(1)).complete) run();
  }
  void run() {
    for (const loop_job& j : std::exchange(jobs, {})) j();
  }
  /// Spawns an actor that has begun and waits.
  ref<echo> spawn() {
    auto made = system->spawn<echo_actor>(spawn_options{.executor = &executor});
    run();
    return made;
  }
};

using owing = protocol<result<int>(int), int()>;
/// Leaves its promise with the test.
class owing_actor : public actor<owing> {
 public:
  explicit owing_actor(std::optional<response_promise<int>>* where) : where_(where) {}
  result<int> on(int) { return where_->emplace(make_promise<int>()); }
  int on() const { return where_->has_value() ? 1 : 0; }

 private:
  std::optional<response_promise<int>>* where_;
};

/// An answer that is asked for, and not given yet.
struct owed_answer {
  owed_answer() {
    while (system.request(to).get().value() != 1) std::this_thread::yield();
  }
  /// Gives it, and returns the asker's answer.
  int given() {
    kept->deliver(5);
    return asked.get().value();
  }

  std::optional<response_promise<int>> kept;  // outlives the actor, which looks at it
  actor_system system;
  ref<owing> to = system.spawn<owing_actor>(lent(&kept));
  system::blocking_response<int> asked = system.request(to, 1);
};

/// Waits until the actor is idle: a message to one that still runs, or seems to in the child,
/// causes no wake-up.
void wait_until_idle(const core::handle& who) {
  while ((core::handle_access::get(who)->gate().peek() & core::mailbox_word::idle) == 0)
    std::this_thread::yield();
}

/// The receiver of the sends by the program's own handler before a fork; may be null.
const ref<echo>* told_of_forks = nullptr;

void tell_of_fork() {
  if (told_of_forks != nullptr)
    for (int i = 0; i < 1000; ++i) send(*told_of_forks, i);  // more than a thread has blocks for
}
/// Before the pool is used for the first time.
const int tells_of_forks = ::pthread_atfork(tell_of_fork, nullptr, nullptr);

}  // namespace

TEST_CASE("a handler of the program's own may send before a fork") {
  REQUIRE(tells_of_forks == 0);
  actor_system system;
  const auto told = system.spawn<echo_actor>();
  told_of_forks = &told;
  const auto [text, status] = in_child([] { ::alarm(20); });
  told_of_forks = nullptr;
  CHECK(text == "");
  CHECK(status == 0);
  CHECK(system.request(told, sized{{1}}).get().value() == 1);
}

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
  wait_until_idle(to);
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    send(to, 1);
  });
  CHECK(has_aborted(status));
  CHECK(text.find("in a forked child: a message was sent") != std::string::npos);
  CHECK(text.find("a child may allocate, call exec, and end") != std::string::npos);
}

TEST_CASE("a forked child may drop the last handle of an actor of any kind of runner") {
  loop_fixture loop;
  actor_system& system = *loop.system;
  std::vector<ref<echo>> all;
  all.push_back(system.spawn<echo_actor>());
  all.push_back(system.spawn<echo_actor>(spawn_options{.detached = true}));
  for (const auto& a : all) CHECK(system.request(a, sized{}).get().value() == 0);
  all.push_back(loop.spawn());
  for (const auto& a : all) wait_until_idle(a);
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    all.clear();
    loop.system.reset();
  });
  CHECK(text == "");
  CHECK(status == 0);
}

TEST_CASE("a forked child may drop a promise, an answer that is due and a scoped actor") {
  struct asking : actor<protocol<void(int), int()>> {
    ref<owing> to;
    explicit asking(ref<owing> r) : to(std::move(r)) {}
    void on(int n) {
      request(to, n).then([](int) {});
    }
    int on() { return 1; }
  };
  actor_system parents;
  std::optional<response_promise<int>> kept;
  const auto to = parents.spawn<owing_actor>(lent(&kept));
  const auto a = parents.spawn<asking>(to);
  send(a, 1);
  while (parents.request(to).get().value() != 1) std::this_thread::yield();
  wait_until_idle(a);
  std::optional<core::scoped_actor> me(std::in_place, parents.env());
  std::unique_ptr<system::blocking_response<int>> asked(new auto(parents.request(a)));
  std::optional<message> held(make_message(parents.spawn<echo_actor>()));
  asked->within(duration::seconds(60));
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    kept.reset();
    asked.reset();
    held.reset();
    me.reset();
  });
  CHECK(text == "");
  CHECK(status == 0);
}

TEST_CASE("in a forked child no call waits for an answer") {
  owed_answer o;
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    const error why = o.asked.get().error();
    if (why != errc::would_block) ::_exit(2);
    if (why.to_string().find("fork of the one that made the system") == std::string::npos)
      ::_exit(3);
  });
  CHECK(text == "");
  CHECK(status == 0);
  CHECK(o.given() == 5);
}

TEST_CASE("a limit for an answer asks nothing of the clock's thread in a forked child") {
  owed_answer o;
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    o.asked.within(duration::seconds(60));
    const std::filesystem::directory_iterator threads("/proc/self/task");
    if (std::ranges::distance(threads) != 1) ::_exit(2);
    if (o.asked.get().error() != errc::would_block) ::_exit(3);
  });
  CHECK(text == "");
  CHECK(status == 0);
  CHECK(o.given() == 5);
}

TEST_CASE("a forked child limits an answer, in any state of the clock's thread") {
  owed_answer o;
  std::atomic<bool> over{false};
  std::thread limiting([&] {
    while (!over) static_cast<void>(o.system.request(o.to).within(duration::microseconds(1)).get());
  });
  int bad = 0;
  for (int i = 0; i < 50; ++i) {
    const auto [text, status] = in_child([&] {
      ::alarm(20);
      o.asked.within(duration::seconds(60));
    });
    if (status != 0) ++bad;
  }
  over = true;
  limiting.join();
  CHECK(bad == 0);
  CHECK(o.given() == 5);
}

// A scoped actor must not join, since the list's lock may be held in the copy. An actor that joins
// after the system's end is told to end.
TEST_CASE("a scoped actor of a forked child joins no list of its parent's") {
  std::optional<actor_system> system(std::in_place);
  core::environment& env = system->env();
  const core::scoped_actor holds_environment(env);
  system.reset();
  const auto is_told_to_end = [&] {
    core::scoped_actor me(env);
    const core::cell* const own = core::handle_access::get(me->self());
    return (own->gate().peek() & core::mailbox_word::signal) != 0;
  };
  CHECK(is_told_to_end());
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    if (is_told_to_end()) ::_exit(2);
  });
  CHECK(text == "");
  CHECK(status == 0);
}

TEST_CASE("a job of an actor on a loop is refused in a forked child, and so is a send to it") {
  loop_fixture loop;
  const auto to = loop.spawn();
  const auto [text, status] = in_child([&] {
    ::alarm(20);
    send(to, 1);
  });
  CHECK(has_aborted(status));
  CHECK(text.find("in a forked child: a message was sent") != std::string::npos);
  send(to, 1);
  REQUIRE(loop.jobs.size() == 1);
  const auto [said, end] = in_child([&] {
    ::alarm(20);
    loop.run();
  });
  CHECK(has_aborted(end));
  CHECK(said.find("in a forked child: a loop ran an actor") != std::string::npos);
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

TEST_CASE("a forked child may have a system of its own" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
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

}  // namespace forked_test
