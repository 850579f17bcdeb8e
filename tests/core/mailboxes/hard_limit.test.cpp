// The hard limit: a receiver that can run loses nothing, wherever the limit lies and wherever it is
// set; one that cannot run never holds more than it says.
#include <doctest/doctest.h>
#include <unistd.h>
#include <garrick/garrick.hpp>
#include <garrick/system/settings/load.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/floods.hpp"
#include "support/seen_numbers.hpp"

namespace hard_limit_test {

namespace {

using namespace garrick;
using tests::numbers;
using tests::seen;
using namespace garrick::tests::floods;

constexpr std::uint32_t soft = 10;

/// At its first message it sends `each` of them to the next one, if there is one.
class stage : public actor<numbers> {
 public:
  stage(ref<numbers> next, std::uint64_t each, seen* into)
      : next_(std::move(next)), each_(each), into_(into) {}
  void on(std::uint64_t i) {
    into_->note(i, mailbox_length());
    if (i != 0 || !next_) return;
    for (std::uint64_t k = 0; k < each_; ++k) send(next_, k);
  }

 private:
  ref<numbers> next_;
  std::uint64_t each_;
  seen* into_;
};

/// One worker, where a wait gives up at once: only running in place makes room.
settings one_worker(std::uint32_t soft_limit, std::uint32_t hard_limit) {
  settings o = limited(1, soft_limit);
  o.mailbox.hard_limit = hard_limit;
  o.mailbox.full_wait = {};
  return o;
}

/// A chain in which each handler floods the next actor, so that the last one runs `depth` sends
/// deep. Returns the length of the longest mailbox.
std::uint32_t flood_chain(const settings& o, const spawn_options& each, std::size_t depth,
                          std::uint64_t n = 1'000) {
  std::vector<seen> all(depth + 1);
  {
    actor_system system(o);
    ref<numbers> next;
    for (seen& s : all) next = system.spawn<stage>(each, std::exchange(next, {}), n, lent(&s));
    send(std::exchange(next, {}), std::uint64_t{0});
    static_cast<void>(system.await_all());
    CHECK(system.dead_letter_count() == 0);
  }
  all.pop_back();  // the first one has a single message
  std::uint32_t longest = 0;
  for (const seen& s : all) {
    CHECK(s.count == n);
    CHECK(s.in_order);
    longest = std::max(longest, s.longest);
  }
  return longest;
}

}  // namespace

TEST_CASE("wherever the hard limit lies, a receiver that can run loses nothing, at any depth") {
  for (const std::uint32_t hard : {soft, soft + 1, 2 * soft - 1, 2 * soft, 2 * soft + 1, 3 * soft})
    for (const std::size_t depth : {1U, 2U, 3U, 5U}) {
      CAPTURE(hard);
      CAPTURE(depth);
      CHECK(flood_chain(one_worker(soft, hard), {}, depth) <= std::min(hard, 2 * soft));
      const spawn_options own{.soft_limit = soft, .hard_limit = hard};
      CHECK(flood_chain(one_worker(512, 1'000'000), own, depth) <= std::min(hard, 2 * soft));
      CHECK(flood_chain(one_worker(soft, 1'000'000), {.hard_limit = hard}, depth) <=
            std::min(hard, 2 * soft));
      CHECK(flood_chain(one_worker(1, hard), {.soft_limit = soft}, depth) <=
            std::min(hard, 2 * soft));
    }
  CHECK(flood_chain(one_worker(1, 1), {}, 3) <= 1);
}

TEST_CASE("wherever the limits are set, a receiver that can run loses nothing") {
  const auto file = std::filesystem::temp_directory_path() /
                    ("garrick_hard_limit_" + std::to_string(::getpid()) + ".json");
  std::ofstream(file) << R"({"mailbox": {"soft_limit": 10, "hard_limit": 20}})";
  const std::vector<std::string> environment = {"GARRICK_MAILBOX_SOFT_LIMIT=10",
                                                "GARRICK_MAILBOX_HARD_LIMIT=20"};
  const std::vector<std::string> arguments = {"--mailbox.soft_limit=10", "--mailbox.hard_limit=20"};
  for (const auto& layers : {system::setting_layers{.file = file.string()},
                             system::setting_layers{.environment = environment},
                             system::setting_layers{.arguments = arguments}}) {
    auto loaded = system::load_settings(layers);
    REQUIRE(loaded);
    settings o = loaded->system;
    CHECK(o.mailbox.hard_limit == 20);
    o.scheduler.workers = 1;
    o.log.level = system::log_level::off;
    o.mailbox.full_wait = {};
    CHECK(flood_chain(o, {}, 2) <= 20);
  }
  std::filesystem::remove(file);
}

TEST_CASE("a long flood within a flood passes a hard limit below twice the soft one") {
  CHECK(flood_chain(one_worker(512, 1'000), {}, 2, 200'000) <= 1'000);
}

TEST_CASE("senders elsewhere wait at the hard limit, and nothing is lost") {
  constexpr std::uint32_t senders = 4, each = 5'000;
  for (const std::uint32_t hard : {soft, 2 * soft})
    for (const bool in_place : {false, true}) {
      CAPTURE(hard);
      CAPTURE(in_place);
      waits seen;
      settings o = counted(2, soft, seen, too_long);
      o.mailbox.hard_limit = hard;
      o.mailbox.in_place = in_place;
      actor_system system(o);
      const auto to = system.spawn<sink>();
      std::vector<std::thread> threads;
      for (std::uint32_t t = 0; t < senders; ++t)
        threads.emplace_back([&] {
          for (std::uint32_t i = 0; i < each; ++i) send(to, item{i});
        });
      for (std::thread& t : threads) t.join();
      while (system.request(to, count{}).get().value() != senders * each) {}
      CHECK(system.request(to, peak{}).get().value() <= hard + senders);
      CHECK(system.dead_letter_count() == 0);
      CHECK(seen.long_ones == 0);
    }
}

TEST_CASE("with the policy wait, a bound that is the hard limit loses nothing") {
  constexpr std::uint64_t n = 1'000;
  seen last;
  actor_system system(one_worker(4, 1'000'000));
  {
    const spawn_options bounded{.hard_limit = 4, .policy = mailbox_policy::wait, .bound = 4};
    const ref<numbers> to = system.spawn<stage>(bounded, ref<numbers>(), n, lent(&last));
    send(system.spawn<stage>(to, n, lent(&last)), std::uint64_t{0});
  }
  static_cast<void>(system.await_all());
  CHECK(last.count == n + 1);  // the flood's own message, too
  CHECK(last.longest <= 4);
  CHECK(system.dead_letter_count() == 0);
}

namespace {

/// Awaits an answer that never comes; takes nothing else meanwhile.
class waiting : public actor<protocol<void(go), void(item)>> {
 public:
  explicit waiting(any_ref whom) : whom_(std::move(whom)) {}
  void on(go) {
    request_as<int>(whom_, go{}).await([](int) {});
  }
  void on(item) {}

 private:
  any_ref whom_;
};

/// Fails at `go`.
class failing : public actor<protocol<void(go), void(item)>> {
 public:
  void on(go) { throw 1; }
  void on(item) {}
};

class silent : public actor<protocol<result<int>(go)>> {
 public:
  result<int> on(go) {
    promise_ = make_promise<int>();
    return promise_;
  }

 private:
  response_promise<int> promise_;
};

}  // namespace

TEST_CASE("a receiver that cannot run holds as many messages as its hard limit, and no more") {
  for (const bool in_place : {false, true})
    for (const std::uint32_t hard : {soft, 2 * soft - 1, 2 * soft, 3 * soft}) {
      CAPTURE(hard);
      testkit::test_system kit(testkit::settings{
          .mailbox = {
              .soft_limit = soft, .hard_limit = hard, .in_place = in_place, .full_wait = {}}});
      const auto other = kit.spawn<silent>();
      const auto awaits = kit.spawn<waiting>(any_ref(other));
      const auto top = kit.spawn<supervisor>(supervision{.delay = {.first = duration::seconds(1)}});
      const auto fails = supervise<failing>(top);
      send(awaits, go{});
      send(fails, go{});
      kit.run();
      for (const auto& to : {any_ref(awaits), any_ref(fails)}) {
        const auto before = kit.dead_letters().size();
        for (std::uint32_t i = 0; i < 100; ++i) send(to, item{i});
        CHECK(to.mailbox_length() == hard);
        CHECK(kit.dead_letters().size() - before == 100 - hard);
      }
      kit.kill(awaits);
      kit.run();
    }
}

TEST_CASE(
    "messages to itself, or to an actor that a send runs in place, stay below the hard limit") {
  struct echo : actor<protocol<void(any_ref), void(item)>> {
    std::uint32_t* longest;
    any_ref other;
    explicit echo(std::uint32_t* l) : longest(l) {}
    void on(any_ref o) { other = std::move(o); }
    void on(item i) {
      *longest = std::max(*longest, mailbox_length());
      if (i.n == 0) return;
      for (std::uint32_t k = 0; k < 100; ++k) send(other, item{i.n - 1});
    }
  };
  for (const std::uint32_t hard : {soft, 2 * soft, 3 * soft}) {
    std::uint32_t longest = 0;
    testkit::test_system kit(testkit::settings{
        .mailbox = {.soft_limit = soft, .hard_limit = hard, .in_place = true, .full_wait = {}}});
    const auto a = kit.spawn<echo>(lent(&longest)), b = kit.spawn<echo>(lent(&longest));
    const auto selfish = kit.spawn<echo>(lent(&longest));
    send(a, any_ref(b));
    send(b, any_ref(a));
    send(selfish, any_ref(selfish));
    kit.run();
    send(a, item{2});
    kit.run();
    CHECK(longest == hard - 1);  // the one that is handled does not wait
    longest = 0;
    send(selfish, item{1});
    kit.run();
    CHECK(longest == hard - 1);
    CHECK(kit.dead_letters().size() > 100 - hard);
    for (const auto& all : {a, b, selfish}) send(all, any_ref());
    kit.run();
  }
}

}  // namespace hard_limit_test
