// Operations on empty handles and with empty functions say so where they are called.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>

#include "support/in_child.hpp"

namespace empty_handles_test {

namespace {

using namespace garrick;
using garrick::tests::in_child;

/// Makes the call of that name with an empty handle.
struct careless : actor<protocol<int(std::string)>> {
  int on(const std::string& what) {
    if (what == "link()") link(any_ref());
    if (what == "monitor()") static_cast<void>(monitor(any_ref()));
    if (what == "monitor() with a function")
      static_cast<void>(monitor(any_ref(), [](const down&) {}));
    return 0;
  }
};

/// Fails each request with no error.
struct failing_with_nothing : actor<protocol<int(int), int(std::string)>> {
  result<int> on(const std::string&) { return error{}; }
  result<int> on(int) {
    auto p = make_promise<int>();
    p.fail(error{});
    return p;
  }
};

template <class Message>
std::string text_of_failure_with(Message m) {
  const auto [text, status] = in_child([&] {
    actor_system system;
    static_cast<void>(system.request(system.spawn<failing_with_nothing>(), m).get());
  });
  CHECK(WIFSIGNALED(status));
  return text;
}

}  // namespace

TEST_CASE("to end, link or monitor through an empty handle is an error of the call") {
  testkit::test_system system;
  CHECK_THROWS_WITH_AS(system.kill(any_ref()),
                       "garrick: kill() through an empty handle; give the handle an actor first",
                       std::logic_error);
  CHECK_THROWS_WITH_AS(system.exit(any_ref()),
                       "garrick: exit() through an empty handle; give the handle an actor first",
                       std::logic_error);
  for (const char* what : {"link()", "monitor()", "monitor() with a function"}) {
    const error why = system.request(system.spawn<careless>(), std::string(what)).get().error();
    CHECK(why == errc::receiver_failed);
    CHECK(why.to_string().find("() through an empty handle") != std::string::npos);
  }
}

TEST_CASE("an empty handle cannot subscribe to dead letters") {
  actor_system system;
  CHECK_THROWS_WITH_AS(
      system.dead_letters().subscribe({}),
      "garrick: subscribe() through an empty handle; give the handle an actor first",
      std::logic_error);
}

TEST_CASE("a loop that has no function to post with is refused") {
  using post = std::function<void(loop_job)>;
  CHECK_THROWS_AS(loop_executor{post()}, std::logic_error);
  CHECK_THROWS_AS(loop_executor{static_cast<void (*)(loop_job)>(nullptr)}, std::logic_error);
  const loop_executor loop(post([](loop_job) {}));
}

TEST_CASE("to fail without an error ends the process, and says which function was given none") {
  CHECK(text_of_failure_with(1).find("fail() of a response_promise") != std::string::npos);
  CHECK(text_of_failure_with(std::string()).find("a result was made of error{}") !=
        std::string::npos);
}

}  // namespace empty_handles_test
