// Tuples on their way to a stream that fails: they wait in its mailbox for the restart, in their
// order, under every mailbox policy; and they say why if there is none.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stream_restarts_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

using log_protocol = stream_protocol<decltype(pipeline(for_each([](int) {})))>;

int same(int x) { return x; }
/// Throws for a negative number.
class picky {
 public:
  explicit picky(std::vector<int>* got) : got_(got) {}
  void consume(int x) {
    if (x < 0) throw std::runtime_error("negative");
    got_->push_back(x);
  }

 private:
  std::vector<int>* got_;
};
auto three_stages(std::vector<int>& got) {
  return pipeline(same, seq(same), seq<picky>(lent(&got)).named("picky"));
}
constexpr supervision patient{.max_restarts = 1'000'000, .window = duration::seconds(1)};

/// A stream under a supervisor.
struct child_stream {
  ref<supervisor::protocol_type> top;
  ref<log_protocol> log;

  template <class P>
  child_stream(test_system& kit, const supervision& s, P pattern, child_options how = {}) {
    how.name = "log";
    top = kit.spawn<supervisor>(s, stream_child(how, std::move(pattern), {.capacity = 2}));
    const any_ref found = kit.request(top, find_child{"log"}).get().value();
    log = kit.request_typed<log_protocol>(found).get().value();
    kit.run();
  }
  [[nodiscard]] std::uint32_t restarts(test_system& kit) const {
    return kit.request(top, list_children{}).get().value().front().restarts;
  }
};

bool is_increasing(const std::vector<int>& v) {
  return std::adjacent_find(v.begin(), v.end(), std::greater_equal<>()) == v.end();
}

/// A number that throws after each 50 others.
int nth(int i) { return i % 50 == 0 ? -i : i; }

/// Sends the numbers up to `end`, and lets the actors handle some messages in between.
void feed(test_system& kit, const ref<log_protocol>& log, int end) {
  for (int i = 1; i <= end; ++i) {
    send(log, nth(i));
    for (int turns = i % 7 == 0 ? i % 5 : 0; turns > 0; --turns) kit.step();
  }
  kit.run();
}

/// Checks that each dead letter was lost at the bound, and returns how many tuples were.
std::size_t lost_at_the_bound(const test_system& kit) {
  for (const auto& letter : kit.dead_letters()) CHECK(letter.reason == errc::overload);
  return kit.dead_letters().size();
}

}  // namespace

TEST_CASE("tuples that come between a failure and the restart are for the next incarnation") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    test_system kit(seed);
    std::vector<int> got;
    const child_stream child(kit, patient, three_stages(got));
    const auto& log = child.log;
    feed(kit, log, 1000);
    send(log, 2000);
    kit.run();
    CHECK(kit.dead_letters().empty());
    CHECK(is_increasing(got));
    CHECK((!got.empty() && got.back() == 2000));
    CHECK(child.restarts(kit) > 1);
  }
}

TEST_CASE(
    "a stream that waits for its restart takes later tuples meanwhile, behind the earlier ones") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    test_system kit(seed);
    std::vector<int> got;
    supervision slow = patient;
    slow.delay = {.first = duration::seconds(1), .jitter = 0};
    const child_stream child(kit, slow, three_stages(got));
    const auto& log = child.log;
    send(log, -1);
    for (int i = 1; i <= 3; ++i) send(log, i);  // all of them may be in the stream when it fails
    kit.run();
    const std::size_t lost = 3 - log.mailbox_length();
    for (int i = 4; i <= 9; ++i) send(log, i);
    kit.run();
    CHECK(got.empty());
    kit.run_for(duration::seconds(1));
    CHECK(got.size() + lost == 9);
    CHECK((!got.empty() && got.back() == 9));
    CHECK(is_increasing(got));
    CHECK(kit.dead_letters().empty());
  }
}

TEST_CASE("the end that is sent behind tuples ends the incarnation that takes them") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    test_system kit(seed);
    std::vector<int> got;
    const child_stream child(kit, patient, three_stages(got), {.restart = transient});
    const auto& log = child.log;
    send(log, -1);
    while (kit.failures().empty() && kit.step()) {}
    for (int i = 0; i < 10; ++i) send(log, i);
    send(log, end_of_stream{});
    kit.run();
    CHECK(got.size() == 10);
    CHECK(kit.dead_letters().empty());
    send(log, 11);
    kit.run();
    CHECK(kit.dead_letters().size() == 1);  // it has ended for good
  }
}

TEST_CASE("a permanent stream that was ended takes the tuples behind the end in its next life") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    test_system kit(seed);
    std::vector<int> got;
    const child_stream child(kit, patient, three_stages(got));
    const auto& log = child.log;
    std::vector<int> all;
    for (int i = 1; i <= 60; ++i) {
      send(log, i);
      all.push_back(i);
      if (i % 20 == 0) send(log, end_of_stream{});
    }
    kit.run();
    CHECK(got == all);
    CHECK(kit.dead_letters().empty());
    CHECK(child.restarts(kit) == 3);  // each end was for a life of its own
  }
}

TEST_CASE("if there is no restart, the tuples that waited say why the stream has ended") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    for (const bool gives_up : {true, false}) {
      test_system kit(seed);
      std::vector<int> got;
      const supervision s{.max_restarts = gives_up ? 0U : 5U};
      const child_stream child(kit, s, three_stages(got),
                               {.restart = gives_up ? permanent : temporary});
      const auto& log = child.log;
      send(log, -1);
      for (int i = 1; i <= 100; ++i) send(log, i);
      kit.run();
      CHECK(got.empty());
      REQUIRE(kit.dead_letters().size() >= 100 - 10);
      for (const auto& letter : kit.dead_letters()) {
        CHECK(letter.reason == errc::not_handled);
        CHECK(letter.reason.to_string().find("picky: negative") != std::string::npos);
      }
    }
  }
}

TEST_CASE(
    "if its supervisor is ended before the restart, the tuples that waited are dead letters") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test_system kit(seed);
    std::vector<int> got;
    supervision slow = patient;
    slow.delay = {.first = duration::seconds(1), .jitter = 0};
    const child_stream child(kit, slow, three_stages(got));
    const auto& log = child.log;
    send(log, -1);
    kit.run();
    for (int i = 1; i <= 9; ++i) send(log, i);
    kit.run();
    CHECK(kit.dead_letters().empty());
    kit.exit(child.top);
    kit.run_for(duration::seconds(10));
    CHECK(kit.dead_letters().size() == 9);
    for (const auto& letter : kit.dead_letters()) CHECK(letter.reason == errc::not_handled);
  }
}

TEST_CASE(
    "under every bound of its mailbox a stream is begun anew, and loses as many as the bound "
    "says") {
  for (const auto policy :
       {mailbox_policy::reject, mailbox_policy::wait, mailbox_policy::drop_newest}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      test_system kit(seed);
      std::vector<int> got;
      const child_stream child(kit, patient, three_stages(got),
                               {.spawn = {.policy = policy, .bound = 3}});
      const auto& log = child.log;
      feed(kit, log, 1000);
      CHECK(lost_at_the_bound(kit) > 0);
      CHECK(is_increasing(got));
      const std::size_t before = got.size();
      send(log, 2000);  // it lives
      kit.run();
      CHECK(got.size() == before + 1);
      CHECK(child.restarts(kit) > 1);
    }
  }
}

TEST_CASE("a coroutine that waits for room waits for the restart, too, and loses nothing there") {
  struct producer : actor<protocol<void(int)>> {
    ref<log_protocol> to;
    explicit producer(ref<log_protocol> t) : to(std::move(t)) {}
    task<void> on(int count) {
      for (int i = 1; i <= count; ++i) {
        const result<void> sent = co_await send_when_room<int>(to, nth(i));
        if (!sent) quit(sent.error());
      }
    }
  };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    test_system kit(seed);
    std::vector<int> got;
    const child_stream child(kit, patient, three_stages(got),
                             {.spawn = {.policy = mailbox_policy::wait, .bound = 3}});
    const auto& log = child.log;
    send(kit.spawn<producer>(log), 1000);
    kit.run();
    CHECK(kit.dead_letters().empty());
    CHECK(child.restarts(kit) > 1);
    CHECK(is_increasing(got));
  }
}

TEST_CASE("a stream that fails at full rate gets every tuple into one of its incarnations") {
  std::atomic<int> last{0};
  int seen = 0;
  bool in_order = true;
  const auto count = [&](int x) {
    if (x % 5000 == 0) throw std::runtime_error("every 5000th");
    if (x <= last) in_order = false;
    ++seen;
    last = x;
  };
  std::uint64_t letters = 0;
  constexpr int many = 200'000;
  {
    actor_system system;
    const auto top = system.spawn<supervisor>(
        patient, stream_child({.name = "log"}, pipeline(same, seq(same), seq(lent(count)))));
    const any_ref found = system.request(top, find_child{"log"}).get().value();
    const auto log = system.request_typed<log_protocol>(found).get().value();
    // until one comes through behind the last that throws: others may be in the stream as it fails
    for (int i = 1; last <= many; ++i) send(log, i);
    letters = system.dead_letter_count();
  }
  CHECK(letters == 0);
  CHECK(in_order);
  const int lost = last - seen;
  MESSAGE(lost, " were in the stream when it failed");
}

TEST_CASE(
    "a stream_child answers a join that came before its end, and its next end the later ones") {
  const auto nothing = pipeline(for_each([](int) {}));
  test_system kit;
  SUBCASE("transient: there is no next end") {
    const child_stream of(kit, patient, nothing, {.restart = transient});
    auto early = kit.request(of.log, join{});
    send(of.log, end_of_stream{});
    CHECK(early.get().has_value());
    kit.run();
    CHECK(kit.request(of.log, join{}).get().error() == errc::not_handled);
  }
  SUBCASE("permanent: the stream has begun anew") {
    const child_stream of(kit, patient, nothing, {.restart = permanent});
    auto early = kit.request(of.log, join{});
    send(of.log, end_of_stream{});
    CHECK(early.get().has_value());
    kit.run();
    CHECK(kit.request(of.log, join{}, duration::seconds(1)).get().error() == errc::timeout);
    auto late = kit.request(of.log, join{});
    send(of.log, end_of_stream{});
    CHECK(late.get().has_value());
  }
}

}  // namespace stream_restarts_test
