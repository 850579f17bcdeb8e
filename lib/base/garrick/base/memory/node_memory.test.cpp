// Memory of one node: blocks lie where they should, come back, and are not the block pool's.
#include <garrick/base/memory/block_pool.hpp>
#include <garrick/base/memory/node_memory.hpp>
#include <garrick/base/platform/platform.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace node_memory_test {

namespace node_memory = garrick::base::node_memory;
namespace block_pool = garrick::base::block_pool;

namespace {
/// Returns true if this system supports the choice of a node. Node 0 is always there.
bool supported() {
  void* const b = node_memory::allocate(0, 64);
  if (b != nullptr) node_memory::deallocate(b, 64);
  return b != nullptr;
}
}  // namespace

TEST_CASE("node memory: blocks are apart, aligned, writable, on their node, and come back") {
  if (!supported()) return;
  const std::size_t before = node_memory::blocks_in_use();
  std::set<void*> all;
  for (int i = 0; i < 5000; ++i) {  // more than a chunk
    void* const b = node_memory::allocate(0, 300);
    REQUIRE(b != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(b) % 64 == 0);
    CHECK(node_memory::owns(b));
    std::memset(b, 0xa5, 300);
    all.insert(b);
  }
  CHECK(all.size() == 5000);
  char* last = nullptr;
  for (void* b : all) {
    if (last != nullptr) CHECK(static_cast<char*>(b) - last >= 320);
    last = static_cast<char*>(b);
  }
  CHECK(garrick::base::platform::memory_node_of(last) == 0);
  CHECK(node_memory::blocks_in_use() == before + 5000);
  for (void* b : all) node_memory::deallocate(b, 300);
  CHECK(node_memory::blocks_in_use() == before);
  void* const again = node_memory::allocate(0, 257);  // the same class
  CHECK(all.count(again) == 1);
  node_memory::deallocate(again, 257);
}

TEST_CASE(
    "node memory: a block beyond its sizes or nodes is null, and the block pool's are not its "
    "own") {
  CHECK(node_memory::allocate(0, block_pool::largest_block + 1) == nullptr);
  CHECK(node_memory::allocate(node_memory::most_nodes, 64) == nullptr);
  // no machine has 64 nodes and runs this test
  CHECK(node_memory::allocate(node_memory::most_nodes - 1, 64) == nullptr);
  void* const b = block_pool::allocate(64);
  CHECK_FALSE(node_memory::owns(b));
  CHECK_FALSE(node_memory::owns(nullptr));
  block_pool::deallocate(b, 64);
}

TEST_CASE("node memory: threads take and give back each other's blocks") {
  if (!supported()) return;
  const std::size_t before = node_memory::blocks_in_use();
  std::vector<std::vector<void*>> taken(4);
  const auto each = [&](auto f) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < taken.size(); ++i) threads.emplace_back([&, i] { f(i); });
    for (std::thread& t : threads) t.join();
  };
  each([&](std::size_t i) {
    for (int k = 0; k < 1000; ++k) taken[i].push_back(node_memory::allocate(0, 64));
  });
  std::set<void*> apart;
  for (const auto& t : taken) apart.insert(t.begin(), t.end());
  CHECK(apart.size() == 4000);
  each([&](std::size_t i) {
    for (void* b : taken[(i + 1) % taken.size()]) node_memory::deallocate(b, 64);
  });
  CHECK(node_memory::blocks_in_use() == before);
}

}  // namespace node_memory_test
