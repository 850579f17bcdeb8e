// A stream needs no more memory the longer it runs, at full rate and with a stage that is slower
// than its feeders. Here it runs for a fraction of a second, in `./dev soak` for a minute, and with
// GARRICK_TORTURE=2400 for ten.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/in_child.hpp"
#include "support/quiet.hpp"
#include "support/resident_bytes.hpp"
#include "support/rounds.hpp"

namespace flat_memory_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using clock = std::chrono::steady_clock;
using garrick::tests::resident_bytes;

constexpr auto a_while = std::chrono::milliseconds(250);
/// Buffers and pools grow to their size at first. A sanitizer has records of its own.
constexpr std::size_t allowed_growth = HAS_SANITIZER ? std::size_t{1} << 30 : std::size_t{8} << 20;

/// Looks again and again, for a while in all, whether the process grows, and calls `look`. Its
/// sleeps wait for nothing: they are how long it watches. On a busy machine it watches until `seen`
/// is above `least`.
template <class F>
void watch_memory(const std::atomic<std::uint64_t>& seen, std::uint64_t least, const F& look) {
  const auto length = a_while * garrick::tests::rounds(1);
  const auto begin = clock::now();
  std::this_thread::sleep_for(length / 5);
  const std::size_t before = resident_bytes();
  std::size_t most = before;
  while (clock::now() - begin < length || seen <= least) {
    std::this_thread::sleep_for(length / 20);
    most = std::max(most, resident_bytes());
    look();
  }
  CAPTURE(before);
  CHECK(most <= before + allowed_growth);
}

std::string text_of(std::uint64_t n) { return std::to_string(n) + std::string(40, '.'); }
std::string shorter(std::string s) {
  s.pop_back();
  return s;
}
bool is_long(const std::string& s) { return s.size() > 50; }
std::size_t length_of(const std::string& s) { return s.size(); }

}  // namespace

TEST_CASE("a stream of every kind of pattern at full rate does not grow") {
  std::atomic<std::uint64_t> seen{0};
  const auto count = [&](std::string) { ++seen; };
  {
    actor_system system(garrick::tests::quiet(2));
    const auto h = spawn(
        system, pipeline(counting<std::uint64_t>(0, std::uint64_t{1} << 62), text_of,
                         farm(shorter).replicas(2).ordered(), farm(shorter).replicas(2),
                         farm(shorter).replicas(2).by_key(length_of), feedback(shorter, is_long),
                         batch<std::string>(50, duration::milliseconds(1)),
                         flat_map([](std::vector<std::string> all) { return all; }),
                         for_each(lent(count))));
    watch_memory(seen, 1000, [] {});
    send(h, cancel{});
    CHECK(system.request(h, join{}).get().error() == errc::cancelled);
  }
}

namespace {

/// Takes a third of a millisecond for each tuple.
class slow_sink {
 public:
  explicit slow_sink(std::atomic<std::uint64_t>* seen) : seen_(seen) {}
  void consume(std::string) {
    for (const auto end = clock::now() + std::chrono::microseconds(300); clock::now() < end;) {}
    ++*seen_;
  }

 private:
  std::atomic<std::uint64_t>* seen_;
};

struct more {};
/// Feeds a stream as fast as it may.
class hasty : public actor<protocol<void(more)>> {
 public:
  hasty(ref<protocol<void(std::string)>> to, std::atomic<std::uint64_t>* sent,
        std::atomic<bool>* enough)
      : to_(std::move(to)), sent_(sent), enough_(enough) {}
  void on_start() { send(ref<protocol<void(more)>>(self()), more{}); }
  void on(more) {
    if (*enough_) return quit();
    for (int i = 0; i < 64; ++i) {
      send(to_, std::string(200, 'x'));
      ++*sent_;
    }
    send(ref<protocol<void(more)>>(self()), more{});
  }

 private:
  ref<protocol<void(std::string)>> to_;
  std::atomic<std::uint64_t>* sent_;
  std::atomic<bool>* enough_;
};

}  // namespace

TEST_CASE("a stream with a slow sink holds up the actors that feed it, and does not grow") {
  std::atomic<std::uint64_t> sent{0}, seen{0};
  std::atomic<bool> enough{false};
  {
    actor_system system(garrick::tests::quiet(3));
    const auto h = spawn(system, pipeline(shorter, seq<slow_sink>(lent(&seen))), {.capacity = 64});
    system.spawn<hasty>(ref<protocol<void(std::string)>>(h), lent(&sent), lent(&enough));
    std::uint64_t most = 0;
    watch_memory(seen, 10, [&] { most = std::max(most, sent - seen); });
    enough = true;
    send(h, cancel{});
    CHECK(system.request(h, join{}).get().error() == errc::cancelled);
    CHECK(most < 4096);
  }
}

}  // namespace flat_memory_test
