#include "garrick/net/layer/internal/kept_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "garrick/base/memory/block_pool.hpp"
#include "garrick/base/values/random.hpp"

namespace kept_bytes_test {

using namespace garrick;
using net::internal::kept_bytes;

namespace {

std::vector<std::byte> message(std::uint64_t number, std::size_t size) {
  std::vector<std::byte> made(size);
  for (std::size_t i = 0; i != size; ++i) made[i] = static_cast<std::byte>(number + i * 7);
  return made;
}

}  // namespace

TEST_CASE("kept_bytes: copies stay unchanged until they are popped, in their order") {
  const std::size_t before = base::block_pool::blocks_in_use();
  {
    kept_bytes kept;
    struct one {
      std::vector<std::byte> wanted;
      const std::byte* copy;
    };
    std::deque<one> all;
    base::random_source random(7);
    for (std::uint64_t i = 0; i != 20'000; ++i) {
      std::vector<std::byte> m =
          message(i, random.below(static_cast<std::uint32_t>(kept_bytes::largest + 1)));
      const std::byte* const copy = kept.push(m);
      all.push_back({std::move(m), copy});
      // The number of kept messages is small or large for a time, and now and then zero.
      const std::uint32_t most = i / 4000 % 2 == 0 ? 3 : 200;
      while (all.size() > random.below(most + 1)) {
        REQUIRE(std::equal(all.front().wanted.begin(), all.front().wanted.end(), all.front().copy));
        kept.pop(all.front().wanted.size());
        all.pop_front();
      }
    }
    for (const one& each : all)
      REQUIRE(std::equal(each.wanted.begin(), each.wanted.end(), each.copy));
  }
  CHECK(base::block_pool::blocks_in_use() == before);
}

TEST_CASE("kept_bytes: without messages it holds no memory") {
  const std::size_t before = base::block_pool::blocks_in_use();
  kept_bytes kept;
  for (int round = 0; round != 3; ++round) {
    for (int i = 0; i != 100; ++i) static_cast<void>(kept.push(message(1, 300)));
    CHECK(base::block_pool::blocks_in_use() > before);
    for (int i = 0; i != 100; ++i) kept.pop(300);
    CHECK(base::block_pool::blocks_in_use() == before);
  }
  // Empty messages take room, too: the chunk stays until the second of two is dropped.
  const std::byte* const first = kept.push({});
  const std::byte* const second = kept.push({});
  CHECK(first != second);
  kept.pop(0);
  CHECK(base::block_pool::blocks_in_use() > before);
  kept.pop(0);
  CHECK(base::block_pool::blocks_in_use() == before);
}

}  // namespace kept_bytes_test
