// Class-based actors: handlers are overloads of `on`, one for each signature; hooks; the error of a
// throwing constructor.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace actors_class_based_test {

namespace {

using namespace garrick;

struct deposit {
  long cents;
};
struct withdraw {
  long cents;
};
struct balance {};
using account = protocol<void(deposit), result<long>(withdraw), long(balance)>;

class account_actor : public actor<account> {
  long cents_ = 0;

 public:
  void on(deposit d) { cents_ += d.cents; }
  result<long> on(withdraw w) {
    if (w.cents > cents_) return make_error(errc::user, "account", "not enough");
    return cents_ -= w.cents;
  }
  long on(balance) const { return cents_; }
};

TEST_CASE("class-based actor handles each signature of its protocol") {
  actor_system system;
  const ref<account> acc = system.spawn<account_actor>();
  send(acc, deposit{500});
  CHECK(system.request(acc, withdraw{120}).get().value() == 380);
  CHECK(system.request(acc, balance{}).get().value() == 380);
  const auto refused = system.request(acc, withdraw{1000}).get();
  REQUIRE(!refused.has_value());
  CHECK(refused.error() == errc::user);
  CHECK(refused.error().detail() == "account: not enough");
}

struct first {};
struct second {};
struct third {};
struct fourth {};
struct fifth {};
struct sixth {};
struct seventh {};
struct eighth {
  int x;
};
using long_protocol = protocol<int(first), int(second), int(third), int(fourth), int(fifth),
                               int(sixth), int(seventh), int(eighth), int(int, int)>;

class long_actor : public actor<long_protocol> {
 public:
  int on(first) { return 1; }
  int on(second) { return 2; }
  int on(third) { return 3; }
  int on(fourth) { return 4; }
  int on(fifth) { return 5; }
  int on(sixth) { return 6; }
  int on(seventh) { return 7; }
  int on(eighth e) { return e.x; }
  int on(int a, int b) { return a + b; }
};

TEST_CASE("protocol with more than six signatures dispatches by perfect hash") {
  actor_system system;
  const auto a = system.spawn<long_actor>();
  CHECK(system.request(a, first{}).get().value() == 1);
  CHECK(system.request(a, second{}).get().value() == 2);
  CHECK(system.request(a, third{}).get().value() == 3);
  CHECK(system.request(a, fourth{}).get().value() == 4);
  CHECK(system.request(a, fifth{}).get().value() == 5);
  CHECK(system.request(a, sixth{}).get().value() == 6);
  CHECK(system.request(a, seventh{}).get().value() == 7);
  CHECK(system.request(a, eighth{8}).get().value() == 8);
  CHECK(system.request(a, 4, 5).get().value() == 9);
  // a message outside the table is unexpected, not taken for another
  const auto r = system.request_as<int>(any_ref(a), std::string("no")).get();
  CHECK(r.error() == errc::unexpected_message);
}

class hooked : public actor<protocol<void(int)>> {
  std::shared_ptr<std::vector<std::string>> log_;

 public:
  explicit hooked(std::shared_ptr<std::vector<std::string>> log) : log_(std::move(log)) {
    log_->push_back("built");
  }
  ~hooked() { log_->push_back("destroyed"); }
  void on_start() { log_->push_back("started"); }
  void on_exit(const exit_reason& why) { log_->push_back("exits: " + why.to_string()); }
  void on(int x) {
    log_->push_back("handles " + std::to_string(x));
    if (x == 0) quit();
  }
};

TEST_CASE("actor's hooks: on_start is first, on_exit is last, then the destructor") {
  auto log = std::make_shared<std::vector<std::string>>();
  {
    actor_system system;
    const auto a = system.spawn<hooked>(lent(log));
    send(a, 7);
    send(a, 0);
    send(a, 8);
    REQUIRE(system.await_all().has_value());
  }
  CHECK(*log == std::vector<std::string>{"built", "started", "handles 7", "handles 0",
                                         "exits: normal", "destroyed"});
}

class never_built : public actor<protocol<int(int)>> {
 public:
  explicit never_built(int x) {
    if (x < 0) throw std::runtime_error("negative");
  }
  int on(int x) { return x; }
};

TEST_CASE("throwing constructor is an error value at spawn") {
  actor_system system;
  const auto failed = system.try_spawn<never_built>(-1);
  REQUIRE(!failed.has_value());
  CHECK(failed.error() == errc::spawn_failed);
  CHECK(failed.error().detail().find("negative") != std::string_view::npos);
  const auto good = system.try_spawn<never_built>(1);
  REQUIRE(good.has_value());
  CHECK(system.request(*good, 5).get().value() == 5);

  const auto dead = system.spawn<never_built>(-1);
  CHECK(system.request(dead, 5).get().error() == errc::not_handled);
  CHECK(system.actor_count() == 1);
}

class spawns_child : public actor<protocol<std::string(int)>> {
 public:
  std::string on(int x) {
    const auto child = spawn<never_built>(x);
    std::string text = "nothing";
    // a request to an actor that was never built ends in an error, not in silence
    request(child, 1).then([](int) {}, [p = make_promise<std::string>()](
                                           const error& e) mutable { p.deliver(e.to_string()); });
    return text;
  }
};

TEST_CASE(
    "actor that spawns an actor with a throwing constructor answers not_handled, with the text") {
  actor_system system;
  const auto a = system.spawn<spawns_child>();
  const std::string said = system.request(a, -1).get().value();
  CHECK(said.starts_with(error(errc::not_handled).to_string()));
  CHECK(said.ends_with("never_built: negative"));
}

TEST_CASE("spawn after shutdown fails with shutting_down") {
  actor_system system;
  CHECK(system.shutdown(duration::seconds(5)).complete);
  const auto r = system.try_spawn<never_built>(1);
  REQUIRE(!r.has_value());
  CHECK(r.error() == errc::shutting_down);
  const auto handle = system.spawn<never_built>(1);
  CHECK(system.request(handle, 5).get().error() == errc::not_handled);
}

// A message whose type has conversions all around must still find exactly its own handler.
struct wide {
  int x;
};
struct small {
  int x;
  operator wide() const { return {x * 1000}; }
};
class overloads : public actor<protocol<int(small), int(wide), int(int), int(long)>> {
 public:
  int on(small s) { return s.x; }
  int on(const wide& w) { return w.x; }
  int on(int) { return -1; }
  int on(long) { return -2; }
};

TEST_CASE("overload resolution picks the handler of the exact type") {
  actor_system system;
  const auto a = system.spawn<overloads>();
  CHECK(system.request(a, small{3}).get().value() == 3);
  CHECK(system.request(a, wide{4}).get().value() == 4);
  CHECK(system.request(a, 4).get().value() == -1);
  CHECK(system.request(a, 4L).get().value() == -2);
}

TEST_CASE("an actor learns from try_spawn why a child could not be spawned") {
  testkit::test_system kit(1);
  struct picky : actor<protocol<int(int)>> {
    explicit picky(bool fails) {
      if (fails) throw std::runtime_error("not here");
    }
    int on(int) { return 7; }
  };
  std::vector<std::string> said;
  const auto a = kit.spawn(lent([&said](dynamic_actor& self) -> behavior {
    const auto bad = self.try_spawn<picky>(true);
    said.push_back(bad.has_value() ? "lives" : bad.error().to_string());
    const auto refused = self.try_spawn<picky>(spawn_options{.bound = 3}, false);
    said.push_back(refused.has_value() ? "lives" : refused.error().to_string());
    return {[child = self.try_spawn<picky>(false).value(), &self](int) {
      return self.delegate(child, 0);
    }};
  }));
  CHECK(kit.request_as<int>(a, 1).get().value() == 7);
  REQUIRE(said.size() == 2);
  CHECK(said[0].find("not here") != std::string::npos);
  CHECK(said[1].find("spawn_options.bound") != std::string::npos);
}

}  // namespace

}  // namespace actors_class_based_test
