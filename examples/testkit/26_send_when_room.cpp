// A fast producer before a slow consumer with a short mailbox: the producer waits for room before
// each message, and no thread waits. The time is virtual.
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdio>
#include <string>

using namespace std::chrono_literals;

struct sample {
  int number;
  std::string text;
};

class printer : public garrick::actor<garrick::protocol<void(sample)>> {
 public:
  garrick::task<void> on(sample s) {
    static_cast<void>(co_await delay(1s));  // slow
    std::printf("%4s printed %s %d, %u wait\n", (now() - garrick::instant()).to_string().c_str(),
                s.text.c_str(), s.number, mailbox_length());
  }
};

// [producer]
class producer : public garrick::actor<garrick::protocol<void(int)>> {
 public:
  explicit producer(garrick::ref<garrick::protocol<void(sample)>> to) : to_(std::move(to)) {}
  garrick::task<void> on(int count) {
    for (int n = 1; n <= count; ++n) {
      // constructed in place, which is safe in a co_await, also with GCC 12
      const garrick::result<void> sent = co_await send_when_room<sample>(to_, n, "sample");
      if (!sent) {
        quit(sent.error());
        co_return;
      }
    }
    std::puts("all sent");
  }

 private:
  garrick::ref<garrick::protocol<void(sample)>> to_;
};
// [/producer]

int main() {
  garrick::testkit::test_system kit(1);
  // [bounded]
  const auto to = kit.spawn<printer>(
      garrick::spawn_options{.policy = garrick::mailbox_policy::wait, .bound = 2});
  // [/bounded]
  send(kit.spawn<producer>(to), 6);
  kit.run_for(1min);
  std::printf("dead letters: %zu\n", kit.dead_letters().size());
}
