// An actor on the program's own event loop, here a small loop around poll(). The actor may use the
// objects of the loop's thread, and the loop runs until the system has ended.
#include <garrick/garrick.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

// [loop]
/// Wakes up for the functions that are posted to it, and calls them. A real loop also watches
/// sockets.
class event_loop {
 public:
  event_loop() {
    if (pipe(wake_.data()) != 0) std::perror("pipe");
  }
  ~event_loop() {
    for (const int end : wake_) close(end);
  }
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// Posts a function. Any thread.
  void post(garrick::loop_job job) {
    const std::lock_guard guard(mutex_);
    jobs_.push_back(job);
    if (jobs_.size() == 1 && write(wake_[1], "!", 1) != 1) std::perror("write");
  }

  /// Waits for at most `ms` milliseconds, and calls the posted functions.
  void run_once(int ms) {
    pollfd watched{wake_[0], POLLIN, 0};
    if (poll(&watched, 1, ms) <= 0) return;
    std::vector<garrick::loop_job> due;
    {
      const std::lock_guard guard(mutex_);
      char byte = 0;
      if (read(wake_[0], &byte, 1) != 1) std::perror("read");
      due.swap(jobs_);
    }
    for (const garrick::loop_job& job : due) job();
  }

 private:
  std::array<int, 2> wake_{};
  std::mutex mutex_;
  std::vector<garrick::loop_job> jobs_;  // under `mutex_`
};
// [/loop]

struct show {
  std::string text;
};

/// Draws, which only the main thread may do.
class window : public garrick::actor<garrick::protocol<int(show)>> {
 public:
  int on(const show& s) {
    std::printf("the main thread shows: %s\n", s.text.c_str());
    return ++shown_;
  }

 private:
  int shown_ = 0;
};
using canvas = garrick::protocol<int(show)>;

/// Works on a worker, and sends the result to the window.
class worker : public garrick::actor<garrick::protocol<void(int)>> {
 public:
  explicit worker(garrick::ref<canvas> to) : to_(std::move(to)) {}
  void on(int x) {
    request(to_, show{"the square of " + std::to_string(x) + " is " + std::to_string(x * x)})
        .then([this](int) { quit(); });
  }

 private:
  garrick::ref<canvas> to_;
};

int main() {
  // [spawn]
  event_loop loop;
  garrick::loop_executor on_loop([&loop](garrick::loop_job job) { loop.post(job); });
  garrick::actor_system system;  // made after both, so it ends first
  const auto screen = system.spawn<window>(garrick::spawn_options{.executor = &on_loop});
  // [/spawn]
  send(system.spawn<worker>(screen), 12);
  // [end]
  std::atomic<bool> over{false};
  std::thread end([&] {
    static_cast<void>(system.shutdown(garrick::duration::seconds(10)));
    over = true;
  });
  while (!over) loop.run_once(5);
  end.join();
  // [/end]
}
