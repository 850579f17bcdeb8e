// A requester's use of its responses: then and await, time-outs, and responses that come early,
// that are not wanted, or that are used twice.
#include "support/answering.hpp"

#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace responses_test {

namespace {

using namespace garrick;
using namespace garrick::tests;

struct ask {
  int times = 1;
};
struct ping {
  int n;
};
using asker = protocol<result<std::vector<int>>(ask), void(ping)>;

class then_actor : public actor<asker> {
  ref<answers> to_;
  std::vector<int> log_;
  response_promise<std::vector<int>> done_;

 public:
  explicit then_actor(ref<answers> to) : to_(std::move(to)) {}
  result<std::vector<int>> on(ask) {
    done_ = make_promise<std::vector<int>>();
    request(to_, later{}).then([this](int x) {
      log_.push_back(x);
      done_.deliver(log_);
    });
    send(self(), ping{1});
    return done_;
  }
  void on(ping p) {
    log_.push_back(p.n);
    send(to_, release{});
  }
};

TEST_CASE("then: other messages flow while the answer is awaited") {
  actor_system system;
  const auto a = system.spawn<then_actor>(system.spawn<answering>());
  CHECK(system.request(a, ask{}).get().value() == std::vector<int>{1, 42});
}

class await_actor : public actor<asker> {
  ref<answers> to_;
  std::vector<int> log_;
  response_promise<std::vector<int>> done_;

 public:
  explicit await_actor(ref<answers> to) : to_(std::move(to)) {}
  result<std::vector<int>> on(ask) {
    done_ = make_promise<std::vector<int>>();
    send(self(), ping{1});
    send(self(), ping{2});
    send(self(), ping{3});
    // the outer await must be answered first, then the inner, and only then the pings come, in
    // their order
    request(to_, value{}).await([this](int x) {
      log_.push_back(x);
      request(to_, delegated_away{}).await([this](int y) { log_.push_back(y); });
    });
    return done_;
  }
  void on(ping p) {
    log_.push_back(p.n);
    if (p.n == 3) done_.deliver(log_);
  }
};

TEST_CASE("await: everything else waits and is tried again in order, also when awaits are nested") {
  actor_system system;
  const auto a = system.spawn<await_actor>(system.spawn<answering>(system.spawn<hundred>()));
  CHECK(system.request(a, ask{}).get().value() == std::vector<int>{1, 100, 1, 2, 3});
}

class double_await : public actor<asker> {
  ref<answers> to_;
  std::vector<int> log_;
  response_promise<std::vector<int>> done_;

 public:
  explicit double_await(ref<answers> to) : to_(std::move(to)) {}
  result<std::vector<int>> on(ask) {
    done_ = make_promise<std::vector<int>>();
    send(self(), ping{3});
    request(to_, value{}).await([this](int x) { log_.push_back(x); });
    request(to_, delegated_away{}).await([this](int x) { log_.push_back(x); });
    return done_;
  }
  void on(ping p) {
    log_.push_back(p.n);
    done_.deliver(log_);
  }
};

TEST_CASE(
    "two awaits of one handler: the newest is answered first, then the older, then the mail") {
  actor_system system;
  const auto a = system.spawn<double_await>(system.spawn<answering>(system.spawn<hundred>()));
  CHECK(system.request(a, ask{}).get().value() == std::vector<int>{100, 1, 3});
}

TEST_CASE("await with a time-out goes on with the mail afterwards") {
  actor_system system;
  const auto silent = system.spawn<answering>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, const ref<answers>& to) -> behavior {
        auto log = std::make_shared<std::vector<int>>();
        return {[&self, to, log](const std::string&) {
                  self.request(to, never{}, duration::milliseconds(2))
                      .await(
                          [](int) {},
                          [log](const error& e) { log->push_back(e == errc::timeout ? -1 : -2); });
                },
                [log](int x) {
                  log->push_back(x);
                  return *log;
                }};
      },
      silent);
  send(a, std::string("go"));
  CHECK(system.request_as<std::vector<int>>(a, 5).get().value() == std::vector<int>{-1, 5});
}

TEST_CASE("unhandled error response ends the requester with that error") {
  actor_system system;
  const auto failing = system.spawn<answering>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, const ref<answers>& to) -> behavior {
        return {[&self, to](int) { self.request(to, failure{}).then([](int) {}); }};
      },
      failing);
  send(a, 1);
  core::scoped_actor me(system.env());
  exit_reason why;
  bool heard = false;
  me->monitor(a, [&](const down& d) {
    why = d.reason;
    heard = true;
  });
  while (!heard) me->receive(after(duration::milliseconds(1)) >> [] {});
  CHECK(why.as_error() == errc::user);
  CHECK(why.detail() == "answering: no");
}

TEST_CASE("request without its response object is sent, its answer is ignored") {
  actor_system system;
  const auto target = system.spawn<answering>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, const ref<answers>& to) -> behavior {
        return {[&self, to](int x) {
          static_cast<void>(self.request(to, value{}));
          static_cast<void>(self.request(to, failure{}));
          static_cast<void>(self.request(to, never{}, duration::milliseconds(1)));
          return x;
        }};
      },
      target);
  CHECK(system.request_as<int>(a, 3).get().value() == 3);
  CHECK(system.request_as<int>(a, 4).get().value() == 4);
  static_cast<void>(system.request(target, value{}));  // from a thread, too
  CHECK(system.dead_letter_count() == 0);
}

// A response that comes before it is waited for is kept with its request.
class early : public actor<protocol<void(ask), result<int>(value)>> {
  ref<answers> to_;
  std::vector<pending_response<int>> pending_;

 public:
  explicit early(ref<answers> to) : to_(std::move(to)) {}
  void on(ask a) {
    for (int i = 0; i < a.times; ++i)
      pending_.push_back(request(to_, value{}).within(duration::milliseconds(200)));
  }
  result<int> on(value) {
    auto p = make_promise<int>();
    result<int> r(p);
    auto first = std::move(pending_.back());
    pending_.pop_back();
    std::move(first).await([p = std::move(p)](int x) mutable { p.deliver(x); });
    return r;
  }
};

TEST_CASE(
    "early response is kept until it is awaited, and a time-out on its heels changes nothing") {
  testkit::test_system kit;
  const auto target = kit.spawn<answering>();
  const auto a = kit.spawn<early>(target);
  auto asked = kit.request(a, ask{2});
  kit.run();
  CHECK(asked.get().has_value());  // both requests are answered
  // the first is taken before its time-out
  CHECK(kit.request(a, value{}).get().value() == 1);
  // the other's time-out passes meanwhile
  kit.run_for(duration::milliseconds(220));
  CHECK(kit.request(a, value{}).get().value() == 1);
}

TEST_CASE("early time-out is kept, too, and the late answer changes nothing") {
  testkit::test_system kit;
  const auto target = kit.spawn<answering>();
  const any_ref a = kit.spawn(
      [](dynamic_actor& self, const ref<answers>& to) -> behavior {
        auto kept = std::make_shared<std::vector<pending_response<int>>>();
        return {[&self, to, kept](ask) {
                  kept->push_back(self.request(to, later{}, duration::milliseconds(2)));
                },
                [&self, kept](value) {
                  auto p = std::make_shared<response_promise<bool>>(self.make_promise<bool>());
                  std::move(kept->back())
                      .then([p](int) { p->deliver(false); },
                            [p](const error& e) { p->deliver(e == errc::timeout); });
                  return result<bool>(*p);
                }};
      },
      target);
  CHECK(kit.request_as<>(a, ask{}).get().has_value());
  kit.run_for(duration::milliseconds(20));
  send(target, release{});
  kit.run();
  CHECK(kit.request_as<bool>(a, value{}).get().value());
}

TEST_CASE("several requests may be under way at once") {
  actor_system system;
  const auto target = system.spawn<answering>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, const ref<answers>& to) -> behavior {
        return {[&self, to](int n) {
          auto sum = std::make_shared<int>(0);
          auto left = std::make_shared<int>(n);
          auto p = std::make_shared<response_promise<int>>(self.make_promise<int>());
          for (int i = 0; i < n; ++i)
            self.request(to, value{}).then([=](int x) {
              *sum += x;
              if (--*left == 0) p->deliver(*sum);
            });
          return result<int>(*p);
        }};
      },
      target);
  CHECK(system.request_as<int>(a, 1000).get().value() == 1000);
}

struct use_twice {};
struct use_again {};
class careless : public actor<protocol<void(use_twice), void(use_again), void(value)>> {
  ref<answers> other_;
  std::vector<std::string>* seen_;
  std::optional<pending_response<int>> response_;

  void use(const char* which) {
    std::move(*response_)
        .then([this, which](int x) { seen_->push_back(which + std::to_string(x)); },
              [this, which](const error& e) { seen_->push_back(which + e.to_string()); });
  }

 public:
  careless(ref<answers> other, std::vector<std::string>* seen)
      : other_(std::move(other)), seen_(seen) {}
  void on(use_twice) {
    response_.emplace(request(other_, value{}));
    use("first: ");
    use("second: ");
  }
  void on(use_again) {
    use("third: ");
    static_cast<void>(std::move(*response_).within(duration::seconds(1)));
  }
  task<> on(value) {
    const result<int> x = co_await std::move(*response_);
    seen_->push_back(x ? "a value" : "fourth: " + x.error().to_string());
  }
};

TEST_CASE(
    "a response that is used twice gives the second use an error, before and after its answer has "
    "come") {
  testkit::test_system kit(1);
  std::vector<std::string> seen;
  const auto a = kit.spawn<careless>(kit.spawn<answering>(), lent(&seen));
  send(a, use_twice{});
  kit.run();
  send(a, use_again{});
  send(a, value{});
  kit.run();
  const std::string why =
      "the request was cancelled: response: it was taken before: each is used once";
  CHECK(seen ==
        std::vector<std::string>{"second: " + why, "first: 1", "third: " + why, "fourth: " + why});
  CHECK(kit.timers_pending() == 0);
  kit.expect_alive(a);
}

}  // namespace

}  // namespace responses_test
