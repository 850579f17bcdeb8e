// The block pool: blocks are aligned and apart, memory is used again, and threads exchange blocks.
#include "garrick/base/memory/block_pool.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <support/in_child.hpp>

#include "garrick/base/memory/internal/plain_addresses.hpp"

namespace block_pool_test {

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

/// A system as the pool sees it, without a clock: the test calls `give_back`.
class patient_caretaker final : public pool::caretaker {
 public:
  explicit patient_caretaker(std::size_t kept) { join(kept); }
  void wake() noexcept override { ++woken; }
  std::atomic<int> woken{0};
};

constexpr std::size_t mib = std::size_t{1} << 20;

/// Returns `bytes` in blocks of `size`, written to, so that they are resident.
std::vector<void*> many_blocks(std::size_t bytes, std::size_t size) {
  std::vector<void*> blocks;
  for (std::size_t sum = 0; sum < bytes; sum += size) {
    blocks.push_back(pool::allocate(size));
    *static_cast<std::size_t*>(blocks.back()) = sum;
  }
  return blocks;
}
/// Leaves no idle memory, so that the following memory can be counted.
void give_everything_back() { patient_caretaker(0).leave(); }

void free_all(std::vector<void*>& blocks, std::size_t size) {
  for (void* b : blocks) pool::deallocate(b, size);
  blocks.clear();
}

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

TEST_CASE("after a burst of one size, the memory serves another") {
  if (GARRICK_POOL_IS_NEW) return;
  auto blocks = many_blocks(32 * mib, 192);
  free_all(blocks, 192);
  const std::size_t mapped = pool::mapped_bytes();
  for (const std::size_t size : {64u, 320u, 1024u}) {
    blocks = many_blocks(28 * mib, size);
    free_all(blocks, size);
  }
  CHECK(pool::mapped_bytes() == mapped);
}

TEST_CASE(
    "after a burst memory goes back to the system, step by step, but for the part that is to be "
    "kept") {
  if (GARRICK_POOL_IS_NEW) return;
  give_everything_back();
  patient_caretaker keeper(8 * mib);
  const std::size_t before = pool::held_bytes();
  auto blocks = many_blocks(64 * mib, 192);
  std::shuffle(blocks.begin(), blocks.end(), std::minstd_rand(1));  // they die in any order
  CHECK(keeper.woken.load() == 0);
  free_all(blocks, 192);
  CHECK(keeper.woken.load() == 1);
  const std::size_t peak = pool::held_bytes();
  CHECK(peak >= before + 63 * mib);
  pool::give_back(2 * mib);  // the first call: no memory has rested since an earlier one
  std::size_t above = pool::give_back(2 * mib);
  CHECK(pool::held_bytes() <= peak - mib);
  CHECK(pool::held_bytes() >= peak - 3 * mib);
  while (above != 0) above = pool::give_back(2 * mib);
  CHECK(pool::held_bytes() <= before + 12 * mib);
  const std::size_t settled = pool::held_bytes();
  CHECK(pool::give_back(2 * mib) == 0);
  CHECK(pool::held_bytes() == settled);

  blocks = many_blocks(64 * mib, 192);  // and the memory can be allocated again
  free_all(blocks, 192);
  CHECK(keeper.woken.load() == 2);
  keeper.leave();  // the last to leave gives back the rest
  CHECK(pool::held_bytes() <= before + 12 * mib);
  keeper.leave();
}

TEST_CASE("memory that bursts want again and again is not given back in between") {
  if (GARRICK_POOL_IS_NEW) return;
  give_everything_back();
  patient_caretaker keeper(0);
  std::vector<void*> blocks;
  for (int burst = 0; burst < 10; ++burst) {
    blocks = many_blocks(16 * mib, 256);
    const std::size_t held = pool::held_bytes();
    free_all(blocks, 256);
    pool::give_back(2 * mib);
    CHECK(pool::held_bytes() >= held - 2 * mib);
  }
  keeper.leave();
}

TEST_CASE("with several caretakers the largest number counts, and the first is called") {
  if (GARRICK_POOL_IS_NEW) return;
  give_everything_back();
  patient_caretaker modest(4 * mib);
  const std::size_t before = pool::held_bytes();
  {
    patient_caretaker generous(512 * mib);
    auto blocks = many_blocks(32 * mib, 512);
    free_all(blocks, 512);
    CHECK(generous.woken == 0);
    generous.leave();
  }
  CHECK(modest.woken == 1);
  pool::give_back(64 * mib);
  CHECK(pool::give_back(64 * mib) == 0);
  CHECK(pool::held_bytes() <= before + 6 * mib);
  modest.leave();
}

TEST_CASE("threads allocate and free while memory goes back") {
  const std::size_t before = pool::blocks_in_use();
  patient_caretaker keeper(0);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t)
    threads.emplace_back([t] {
      std::minstd_rand random(t + 1);
      for (int i = 0; i < 60; ++i) {
        const std::size_t size = 64 * (1 + random() % pool::class_count);
        auto blocks = many_blocks(mib / 2, size);
        std::shuffle(blocks.begin(), blocks.end(), random);
        std::size_t sum = 0;
        for (void* b : blocks) sum += *static_cast<std::size_t*>(b);
        CHECK(sum == size * blocks.size() * (blocks.size() - 1) / 2);
        free_all(blocks, size);
      }
    });
  std::thread giver([&] {
    while (!over) pool::give_back(mib);
  });
  for (auto& t : threads) t.join();
  over = true;
  giver.join();
  CHECK(pool::blocks_in_use() == before);
  keeper.leave();
}

TEST_CASE("a forked child may allocate while the parent's other threads do anything") {
  if (GARRICK_POOL_IS_NEW) return;  // the sanitizer's own allocator has no fork handlers
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t)
    threads.emplace_back([&over, t] {
      std::minstd_rand random(t + 1);
      while (!over) {
        const std::size_t size = 64 * (1 + random() % 4);
        auto blocks = many_blocks(64 * 1024, size);
        free_all(blocks, size);
        for (int looks = 0; looks < 100; ++looks) static_cast<void>(pool::held_bytes());
      }
    });
  for (int child = 0; child < 200; ++child) {
    const pid_t id = ::fork();
    REQUIRE(id >= 0);
    if (id == 0) {
      ::alarm(20);  // a child that hangs dies of it
      for (const std::size_t size : {64u, 128u, 192u, 256u, 1024u}) {
        auto blocks = many_blocks(64 * 1024, size);
        free_all(blocks, size);
      }
      pool::give_back(mib);
      static_cast<void>(pool::blocks_in_use());
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(id, &status, 0) == id);
    CHECK(status == 0);
    if (status != 0) break;
  }
  over = true;
  for (auto& t : threads) t.join();
}

TEST_CASE("memory may end where a mailbox's word ends to hold addresses, and not one byte later") {
  const auto last = reinterpret_cast<const void*>((std::uintptr_t{1} << 48) - 64);
  pool::detail::expect_plain_addresses(last, 64);
  const auto [text, status] =
      garrick::tests::in_child([=] { pool::detail::expect_plain_addresses(last, 65); });
  CHECK(garrick::tests::has_aborted(status));
  CHECK(text.find("must lie at addresses of at most 48 bits") != std::string::npos);
}

}  // namespace block_pool_test
