#include <doctest/doctest.h>
#include <garrick/net/node/proxy/internal/byte_credit.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace byte_credit_test {

namespace {

using garrick::net::first_bytes;
using garrick::net::least_counted;
using garrick::net::internal::byte_credit;

/// Bytes, and the message credit that they take and return.
struct account {
  byte_credit bytes;
  std::atomic<std::int64_t> messages{256};

  bool take(std::size_t n) {
    return bytes.take(n, [this](std::uint32_t block) { messages -= block; });
  }
  void give(std::uint64_t n) {
    bytes.give(n, [this](std::uint32_t block) { messages += block; });
  }
  [[nodiscard]] bool is_blocked() const { return messages < 0; }
};

constexpr std::size_t mib = 1u << 20;

}  // namespace

TEST_CASE("byte credit: the last byte takes the block, and the first one returns it") {
  account a;
  for (int i = 0; i < 15; ++i) CHECK(a.take(mib));
  CHECK_FALSE(a.is_blocked());
  CHECK(a.take(mib));  // uses it up exactly
  CHECK(a.messages == 256 - std::int64_t{byte_credit::block});
  CHECK(a.take(3 * mib));  // the block is taken once
  CHECK(a.messages == 256 - std::int64_t{byte_credit::block});
  a.give(3 * mib);
  CHECK(a.bytes.left() == 0);
  CHECK(a.is_blocked());
  a.give(1);
  CHECK(a.messages == 256);
  a.give(mib);
  CHECK(a.messages == 256);
}

TEST_CASE("byte credit: a message of any size goes while a byte is left, and one more debt") {
  account a;
  CHECK(a.take(100 * mib));
  CHECK(a.bytes.is_used_up());
  CHECK_FALSE(a.take(least_counted));
  CHECK(a.bytes.left() == std::int64_t{first_bytes} - std::int64_t{100 * mib});
  a.give(68 * mib);
  CHECK(a.bytes.left() == -std::int64_t{first_bytes});
  CHECK_FALSE(a.bytes.is_used_up());
  CHECK(a.take(mib));
  CHECK_FALSE(a.take(mib));
}

TEST_CASE("byte credit: no grant of a peer lets the number overflow") {
  account a;
  for (int i = 0; i < 1000; ++i) a.give(~std::uint64_t{0});
  CHECK(a.bytes.left() > 0);
  CHECK(a.messages == 256);
}

TEST_CASE("byte credit: however threads take and give, the block is taken while no byte is left") {
  for (int round = 0; round < 20; ++round) {
    account a;
    std::atomic<std::uint64_t> taken{0};
    std::atomic<int> runs{3};
    std::vector<std::thread> all;
    for (int t = 0; t < 3; ++t)
      all.emplace_back([&, t] {
        for (int i = 0; i < 3000; ++i) {
          const std::size_t n = static_cast<std::size_t>(1 + (i * 7 + t) % 5) * mib;
          if (a.take(n)) taken += n;
        }
        --runs;
      });
    std::uint64_t given = 0;
    while (runs != 0 || given != taken) {
      const std::uint64_t n = taken - given;
      a.give(n);
      given += n;
      if (n == 0) std::this_thread::yield();
    }
    for (std::thread& t : all) t.join();
    CHECK(a.bytes.left() == std::int64_t{first_bytes});
    CHECK(a.messages == 256);
  }
}

}  // namespace byte_credit_test
