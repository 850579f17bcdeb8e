// As few coroutines as the check needs to be tested, so that it is read quickly.
#pragma once

#include <coroutine>
#include <string>
#include <utility>

struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

template <class R>
struct response {
  ~response() {}
  bool await_ready() { return true; }
  void await_suspend(std::coroutine_handle<>) {}
  R await_resume() { return {}; }
};

struct order {
  std::string name;
  int number;
};
struct point {
  int x;
  int y;
};
class parcel {
 public:
  explicit parcel(order o) : order_(std::move(o)) {}

 private:
  order order_;
};

template <class Message>
response<int> request(Message&&) {
  return {};
}
template <class Message, class... Args>
response<int> request(Args&&...) {
  return {};
}
inline response<std::string> ask() { return {}; }
inline response<int> helper(order) { return {}; }
inline order made(std::string name) { return {std::move(name), 7}; }
template <class F>
response<int> adapt(F) {
  return {};
}
