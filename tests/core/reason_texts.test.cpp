// The reason of an actor's end, and its work at that time: the words reach requesters and waiting
// callers.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/in_child.hpp"

namespace reason_texts_test {

namespace {

using namespace garrick;

struct value {};
struct failure {};
struct later {};
struct thrown {};

}  // namespace

TEST_CASE("requesters that waited, and those that ask later, are told the text of the reason") {
  testkit::test_system kit(1);
  struct faulty
      : actor<protocol<result<int>(value), void(failure), result<int>(later), void(thrown)>> {
    std::vector<response_promise<int>> kept;
    result<int> on(value) { return 1; }
    void on(failure) { quit(make_error(errc::user, "stove", "out of gas")); }
    result<int> on(later) {
      kept.push_back(make_promise<int>());
      return kept.back();
    }
    void on(thrown) { throw std::runtime_error("out of tea"); }
  };
  const auto says = [](const auto& answer, errc code, const char* text) {
    return answer.error() == code && answer.error().detail().find(text) != std::string_view::npos;
  };
  for (const bool throws : {true, false}) {
    const char* const text = throws ? "out of tea" : "stove: out of gas";
    const auto a = kit.spawn<faulty>();
    core::scoped_actor me(kit.env());
    auto promised = me->request(a, later{});
    if (throws)
      send(a, thrown{});
    else
      send(a, failure{});
    auto queued = me->request(a, value{});
    CHECK(says(me->get(std::move(promised)), errc::receiver_failed, text));
    CHECK(says(me->get(std::move(queued)), errc::not_handled, text));
    CHECK(says(me->get(me->request(a, value{})), errc::not_handled, text));
  }
  struct no_start : actor<protocol<int(value)>> {
    void on_start() { throw std::runtime_error("no kitchen"); }
    int on(value) { return 1; }
  };
  const auto b = kit.spawn<no_start>();
  CHECK(says(kit.request(b, value{}).get(), errc::not_handled, "no kitchen"));
  struct no_object : actor<protocol<int(value)>> {
    no_object() { throw std::runtime_error("no house"); }
    int on(value) { return 1; }
  };
  CHECK(says(kit.request(kit.spawn<no_object>(), value{}).get(), errc::not_handled, "no house"));
}

TEST_CASE(
    "a spawn's error and the answer of an actor that ended well carry no text that is not there") {
  testkit::test_system kit(1);
  struct leaving : actor<protocol<int(value)>> {
    int on(value) {
      quit();
      return 1;
    }
  };
  const auto a = kit.spawn<leaving>();
  CHECK(kit.request(a, value{}).get().value() == 1);
  CHECK(kit.request(a, value{}).get().error().detail().empty());
}

namespace {

struct latch {
  std::atomic<bool> entered{false}, open{false};
  void hold() {
    entered = true;
    entered.notify_all();
    open.wait(false);
  }
};

struct quick : actor<protocol<int(value)>> {
  int on(value) { return 1; }
};
struct go {};
struct hangs_in_then : actor<protocol<void(go)>> {
  latch* l;
  ref<protocol<int(value)>> other;
  hangs_in_then(latch* x, ref<protocol<int(value)>> o) : l(x), other(std::move(o)) {}
  void on(go) {
    request(other, value{}).then([this](int) { l->hold(); });
  }
};
struct hangs_after_co_await : actor<protocol<void(go)>> {
  latch* l;
  explicit hangs_after_co_await(latch* x) : l(x) {}
  task<> on(go) {
    static_cast<void>(co_await delay(duration::microseconds(1)));
    l->hold();
  }
};

/// Returns the text about the actor of a shutdown that gives up.
template <class A, class... Args>
std::string said_of(actor_system& system, latch& l, Args... args) {
  const auto a = system.spawn<A>(spawn_options{.name = "busy"}, lent(&l), args...);
  send(a, go{});
  l.entered.wait(false);
  const auto report = system.shutdown(duration::milliseconds(5));
  l.open = true;
  l.open.notify_all();
  for (const std::string& who : report.still_alive)
    if (who.starts_with("busy#")) return who;
  return {};
}

}  // namespace

TEST_CASE("an actor that is stuck in the continuation of a request is said to be in a response") {
  latch l;
  actor_system system;
  CHECK(said_of<hangs_in_then>(system, l, system.spawn<quick>())
            .ends_with(" in its handler of a response (int)"));
}

TEST_CASE("an actor that is stuck after a co_await is said to be in a response") {
  latch l;
  actor_system system;
  CHECK(said_of<hangs_after_co_await>(system, l).ends_with(
      " in its handler of a response without content"));
}

TEST_CASE("the handler that comes after a response is named by its message again") {
  struct both : actor<protocol<void(go), void(value)>> {
    latch* l;
    ref<protocol<int(value)>> other;
    both(latch* x, ref<protocol<int(value)>> o) : l(x), other(std::move(o)) {}
    void on(go) {
      request(other, value{}).then([this](int) { send(self(), value{}); });
    }
    void on(value) { l->hold(); }
  };
  latch l;
  actor_system system;
  const std::string said = said_of<both>(system, l, system.spawn<quick>());
  CHECK(said.find(" in its handler of ") != std::string::npos);
  CHECK(said.find("response") == std::string::npos);
}

TEST_CASE("an error keeps its code if there is no memory for its text" *
          doctest::skip(HAS_SANITIZER)) {
  const std::string_view endless("text", std::size_t{1} << 62);  // its length is all that is read
  const garrick::error e(garrick::errc::timeout, "where", endless);
  CHECK(e == garrick::errc::timeout);
  CHECK(e.detail().empty());
}

}  // namespace reason_texts_test
