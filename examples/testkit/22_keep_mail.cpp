// The unread mail of children that are restarted because another child failed: kept or dropped.
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdio>
#include <stdexcept>

using namespace std::chrono_literals;

struct fail {};
struct record {
  int number;
};

class reader_actor : public garrick::actor<garrick::protocol<void(fail)>> {
 public:
  void on(fail) { throw std::runtime_error("unreadable"); }
};

// [store]
/// Takes a minute to load before it handles its mail.
class store_actor : public garrick::actor<garrick::protocol<void(record)>> {
 public:
  garrick::task<> on_start() {
    std::puts("  the store loads");
    static_cast<void>(co_await delay(1min));
  }
  void on(record r) { std::printf("  record %d\n", r.number); }
};
// [/store]

void reader_fails_while_the_store_loads(bool keep) {
  garrick::testkit::test_system kit(1);
  // [keep_mail]
  // Reader and store are restarted together. `keep_mail = false` is for mail that is useless after
  // a restart, such as the second half of work that a failed reader has begun.
  const auto top = kit.spawn<garrick::supervisor>(
      garrick::supervision{.strategy = garrick::one_for_all, .keep_mail = keep});
  // [/keep_mail]
  const auto reader = garrick::supervise<reader_actor>(top);
  const auto store = garrick::supervise<store_actor>(top);
  for (int n = 1; n <= 3; ++n) send(store, record{n});
  kit.run_for(30s);
  send(reader, fail{});
  kit.run_for(2min);
  std::printf("  dead letters: %zu\n", kit.dead_letters().size());
}

int main() {
  std::puts("keep_mail = true:");
  reader_fails_while_the_store_loads(true);
  std::puts("keep_mail = false:");
  reader_fails_while_the_store_loads(false);
}
