// The deque: both of its orders, growing, and thieves that lose nothing.
#include <garrick/sched/queues/work_stealing_deque.hpp>

#include <doctest/doctest.h>
#include <support/in_child.hpp>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

namespace work_stealing_deque_test {

using namespace garrick;
using deque = sched::work_stealing_deque<base::real_atomics, int>;

TEST_CASE("the owner gets the newest, a thief the oldest") {
  deque queue(2);
  int items[5] = {};
  for (int& i : items) queue.push(&i);
  CHECK(queue.size() == 5);
  int* oldest = nullptr;
  CHECK(queue.steal(oldest) == deque::steal_result::taken);
  CHECK(oldest == &items[0]);
  CHECK(queue.pop() == &items[4]);
  CHECK(queue.pop() == &items[3]);
  CHECK(queue.steal(oldest) == deque::steal_result::taken);
  CHECK(oldest == &items[1]);
  CHECK(queue.pop() == &items[2]);
  CHECK(queue.pop() == nullptr);
  CHECK(queue.looks_empty());
  CHECK(queue.steal(oldest) == deque::steal_result::empty);
}

TEST_CASE("growing keeps the order, also after the indices have wrapped around the array") {
  deque queue(4);
  std::vector<int> items(1000);
  int* oldest = nullptr;
  for (int i = 0; i < 3; ++i) {
    queue.push(&items[0]);
    CHECK(queue.steal(oldest) == deque::steal_result::taken);
  }
  for (int& i : items) queue.push(&i);
  std::size_t wrong = 0;
  for (int& i : items)
    if (queue.steal(oldest) != deque::steal_result::taken || oldest != &i) ++wrong;
  CHECK(wrong == 0);
  CHECK(queue.pop() == nullptr);
}

TEST_CASE("with three thieves at work everything is taken exactly once") {
  constexpr std::size_t count = 200'000;
  deque queue(2);
  std::vector<std::atomic<int>> taken(count);
  std::vector<int> items(count);
  std::atomic<bool> pushed_all{false};
  const auto note = [&](const int* item) {
    taken[static_cast<std::size_t>(item - items.data())].fetch_add(1);
  };
  std::vector<std::thread> thieves;
  for (int t = 0; t < 3; ++t) {
    thieves.emplace_back([&] {
      int* item = nullptr;
      for (;;) {
        const bool last_look = pushed_all.load();
        const auto result = queue.steal(item);
        if (result == deque::steal_result::taken) note(item);
        if (result == deque::steal_result::empty && last_look) return;
      }
    });
  }
  for (std::size_t i = 0; i < count; ++i) {
    queue.push(&items[i]);
    if (i % 3 == 0) {
      if (const int* newest = queue.pop()) note(newest);
    }
  }
  pushed_all.store(true);
  while (const int* newest = queue.pop()) note(newest);
  for (auto& t : thieves) t.join();
  std::size_t wrong = 0;
  for (auto& times : taken)
    if (times.load() != 1) ++wrong;
  CHECK(wrong == 0);
}

namespace {

/// Atomics of which there is memory for short arrays only.
struct poor_atomics : base::real_atomics {
  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    static void* operator new[](std::size_t bytes) {
      if (bytes > 64 * sizeof(T)) throw std::bad_alloc();
      return ::operator new[](bytes);
    }
    static void operator delete[](void* memory) { ::operator delete[](memory); }
  };
};

}  // namespace

TEST_CASE("a deque that cannot grow ends the process and says why") {
  const auto [text, status] = tests::in_child([] {
    sched::work_stealing_deque<poor_atomics, int> d(16);
    int item = 0;
    for (int i = 0; i < 1000; ++i) d.push(&item);
  });
  CHECK(tests::has_aborted(status));
  CHECK(text.find("garrick: out of memory: a worker's queue") == 0);
}

}  // namespace work_stealing_deque_test
