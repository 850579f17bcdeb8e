// The end of a system: by itself, on request, and the report about an actor that does not end.
#include <garrick/garrick.hpp>

#include <cstdio>

struct tick {};
using ticking = garrick::protocol<void(tick)>;

// [hook]
class counter : public garrick::actor<ticking> {
 public:
  void on(tick) {
    if (++ticks_ == 3) quit();
  }
  void on_exit(const garrick::exit_reason& why) {
    std::printf("counter ends after %d ticks: %s\n", ticks_, why.to_string().c_str());
  }

 private:
  int ticks_ = 0;
};
// [/hook]

int main() {
  garrick::actor_system system;
  {
    const auto c = system.spawn<counter>();
    for (int i = 0; i < 3; ++i) send(c, tick{});
  }
  // [await_all]
  static_cast<void>(system.await_all());  // until every actor has ended by itself
  // [/await_all]
  std::printf("actors left: %zu\n", system.actor_count());

  // [shutdown]
  const auto idle = system.spawn<counter>();
  const garrick::shutdown_report report = system.shutdown(garrick::duration::seconds(5));
  std::printf("complete: %s\n", report.complete ? "yes" : "no");
  for (const std::string& who : report.still_alive) std::printf("still alive: %s\n", who.c_str());
  // [/shutdown]

  // [after]
  const auto too_late = system.try_spawn<counter>();
  std::printf("spawn after the end: %s\n", too_late.error().to_string().c_str());
  send(idle, tick{});  // handles outlive their actors: a dead letter, no crash
  std::printf("dead letters: %llu\n", static_cast<unsigned long long>(system.dead_letter_count()));
  // [/after]
}
