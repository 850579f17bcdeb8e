// The next slot with its owner alone, and with a helper that takes from it.
#include <garrick/sched/queues/next_slot.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace next_slot_test {

using namespace garrick;
using slot = sched::next_slot<base::real_atomics, int>;

TEST_CASE("put returns the displaced pointer, take and claim empty the slot") {
  slot s;
  int a = 0;
  int b = 0;
  CHECK(s.take() == nullptr);
  CHECK(s.put(a) == nullptr);
  CHECK(s.put(b) == &a);
  CHECK_FALSE(s.claim(&a));
  CHECK(s.claim(&b));
  CHECK_FALSE(s.claim(&b));
  CHECK(s.put(a) == nullptr);
  CHECK(s.take() == &a);
  CHECK(s.steal() == nullptr);
}

TEST_CASE("two pictures are equal only if the owner did not come by") {
  slot s;
  int a = 0;
  s.put(a);
  const auto before = s.look();
  CHECK(s.look() == before);
  CHECK(s.take() == &a);
  CHECK_FALSE(s.look() == before);
  s.put(a);
  CHECK_FALSE(s.look() == before);
}

TEST_CASE("an owner and a thief never get the same item, and none is lost") {
  constexpr std::size_t count = 300'000;
  slot s;
  std::vector<int> items(count);
  std::vector<std::atomic<int>> taken(count);
  std::atomic<bool> ended{false};
  const auto note = [&](const int* item) {
    if (item != nullptr) taken[static_cast<std::size_t>(item - items.data())].fetch_add(1);
  };
  std::thread thief([&] {
    while (!ended.load()) note(s.steal());
  });
  for (std::size_t i = 0; i < count; ++i) {
    note(s.put(items[i]));
    if (i % 2 == 0) note(s.take());
    if (i % 5 == 0 && s.claim(&items[i])) note(&items[i]);
  }
  ended.store(true);
  thief.join();
  note(s.take());
  std::size_t wrong = 0;
  for (auto& times : taken)
    if (times.load() != 1) ++wrong;
  CHECK(wrong == 0);
}

}  // namespace next_slot_test
