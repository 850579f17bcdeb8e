// Requests: values, errors, promises and delegations; then and await; time-outs; each request
// error.
//
// long: all cases ask the same answering actor.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace garrick;

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

TEST_CASE("result may be a value, an error, a promise kept later or elsewhere, or a delegation") {
  actor_system system;
  const auto a = system.spawn<answering>(system.spawn<hundred>());
  CHECK(system.request(a, value{}).get().value() == 1);
  CHECK(system.request(a, failure{}).get().error().detail() == "answering: no");
  auto waits = system.request(a, later{});
  send(a, release{});
  CHECK(waits.get().value() == 42);
  CHECK(system.request(a, elsewhere{}).get().value() == 7);
  CHECK(system.request(a, delegated_away{}).get().value() == 100);
}

TEST_CASE("dropped promise answers broken_promise") {
  actor_system system;
  const auto a = system.spawn<answering>();
  CHECK(system.request(a, dropped{}).get().error() == errc::broken_promise);
}

TEST_CASE("handler that throws answers receiver_failed with the exception's text") {
  actor_system system({.log = {.level = system::log_level::off}});
  const auto a = system.spawn<answering>();
  const error why = system.request(a, thrown{}).get().error();
  CHECK(why == errc::receiver_failed);
  CHECK(why.detail().find("out of tea") != std::string_view::npos);
  REQUIRE(system.await_all().has_value());
  CHECK(system.request(a, value{}).get().error() == errc::receiver_gone);
}

TEST_CASE(
    "promise held by a failing actor answers receiver_failed, by an ending one receiver_gone") {
  actor_system system({.log = {.level = system::log_level::off}});
  const auto a = system.spawn<answering>();
  auto waits = system.request(a, later{});
  CHECK(system.request(a, thrown{}).get().error() == errc::receiver_failed);
  CHECK(waits.get().error() == errc::receiver_failed);
  const auto b = system.spawn<answering>();
  auto also_waits = system.request(b, later{});
  system.exit(b);
  CHECK(also_waits.get().error() == errc::receiver_gone);
}

TEST_CASE("a request without an answer ends in a time-out") {
  actor_system system;
  const auto a = system.spawn<answering>();
  CHECK(system.request(a, never{}, duration::milliseconds(2)).get().error() == errc::timeout);
  // the last argument may be any chrono duration
  CHECK(system.request(a, value{}, duration::seconds(30)).get().value() == 1);
  // the late answer is ignored
  send(a, release{});
  CHECK(system.request(a, value{}).get().value() == 1);
  CHECK(system.dead_letter_count() == 0);
}

using sleeper = protocol<duration(std::string, duration)>;

TEST_CASE("a duration that the protocol takes is an argument, not a time-out") {
  actor_system system;
  const auto a = system.spawn([](typed_actor<sleeper>&) -> typed_behavior<sleeper> {
    return {[](const std::string&, duration d) { return d; }};
  });
  CHECK(system.request(a, std::string("x"), duration::seconds(3)).get().value() ==
        duration::seconds(3));
  CHECK(system.request(a, std::string("x"), duration::seconds(3), duration::seconds(60))
            .get()
            .value() == duration::seconds(3));
}

TEST_CASE("request to an ended actor is receiver_gone") {
  actor_system system;
  const auto a = system.spawn<answering>();
  system.exit(a);
  REQUIRE(system.await_all().has_value());
  CHECK(system.request(a, value{}).get().error() == errc::receiver_gone);
  CHECK(system.dead_letter_count(errc::receiver_gone) == 1);
}

TEST_CASE("request to a full mailbox is overload") {
  actor_system system;
  const any_ref a = system.spawn(spawn_options{.soft_limit = 4, .hard_limit = 8},
                                 [](dynamic_actor& self) -> behavior {
                                   self.set_unmatched(unmatched::skip);  // nothing is consumed
                                   return {[](double) {}};
                                 });
  for (int i = 0; i < 8; ++i) send(a, i);
  CHECK(system.request_as<int>(a, 9).get().error() == errc::overload);
  CHECK(system.dead_letter_count(errc::overload) >= 1);
}

TEST_CASE("too many outstanding requests of one actor are overload") {
  settings o;
  o.requests.outstanding_limit = 2;
  actor_system system(o);
  const auto target = system.spawn<answering>();
  const any_ref a = system.spawn(
      [](dynamic_actor& self, const ref<answers>& to) -> behavior {
        return {[&self, to](int) {
          auto p = self.make_promise<bool>();
          self.request(to, never{}).then([](int) {}, [](const error&) {});
          self.request(to, never{}).then([](int) {}, [](const error&) {});
          self.request(to, never{})
              .then([](int) {}, [&p](const error& e) { p.deliver(e == errc::overload); });
          return result<bool>(p);
        }};
      },
      target);
  CHECK(system.request_as<bool>(a, 1).get().value());
}

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

TEST_CASE("request whose response object falls is sent, its answer is ignored") {
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

// A response that comes before anybody waits for it is kept with its request.
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
    "early response is kept until somebody waits for it, and a time-out on its heels changes "
    "nothing") {
  actor_system system;
  const auto target = system.spawn<answering>();
  const auto a = system.spawn<early>(target);
  core::scoped_actor me(system.env());
  CHECK(me->get(me->request(a, ask{2})).has_value());  // both requests are under way
  // and answered: those answers came before ours
  CHECK(me->get(me->request(target, value{})).value() == 1);
  // the first is taken before its time-out
  CHECK(me->get(me->request(a, value{})).value() == 1);
  // the other's time-out passes meanwhile
  me->receive(after(duration::milliseconds(220)) >> [] {});
  CHECK(me->get(me->request(a, value{})).value() == 1);
}

TEST_CASE("early time-out is kept, too, and the late answer changes nothing") {
  actor_system system;
  const auto target = system.spawn<answering>();
  const any_ref a = system.spawn(
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
  core::scoped_actor me(system.env());
  CHECK(me->get(me->request_as<>(a, ask{})).has_value());
  me->receive(after(duration::milliseconds(20)) >> [] {});
  send(target, release{});
  CHECK(me->get(me->request(target, value{})).value() == 1);
  CHECK(me->get(me->request_as<bool>(a, value{})).value());
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

TEST_CASE(
    "answer of another type than a wildcard's requester names is an error, not a wrong cast") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior {
    return {[](int) { return std::string("a text of some length to be sure"); }};
  });
  CHECK(system.request_as<int>(a, 1).get().error() == errc::unexpected_message);
  const any_ref b = system.spawn(
      [](dynamic_actor& self, const any_ref& to) -> behavior {
        return {[&self, to](int) {
          auto p = std::make_shared<response_promise<bool>>(self.make_promise<bool>());
          self.request_as<int, int>(to, 1).then(
              [p](int, int) { p->deliver(false); },
              [p](const error& e) { p->deliver(e == errc::unexpected_message); });
          return result<bool>(*p);
        }};
      },
      a);
  CHECK(system.request_as<bool>(b, 1).get().value());
}

TEST_CASE(
    "delegation through several actors answers the requester, and a dead end answers "
    "receiver_gone") {
  actor_system system;
  const auto last = system.spawn<hundred>();
  const auto middle = system.spawn(
      [](typed_actor<source>& self, const ref<source>& to) -> typed_behavior<source> {
        return {[&self, to](value) -> result<int> { return self.delegate(to, value{}); }};
      },
      last);
  const auto first = system.spawn<answering>(middle);
  CHECK(system.request(first, delegated_away{}).get().value() == 100);
  system.exit(last);
  while (!core::handle_access::get(last)->has_ended()) std::this_thread::yield();
  CHECK(system.request(first, delegated_away{}).get().error() == errc::receiver_gone);
}

TEST_CASE("get on a worker is would_block with advice") {
  actor_system system;
  const auto target = system.spawn<answering>();
  actor_system* const here = &system;
  const any_ref a = system.spawn([here, target](dynamic_actor&) -> behavior {
    return {[here, target](int) {
      auto waits = here->request(target, never{});
      return waits.get().error().to_string();
    }};
  });
  const std::string text = system.request_as<std::string>(a, 1).get().value();
  CHECK(text.find("then") != std::string::npos);
  CHECK(text.find(error(errc::would_block).message()) != std::string::npos);
}

TEST_CASE("await_all and shutdown on one of the system's own threads are errors") {
  actor_system system;
  actor_system* const here = &system;
  const auto tries = [here](dynamic_actor&) -> behavior {
    return {[here](int) {
      const bool all = here->await_all().error() == errc::would_block;
      const auto limited = here->await_all(duration::seconds(1));
      const auto stop = here->shutdown(duration::seconds(1));
      const auto now = here->stop_now(duration::seconds(1));
      return all && !limited.complete && limited.error == errc::would_block &&
             stop.error == errc::would_block && now.error == errc::would_block;
    }};
  };
  CHECK(system.request_as<bool>(system.spawn(tries), 1).get().value());
  CHECK(system.request_as<bool>(system.spawn(spawn_options{.detached = true}, tries), 1)
            .get()
            .value());
}

TEST_CASE("a thread's answer can be taken once") {
  actor_system system;
  const auto target = system.spawn<answering>();
  auto r = system.request(target, value{});
  CHECK(r.get().value() == 1);
  CHECK(r.get().error() == errc::cancelled);
}

namespace {

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

}  // namespace

TEST_CASE(
    "a response that is used twice gives the second use an error, before and after its answer has "
    "come") {
  testkit::test_system kit(1);
  std::vector<std::string> seen;
  const auto a = kit.spawn<careless>(kit.spawn<answering>(), &seen);
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

TEST_CASE("a thread's time-out that is set after the answer was taken changes nothing") {
  actor_system system;
  const auto other = system.spawn<answering>();
  auto p = system.request(other, value{});
  CHECK(p.within(duration::seconds(60)).get().value() == 1);
  CHECK(p.within(duration::milliseconds(1)).get().error() == errc::cancelled);
}

TEST_CASE("an urgent request overtakes normal mail, and its answer comes as any other") {
  testkit::test_system kit(1);
  std::vector<int> order;
  struct noting : actor<protocol<int(int)>> {
    std::vector<int>* to;
    explicit noting(std::vector<int>* t) : to(t) {}
    int on(int x) {
      to->push_back(x);
      return -x;
    }
  };
  const auto a = kit.spawn<noting>(&order);
  for (int i = 1; i <= 3; ++i) send(a, i);
  CHECK(kit.request_urgent(a, 9).get().value() == -9);
  CHECK(order.front() == 9);
  int answer = 0;
  const auto b = kit.spawn([&answer, a](dynamic_actor& self) -> behavior {
    return {[&answer, a, &self](bool) {
      for (int i = 4; i <= 6; ++i) self.send(a, i);
      self.request_urgent(a, 8, duration::seconds(1)).then([&answer](int x) { answer = x; });
    }};
  });
  kit.run();
  order.clear();
  send(b, true);
  kit.expect<bool>().to(b);
  kit.run();
  CHECK(order == std::vector<int>{8, 4, 5, 6});
  CHECK(answer == -8);
}

TEST_CASE("an actor learns from try_spawn why a child could not be spawned") {
  testkit::test_system kit(1);
  struct picky : actor<protocol<int(value)>> {
    explicit picky(bool fails) {
      if (fails) throw std::runtime_error("not here");
    }
    int on(value) { return 7; }
  };
  std::vector<std::string> said;
  const auto a = kit.spawn([&said](dynamic_actor& self) -> behavior {
    const auto bad = self.try_spawn<picky>(true);
    said.push_back(bad.has_value() ? "lives" : bad.error().to_string());
    const auto refused = self.try_spawn<picky>(spawn_options{.bound = 3}, false);
    said.push_back(refused.has_value() ? "lives" : refused.error().to_string());
    return {[child = self.try_spawn<picky>(false).value(), &self](int) {
      return self.delegate(child, value{});
    }};
  });
  CHECK(kit.request_as<int>(a, 1).get().value() == 7);
  REQUIRE(said.size() == 2);
  CHECK(said[0].find("not here") != std::string::npos);
  CHECK(said[1].find("spawn_options.bound") != std::string::npos);
}

}  // namespace
