// Spans that are taken, put back and given to the system at the same time, under the model checker:
// no memory goes while it is in use, no span is lost, and a caretaker is called for idle memory.
#include <garrick/base/memory/internal/span_source.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <garrick/base/concurrency/internal/relacy_atomics.hpp>

using namespace garrick::base::block_pool::detail;
using namespace garrick::base::model;

namespace {

constexpr unsigned thorough = 10'000;

/// The system's effect on the memory of the spans; only the first ones are looked at.
struct model_memory {
  static constexpr std::size_t watched = 8;
  std::array<relacy_atomics::cell<int>, watched> content;  ///< of spans
  int mappings = 0;                                        ///< for a check
};
model_memory* memory = nullptr;

std::size_t index_of(const span& s) { return static_cast<std::size_t>(&s - region::of(&s).spans); }

struct model_system {
  using atomics = relacy_atomics;

  class mutex {
   public:
    void lock() { mutex_.lock(here()); }
    void unlock() { mutex_.unlock(here()); }

   private:
    rl::mutex mutex_;
  };

  static char* map(std::size_t bytes, bool) {
    RL_ASSERT(bytes == region::bytes && ++memory->mappings == 1);
    static char* const room = static_cast<char*>(std::aligned_alloc(region::bytes, region::bytes));
    return room;
  }
  static void forget(char* begin, char* end) {
    rl::ctx().sched();
    for (char* at = begin; at != end; at += region::span_bytes) {
      const std::size_t i = index_of(region::span_of(at));
      RL_ASSERT(i < model_memory::watched);
      memory->content[i].set(0);
    }
  }
};
using source_of_model = basic_span_source<model_system>;

/// Two threads take spans, use them and put them back. When the source asks for it, they wake the
/// caretaker, a third thread, which gives idle memory back, half a span's worth at a time.
struct give_back_suite : rl::test_suite<give_back_suite, 3> {
  model_memory memory_of_model;
  source_of_model source;
  parker caretaker;
  relacy_atomics::atomic<int> told{0};
  relacy_atomics::atomic<int> users{2};

  give_back_suite() { memory = &memory_of_model; }
  void before() { source.set_kept(0); }

  void use(span& s, int as) {
    auto& content = memory->content[index_of(s)];
    content.set(as);
    rl::ctx().sched();
    RL_ASSERT(content.get() == as);
  }
  void put(span& s) {
    source.put(s);
    if (!source.wants_care()) return;
    told.store(1, std::memory_order_release);  // order: as the clock's lock
    caretaker.unpark();
  }
  void give_back() {
    while (source.give_back(region::span_bytes / 2, true) != 0) rl::yield(1, here());
  }
  void thread(unsigned index) {
    if (index == 2) {
      for (;;) {
        const bool over = users.load(acquire) == 0;  // order: for the test
        if (told.exchange(0, acquire) == 1)          // order: as the clock's lock
          give_back();
        else if (over)
          return;
        else
          caretaker.park();
      }
    }
    const int me = static_cast<int>(index) + 1;
    span& first = source.take(64);
    use(first, me);
    span& second = source.take(64);
    use(second, 10 * me);
    put(first);
    use(second, 100 * me);
    put(second);
    users.fetch_sub(1, acq_rel);  // order: for the test
    caretaker.unpark();
  }
  void after() {
    // the last thread that put a span back has woken the caretaker
    RL_ASSERT(source.now().idle == 0 && source.now().held == region::head_bytes);
    RL_ASSERT(memory->mappings == 1);
  }
};

}  // namespace

TEST_CASE("a span is in use, or idle, or the system's, and idle memory is cared for") {
  CHECK(explore<give_back_suite>(thorough) == "");
}
