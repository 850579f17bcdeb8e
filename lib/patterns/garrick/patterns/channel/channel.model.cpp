// A channel, its two sleepers and their nodes under the model checker, as they are and with each of
// the fences left out.
#include <garrick/patterns/channel/channel.hpp>
#include <garrick/patterns/node/run_right.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <span>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base::model;
using namespace garrick::patterns::detail;

namespace {

constexpr unsigned thorough = 100'000;
constexpr unsigned enough_to_fail = 100'000;

/// A producer and a consumer with a channel between them, which has room for one or two tuples. Two
/// threads take turns at running the nodes that have a `go`, so each node moves between the
/// threads.
template <std::size_t Room>
struct channel_suite : rl::test_suite<channel_suite<Room>, 2> {
  static constexpr int count = 3;
  enum who : std::size_t { producer, consumer };

  struct node {
    basic_run_right<relacy_atomics> right;
    relacy_atomics::atomic<int> go{0};    ///< stands for the run right, as a carrier's mail
    relacy_atomics::cell<int> tuples{0};  ///< for the holder of the run right
  };
  std::array<node, 2> nodes;
  basic_channel<garrick::base::basic_ring<int, relacy_atomics>, relacy_atomics> channel{Room};
  // for the checks; the model checker does not follow these
  std::array<bool, 2> ended{};

  void wake(who n) {
    if (nodes[n].right.ask()) RL_ASSERT(nodes[n].go.exchange(1, release) == 0);
  }
  /// A step of the producer. Returns true if it must not sleep.
  bool produce() {
    auto& ring = channel.ring;
    int n = nodes[producer].tuples.get();
    std::size_t made = 0;
    for (; n < count; ++made) {
      const auto free = ring.claim(made);
      if (free.count == 0) break;
      *free.first = ++n;
    }
    nodes[producer].tuples.set(n);
    if (made != 0) {
      ring.publish(made);
      if (channel.consumer_sleeps.take()) wake(consumer);
    }
    if (n == count) {
      ring.close();
      if (channel.consumer_sleeps.take()) wake(consumer);
      ended[producer] = true;
      return false;
    }
    channel.producer_sleeps.set();
    return ring.room() >= channel.enough_room();
  }
  /// A step of the consumer. Returns true if it must not sleep.
  bool consume() {
    auto& ring = channel.ring;
    const std::span<int> batch = ring.front(Room);
    if (!batch.empty()) {
      int n = nodes[consumer].tuples.get();
      for (const int tuple : batch) RL_ASSERT(tuple == ++n);
      nodes[consumer].tuples.set(n);
      ring.discard(batch.size());
      if (ring.size() <= ring.capacity() - channel.enough_room() && channel.producer_sleeps.take())
        wake(producer);
      return true;
    }
    if (ring.ended()) {
      RL_ASSERT(nodes[consumer].tuples.get() == count);
      ended[consumer] = true;
      return false;
    }
    channel.consumer_sleeps.set();
    return ring.size() != 0 || ring.ended();
  }
  /// Needs the run right, which a node that has ended keeps.
  void run(who n) {
    do {
      do nodes[n].right.look();
      while (n == producer ? produce() : consume());
    } while (!ended[n] && !nodes[n].right.release());
  }
  bool run_if_told(who n) {
    if (nodes[n].go.exchange(0, acquire) == 0) return false;
    run(n);
    return true;
  }

  void thread(unsigned index) {
    wake(index == 0 ? producer : consumer);
    for (int i = 0; i < 4; ++i)
      run_if_told((i + static_cast<int>(index)) % 2 == 0 ? producer : consumer);
  }
  /// All remaining work is done, and no node sleeps beside it.
  void after() {
    while (run_if_told(producer) || run_if_told(consumer)) {}
    RL_ASSERT(ended[producer]);
    RL_ASSERT(ended[consumer]);
  }
};

using narrow = channel_suite<1>;
using wide = channel_suite<2>;

}  // namespace

TEST_CASE("no node sleeps beside the tuple or the room that it waits for") {
  CHECK(explore<narrow>(thorough) == "");
  CHECK(explore<wide>(thorough) == "");
}
TEST_CASE("a sleeper's flag needs both of its fences") {
  CHECK(needs<narrow>(sleeper_order::set_fence, seq_cst, enough_to_fail));
  CHECK(needs<narrow>(sleeper_order::take_fence, seq_cst, enough_to_fail));
}
