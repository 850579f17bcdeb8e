// Composition: pipes, fan-out to all, the first answer wins; awaiting foreign callbacks.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace composition_test {

namespace {

using namespace garrick;

using parser = protocol<result<int>(std::string), std::string(double), void(char)>;
using squarer = protocol<long(int), std::string(long)>;

class parse_actor : public actor<parser> {
 public:
  result<int> on(const std::string& s) {
    if (s.empty()) return make_error(errc::user, "parse", "empty");
    return static_cast<int>(s.size());
  }
  std::string on(double) { return "nobody takes this"; }
  void on(char) {}
};
class square_actor : public actor<squarer> {
 public:
  long on(int x) { return long{x} * x; }
  std::string on(long x) { return "<" + std::to_string(x) + ">"; }
};

// f * g has those signatures of g with answers that f takes, with f's answers
static_assert(std::is_same_v<decltype(std::declval<ref<squarer>>() *
                                      std::declval<ref<parser>>())::protocol_type,
                             protocol<result<long>(std::string)>>);

TEST_CASE("f * g asks g, then f, and answers with f's answer") {
  actor_system system;
  const auto f = system.spawn<square_actor>();
  const auto g = system.spawn<parse_actor>();
  const ref<protocol<long(std::string)>> fg = f * g;
  CHECK(system.request(fg, std::string("seven..")).get().value() == 49);
  CHECK(system.request(fg, std::string()).get().error().detail() == "parse: empty");
  const auto three = f * fg;  // pipes of pipes
  CHECK(system.request(three, std::string("four")).get().value() == "<16>");
  CHECK(fg.to_string().find(" * ") != std::string::npos);
}

TEST_CASE("f * g of an ended f answers broken_promise, of an empty handle throws") {
  actor_system system;
  const auto f = system.spawn<square_actor>();
  const auto g = system.spawn<parse_actor>();
  const auto fg = f * g;
  system.exit(f);
  while (!core::handle_access::get(f)->has_ended()) std::this_thread::yield();
  CHECK(system.request(fg, std::string("x")).get().error() == errc::broken_promise);
  CHECK_THROWS_AS(static_cast<void>(ref<squarer>() * g), std::logic_error);
}

TEST_CASE("f * g passes plain messages on, and is reclaimed when its last handle is gone") {
  actor_system system;
  core::scoped_actor me(system.env());
  const any_ref f = system.spawn(
      [](dynamic_actor&, any_ref to) -> behavior { return {[to](int x) { send(to, x); }}; },
      me->self());
  const any_ref g =
      system.spawn([](dynamic_actor&) -> behavior { return {[](int x) { return x + 1; }}; });
  {
    const any_ref fg = f * g;
    for (int i = 0; i < 100; ++i) send(fg, i);
  }
  for (int i = 0; i < 100; ++i) {
    int got = 0;
    me->receive([&](int x) { got = x; });
    CHECK(got == i + 1);
  }
  system.exit(f);
  system.exit(g);
  CHECK(system.await_all().has_value());
}

struct job {
  int x;
  std::string name;
};
struct stop_it {};
using worker = protocol<result<int>(job), result<void>(stop_it)>;

class worker_actor : public actor<worker> {
  int factor_;

 public:
  explicit worker_actor(int factor) : factor_(factor) {}
  result<int> on(const job& j) {
    if (factor_ == 0) return make_error(errc::user, "worker", "lazy");
    return j.x * factor_;
  }
  result<void> on(stop_it) { return {}; }
};

TEST_CASE("fan_out collects every answer or error, in the order of the targets") {
  actor_system system;
  std::vector<ref<worker>> all;
  for (int i = 0; i < 5; ++i) all.push_back(system.spawn<worker_actor>(i));
  core::scoped_actor me(system.env());
  const auto r =
      me->get(core::fan_out(*me, all, job{10, "a name that is not short at all, to be shared"}));
  REQUIRE(r.has_value());
  REQUIRE(r->size() == 5);
  CHECK((*r)[0].error().detail() == "worker: lazy");
  for (std::size_t i = 1; i < 5; ++i) CHECK((*r)[i].value() == static_cast<int>(i) * 10);
  const auto stopped = me->get(core::fan_out(*me, all, stop_it{}));
  REQUIRE(stopped.has_value());
  for (const auto& s : *stopped) CHECK(s.has_value());
  CHECK(me->get(core::fan_out(*me, std::vector<ref<worker>>(), stop_it{}))->empty());
}

TEST_CASE("fan_out to an ended actor has its error in that place, and a time-out is one error") {
  actor_system system;
  std::vector<ref<worker>> all{system.spawn<worker_actor>(1), system.spawn<worker_actor>(2)};
  system.exit(all[0]);
  while (!core::handle_access::get(all[0])->has_ended()) std::this_thread::yield();
  core::scoped_actor me(system.env());
  const auto r = me->get(core::fan_out(*me, all, job{1, ""}));
  CHECK((*r)[0].error() == errc::not_handled);
  CHECK((*r)[1].value() == 2);
  using forever = protocol<result<int>(job)>;
  std::vector<ref<forever>> silent{
      system.spawn([](typed_actor<forever>& self) -> typed_behavior<forever> {
        auto kept = std::make_shared<std::vector<response_promise<int>>>();
        return {[&self, kept](const job&) -> result<int> {
          kept->push_back(self.make_promise<int>());
          return kept->back();
        }};
      })};
  CHECK(me->get(core::fan_out(*me, silent, job{1, ""}).within(duration::milliseconds(2))).error() ==
        errc::timeout);
}

TEST_CASE("thread asks many as an actor does, with the system in the actor's place") {
  actor_system system;
  std::vector<ref<worker>> all;
  for (int i = 0; i < 5; ++i) all.push_back(system.spawn<worker_actor>(i));
  const auto r = fan_out(system, all, job{10, ""}).get();
  REQUIRE(r.has_value());
  CHECK((*r)[0].error().detail() == "worker: lazy");
  for (std::size_t i = 1; i < 5; ++i) CHECK((*r)[i].value() == static_cast<int>(i) * 10);
  const std::vector<ref<worker>> one{all[0], all[4]};
  CHECK(garrick::first_of(system, one, job{10, ""}).within(duration::seconds(60)).get().value() ==
        40);
  CHECK(garrick::fan_out(system, all, make_message(job{1, ""})).get()->size() == 5);
}

struct go {};

TEST_CASE("fan_out may be awaited: its parts arrive although everything else waits") {
  actor_system system;
  std::vector<ref<worker>> all;
  for (int i = 1; i <= 20; ++i) all.push_back(system.spawn<worker_actor>(i));
  const any_ref a = system.spawn(lent([all](dynamic_actor& self) -> behavior {
    auto log = std::make_shared<std::vector<int>>();
    return {[&self, all, log](go) {
              core::fan_out(self, all, job{1, ""}).await([log](const std::vector<result<int>>& r) {
                int sum = 0;
                for (const auto& x : r) sum += *x;
                log->push_back(sum);
              });
            },
            [log](int x) {
              log->push_back(x);
              return *log;
            },
            [&self, all](char) -> task<int> {
              pending_response<std::vector<result<int>>> pending =
                  core::fan_out(self, all, job{2, ""});
              const auto r = co_await std::move(pending);
              int sum = 0;
              for (const auto& x : *r) sum += *x;
              co_return sum;
            }};
  }));
  send(a, go{});
  CHECK(system.request_as<std::vector<int>>(a, 7).get().value() == std::vector<int>{210, 7});
  CHECK(system.request_as<int>(a, 'c').get().value() == 420);
}

TEST_CASE("first_of answers with the first value and ignores errors as long as another may come") {
  actor_system system;
  core::scoped_actor me(system.env());
  const std::vector<ref<worker>> all{system.spawn<worker_actor>(0), system.spawn<worker_actor>(0),
                                     system.spawn<worker_actor>(3)};
  CHECK(me->get(core::first_of(*me, all, job{5, ""})).value() == 15);
  const std::vector<ref<worker>> lazy{system.spawn<worker_actor>(0), system.spawn<worker_actor>(0)};
  CHECK(me->get(core::first_of(*me, lazy, job{5, ""})).error().detail() == "worker: lazy");
  CHECK(me->get(core::first_of(*me, std::vector<ref<worker>>(), job{5, ""})).error() ==
        errc::not_handled);
  CHECK(me->get(core::first_of(*me, all, stop_it{})).has_value());
}

TEST_CASE("actor that ends while a fan_out is under way leaves nothing behind") {
  actor_system system;
  std::vector<ref<worker>> all;
  for (int i = 1; i <= 20; ++i) all.push_back(system.spawn<worker_actor>(i));
  for (int i = 0; i < 100; ++i) {
    const any_ref a = system.spawn(lent([all](dynamic_actor& self) -> behavior {
      return {[&self, all](go) {
        core::fan_out(self, all, job{1, ""}).then([&self](const std::vector<result<int>>&) {
          self.quit();
        });
        core::first_of(self, all, job{1, ""}).then([&self](int) { self.quit(); });
      }};
    }));
    send(a, go{});
    system.exit(a);
  }
  while (system.actor_count() != 20) std::this_thread::yield();
}

// ---- adapters -----------------------------------------------------------------------------------

/// A library of the other kind: calls back on a thread of its own.
struct foreign_library {
  std::vector<std::thread> threads;
  void lookup(int x, std::function<void(std::string)> done) {
    threads.emplace_back([x, done = std::move(done)] { done("value " + std::to_string(x)); });
  }
  ~foreign_library() {
    for (auto& t : threads) t.join();
  }
};

class adapting : public actor<protocol<result<std::string>(int), int(go)>> {
  std::shared_ptr<foreign_library> library_;

 public:
  explicit adapting(std::shared_ptr<foreign_library> l) : library_(std::move(l)) {}
  task<result<std::string>> on(int x) {
    auto pending = adapt<std::string>(*this, [&](completion<std::string> done) {
      if (x < 0) return;  // never called: dropped
      if (x == 0) return done.fail(make_error(errc::user, "library", "zero"));
      library_->lookup(x, done);
    });
    co_return co_await std::move(pending);
  }
  int on(go) { return 1; }
};

TEST_CASE("foreign callback is awaited through adapt, its failure and its loss are errors") {
  actor_system system;
  auto library = std::make_shared<foreign_library>();
  const auto a = system.spawn<adapting>(lent(library));
  for (int i = 1; i < 50; ++i)
    CHECK(system.request(a, i).get().value() == "value " + std::to_string(i));
  CHECK(system.request(a, 0).get().error().detail() == "library: zero");
  CHECK(system.request(a, -1).get().error() == errc::broken_promise);
}

TEST_CASE("foreign completion that comes after its actor's end, or its system's, meets no actor") {
  std::vector<completion<int>> kept;
  {
    actor_system system;
    for (int i = 0; i < 10; ++i) {
      const any_ref a = system.spawn(lent([&kept](dynamic_actor& self) -> behavior {
        return {[&kept, &self](go) {
          adapt<int>(self, [&](completion<int> done) { kept.push_back(done); }).then([](int) {
            FAIL("the actor has ended");
          });
          return 1;
        }};
      }));
      CHECK(system.request_as<int>(a, go{}).get().value() == 1);
      system.exit(a);
      while (!core::handle_access::get(a)->has_ended()) std::this_thread::yield();
      if (i == 5) kept.back()(1);
    }
  }
  for (const auto& c : kept) c(2);
}

}  // namespace

namespace {

/// Cannot be moved by one actor.
struct fragile {
  using garrick_sendable = void;
  static inline std::uint64_t clumsy = 0;
  fragile() = default;
  fragile(fragile&&) {
    if (base::this_thread.actor_id.load() == clumsy) throw std::runtime_error("broken");
  }
  fragile& operator=(fragile&&) { return *this; }
};
struct give {};
class giver : public actor<protocol<fragile(give)>> {
 public:
  fragile on(give) { return {}; }
};

}  // namespace

TEST_CASE(
    "fan_out: an answer that throws when it is moved is an error of its part, and the asker goes "
    "on") {
  testkit::test_system kit(3);
  const std::vector<ref<protocol<fragile(give)>>> givers{kit.spawn<giver>(), kit.spawn<giver>()};
  int broken = 0;
  const any_ref asker = kit.spawn(lent([givers, &broken](dynamic_actor& self) -> behavior {
    fragile::clumsy = self.id();
    return {[&self, givers, &broken](int) {
      fan_out(self, givers, give{}).then([&broken](const std::vector<result<fragile>>& all) {
        for (const auto& one : all)
          if (one.error() == errc::receiver_failed && one.error().detail() == "response: broken")
            ++broken;
      });
    }};
  }));
  send(asker, 1);
  kit.run();
  CHECK(broken == 2);
  CHECK(kit.failures().empty());
}

TEST_CASE("fan_out and first_of throw for an empty handle and leave nothing behind") {
  testkit::test_system kit(3);
  const std::vector<ref<parser>> targets{kit.spawn<parse_actor>(), ref<parser>()};
  any_ref asker = kit.spawn(lent([targets](dynamic_actor& self) -> behavior {
    return {[&self, targets](int) {
      CHECK_THROWS_AS(fan_out(self, targets, std::string("x")).then([](const auto&) {}),
                      std::logic_error);
      CHECK_THROWS_AS(first_of(self, targets, std::string("x")).then([](int) {}), std::logic_error);
    }};
  }));
  send(asker, 1);
  kit.run();
  const weak_ref<core::any_protocol> left = asker;
  asker = {};
  kit.run();
  CHECK(!left.lock());
}

}  // namespace composition_test
