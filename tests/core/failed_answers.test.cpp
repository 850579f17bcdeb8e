// Requests with an answer that cannot be made, for lack of memory or because making it throws: the
// requester is told, and does not wait without end.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <garrick/base/memory/block_pool.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/turn/timer_record.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/in_child.hpp"

namespace failed_answers_test {

namespace {

using namespace garrick;

std::atomic<bool> poor{false};

/// There is no memory to move it while `poor` is set.
struct fragile {
  using garrick_sendable = void;
  fragile() = default;
  fragile(const fragile&) = delete;
  fragile(fragile&&) {
    if (poor) throw std::bad_alloc();
  }
  fragile& operator=(fragile&&) = delete;
};

struct plain {};
struct as_result {};
struct by_promise {};
struct by_coroutine {};
struct thrown {};
struct starved {};
using answering = protocol<fragile(plain), fragile(as_result), fragile(by_promise),
                           fragile(by_coroutine), fragile(thrown), int(starved)>;

/// All memory for blocks of some sizes, so that not even an error finds any. The code that makes
/// one puts the limit of memory back.
class hoard {
 public:
  explicit hoard(std::initializer_list<std::size_t> sizes) {
    blocks_.reserve(1u << 22);
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 1;
    ::setrlimit(RLIMIT_AS, &limit);
    for (const std::size_t bytes : sizes) {
      try {
        for (;;) blocks_.emplace_back(base::block_pool::allocate(bytes), bytes);
      } catch (const std::bad_alloc&) {}
    }
  }
  ~hoard() {
    for (const auto& [block, bytes] : blocks_) base::block_pool::deallocate(block, bytes);
  }
  hoard(const hoard&) = delete;
  hoard& operator=(const hoard&) = delete;

 private:
  std::vector<std::pair<void*, std::size_t>> blocks_;
};

class answerer : public actor<answering> {
 public:
  fragile on(plain) { return {}; }
  result<fragile> on(as_result) { return result<fragile>(std::in_place); }
  result<fragile> on(by_promise) {
    auto p = make_promise<fragile>();
    p.deliver(fragile());
    return p;
  }
  task<fragile> on(by_coroutine) { co_return fragile(); }
  fragile on(thrown) { throw std::bad_alloc(); }
  int on(starved) {
    taken_.emplace(std::initializer_list<std::size_t>{64});
    throw std::bad_alloc();
  }

 private:
  std::optional<hoard> taken_;
};

std::atomic<int> breaking_move{0};

/// Its n-th move from now on throws.
struct worn {
  using garrick_sendable = void;
  worn() = default;
  worn(const worn&) = delete;
  worn(worn&&) {
    if (--breaking_move == 0) throw std::runtime_error("the move throws");
  }
  worn& operator=(worn&&) = delete;
};

struct limit_again {
  rlimit before{};
  limit_again() { REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0); }
  ~limit_again() { ::setrlimit(RLIMIT_AS, &before); }
};

template <class Message>
void expect_failure(actor_system& system) {
  const auto to = system.spawn<answerer>();
  const error why = system.request(to, Message{}, duration::seconds(60)).get().error();
  CHECK(why == errc::receiver_failed);
  CHECK(why.detail().find("bad_alloc") != std::string_view::npos);
  CHECK(why.detail().find("answerer") != std::string_view::npos);
}

}  // namespace

TEST_CASE("a requester is told when its answer cannot be made, however the handler answers") {
  actor_system system;
  poor = true;
  expect_failure<plain>(system);
  expect_failure<as_result>(system);
  expect_failure<by_promise>(system);
  expect_failure<by_coroutine>(system);
  expect_failure<thrown>(system);
  poor = false;
  const auto to = system.spawn<answerer>();
  CHECK(system.request(to, plain{}).get().has_value());
  CHECK(system.request(to, by_coroutine{}).get().has_value());
}

TEST_CASE("a coroutine's answer may break on its way into the frame and out of it") {
  struct wearing : actor<protocol<worn(plain)>> {
    task<worn> on(plain) { co_return worn(); }
  };
  actor_system system;
  for (const int n : {1, 2}) {
    breaking_move = n;
    CHECK(system.request(system.spawn<wearing>(), plain{}).get().error() == errc::receiver_failed);
  }
}

TEST_CASE("an answer that breaks in its maker's turn is the handler's failure") {
  struct plainly : actor<protocol<worn(plain)>> {
    worn on(plain) { return {}; }
  };
  actor_system system;
  const auto to = system.spawn<plainly>();
  breaking_move = 1;  // into the answer
  CHECK(system.request(to, plain{}).get().error() == errc::receiver_failed);
  CHECK(system.request(to, plain{}).get().error() == errc::not_handled);
  const auto other = system.spawn<plainly>();
  breaking_move = 2;  // out of it
  CHECK(system.request(other, plain{}).get().error() == errc::receiver_failed);
  CHECK(system.request(other, plain{}).get().has_value());
}

TEST_CASE("a requester is told although there is no memory for the answer" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  actor_system system;
  const auto to = system.spawn<answerer>(spawn_options{.name = "starved"});
  core::scoped_actor me(system.env());
  bool heard_of_its_end = false;
  me->monitor(to, [&](const down&) { heard_of_its_end = true; });
  const error why = [&] {
    const limit_again guard;
    return system.request(to, starved{}).get().error();  // a time-out might need a thread
  }();
  CHECK(why == errc::receiver_failed);
  while (!heard_of_its_end) me->receive([](int) {}, after(duration::milliseconds(1)) >> [] {});
}

TEST_CASE("a supervisor that ends without memory ends its children, without waiting for them" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  struct mortal : actor<protocol<void()>> {
    std::atomic<int>* living;
    explicit mortal(std::atomic<int>* l) : living(l) {}
    ~mortal() {
      --*living;
      living->notify_all();
    }
    void on() {}
  };
  struct starving : actor<protocol<void(ref<supervisor_protocol>)>> {
    std::optional<hoard> taken;
    void on(const ref<supervisor_protocol>& top) {
      taken.emplace(std::initializer_list<std::size_t>{64, sizeof(core::timer_record)});
      core::detail::kill_cell(core::handle_access::make_address(core::handle_access::get(top)),
                              exit_code::user_shutdown);
    }
  };
  settings one;
  one.scheduler.workers = 1;
  actor_system system(one);
  std::atomic<int> living{8};  // more than messages that are freed meanwhile
  const auto top = system.spawn<supervisor>(supervision{});
  std::vector<ref<protocol<void()>>> children;
  for (int i = 0; i < 8; ++i) children.push_back(supervise<mortal>(top, lent(&living)));
  for (const auto& child : children) send(child);
  core::scoped_actor me(system.env());
  bool heard_of_its_end = false;
  me->monitor(top, [&](const down&) { heard_of_its_end = true; });
  const auto starver = system.spawn<starving>();
  {
    const limit_again guard;
    send(starver, top);
    for (int now = living; now != 0; now = living) living.wait(now);
  }
  while (!heard_of_its_end) me->receive([](int) {}, after(duration::milliseconds(1)) >> [] {});
}

TEST_CASE("a timer for which there is no memory takes its message along" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  actor_system system;
  const auto to = system.spawn<answerer>();
  const auto content = std::make_shared<const int>(1);
  core::envelope* const message = core::detail::make_envelope<std::shared_ptr<const int>>(content);
  {
    const limit_again guard;
    const hoard taken{sizeof(core::timer_record)};
    CHECK_THROWS_AS(
        static_cast<void>(core::timer_record::arm_once(system.env(), *core::handle_access::get(to),
                                                       message, duration::seconds(60))),
        std::bad_alloc);
  }
  CHECK(content.use_count() == 1);
}

TEST_CASE("a delay for which there is no memory is not pending" *
          doctest::skip(HAS_SANITIZER || IS_EMULATED)) {
  struct delaying : actor<protocol<int(starved)>> {
    int on(starved) {
      const limit_again guard;
      const hoard taken{sizeof(core::timer_record)};
      CHECK_THROWS_AS(delay(duration::seconds(60)).then([] {}), std::bad_alloc);
      return static_cast<int>(core::detail::here.running->ext_if()->pending.active());
    }
  };
  actor_system system;
  CHECK(system.request(system.spawn<delaying>(), starved{}).get().value() == 0);
}

namespace {

/// Its n-th move or copy throws; 0: none does.
struct brittle {
  using garrick_sendable = void;
  explicit brittle(int n) : left(n) {}
  brittle(brittle&& o) : left(one_less(o.left)) {}
  brittle(const brittle& o) : left(one_less(o.left)) {}
  brittle& operator=(brittle&&) = delete;
  static int one_less(int n) {
    if (n == 1) throw std::runtime_error("the move throws");
    return n > 0 ? n - 1 : 0;
  }
  int left;
};

struct give {
  int breaks_at;
};
using giving = protocol<brittle(give)>;
class giver : public actor<giving> {
 public:
  brittle on(give g) { return brittle(g.breaks_at); }
};
class counter_of_brittle : public actor<protocol<int(brittle)>> {
 public:
  int on(const brittle&) { return 1; }
};
struct try_awaiting {
  int breaks_at;
};
class awaiting_giver : public actor<protocol<std::string(try_awaiting)>> {
 public:
  explicit awaiting_giver(ref<giving> g) : giver_(std::move(g)) {}
  task<std::string> on(try_awaiting t) {
    try {
      const result<brittle> r = co_await request<give>(giver_, t.breaks_at);
      co_return r ? "value" : r.error().to_string();
    } catch (const std::runtime_error& x) { co_return x.what(); }  // the last move is its own
  }

 private:
  ref<giving> giver_;
};

constexpr int most_moves = 12;

/// Asks with a value that breaks at each of its moves in turn. `ask(n)` gives the error, if there
/// is one; an exception from `get()` must be the value's own.
template <class Ask>
void at_every_move(Ask ask) {
  int failed = 0;
  for (int n = 1; n <= most_moves; ++n) {
    CAPTURE(n);
    error why;
    try {
      why = ask(n);
    } catch (const std::runtime_error& x) {
      CHECK(std::string(x.what()) == "the move throws");
      continue;
    }
    if (!why) continue;
    ++failed;
    CHECK(why == errc::receiver_failed);
    CHECK(why.detail().find("the move throws") != std::string_view::npos);
  }
  CHECK(failed > 1);  // not only the receiver's own move
  CHECK(!ask(0));
}

}  // namespace

TEST_CASE("a value that breaks on its way to the requester is receiver_failed, and nothing else") {
  actor_system system;
  const auto fresh = [&] { return system.spawn<giver>(); };
  SUBCASE("request") {
    at_every_move([&](int n) { return system.request(fresh(), give{n}).get().error(); });
  }
  SUBCASE("the first of many") {
    at_every_move([&](int n) {
      return first_of(system, std::vector{fresh(), fresh()}, give{n}).get().error();
    });
  }
  SUBCASE("all of many") {
    at_every_move([&](int n) {
      const auto all = fan_out(system, std::vector{fresh(), fresh()}, give{n}).get();
      return all.value()[0] ? all.value()[1].error() : all.value()[0].error();
    });
  }
  SUBCASE("a broadcast") {
    at_every_move([&](int n) {
      const router<giving, broadcast> both({fresh(), fresh()});
      return system.request(both, give{n}).get().value()[1].error();
    });
  }
  SUBCASE("a pipe") {
    const auto counts = system.spawn<counter_of_brittle>();
    at_every_move([&](int n) { return system.request(counts * fresh(), give{n}).get().error(); });
  }
}

TEST_CASE("a scoped actor and a coroutine go on when the value breaks on the way to them") {
  actor_system system;
  core::scoped_actor me(system.env());
  int failed_here = 0;
  for (int n = 0; n <= most_moves; ++n) {
    CAPTURE(n);
    const auto asker = system.spawn<awaiting_giver>(system.spawn<giver>());
    const auto text = system.request(asker, try_awaiting{n}).get();
    REQUIRE(text.has_value());
    if (*text != "value") CHECK(text->find("the move throws") != std::string::npos);
    try {
      const auto r = me->get(me->request(system.spawn<giver>(), give{n}));
      if (!r) ++failed_here;
    } catch (const std::runtime_error& x) { CHECK(std::string(x.what()) == "the move throws"); }
  }
  CHECK(failed_here > 1);
}

TEST_CASE("a pipe survives values that break between its actors") {
  actor_system system;
  const auto pipe = system.spawn<counter_of_brittle>(spawn_options{.name = "f"}) *
                    system.spawn<giver>(spawn_options{.name = "g"});
  // g's answer makes one move to leave g, and one more from the pipe to f
  int broken = 0;
  for (int n = 2; n <= most_moves; ++n) {
    const error why = system.request(pipe, give{n}).get().error();
    if (!why) continue;
    ++broken;
    CHECK(why == errc::receiver_failed);
    CHECK(why.detail() == "f: the move throws");
  }
  CHECK(broken > 0);
  CHECK(system.request(pipe, give{0}).get().value() == 1);
}

}  // namespace failed_answers_test
