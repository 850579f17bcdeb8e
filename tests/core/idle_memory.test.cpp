// The cost of a living actor with nothing to do: bytes of the block pool and of the heap, handle
// included. At most 256, for all ways to make it.
#include <doctest/doctest.h>
#include <garrick/base/memory/block_pool.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GARRICK_COUNTS_BYTES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GARRICK_COUNTS_BYTES 0
#endif
#endif
#ifndef GARRICK_COUNTS_BYTES
#define GARRICK_COUNTS_BYTES 1
#endif

namespace {

using namespace garrick;

constexpr std::size_t actors = 20'000;
constexpr std::size_t at_once = 100;  // the workers' queues must not grow: actors do not own them

struct ask {};
using asked = protocol<int(ask)>;

/// Actors that have begun.
struct count_of_begun {
  void add() {
    ++value;
    value.notify_one();
  }
  void wait_for(std::size_t n) {
    for (std::size_t now = value; now < n; now = value) value.wait(now);
  }
  std::atomic<std::size_t> value{0};
};

/// Bytes in use. A sanitizer brings its own heap, which cannot be asked.
std::size_t bytes_in_use() {
  std::size_t bytes = 0;
#if GARRICK_COUNTS_BYTES
  namespace pool = base::block_pool;
  for (std::size_t size = pool::block_step; size <= pool::largest_block; size += pool::block_step)
    bytes += size * pool::blocks_in_use(size);
  const struct mallinfo2 heap = mallinfo2();
  bytes += heap.uordblks + heap.hblkhd;
#endif
  return bytes;
}

/// Spawns many with `spawn(system, begun)` and checks the cost of one.
template <class Handle, class Spawn>
void check_cost(const char* what, Spawn spawn) {
  count_of_begun begun;
  actor_system system;
  std::vector<Handle> all;
  const std::size_t before = bytes_in_use();
  all.reserve(actors);
  while (all.size() < actors) {
    for (std::size_t i = 0; i < at_once; ++i) all.push_back(spawn(system, &begun));
    begun.wait_for(all.size());
  }
  CHECK(system.request_as<int>(any_ref(all.back()), ask{}).get().value() == 1);
  const std::size_t bytes = (bytes_in_use() - before) / actors;
  MESSAGE(what << ": " << bytes << " bytes");
  CHECK(bytes <= 256);
  if (GARRICK_COUNTS_BYTES) CHECK(bytes >= sizeof(core::cell));
  std::size_t extended = 0;
  for (const Handle& h : all) extended += core::handle_access::get(h)->ext_if() != nullptr ? 1 : 0;
  CHECK(extended == 0);
}

class idler : public actor<asked> {
 public:
  explicit idler(count_of_begun* begun) { begun->add(); }
  int on(ask) { return 1; }
};

class dynamic_idler : public dynamic_actor {
 public:
  explicit dynamic_idler(count_of_begun* begun) {
    become([](ask) { return 1; });
    begun->add();
  }
};

behavior function(dynamic_actor&, count_of_begun* begun) {
  begun->add();
  return {[](ask) { return 1; }};
}

struct answer {
  int value = 1;
};

}  // namespace

TEST_CASE("an idle class-based actor costs at most 256 bytes") {
  check_cost<ref<asked>>(
      "class", [](actor_system& s, count_of_begun* begun) { return s.spawn<idler>(lent(begun)); });
  check_cost<any_ref>("dynamic class", [](actor_system& s, count_of_begun* begun) {
    return s.spawn<dynamic_idler>(lent(begun));
  });
}

TEST_CASE("an idle function-based actor costs at most 256 bytes") {
  check_cost<any_ref>("function", [](actor_system& s, count_of_begun* begun) {
    return s.spawn(function, lent(begun));
  });
  check_cost<any_ref>("lambda", [](actor_system& s, count_of_begun* begun) {
    return s.spawn(lent([begun](dynamic_actor& self) {
      self.become([](ask) { return 1; }, [&self](int) { self.quit(); },
                  [&self](long) { self.quit(); }, [&self](double) { self.unbecome(); });
      begun->add();
    }));
  });
  check_cost<ref<asked>>("typed", [](actor_system& s, count_of_begun* begun) {
    return s.spawn(lent([begun](typed_actor<asked>&) -> typed_behavior<asked> {
      begun->add();
      return {[](ask) { return 1; }};
    }));
  });
  check_cost<any_ref>("stateful", [](actor_system& s, count_of_begun* begun) {
    return s.spawn(lent([begun](stateful<answer>& self) -> behavior {
      begun->add();
      return {[&self](ask) { return self.state.value; }};
    }));
  });
  check_cost<ref<asked>>("stateful and typed", [](actor_system& s, count_of_begun* begun) {
    return s.spawn(lent([begun](stateful<answer, asked>& self) -> typed_behavior<asked> {
      begun->add();
      return {[&self](ask) { return self.state.value; }};
    }));
  });
}

TEST_CASE("a function-based actor that changed its behavior and takes all messages costs no more") {
  check_cost<any_ref>("after become", [](actor_system& s, count_of_begun* begun) {
    const any_ref a = s.spawn(lent([begun](dynamic_actor& self) -> behavior {
      self.set_unmatched(unmatched::drop);
      return {[&self, begun](int) {
        self.become([](ask) { return 1; });
        begun->add();
      }};
    }));
    send(a, 2.5);
    send(a, 7);
    return a;
  });
}
