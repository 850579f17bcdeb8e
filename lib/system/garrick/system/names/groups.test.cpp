// Publish and subscribe: joining, leaving, ending, and the order of publications.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/system/names/groups.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace groups_test {

namespace {

using namespace garrick;
using system::group;
using system::groups_errc;

struct headline {
  std::string text;
};
struct count {};
using news = protocol<void(headline)>;
using reader = protocol<void(headline), int(count)>;

class reading : public actor<reader> {
  int seen_ = 0;

 public:
  void on(const headline& h) {
    CHECK(h.text.size() > 20);
    ++seen_;
  }
  int on(count) { return seen_; }
};

const headline long_news{"a headline that does not fit into a small string"};

TEST_CASE("publication reaches every member of its group and no other actor") {
  actor_system system;
  auto topic = system.groups().get<news>("news");
  REQUIRE(topic.has_value());
  std::vector<ref<reader>> readers;
  for (int i = 0; i < 5; ++i) {
    readers.push_back(system.spawn<reading>());
    CHECK(topic->join(readers.back()).has_value());
  }
  const auto outside = system.spawn<reading>();
  CHECK(topic->join(readers[0]).has_value());  // a second join has no effect
  CHECK(topic->size() == 5);
  for (int i = 0; i < 10; ++i) topic->publish(long_news);
  CHECK(topic->leave(readers[4]));
  CHECK(!topic->leave(readers[4]));
  topic->publish(long_news);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(system.request(readers[i], count{}).get().value() == (i == 4 ? 10 : 11));
  CHECK(system.request(outside, count{}).get().value() == 0);
}

TEST_CASE("topic is found by name and keeps its protocol") {
  actor_system system;
  auto one = system.groups().get<news>("weather").value();
  auto same = system.groups().get<news>("weather").value();
  const auto a = system.spawn<reading>();
  CHECK(one.join(a).has_value());
  CHECK(same.size() == 1);
  CHECK(system.groups().get<reader>("weather").error() == groups_errc::wrong_protocol);
  CHECK(system.groups().names() == std::vector<std::string>{"weather"});
  CHECK(one.join(ref<news>()).error() == groups_errc::empty_handle);
  CHECK(one.name() == "weather");
}

TEST_CASE("member that ends leaves its groups") {
  actor_system system;
  auto one = system.groups().get<news>("one").value();
  auto two = system.groups().get<news>("two").value();
  const auto a = system.spawn<reading>();
  CHECK(one.join(a).has_value());
  CHECK(two.join(a).has_value());
  system.exit(a);
  while (one.size() != 0 || two.size() != 0) std::this_thread::yield();
  one.publish(long_news);
  CHECK(system.dead_letter_count() == 0);
  // the join of an ended actor is noticed, too
  CHECK(one.join(a).has_value());
  while (one.size() != 0) std::this_thread::yield();
}

TEST_CASE("publications of one sender arrive in order, also from actors") {
  actor_system system;
  using numbers = protocol<void(int)>;
  auto topic = system.groups().get<numbers>("numbers").value();
  auto wrong = std::make_shared<std::atomic<int>>(0);
  auto done = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < 4; ++i) {
    const ref<numbers> r =
        system.spawn(lent([wrong, done](typed_actor<numbers>&) -> typed_behavior<numbers> {
          auto last = std::make_shared<int>(0);
          return {[last, wrong, done](int x) {
            if (x != ++*last) ++*wrong;
            if (x == 1000) ++*done;
          }};
        }));
    CHECK(topic.join(r).has_value());
  }
  const any_ref publisher = system.spawn(lent([topic](dynamic_actor&) -> behavior {
    return {[topic](int n) {
      for (int i = 1; i <= n; ++i) topic.publish(i);
    }};
  }));
  send(publisher, 1000);
  while (done->load() != 4) std::this_thread::yield();
  CHECK(*wrong == 0);
}

TEST_CASE("groups are closed when their system ends") {
  ref<reader> a;
  {
    actor_system system;
    a = system.spawn<reading>();
    auto topic = system.groups().get<news>("last").value();
    CHECK(topic.join(a).has_value());
    CHECK(system.shutdown(duration::seconds(10)).complete);
    CHECK(topic.size() == 0);
    topic.publish(long_news);  // no member is left to miss it
    CHECK(system.dead_letter_count() == 0);
    CHECK(topic.join(system.spawn<reading>()).error() == groups_errc::closed);
    CHECK(topic.join(a).error() == groups_errc::closed);
    CHECK(system.groups().get<news>("last").error() == groups_errc::closed);
    CHECK(system.groups().get<news>("late").error() == groups_errc::closed);
  }
  send(a, long_news);
}

TEST_CASE("group may be sent, and outlives its system: no actor joins, none is reached") {
  using joining = protocol<bool(group<news>)>;
  struct joiner : actor<protocol<bool(group<news>), void(headline)>> {
    bool on(const group<news>& g) {
      return g.join(ref<protocol<bool(group<news>), void(headline)>>(self())).has_value();
    }
    void on(const headline&) {}
  };
  std::vector<group<news>> kept;
  ref<reader> a;
  {
    actor_system system;
    kept.push_back(system.groups().get<news>("travelling").value());
    const ref<joining> j = system.spawn<joiner>();
    CHECK(system.request(j, kept.front()).get().value());
    CHECK(kept.front().size() == 1);
    a = system.spawn<reading>();
  }
  CHECK(kept.front().size() == 0);
  CHECK(kept.front().join(a).error() == groups_errc::closed);
  CHECK_FALSE(kept.front().leave(a));
  kept.front().publish(long_news);
}

TEST_CASE(
    "group with many members: the remaining ones get publications, in any order of the leaves of "
    "the others") {
  constexpr int members = 20'000;
  actor_system system;
  auto topic = system.groups().get<news>("crowd").value();
  std::vector<ref<reader>> all;
  for (int i = 0; i < members; ++i) {
    all.push_back(system.spawn<reading>());
    CHECK(topic.join(all.back()).has_value());
  }
  CHECK(topic.join(all.front()).has_value());
  CHECK(topic.size() == members);
  for (int i = 0; i < members; i += 3) CHECK(topic.leave(all[static_cast<std::size_t>(i)]));
  CHECK_FALSE(topic.leave(all.front()));
  CHECK(topic.leave(all.back()) == ((members - 1) % 3 != 0));
  topic.publish(long_news);
  for (int i = 0; i < members - 1; ++i)
    CHECK(system.request(all[static_cast<std::size_t>(i)], count{}).get().value() ==
          (i % 3 == 0 ? 0 : 1));
}

TEST_CASE("members join, leave, end and read at once") {
  actor_system system;
  auto topic = system.groups().get<news>("busy").value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      auto mine = topic;
      for (int i = 0; i < 100; ++i) {
        const auto a = system.spawn<reading>();
        static_cast<void>(mine.join(a));
        mine.publish(long_news);
        if (i % 3 == 0) static_cast<void>(mine.leave(a));
        if (i % 3 == 1) system.exit(a);
      }
    });
  for (auto& t : threads) t.join();
  while (topic.size() != 99) std::this_thread::yield();
}

}  // namespace

}  // namespace groups_test
