// An I/O thread that a test can block.
#pragma once

#include <garrick/net/transport/io_threads.hpp>

#include <future>
#include <memory>
#include <utility>

namespace garrick::tests {

/// Stops an I/O thread until it is let go.
class held_thread {
 public:
  explicit held_thread(net::io_threads& io) {
    auto held = std::make_shared<std::promise<void>>();
    auto go = std::make_shared<std::future<void>>(go_.get_future());
    is_held_ = held->get_future();
    io.post(0, [held, go] {
      held->set_value();
      go->wait();
    });
  }
  ~held_thread() { let_go(); }
  void wait() const { is_held_.wait(); }
  void let_go() {
    if (!std::exchange(is_free_, true)) go_.set_value();
  }

 private:
  std::promise<void> go_;
  std::future<void> is_held_;
  bool is_free_ = false;
};

}  // namespace garrick::tests
