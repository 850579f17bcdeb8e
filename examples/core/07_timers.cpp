// Time: a periodic message that does not drift, a delayed one, one that is cancelled, and a request
// that takes too long.
#include <garrick/garrick.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

struct beat {};
struct alarm_rings {};
struct never_sent {};
struct question {};

using oracle = garrick::protocol<garrick::result<int>(question)>;
using clockmaker = garrick::protocol<void(beat), void(alarm_rings), void(never_sent)>;

/// Thinks for ever.
class oracle_actor : public garrick::actor<oracle> {
  garrick::response_promise<int> asked_;

 public:
  garrick::result<int> on(question) {
    asked_ = make_promise<int>();
    return asked_;
  }
};

// [timers]
class clockmaker_actor : public garrick::actor<clockmaker> {
  garrick::ref<oracle> oracle_;
  garrick::timer beats_;
  garrick::instant start_ = now();
  int count_ = 0;

 public:
  explicit clockmaker_actor(garrick::ref<oracle> o) : oracle_(std::move(o)) {}

  void on_start() {
    beats_ = send_every(40ms, self(), beat{});
    auto mistake = send_after(100ms, self(), never_sent{});
    std::printf("cancelled in time: %s\n", mistake.cancel() ? "yes" : "no");
  }
  void on(beat) {
    if (!beats_.active()) return;  // this beat was in the mailbox when the beats were cancelled
    std::printf("beat %d\n", ++count_);
    if (count_ < 3) return;
    beats_.cancel();
    send_after(20ms, self(), alarm_rings{});
  }
  void on(alarm_rings) {
    std::printf("the alarm, not before its time: %s\n", now() - start_ >= 140ms ? "yes" : "no");
    request(oracle_, question{}, 5ms)
        .then([](int) { std::puts("an answer?"); },
              [this](const garrick::error& e) {
                std::printf("the oracle: %s\n", e.message().c_str());
                quit();
              });
  }
  void on(never_sent) { std::puts("this must not be seen"); }
};
// [/timers]

int main() {
  garrick::actor_system system;
  {
    auto o = system.spawn<oracle_actor>();
    system.spawn<clockmaker_actor>(o);
  }
  static_cast<void>(system.await_all());
}
