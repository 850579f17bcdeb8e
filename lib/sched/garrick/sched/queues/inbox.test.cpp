// The inbox: its order, and that many threads lose nothing.
#include <garrick/sched/internal/test_jobs.hpp>
#include <garrick/sched/queues/inbox.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace inbox_test {

using namespace garrick;

namespace {

struct numbered final : base::runnable {
  std::uint32_t producer = 0;
  std::uint32_t number = 0;
  base::run_outcome run(std::uint32_t&) noexcept override { return base::run_outcome::released; }
};

using inbox = sched::work_inbox<base::real_atomics>;

constexpr std::uint32_t producers = 3;
constexpr std::uint32_t each = 30'000;

/// Threads that push numbered items, all at the same time.
class producing {
 public:
  explicit producing(inbox& into) {
    for (std::uint32_t p = 0; p < producers; ++p) {
      items_[p] = std::vector<numbered>(each);
      threads_.emplace_back([this, p, &into] {
        for (std::uint32_t i = 0; i < each; ++i) {
          items_[p][i].producer = p;
          items_[p][i].number = i;
          into.push(items_[p][i]);
        }
      });
    }
  }
  ~producing() {
    for (auto& t : threads_) t.join();
  }
  producing(const producing&) = delete;
  producing& operator=(const producing&) = delete;

 private:
  std::array<std::vector<numbered>, producers> items_;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("inbox: all are taken, the newest first and the oldest last, and nothing is left") {
  inbox in;
  std::array<numbered, 5> items;
  CHECK(in.looks_empty());
  CHECK(in.seems_empty());
  for (std::size_t i = 0; i < 4; ++i) in.push(items[i]);
  CHECK_FALSE(in.looks_empty());
  CHECK_FALSE(in.seems_empty());
  REQUIRE(in.take_oldest() == &items[0]);  // the others lie in the line
  CHECK_FALSE(in.looks_empty());
  CHECK_FALSE(in.seems_empty());
  in.push(items[4]);
  std::vector<base::runnable*> kept;
  CHECK(in.take_all([&](base::runnable& r) { kept.push_back(&r); }) == &items[1]);
  CHECK(kept == std::vector<base::runnable*>{&items[4], &items[3], &items[2]});
  CHECK(in.looks_empty());
  CHECK(in.seems_empty());
  CHECK(in.take_all([](base::runnable&) {}) == nullptr);
}

TEST_CASE("inbox: many producers, and takers of all and of the oldest: everything arrives once") {
  inbox in;
  std::array<std::vector<std::atomic<std::uint32_t>>, producers> arrived;
  for (auto& a : arrived) a = std::vector<std::atomic<std::uint32_t>>(each);
  std::atomic<std::uint32_t> got{0};
  const auto count = [&](const base::runnable& r) {
    const auto& item = static_cast<const numbered&>(r);
    arrived[item.producer][item.number].fetch_add(1);
    got.fetch_add(1);
  };
  {
    const producing items(in);
    std::vector<std::thread> takers;
    for (int t = 0; t < 3; ++t) {
      takers.emplace_back([&, t] {
        while (got.load() < producers * each) {
          const base::runnable* const oldest = t == 0 ? in.take_all(count) : in.take_oldest();
          if (oldest != nullptr) count(*oldest);
        }
      });
    }
    for (auto& t : takers) t.join();
  }
  for (const auto& a : arrived)
    CHECK(std::all_of(a.begin(), a.end(), [](const auto& n) { return n.load() == 1; }));
}

TEST_CASE("inbox: one taker gets each producer's items in their order") {
  inbox in;
  const producing items(in);
  std::array<std::uint32_t, producers> next{};
  bool in_order = true;
  for (std::uint32_t got = 0; got < producers * each;) {
    const base::runnable* const oldest = in.take_oldest();
    if (oldest == nullptr) continue;
    const auto& item = static_cast<const numbered&>(*oldest);
    in_order = in_order && item.number == next[item.producer]++;
    ++got;
  }
  CHECK(in_order);
  CHECK(in.looks_empty());
}

namespace {

/// Reports that its link is followed: at that moment a taker holds the taken items and no queue
/// does.
struct followed {
  struct link {
    followed* to = nullptr;
    std::function<void()> script;

    link& operator=(followed* next) {
      to = next;
      return *this;
    }
    operator followed*() {
      if (to != nullptr && script) std::exchange(script, nullptr)();
      return to;
    }
  };
  link queue_link;
};

}  // namespace

TEST_CASE(
    "inbox: work that another thread has left in the line meanwhile is newer and goes behind") {
  sched::work_inbox<base::real_atomics, followed> in;
  std::array<followed, 6> items;
  for (std::size_t i = 0; i < 3; ++i) in.push(items[i]);
  // the link of the oldest leads to the next item once the stack has been turned over
  items[0].queue_link.script = [&] {
    for (std::size_t i = 3; i < 6; ++i) in.push(items[i]);
    CHECK(in.take_oldest() == &items[3]);  // leaves two
  };
  CHECK(in.take_oldest() == &items[0]);
  CHECK_FALSE(items[0].queue_link.script);
  for (const std::size_t i : {1U, 2U, 4U, 5U}) CHECK(in.take_oldest() == &items[i]);
  CHECK(in.looks_empty());
}

TEST_CASE("inbox: the oldest alone is taken, and the others keep their order") {
  inbox in;
  CHECK(in.take_oldest() == nullptr);
  std::array<numbered, 3> items;
  for (numbered& i : items) in.push(i);
  for (numbered& i : items) CHECK(in.take_oldest() == &i);
  CHECK(in.looks_empty());
}

}  // namespace inbox_test
