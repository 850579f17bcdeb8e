// The block pool: blocks are aligned and apart, memory is used again, and threads exchange blocks.
#include "garrick/base/memory/block_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace pool = garrick::base::block_pool;

namespace {

/// A hand-over point between threads that shows no data race to ThreadSanitizer.
class block_queue {
 public:
  void put(std::vector<void*> blocks) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(blocks));
    }
    changed_.notify_one();
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }
  std::vector<void*> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return {};
    std::vector<void*> blocks = std::move(waiting_.back());
    waiting_.pop_back();
    return blocks;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<void*>> waiting_;
  bool closed_ = false;
};

struct at_thread_end {
  std::size_t bytes = 0;
  void* block = nullptr;
  ~at_thread_end() {
    if (bytes == 0) return;
    pool::deallocate(block, bytes);
    void* again = pool::allocate(bytes);
    std::memset(again, 1, bytes);
    pool::deallocate(again, bytes);
  }
};

}  // namespace

TEST_CASE("blocks are aligned, distinct and usable to the last byte") {
  for (const std::size_t bytes : {1u, 64u, 65u, 192u, 512u, 1000u, 1024u, 1025u, 5000u}) {
    const std::size_t before = pool::blocks_in_use(bytes);
    std::vector<unsigned char*> blocks;
    for (unsigned i = 0; i < 300; ++i) {
      auto* block = static_cast<unsigned char*>(pool::allocate(bytes));
      REQUIRE(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
      std::memset(block, static_cast<int>(i % 251), bytes);
      blocks.push_back(block);
    }
    CHECK(pool::blocks_in_use(bytes) == before + 300);
    bool intact = true;
    for (unsigned i = 0; i < 300; ++i)
      intact = intact && std::all_of(blocks[i], blocks[i] + bytes,
                                     [&](unsigned char c) { return c == i % 251; });
    CHECK(intact);
    for (void* block : blocks) pool::deallocate(block, bytes);
    CHECK(pool::blocks_in_use(bytes) == before);
  }
  pool::deallocate(nullptr, 64);
}

TEST_CASE("memory is used again") {
  if (GARRICK_POOL_IS_NEW) return;
  auto churn = [] {
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(pool::allocate<256>());
    for (void* block : blocks) pool::deallocate<256>(block);
  };
  churn();
  const std::size_t mapped = pool::mapped_bytes();
  for (int round = 0; round < 100; ++round) churn();
  CHECK(pool::mapped_bytes() == mapped);
}

TEST_CASE("blocks flow from one thread to another without growth") {
  if (GARRICK_POOL_IS_NEW) return;
  const std::size_t before = pool::blocks_in_use(128);
  block_queue forward;
  std::thread consumer([&] {
    for (auto blocks = forward.take(); !blocks.empty(); blocks = forward.take())
      for (void* block : blocks) {
        CHECK(*static_cast<int*>(block) == 42);
        pool::deallocate<128>(block);
      }
  });
  for (int i = 0; i < 200; ++i) {
    std::vector<void*> blocks;
    for (int k = 0; k < 50; ++k) {
      blocks.push_back(pool::allocate<128>());
      *static_cast<int*>(blocks.back()) = 42;
    }
    forward.put(std::move(blocks));
  }
  forward.close();
  consumer.join();
  CHECK(pool::blocks_in_use(128) == before);
}

TEST_CASE("a thread leaves nothing behind, even if destructors of thread-local objects allocate") {
  if (GARRICK_POOL_IS_NEW) return;
  const std::size_t before = pool::blocks_in_use();
  std::size_t mapped = 0;
  for (int round = 0; round < 20; ++round) {
    for (const bool first : {true, false}) {
      std::thread([first] {
        // constructed before or after the pool's own thread-local state: destroyed after or before
        // it
        void* early = first ? nullptr : pool::allocate<320>();
        static thread_local at_thread_end last;
        last.bytes = 320;
        last.block = first ? pool::allocate<320>() : early;
        std::vector<void*> blocks;
        for (int i = 0; i < 150; ++i) blocks.push_back(pool::allocate<320>());
        for (void* block : blocks) pool::deallocate<320>(block);
      }).join();
    }
    if (round == 0) mapped = pool::mapped_bytes();
  }
  CHECK(pool::mapped_bytes() == mapped);
  CHECK(pool::blocks_in_use() == before);
}

TEST_CASE("a thread that only frees keeps nothing") {
  if (GARRICK_POOL_IS_NEW) return;
  const std::size_t before = pool::blocks_in_use(64);
  for (int round = 0; round < 10; ++round) {
    void* block = pool::allocate<64>();
    std::thread([block] { pool::deallocate<64>(block); }).join();
  }
  CHECK(pool::blocks_in_use(64) == before);
}

TEST_CASE("many threads exchange blocks of many sizes") {
  const std::size_t before = pool::blocks_in_use();
  constexpr std::size_t thread_count = 4;
  block_queue exchange[pool::class_count];
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thread_count; ++t)
    threads.emplace_back([&exchange, t] {
      std::minstd_rand random(t + 1);
      for (int i = 0; i < 400; ++i) {
        const std::size_t c = random() % pool::class_count;
        const std::size_t bytes = (c + 1) * pool::block_step;
        std::vector<void*> blocks;
        for (unsigned k = 0; k < 1 + random() % 100; ++k) {
          blocks.push_back(pool::allocate(bytes));
          std::memset(blocks.back(), static_cast<int>(c), bytes);
        }
        exchange[c].put(std::move(blocks));
        bool intact = true;
        for (void* block : exchange[c].take()) {
          const auto* byte = static_cast<unsigned char*>(block);
          intact =
              intact && std::all_of(byte, byte + bytes, [&](unsigned char b) { return b == c; });
          pool::deallocate(block, bytes);
        }
        CHECK(intact);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(pool::blocks_in_use() == before);
}

TEST_CASE("the reserve gives aligned blocks that are apart, and then none") {
  const std::size_t before = pool::blocks_in_use(pool::block_step);
  std::vector<void*> blocks;
  while (void* const block = pool::allocate_reserved()) {
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    std::memset(block, static_cast<int>(blocks.size()), pool::block_step);
    blocks.push_back(block);
  }
  CHECK(blocks.size() == (GARRICK_POOL_IS_NEW ? 0 : pool::reserved_blocks));
  CHECK(pool::blocks_in_use(pool::block_step) - before == blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    CHECK(static_cast<unsigned char*>(blocks[i])[63] == i);
  for (void* const block : blocks) pool::deallocate(block, pool::block_step);
  CHECK(pool::blocks_in_use(pool::block_step) == before);
}
