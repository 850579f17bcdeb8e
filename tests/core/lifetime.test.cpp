// The end of actors without handles; long chains; destructors that send, spawn, or drop handles;
// and the name in which an actor ends when another one has dropped its last handle.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lifetime_test {

namespace {

using namespace garrick;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int chain_length = 100'000;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int chain_length = 100'000;
#else
constexpr int chain_length = 1'000'000;
#endif
#else
constexpr int chain_length = 1'000'000;
#endif

std::atomic<int> links{0};

struct extend {};
class link_actor : public actor<protocol<void(extend)>> {
  ref<protocol<void(extend)>> next_;

 public:
  explicit link_actor(ref<protocol<void(extend)>> next) : next_(std::move(next)) { ++links; }
  ~link_actor() { --links; }
  void on(extend) {}
};

TEST_CASE("a chain of a million actors is reclaimed without recursion, dropped by a thread") {
  links = 0;
  actor_system system;
  ref<protocol<void(extend)>> head;
  for (int i = 0; i < chain_length; ++i) head = system.spawn<link_actor>(std::move(head));
  CHECK(links == chain_length);
  head = {};
  REQUIRE(system.await_all().has_value());
  CHECK(links == 0);
}

TEST_CASE("a chain of a million actors is reclaimed without recursion, dropped by an actor") {
  links = 0;
  actor_system system;
  const any_ref owner = system.spawn([](dynamic_actor& self) -> behavior {
    auto head = std::make_shared<ref<protocol<void(extend)>>>();
    return {[&self, head](int n) {
              for (int i = 0; i < n; ++i) *head = self.spawn<link_actor>(std::move(*head));
            },
            [head](const std::string&) { *head = {}; }};
  });
  CHECK(system.request_as<>(owner, chain_length).get().has_value());
  CHECK(links == chain_length);
  CHECK(system.request_as<>(owner, std::string("drop")).get().has_value());
  while (links.load() != 0) std::this_thread::yield();
}

TEST_CASE("a chain of actors ends with its system") {
  links = 0;
  ref<protocol<void(extend)>> head;
  {
    actor_system system;
    for (int i = 0; i < 20'000; ++i) head = system.spawn<link_actor>(std::move(head));
  }
  CHECK(links == 0);
  head = {};
}

class sends_at_the_end : public actor<protocol<void(int)>> {
  any_ref to_;

 public:
  explicit sends_at_the_end(any_ref to) : to_(std::move(to)) {}
  ~sends_at_the_end() {
    // more than the soft limit: a destructor never waits
    for (int i = 0; i < 2000; ++i) send(to_, i);
  }
  void on(int) { quit(); }
};

TEST_CASE("a user's destructor that sends works") {
  actor_system system;
  auto count = std::make_shared<std::atomic<int>>(0);
  const any_ref sink = system.spawn(
      lent([count](dynamic_actor&) -> behavior { return {[count](int) { ++*count; }}; }));
  for (int i = 0; i < 10; ++i) send(system.spawn<sends_at_the_end>(sink), 1);
  while (count->load() != 20'000) std::this_thread::yield();
  static_cast<void>(system.spawn<sends_at_the_end>(sink));  // unreachable at once
  while (count->load() != 22'000) std::this_thread::yield();
}

TEST_CASE(
    "a user's destructor that sends to an ended actor, or while the system ends, makes dead "
    "letters") {
  actor_system system;
  const any_ref gone = system.spawn([](dynamic_actor&) {});
  while (!core::handle_access::get(gone)->has_ended()) std::this_thread::yield();
  const auto a = system.spawn<sends_at_the_end>(gone);
  const auto b = system.spawn<sends_at_the_end>(any_ref(a));
  CHECK(system.stop_now(duration::seconds(20)).complete);
  CHECK(system.dead_letter_count(errc::not_handled) >= 2000);
}

/// Its destructor begins requests and timers for which a living actor would wait.
class begins_at_the_end : public actor<protocol<void(int)>> {
  ref<protocol<int(int)>> other_;
  std::shared_ptr<int> token_;

 public:
  begins_at_the_end(ref<protocol<int(int)>> other, std::shared_ptr<int> token)
      : other_(std::move(other)), token_(std::move(token)) {}
  ~begins_at_the_end() {
    request(other_, 1).then([t = token_](int) { ++*t; });
    request(other_, 2).await([t = token_](int) { ++*t; });
    delay(duration::seconds(1)).then([t = token_] { ++*t; });
    monitor(other_, [t = token_](const down&) { ++*t; });
    static_cast<void>(send_after(duration::seconds(1), other_, 3));
    link(other_);
  }
  void on(int) { quit(); }
};
class answers : public actor<protocol<int(int)>> {
 public:
  int on(int x) { return x; }
};

TEST_CASE("an operation that a user's destructor begins is cancelled, and holds nothing") {
  testkit::test_system kit(2);
  auto token = std::make_shared<int>(0);
  auto other = kit.spawn<answers>();
  auto a = kit.spawn<begins_at_the_end>(other, lent(token));
  send(a, 1);
  kit.run();
  kit.expect_down(a);
  CHECK(token.use_count() == 1);
  CHECK(kit.timers_pending() == 0);
  kit.exit(other);
  kit.run();
  CHECK(*token == 0);
}

/// Messages whose destructor sends: they are destroyed by any thread that drops them.
class parcel {
 public:
  explicit parcel(any_ref to) : to_(std::move(to)) {}
  parcel(parcel&&) noexcept = default;
  parcel& operator=(parcel&&) = delete;
  ~parcel() {
    if (to_) send(to_, 1);
  }

 private:
  any_ref to_;
};

}  // namespace

}  // namespace lifetime_test

template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<lifetime_test::parcel> = true;

namespace lifetime_test {

namespace {

TEST_CASE("a message's destructor that sends works, handled, dropped or undelivered") {
  actor_system system;
  auto count = std::make_shared<std::atomic<int>>(0);
  const any_ref sink = system.spawn(
      lent([count](dynamic_actor&) -> behavior { return {[count](int) { ++*count; }}; }));
  const any_ref handles =
      system.spawn([](dynamic_actor&) -> behavior { return {[](const parcel&) {}}; });
  const any_ref refuses = system.spawn([](dynamic_actor&) -> behavior { return {[](double) {}}; });
  const any_ref gone = system.spawn([](dynamic_actor&) {});
  while (!core::handle_access::get(gone)->has_ended()) std::this_thread::yield();
  send(handles, parcel(sink));
  send(refuses, parcel(sink));
  send(gone, parcel(sink));
  send(sink, parcel(sink));  // not understood by the sink itself
  while (count->load() != 4) std::this_thread::yield();
}

TEST_CASE("an actor that only a timer or a request can wake is not reclaimed") {
  actor_system system;
  auto woken = std::make_shared<std::atomic<int>>(0);
  static_cast<void>(system.spawn(lent([woken](dynamic_actor& self) -> behavior {
    static_cast<void>(self.send_after(duration::milliseconds(2), any_ref(self.self()), 1));
    return {[woken](int) { ++*woken; }};
  })));
  const any_ref target =
      system.spawn([](dynamic_actor&) -> behavior { return {[](int x) { return x; }}; });
  static_cast<void>(system.spawn(lent([woken, target](dynamic_actor& self) -> behavior {
    self.request_as<int>(target, 1).then([woken](int) { ++*woken; });
    return {[](int) {}};
  })));
  while (woken->load() != 2) std::this_thread::yield();
  while (system.actor_count() != 1) std::this_thread::yield();
}

TEST_CASE("actors that ask themselves, spawn and end in turn leave nothing behind") {
  actor_system system;
  const any_ref root = system.spawn([](dynamic_actor& self) -> behavior {
    return {[&self](int depth) {
      for (int i = 0; i < 3 && depth > 0; ++i) {
        const any_ref child = self.spawn([](dynamic_actor& me) -> behavior {
          return {[&me](int d) {
            if (d > 0)
              me.request_as<int>(any_ref(me.self()), d - 1).then([&me](int) { me.quit(); });
            return d;
          }};
        });
        send(child, depth - 1);
      }
    }};
  });
  for (int i = 0; i < 1000; ++i) send(root, i % 5);
  CHECK(system.request_as<>(root, 0).get().has_value());
  while (system.actor_count() != 1) std::this_thread::yield();
}

}  // namespace

namespace {

// ---- ending with the last handle, on its holder's thread

/// Breaks on its way into the answer.
std::atomic<int> moves_left{-1};
struct fragile {
  using garrick_sendable = void;
  fragile() = default;
  fragile(const fragile&) = delete;
  fragile(fragile&&) {
    if (moves_left >= 0 && moves_left-- == 0) throw std::runtime_error("broken");
  }
  fragile& operator=(fragile&&) = delete;
};

struct ask {};
struct ask_in_vain {};
struct ping {};
struct let_go {};
using held_protocol = protocol<result<fragile>(ask), result<int>(ask_in_vain), int(ping)>;

/// Answers with its last breath, sends a message, and fails.
class held_actor : public actor<held_protocol> {
 public:
  explicit held_actor(any_ref gone) : gone_(std::move(gone)) {}
  result<fragile> on(ask) {
    kept_.push_back(make_promise<fragile>());
    return kept_.back();
  }
  result<int> on(ask_in_vain) {
    lost_.push_back(make_promise<int>());
    return lost_.back();
  }
  int on(ping) { return 1; }
  void on_exit(const exit_reason&) {
    send(gone_, 1);
    moves_left = 1;
    try {
      for (auto& p : kept_) p.deliver(fragile());
    } catch (const std::runtime_error&) {}
    moves_left = -1;
    const std::vector<response_promise<int>> dropped = std::move(lost_);
    throw std::runtime_error("its hook fails");
  }

 private:
  any_ref gone_;
  std::vector<response_promise<fragile>> kept_;
  std::vector<response_promise<int>> lost_;
};

class holder_actor : public actor<protocol<void(let_go)>> {
 public:
  explicit holder_actor(ref<held_protocol> held) : held_(std::move(held)) {}
  void on(let_go) { held_ = {}; }

 private:
  ref<held_protocol> held_;
};

/// One worker, which is through with an actor before it runs another one.
settings one_worker() {
  settings o;
  o.scheduler.workers = 1;
  o.log.level = system::log_level::off;
  o.watchdog.after = {};
  return o;
}

/// Checks the sender's name in the last messages of an actor that ends on its holder's thread.
template <class EndIt>
void check_names(EndIt end_it) {
  actor_system system(one_worker());
  const any_ref gone = system.spawn([](dynamic_actor& self) -> behavior {
    self.quit();
    return {};
  });
  while (!core::handle_access::get(gone)->has_ended()) {}
  auto held = system.spawn<held_actor>(spawn_options{.name = "held"}, gone);
  auto holder = system.spawn<holder_actor>(spawn_options{.name = "holder"}, held);
  const std::uint64_t id = held.id();
  auto answer = system.request(held, ask{});
  auto in_vain = system.request(held, ask_in_vain{});
  CHECK(system.request(held, ping{}).get().value() == 1);
  held = {};
  end_it(holder);
  const error why = answer.get().error();
  CHECK(why == errc::receiver_failed);
  CHECK(why.to_string().find("held: broken") != std::string::npos);
  CHECK(in_vain.get().error() == errc::broken_promise);
  const auto letters = system.dead_letters().recent();
  CHECK(std::any_of(letters.begin(), letters.end(), [&](const system::recent_letter& l) {
    return l.receiver == gone.id() && l.sender == id;
  }));
}

}  // namespace

TEST_CASE("an actor that ends with its last handle speaks for itself, and not for its holder") {
  check_names([](auto& holder) { send(holder, let_go{}); });
}

TEST_CASE("an actor that ends with the object of its holder speaks for itself") {
  for (int i = 0; i < 20; ++i) check_names([](auto& holder) { holder = {}; });
}

namespace {

std::atomic<bool> rises{false};
std::atomic<int> ends_of_phoenixes{0};

/// Its end begins the next one, to which there is no handle.
class phoenix : public actor<protocol<void(extend)>> {
 public:
  void on(extend) {}
  void on_exit(const exit_reason&) {
    ++ends_of_phoenixes;
    if (rises) static_cast<void>(spawn<phoenix>(spawn_options{.lazy = true}));
  }
};

class bystander : public actor<protocol<int(int)>> {
 public:
  int on(int i) { return i; }
};

}  // namespace

TEST_CASE("actors that each begin the next one at their ends, for ever, leave others their turns") {
  settings o;
  o.scheduler.workers = 1;
  actor_system system(o);
  const auto other = system.spawn<bystander>();
  rises = true;
  static_cast<void>(system.spawn<phoenix>());
  while (ends_of_phoenixes < 1'000) std::this_thread::yield();
  const auto answer = system.request(other, 7, duration::seconds(20)).get();
  rises = false;
  CHECK(answer.value() == 7);
}

}  // namespace lifetime_test
