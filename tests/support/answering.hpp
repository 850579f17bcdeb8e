// An actor that answers a request in each way that a handler may: for tests of requests.
#pragma once

#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace garrick::tests {

struct value {};
struct failure {};
struct later {};
struct elsewhere {};
struct dropped {};
struct thrown {};
struct delegated_away {};
struct never {};
struct release {};

using answers = protocol<result<int>(value), result<int>(failure), result<int>(later),
                         result<int>(elsewhere), result<int>(dropped), int(thrown),
                         result<int>(delegated_away), result<int>(never), void(release)>;
using source = protocol<int(value)>;

class answering : public actor<answers> {
  std::vector<response_promise<int>> kept_;
  ref<source> other_;
  std::vector<std::thread> threads_;

 public:
  explicit answering(ref<source> other = {}) : other_(std::move(other)) {}
  ~answering() {
    for (std::thread& t : threads_) t.join();
  }
  result<int> on(value) { return 1; }
  result<int> on(failure) { return make_error(errc::user, "answering", "no"); }
  result<int> on(later) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  result<int> on(elsewhere) {
    auto p = make_promise<int>();
    result<int> r(p);
    threads_.emplace_back([p = std::move(p)]() mutable { p.deliver(7); });
    return r;
  }
  result<int> on(dropped) {
    const auto p = make_promise<int>();
    return p;
  }
  int on(thrown) { throw std::runtime_error("out of tea"); }
  result<int> on(delegated_away) { return delegate(other_, value{}); }
  result<int> on(never) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  void on(release) {
    for (auto& p : kept_) p.deliver(42);
    kept_.clear();
  }
};

class hundred : public actor<source> {
 public:
  int on(value) {
    CHECK(sender_id() != 0);
    return 100;
  }
};

}  // namespace garrick::tests
