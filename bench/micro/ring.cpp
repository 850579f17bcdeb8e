// The cost of an item between two threads: our ring, item by item and in batches, and beside it the
// usual simple ring, whose sides look at each other's index each time.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "garrick/base/concurrency/ring.hpp"

namespace {

constexpr std::size_t capacity = 1024;

/// Two indices and an array.
class plain_ring {
 public:
  bool push(std::uint64_t item) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);  // order: own index
    // order: acquire; the consumer is done with the slot.
    if (tail - head_.load(std::memory_order_acquire) == capacity) return false;
    slots_[tail % capacity] = item;
    tail_.store(tail + 1, std::memory_order_release);  // order: release; the item.
    return true;
  }
  bool pop(std::uint64_t& item) {
    const std::size_t head = head_.load(std::memory_order_relaxed);  // order: own index
    // order: acquire; the item.
    if (head == tail_.load(std::memory_order_acquire)) return false;
    item = slots_[head % capacity];
    head_.store(head + 1, std::memory_order_release);  // order: release; done with the slot.
    return true;
  }

 private:
  alignas(64) std::atomic<std::size_t> tail_{0};
  alignas(64) std::atomic<std::size_t> head_{0};
  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(capacity);
};

/// The consumer pops until it gets this.
constexpr std::uint64_t last_item = ~std::uint64_t{0};

void reference(benchmark::State& state) {
  plain_ring ring;
  std::thread consumer([&] {
    std::uint64_t item = 0;
    while (item != last_item)
      if (!ring.pop(item)) std::this_thread::yield();
  });
  const auto push = [&](std::uint64_t item) {
    while (!ring.push(item)) std::this_thread::yield();
  };
  for (auto _ : state) push(1);
  push(last_item);
  consumer.join();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(reference)->UseRealTime();

/// One iteration pushes as many items as the argument says.
void ours(benchmark::State& state) {
  garrick::base::ring<std::uint64_t> ring(capacity);
  const auto batch = static_cast<std::size_t>(state.range(0));
  std::thread consumer([&] {
    std::uint64_t sum = 0;
    while (!ring.ended())
      if (ring.pop(batch, [&](std::uint64_t&& item) { sum += item; }) == 0)
        std::this_thread::yield();
    benchmark::DoNotOptimize(sum);
  });
  std::vector<std::uint64_t> items(batch, 1);
  for (auto _ : state) {
    std::span<std::uint64_t> rest = items;
    while (!rest.empty()) {
      const std::size_t taken = ring.push(rest);
      rest = rest.subspan(taken);
      if (taken == 0) std::this_thread::yield();
    }
  }
  ring.close();
  consumer.join();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ours)->Arg(1)->Arg(16)->Arg(256)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
