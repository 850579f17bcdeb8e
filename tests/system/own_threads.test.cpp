// Threads of detached and blocking actors at their bound: an actor that is told of another's end
// finds its thread free for the next one.
#include <garrick/garrick.hpp>

#include <doctest/doctest.h>

#include <utility>

namespace own_threads_test {

using namespace garrick;

namespace {

constexpr int rounds = 300;

struct leave {};
using leaving = protocol<void(leave)>;

class leaver : public actor<leaving> {
 public:
  void on(leave) { quit(); }
};

settings one_thread() {
  settings s;
  s.scheduler.workers = 2;
  s.detached.threads = 1;
  return s;
}

struct begin {};
using chaining = protocol<void(begin), void(down)>;

/// Spawns the next one when it hears that the last one has ended, and counts refusals.
class chain : public actor<chaining> {
 public:
  explicit chain(int& refused) : refused_(refused) {}
  void on(begin) { next(); }
  void on(const down&) {
    if (--left_ == 0) return quit();
    next();
  }

 private:
  void next() {
    const auto made = try_spawn<leaver>(spawn_options{.detached = true});
    if (!made) {
      ++refused_;
      return quit();
    }
    monitor(*made);
    send(*made, leave{});
  }
  int& refused_;
  int left_ = rounds;
};

}  // namespace

TEST_CASE("a thread that waits for the end of a detached actor finds its thread free") {
  actor_system system(one_thread());
  int refused = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto made = system.try_spawn<leaver>(spawn_options{.detached = true});
    if (made)
      send(*made, leave{});
    else
      ++refused;
    system.await_all().value();
  }
  CHECK(refused == 0);
}

TEST_CASE("an actor that hears that a detached actor is down finds its thread free") {
  int refused = 0;
  {
    actor_system system(one_thread());
    send(system.spawn<chain>(lent(refused)), begin{});
    system.await_all().value();
  }
  CHECK(refused == 0);
}

TEST_CASE("one thread serves blocking actors one behind the other") {
  actor_system system(one_thread());
  const auto wait_for_one = [](blocking_actor& self) { self.receive([](int) {}); };
  for (int i = 0; i < rounds; ++i) {
    const any_ref made = system.spawn(wait_for_one);
    send(made, 1);
    system.await_all().value();
  }
  CHECK(system.dead_letter_count() == 0);
}

}  // namespace own_threads_test
