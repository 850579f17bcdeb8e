// The cost of a block: on one thread, in bursts, handed from thread to thread, and fresh from the
// system; malloc beside it.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "garrick/base/memory/block_pool.hpp"

namespace {

namespace pool = garrick::base::block_pool;

void same_thread_pair(benchmark::State& state) {
  for (auto _ : state) {
    void* block = pool::allocate<64>();
    benchmark::DoNotOptimize(block);
    pool::deallocate<64>(block);
  }
}
BENCHMARK(same_thread_pair);

void malloc_pair(benchmark::State& state) {
  for (auto _ : state) {
    void* block = std::malloc(64);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}
BENCHMARK(malloc_pair);

/// One item is one block taken and given back, in bursts of the given number.
void burst(benchmark::State& state) {
  std::vector<void*> blocks(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (void*& block : blocks) {
      block = pool::allocate<64>();
      *static_cast<long*>(block) = 1;
    }
    for (void* block : blocks) pool::deallocate<64>(block);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(burst)->Arg(32)->Arg(1000)->Arg(100'000);

/// One thread takes blocks, the other gives them back: one item is one block. A bounded ring
/// carries them.
void across_threads(benchmark::State& state) {
  constexpr std::size_t ring_size = 1024;
  std::vector<std::atomic<void*>> ring(ring_size);
  std::atomic<bool> stop{false};
  std::thread consumer([&] {
    for (std::size_t at = 0;; at = (at + 1) % ring_size) {
      void* block = nullptr;
      // order: acquire; pairs with the producer's release store: the block's content is visible.
      while ((block = ring[at].load(std::memory_order_acquire)) == nullptr)
        if (stop.load(std::memory_order_relaxed)) return;  // order: relaxed; only a flag
      pool::deallocate<64>(block);
      ring[at].store(nullptr,
                     // order: release; pairs with the producer's acquire load: the place is free.
                     std::memory_order_release);
    }
  });
  std::size_t at = 0;
  for (auto _ : state) {
    void* block = pool::allocate<64>();
    *static_cast<long*>(block) = 1;
    // order: acquire; pairs with the consumer's release store.
    while (ring[at].load(std::memory_order_acquire) != nullptr) {}
    // order: release; pairs with the consumer's acquire load.
    ring[at].store(block, std::memory_order_release);
    at = (at + 1) % ring_size;
  }
  stop.store(true, std::memory_order_relaxed);  // order: relaxed; the join below orders the rest.
  consumer.join();
  // order: relaxed; one thread is left.
  for (auto& place : ring) pool::deallocate<64>(place.load(std::memory_order_relaxed));
  state.SetItemsProcessed(state.iterations());
  state.counters["mapped_MiB"] = static_cast<double>(pool::mapped_bytes()) / (1 << 20);
}
BENCHMARK(across_threads)->UseRealTime();

/// A million blocks of 256 bytes that are all kept until the end: page faults included. One item is
/// one block.
void fresh_memory(benchmark::State& state) {
  std::vector<void*> blocks(1'000'000);
  for (auto _ : state)
    for (void*& block : blocks) {
      block = pool::allocate<256>();
      *static_cast<long*>(block) = 1;
    }
  state.SetItemsProcessed(state.iterations() * 1'000'000);
}
BENCHMARK(fresh_memory)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
