// Messages: by value for the programmer, copy-on-write underneath; copies are counted exactly.
// Move-only, large, and printed messages.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace messages_test {

namespace {

using namespace garrick;

std::atomic<int> copies{0};
std::atomic<int> alive{0};

/// Counts copies and lives. Its state is private to the message, so it may promise to own
/// everything.
class counted {
 public:
  explicit counted(int v) : value(v) { ++alive; }
  counted(const counted& o) : value(o.value) {
    ++copies;
    ++alive;
  }
  counted(counted&& o) noexcept : value(o.value) {
    o.value = -1;
    ++alive;
  }
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }
  int value;
};

}  // namespace

}  // namespace messages_test

template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<messages_test::counted> = true;

namespace messages_test {

namespace {

struct load {
  counted c;
};

TEST_CASE("message to one receiver is moved, never copied") {
  copies = 0;
  {
    actor_system system;
    const any_ref a =
        system.spawn([](dynamic_actor&) -> behavior { return {[](load l) { return l.c.value; }}; });
    send(a, load{counted(1)});
    CHECK(system.request_as<int>(a, load{counted(7)}).get().value() == 7);
  }
  CHECK(copies == 0);
  CHECK(alive == 0);
}

struct reader {
  template <class F>
  static any_ref spawn_with(actor_system& system, F f) {
    return system.spawn(
        lent([f](dynamic_actor&) -> behavior { return {f, [](int x) { return x; }}; }));
  }
};

TEST_CASE("make_message: receivers that only read share one block without a copy") {
  copies = 0;
  {
    actor_system system;
    std::vector<any_ref> readers;
    for (int i = 0; i < 10; ++i)
      readers.push_back(reader::spawn_with(system, [](const load& l) { CHECK(l.c.value == 5); }));
    const message m = make_message(load{counted(5)});
    for (const any_ref& r : readers) send(r, m);
    for (const any_ref& r : readers) CHECK(system.request_as<int>(r, 1).get().value() == 1);
    CHECK(m.holders() == 1);
    CHECK(m.get<load>()->c.value == 5);
  }
  CHECK(copies == 0);
  CHECK(alive == 0);
}

TEST_CASE(
    "make_message: a handler that takes a value or a mutable reference copies while others hold "
    "the block") {
  copies = 0;
  {
    actor_system system;
    std::vector<any_ref> changers;
    for (int i = 0; i < 4; ++i) {
      changers.push_back(reader::spawn_with(system, [](load l) { CHECK(l.c.value == 5); }));
      changers.push_back(reader::spawn_with(system, [](load& l) { l.c.value += 1; }));
    }
    // held to the end: every receiver has to copy, exactly once
    const message m = make_message(load{counted(5)});
    for (const any_ref& r : changers) send(r, m);
    for (const any_ref& r : changers) CHECK(system.request_as<int>(r, 1).get().value() == 1);
    CHECK(m.get<load>()->c.value == 5);
  }
  CHECK(copies == 8);
  CHECK(alive == 0);
}

namespace {

/// Readers that take the content as a value, or may change it.
std::vector<any_ref> takers_of_nine(actor_system& system) {
  return {reader::spawn_with(system, [](load l) { CHECK(l.c.value == 9); }),
          reader::spawn_with(system, [](load& l) { CHECK(l.c.value++ == 9); }),
          reader::spawn_with(system, [](load&& l) { CHECK(l.c.value == 9); })};
}

}  // namespace

TEST_CASE("make_message: the last holder gets the content itself") {
  copies = 0;
  {
    actor_system system;
    for (const any_ref& r : takers_of_nine(system)) {
      // The sender lets go of its own hold before the receiver can run: the envelope has the only
      // one left.
      message m = make_message(load{counted(9)});
      core::envelope* const e = core::envelope_of(m);
      CHECK(m.holders() == 2);
      m = message();
      core::handle_access::get(r)->deliver(e);
      CHECK(system.request_as<int>(r, 1).get().value() == 1);
    }
  }
  CHECK(copies == 0);
  CHECK(alive == 0);
}

TEST_CASE("make_message: a message value that is moved into a send is not copied by the receiver") {
  copies = 0;
  {
    actor_system system;
    const std::vector<any_ref> takers = takers_of_nine(system);
    for (const any_ref& r : takers) {
      message m = make_message(load{counted(9)});
      send(r, std::move(m));
      CHECK(m.empty());
      CHECK(system.request_as<int>(r, 1).get().value() == 1);
    }
    message small = make_message(7);
    send(takers.front(), std::move(small));
    CHECK(small.empty());
  }
  CHECK(copies == 0);
  CHECK(alive == 0);
}

using typed = protocol<int(load), void(int)>;

TEST_CASE("message value goes to typed handles, too, and may be a request") {
  copies = 0;
  {
    actor_system system;
    const ref<typed> t = system.spawn([](typed_actor<typed>&) -> typed_behavior<typed> {
      return {[](const load& l) { return l.c.value; }, [](int) {}};
    });
    const auto m = make_message(load{counted(3)});
    send(t, m);
    CHECK(system.request(t, m).get().value() == 3);
    CHECK(system.request_as<int>(any_ref(t), m).get().value() == 3);
  }
  CHECK(copies == 0);
  CHECK(alive == 0);
}

TEST_CASE("small trivially copyable content is copied into each envelope") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior {
    return {[](int x) { return x; },
            [](std::array<std::int64_t, 4> x) { return static_cast<int>(x[3]); }};
  });
  const message m = make_message(17);
  CHECK(system.request_as<int>(a, m).get().value() == 17);
  CHECK(m.holders() == 1);
  const message four = make_message(std::array<std::int64_t, 4>{1, 2, 3, 4});
  CHECK(system.request_as<int>(a, four).get().value() == 4);
}

TEST_CASE("several arguments in a message value") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior {
    return {[](std::string s, int n) { return s + std::to_string(n); }};
  });
  const message m = make_message(std::string("a text beyond the small buffer "), 4);
  CHECK(system.request_as<std::string>(a, m).get().value() == "a text beyond the small buffer 4");
  CHECK(system.request_as<std::string>(a, m).get().value() == "a text beyond the small buffer 4");
  CHECK(m.type_name().find("int") != std::string_view::npos);
}

TEST_CASE(
    "concurrent receivers of one block: at most one copy each, nothing lost, nothing leaked") {
  copies = 0;
  {
    actor_system system;
    std::vector<any_ref> all;
    for (int i = 0; i < 20; ++i)
      all.push_back(reader::spawn_with(system, [](load l) { CHECK(l.c.value == 5); }));
    for (int round = 0; round < 50; ++round) {
      const message m = make_message(load{counted(5)});
      for (const any_ref& r : all) send(r, m);
    }
    for (const any_ref& r : all) CHECK(system.request_as<int>(r, 1).get().value() == 1);
  }
  CHECK(copies <= 20 * 50);
  CHECK(alive == 0);
}

TEST_CASE("move-only messages") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior {
    return {[](std::unique_ptr<int> p) { return *p; },
            [](std::unique_ptr<int> p, int x) { return std::make_unique<int>(*p + x); }};
  });
  CHECK(system.request_as<int>(a, std::make_unique<int>(5)).get().value() == 5);
  CHECK(*system.request_as<std::unique_ptr<int>>(a, std::make_unique<int>(5), 6).get().value() ==
        11);
}

TEST_CASE(
    "move-only message in a catch-all may be looked at, and sending it on is an error, not a "
    "crash") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    return {otherwise >> [&self](const message& m) {
      const auto* const p = m.get<std::unique_ptr<int>>();
      REQUIRE(p != nullptr);
      bool refused = false;
      try {
        send(any_ref(self.self()), m);
      } catch (const std::logic_error& e) {
        refused = std::string(e.what()).find("cannot be copied") != std::string::npos;
      }
      return refused ? **p : -1;
    }};
  });
  CHECK(system.request_as<int>(a, std::make_unique<int>(8)).get().value() == 8);
}

struct big {
  std::array<char, 5000> bytes;
  std::string tail;
};
struct huge {
  std::array<char, 100'000> bytes;
};

TEST_CASE("large messages") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior {
    return {[](big b) { return b; },
            [](const huge& h) { return static_cast<int>(h.bytes[99'999]); }};
  });
  big b{{}, "the end"};
  b.bytes[4999] = 'x';
  const auto back = system.request_as<big>(a, b).get();
  REQUIRE(back.has_value());
  CHECK(back->bytes[4999] == 'x');
  CHECK(back->tail == "the end");
  huge h{};
  h.bytes[99'999] = 42;
  CHECK(system.request_as<int>(a, h).get().value() == 42);
  const message m = make_message(h);
  CHECK(system.request_as<int>(a, m).get().value() == 42);
}

struct alignas(32) vector_of_eight {
  float x[8];
};

TEST_CASE("messages aligned to 32 bytes stay aligned") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior {
    return {[](const vector_of_eight& v) {
      return reinterpret_cast<std::uintptr_t>(&v) % 32 == 0 && v.x[7] == 7.0f;
    }};
  });
  CHECK(system.request_as<bool>(a, vector_of_eight{{0, 1, 2, 3, 4, 5, 6, 7}}).get().value());
  const message m = make_message(vector_of_eight{{0, 1, 2, 3, 4, 5, 6, 7}});
  CHECK(system.request_as<bool>(a, m).get().value());
}

struct order {
  int number;
  std::string what;
  std::vector<int> sizes;
};

TEST_CASE("messages print field by field in dead letters") {
  actor_system system;
  core::scoped_actor me(system.env());
  std::vector<system::dead_letter> letters;
  const auto listener = system.spawn(
      [](typed_actor<system::dead_letter_protocol>&,
         any_ref to) -> typed_behavior<system::dead_letter_protocol> {
        return {[to](const system::dead_letter& l) { send(to, l); }};
      },
      me->self());
  system.dead_letters().subscribe(listener);
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior { return {[](double) {}}; });
  send(a, order{12, "tea", {1, 2}});
  me->receive([&](const system::dead_letter& l) { letters.push_back(l); });
  send(a, std::string("two"), 2);
  me->receive([&](const system::dead_letter& l) { letters.push_back(l); });
  REQUIRE(letters.size() == 2);
  CHECK(letters[0].content.find("order{12, \"tea\", [1, 2]}") != std::string::npos);
  CHECK(letters[0].receiver == a.id());
  CHECK(letters[0].reason == errc::unexpected_message);
  CHECK(letters[1].content.find("\"two\", 2") != std::string::npos);
  system.dead_letters().unsubscribe(listener);
}

TEST_CASE("message value that is empty cannot be sent") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor&) -> behavior { return {[](int) {}}; });
  CHECK_THROWS_AS(send(a, message{}), std::logic_error);
  CHECK(message{}.empty());
}

TEST_CASE("periodic sends of a shared message") {
  copies = 0;
  {
    actor_system system;
    auto seen = std::make_shared<std::atomic<int>>(0);
    const any_ref to = system.spawn(lent([seen](dynamic_actor& self) -> behavior {
      return {[seen, &self](const load& l) {
        CHECK(l.c.value == 4);
        if (++*seen == 3) self.quit();
      }};
    }));
    const any_ref from = system.spawn(lent([to](dynamic_actor& self) -> behavior {
      static_cast<void>(
          self.send_every(duration::milliseconds(1), to, make_message(load{counted(4)})));
      return {[](int) {}};
    }));
    while (!core::handle_access::get(to)->has_ended()) std::this_thread::yield();
    system.exit(from);
    CHECK(*seen == 3);
  }
  CHECK(copies == 0);
  CHECK(alive == 0);
}

}  // namespace

}  // namespace messages_test
