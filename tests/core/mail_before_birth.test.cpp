// Mail for an actor whose object is being built waits until the object is built.
#include <doctest/doctest.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <garrick/core/supervision/supervisor.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/quiet.hpp"

namespace mail_before_birth_test {

namespace {

using namespace garrick;
using tests::quiet;

/// A loop that counts how often an actor is handed to it.
struct counting_loop {
  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::atomic<int> jobs{0};
  loop_executor executor{[this](loop_job job) {
    ++jobs;
    boost::asio::post(io, job);
  }};
  std::thread thread{[this] { io.run(); }};

  ~counting_loop() {
    work.reset();
    thread.join();
  }
};

/// The sender of its first message, the messages that it sees meanwhile, and its fate.
struct plan {
  bool sends_itself = true;
  bool throws = false;
  std::atomic<int>* jobs = nullptr;
  std::shared_ptr<std::atomic<int>> early = std::make_shared<std::atomic<int>>(0);
};

struct hello {};
struct how_many {};
using greeted = protocol<void(hello), int(how_many)>;

class newborn : public actor<greeted> {
 public:
  explicit newborn(const std::shared_ptr<plan>& p) : early_(p->early) {
    const int before = p->jobs->load();
    if (p->sends_itself)
      send(self(), hello{});
    else
      std::thread([me = self()] { core::send(me, hello{}); }).join();
    *p->early += p->jobs->load() - before;
    is_built_ = true;
    if (p->throws) throw std::runtime_error("it does not stand");
  }
  void on(hello) {
    *early_ += !is_built_;
    ++greetings_;
  }
  int on(how_many) const { return greetings_; }

 private:
  std::shared_ptr<std::atomic<int>> early_;
  bool is_built_ = false;
  int greetings_ = 0;
};

}  // namespace

TEST_CASE("mail before birth waits until the object stands, from any sender") {
  counting_loop loop;
  const spawn_options there{.executor = &loop.executor};
  for (const bool itself : {true, false})
    for (const bool supervised : {false, true}) {
      CAPTURE(itself);
      CAPTURE(supervised);
      actor_system system(quiet());
      const auto p = std::make_shared<plan>();
      p->sends_itself = itself;
      p->jobs = &loop.jobs;
      const auto top = system.spawn<supervisor>();
      const ref<greeted> a = supervised
                                 ? supervise<newborn>(top, child_options{.spawn = there}, lent(p))
                                 : system.spawn<newborn>(there, lent(p));
      CHECK(system.request(a, how_many{}).get().value() == 1);
      CHECK(*p->early == 0);
    }
}

TEST_CASE("mail before birth: one job for all of it, and none for an actor without mail") {
  boost::asio::io_context io;
  int jobs = 0;
  loop_executor loop([&](loop_job job) {
    ++jobs;
    boost::asio::post(io, job);
  });
  std::atomic<int> unused{0};
  const auto p = std::make_shared<plan>();
  p->jobs = &unused;
  actor_system system(quiet());
  {
    const ref<greeted> a = system.spawn<newborn>(spawn_options{.executor = &loop}, lent(p));
    CHECK(jobs == 1);
    io.run();
    CHECK(jobs == 1);
    send(a, hello{});
    CHECK(jobs == 2);
    io.restart();
    io.run();
  }
  io.restart();
  io.run();
  // There is no handle to it, so it has ended in a job of its own.
  CHECK(jobs == 3);
}

TEST_CASE("mail before birth is lost with an actor if its constructor throws") {
  counting_loop loop;
  actor_system system(quiet());
  const auto p = std::make_shared<plan>();
  p->throws = true;
  p->jobs = &loop.jobs;
  const auto made = system.try_spawn<newborn>(spawn_options{.executor = &loop.executor}, lent(p));
  REQUIRE_FALSE(made);
  CHECK(made.error() == errc::spawn_failed);
  CHECK(loop.jobs == 0);
}

}  // namespace mail_before_birth_test
