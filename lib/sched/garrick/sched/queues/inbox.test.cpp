// The inbox: its order, and that many threads lose nothing.
#include <garrick/sched/internal/test_jobs.hpp>
#include <garrick/sched/queues/inbox.hpp>

#include <doctest/doctest.h>

#include <array>
#include <thread>
#include <vector>

using namespace garrick;

namespace {

struct numbered final : base::runnable {
  std::uint32_t producer = 0;
  std::uint32_t number = 0;
  base::run_outcome run(std::uint32_t&) noexcept override { return base::run_outcome::released; }
};

using inbox = sched::work_inbox<base::real_atomics>;

}  // namespace

TEST_CASE(
    "push tells whether the inbox was empty; take_all yields newest to oldest and leaves nothing") {
  inbox in;
  numbered items[3];
  CHECK(in.looks_empty());
  CHECK(in.push(items[0]));
  CHECK_FALSE(in.push(items[1]));
  CHECK_FALSE(in.push(items[2]));
  CHECK_FALSE(in.looks_empty());
  base::runnable* list = in.take_all();
  CHECK(list == &items[2]);
  CHECK(list->queue_link == &items[1]);
  CHECK(list->queue_link->queue_link == &items[0]);
  CHECK(items[0].queue_link == nullptr);
  CHECK(in.take_all() == nullptr);
}

TEST_CASE(
    "many producers, two takers: everything arrives once, and each list has each producer's items "
    "in order") {
  constexpr std::uint32_t producers = 3;
  constexpr std::uint32_t each = 30'000;
  inbox in;
  std::vector<std::vector<numbered>> items(producers);
  for (std::uint32_t p = 0; p < producers; ++p) {
    items[p] = std::vector<numbered>(each);
    for (std::uint32_t i = 0; i < each; ++i) {
      items[p][i].producer = p;
      items[p][i].number = i;
    }
  }
  std::atomic<std::uint32_t> got{0};
  std::atomic<std::uint32_t> out_of_order{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (got.load() < producers * each) {
        // walking from newest to oldest the numbers fall
        std::uint32_t next[producers] = {each, each, each};
        std::uint32_t taken = 0;
        for (base::runnable* r = in.take_all(); r != nullptr; r = r->queue_link, ++taken) {
          const auto& item = static_cast<const numbered&>(*r);
          if (item.number >= next[item.producer]) out_of_order.fetch_add(1);
          next[item.producer] = item.number;
        }
        got.fetch_add(taken);
      }
    });
  }
  for (std::uint32_t p = 0; p < producers; ++p)
    threads.emplace_back([&, p] {
      for (auto& item : items[p]) in.push(item);
    });
  for (auto& t : threads) t.join();
  CHECK(got.load() == producers * each);
  CHECK(out_of_order.load() == 0);
}

TEST_CASE("inbox: the oldest alone is taken, and the others keep their order") {
  inbox in;
  CHECK(in.take_oldest() == nullptr);
  std::array<numbered, 3> items;
  for (numbered& i : items) in.push(i);
  for (numbered& i : items) CHECK(in.take_oldest() == &i);
  CHECK(in.looks_empty());
}
