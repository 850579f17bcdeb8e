// `latest`: the newest value for an actor, and one message at most that tells of it.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace latest_test {

namespace {

using namespace garrick;
using testkit::test_system;

using ints = std::vector<int>;
struct fail {};
struct more {};

class taker : public actor<protocol<void(news<int>), void(fail), void(more), int(more, int)>> {
 public:
  explicit taker(ints& seen, bool skips = false) : seen_(&seen), skips_(skips) {}
  bool skips(const news<int>&) { return skips_; }
  void on(const news<int>& n) {
    const std::optional<int> value = n.take();
    seen_->push_back(value.value_or(-1));
    CHECK(!n.take());
  }
  void on(fail) { throw 1; }
  void on(more) {
    skips_ = false;
    retry_skipped();
  }
  int on(more, int x) { return x; }

 private:
  ints* seen_;
  bool skips_;
};

/// Takes nothing.
class ignorer : public actor<protocol<void(news<int>)>> {
 public:
  void on(const news<int>&) { ++told; }
  int told = 0;
};

}  // namespace

TEST_CASE("latest: the actor gets the newest value, and one message waits at most") {
  test_system kit(1);
  ints seen;
  const auto to = kit.spawn<taker>(lent(seen));
  const latest<int> values(to);
  for (int i = 1; i <= 100; ++i) values.put(i);
  CHECK(to.mailbox_length() == 1);
  kit.run();
  CHECK(seen == ints{100});
  CHECK(values.replaced() == 99);
  const latest<int> copy = values;  // of the same value
  copy.put(1);
  values.put(2);
  CHECK(to.mailbox_length() == 1);
  kit.run();
  CHECK(seen == ints{100, 2});
  CHECK(copy.replaced() == 100);
  CHECK(kit.dead_letters().empty());
}

TEST_CASE("latest: two kinds of values for one actor do not meet") {
  struct both : actor<protocol<void(news<int>), void(news<std::string>)>> {
    std::string all;
    void on(const news<int>& n) { all += std::to_string(n.take().value_or(-1)); }
    void on(const news<std::string>& n) { all += n.take().value_or("none"); }
  };
  test_system kit(1);
  const auto to = kit.spawn<both>();
  const latest<int> numbers(to);
  const latest<std::string> words(to);
  numbers.put(1);
  words.put("one");
  numbers.put(2);
  kit.run();
  CHECK(kit.inspect<both>(to).all == "2one");
}

TEST_CASE("latest: a value put while the actor skips or has failed is there afterwards") {
  test_system kit(1);
  ints seen;
  SUBCASE("it skips") {
    const auto to = kit.spawn<taker>(lent(seen), true);
    const latest<int> values(to);
    values.put(1);
    kit.run();
    for (int i = 2; i <= 50; ++i) values.put(i);
    CHECK(to.mailbox_length() == 1);
    send(to, more{});
    kit.run();
    CHECK(seen == ints{50});
  }
  SUBCASE("it is restarted") {
    const auto top = kit.spawn<supervisor>(supervision{.delay = {.first = duration::seconds(1)}});
    const auto to = supervise<taker>(top, lent(seen));
    const latest<int> values(to);
    send(to, fail{});
    kit.run();
    for (int i = 1; i <= 50; ++i) values.put(i);
    CHECK(seen.empty());
    kit.run_for(duration::seconds(3));
    CHECK(seen == ints{50});
  }
}

TEST_CASE("latest: the actor is told again after a message that was not taken, or was lost") {
  test_system kit(1);
  SUBCASE("a handler that does not take") {
    const auto to = kit.spawn<ignorer>();
    const latest<int> values(to);
    for (int i = 1; i <= 3; ++i) {
      values.put(i);
      values.put(i);
      kit.run();
      CHECK(kit.inspect<ignorer>(to).told == i);
    }
  }
  SUBCASE("a mailbox without room") {
    ints seen;
    const auto to =
        kit.spawn<taker>(spawn_options{.policy = mailbox_policy::reject, .bound = 1}, lent(seen));
    const latest<int> values(to);
    send(to, more{});
    values.put(1);
    static_cast<void>(kit.expect_dead_letter<news<int>>(errc::overload));
    kit.run();
    CHECK(seen.empty());
    values.put(2);
    kit.run();
    CHECK(seen == ints{2});
  }
}

TEST_CASE("latest: a value put between a take and the end of the handler is announced") {
  test_system kit(1);
  struct counter : actor<protocol<void(news<int>), void(more)>> {
    std::optional<latest<int>> own;
    ints seen;
    void on(more) {
      own.emplace(ref<protocol<void(news<int>)>>(self()));
      own->put(1);
    }
    void on(const news<int>& n) {
      seen.push_back(n.take().value_or(-1));
      if (seen.back() < 3) own->put(seen.back() + 1);
      if (seen.back() == 3) own.reset();
    }
  };
  const auto to = kit.spawn<counter>();
  send(to, more{});
  kit.run();
  CHECK(kit.inspect<counter>(to).seen == ints{1, 2, 3});
}

TEST_CASE("latest: for an actor that has ended, or for none") {
  test_system kit(1);
  ints seen;
  const auto to = kit.spawn<taker>(lent(seen));
  const latest<int> values(to);
  kit.kill(to);
  kit.run();
  values.put(1);
  static_cast<void>(kit.expect_dead_letter<news<int>>(errc::not_handled));
  CHECK_THROWS_AS(latest<int>(ref<taker::protocol_type>()), std::logic_error);
}

TEST_CASE("latest: a value is destroyed when it is replaced, and the last one with the holder") {
  test_system kit(1);
  struct idle : actor<protocol<void(news<std::shared_ptr<const int>>)>> {
    void on(const news<std::shared_ptr<const int>>&) {}
  };
  const auto one = std::make_shared<const int>(1), two = std::make_shared<const int>(2);
  {
    const latest<std::shared_ptr<const int>> values(kit.spawn<idle>());
    values.put(one);
    CHECK(one.use_count() == 2);
    values.put(two);
    CHECK(one.use_count() == 1);
    CHECK(two.use_count() == 2);
    kit.run();
  }
  kit.run();
  CHECK(two.use_count() == 1);
}

TEST_CASE("latest: of many threads the last value is always seen") {
  constexpr int threads = 4, each = 5000;
  struct watcher : actor<protocol<void(news<int>)>> {
    explicit watcher(std::atomic<int>& sum) : last(&sum) {}
    void on(const news<int>& n) {
      if (const std::optional<int> v = n.take()) {
        last->store(*v);
        last->notify_all();
      }
    }
    std::atomic<int>* last;
  };
  std::atomic<int> last{-1};
  settings o;
  o.scheduler.workers = 2;
  actor_system system(o);
  const latest<int> values(system.spawn<watcher>(lent(last)));
  for (int round = 1; round <= 20; ++round) {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&values] {
        for (int i = 0; i < each / 20; ++i) values.put(0);
      });
    for (std::thread& t : all) t.join();
    values.put(round);  // behind all the others: it is the one that stays
    for (int seen = last.load(); seen != round; seen = last.load()) last.wait(seen);
  }
}

}  // namespace latest_test
