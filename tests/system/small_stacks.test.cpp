// Threads with stacks of 128 KiB, musl's default: Garrick's own work on a thread fits there with
// much to spare, and floods within floods stop in time.
#include <doctest/doctest.h>
#include <pthread.h>
#include <garrick/garrick.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/in_child.hpp"

namespace small_stacks_test {

namespace {

using namespace garrick;
using namespace std::chrono_literals;

constexpr std::size_t small_stack = std::size_t{128} * 1024;

/// Gives a small stack to every later thread that asks for no size.
void make_stacks_small() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, small_stack);
  if (pthread_setattr_default_np(&small) != 0) ::_exit(2);
  pthread_attr_destroy(&small);
}

struct fail {};
struct question {
  int number;
};
using worker = protocol<void(fail), result<std::string>(question)>;

/// Fails when it is told to, and answers a little later than it is asked.
class worker_actor : public actor<worker> {
 public:
  void on(fail) { throw std::runtime_error("as it was told"); }
  result<std::string> on(question q) {
    if (q.number % 2 == 0) return std::to_string(q.number);
    later_.push_back(make_promise<std::string>());
    send_after(1ms, self(), question{0});
    auto all = std::exchange(later_, {});
    for (auto& p : all) p.deliver(std::to_string(q.number));
    return all.back();
  }

 private:
  std::vector<response_promise<std::string>> later_;
};

/// Asks, in a coroutine, and says how many answers there were.
class asker : public actor<protocol<int(int)>> {
 public:
  explicit asker(ref<worker> of) : of_(std::move(of)) {}
  task<int> on(int questions) {
    int answered = 0;
    for (int i = 0; i < questions; ++i)
      if ((co_await request(of_, question{i}, 10s)).has_value()) ++answered;
    co_return answered;
  }

 private:
  ref<worker> of_;
};

class detached_echo : public actor<protocol<int(int)>> {
 public:
  int on(int n) { return n; }
};

using numbers = protocol<void(std::uint64_t)>;

/// Passes the first message on, many times.
class stage : public actor<numbers> {
 public:
  stage(ref<numbers> to, std::uint64_t each) : to_(std::move(to)), each_(each) {}
  void on(std::uint64_t i) {
    if (i == 0)
      for (std::uint64_t k = 0; k < each_; ++k) send(to_, k);
  }

 private:
  ref<numbers> to_;
  std::uint64_t each_;
};

class sink : public actor<numbers> {
 public:
  explicit sink(std::uint64_t* count) : count_(count) {}
  void on(std::uint64_t) { ++*count_; }

 private:
  std::uint64_t* count_;
};

/// A chain of actors each of which floods the next one.
constexpr std::uint32_t soft_limit = 16;
constexpr std::uint64_t flood = 3 * soft_limit;
constexpr int stages = 3'000;

ref<numbers> chain(actor_system& system, std::uint64_t* count) {
  ref<numbers> first = system.spawn<sink>(lent(count));
  for (int i = 0; i < stages; ++i) first = system.spawn<stage>(first, flood);
  return first;
}

settings flooded() {
  settings o;
  o.scheduler.workers = 1;
  o.mailbox.soft_limit = soft_limit;
  o.mailbox.full_wait = {};
  return o;
}

}  // namespace

TEST_CASE("small stacks: requests, time-outs, failures, restarts, logs and detached actors fit") {
  const auto [text, status] = tests::in_child([] {
    make_stacks_small();
    int answered = 0;
    {
      settings o;
      o.scheduler.workers = 2;
      actor_system system(o);
      const auto top = system.spawn<supervisor>(supervision{.max_restarts = 100});
      const auto busy = supervise<worker_actor>(top, child_options{.name = "busy"});
      const auto asks = system.spawn<asker>(busy);
      const auto aside = system.spawn<detached_echo>(spawn_options{.detached = true});
      for (int i = 0; i < 20; ++i) {
        send(busy, fail{});
        answered += system.request(asks, 10).get().value();
        answered += system.request(aside, 1).get().value();
      }
    }
    ::_exit(answered == 20 * 11 ? 0 : 3);
  });
  CAPTURE(text);
  CHECK(status == 0);
  CHECK(text.find("as it was told") != std::string::npos);  // the failures were logged
}

TEST_CASE("small stacks: floods within floods use no more than half of a stack") {
  const auto [text, status] = tests::in_child([] {
    make_stacks_small();
    std::uint64_t count = 0;
    {
      actor_system system(flooded());
      send(chain(system, &count), std::uint64_t{0});
    }
    ::_exit(count == flood ? 0 : 3);
  });
  CAPTURE(text);
  CHECK(status == 0);
}

}  // namespace small_stacks_test
