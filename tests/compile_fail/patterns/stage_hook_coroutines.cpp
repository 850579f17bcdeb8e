// each: start stop restart time ends final consuming stopping
// expect: garrick: a stage's hooks, such as|garrick: the consume, on_stop and on_restart of a stage's actor
// A hook of a stage that would never be resumed, so that it would never run.
#include <garrick/patterns/patterns.hpp>

using namespace garrick;
using namespace garrick::patterns;

struct starting {
  void consume(int) {}
  task<> on_start() { co_return; }
};
struct stopping {
  int consume(int x) { return x; }
  task<> on_stop(emit<int>) { co_return; }
};
struct restarting {
  int consume(int x) { return x; }
  generator<int> on_restart() { co_return; }
};
struct timed {
  int consume(int x) { return x; }
  instant deadline() const { return {}; }
  task<> on_time(instant, emit<int>) { co_return; }
};
struct ending {
  bool consume(emit<int>) { return false; }
  task<> on_stop() { co_return; }
};
struct last final {
  void consume(int) {}
  task<> on_start() { co_return; }
};
struct consuming_actor : stage_actor<int, int> {
  task<> consume(int) { co_return; }
};
struct stopping_actor : stage_actor<int, int> {
  void consume(int x) { send_next(x); }
  task<> on_stop() { co_return; }
};
struct fine : stage_actor<int, int> {
  void consume(int x) { send_next(x); }
  task<> on_start() { co_return; }
  task<> on(exit_signal) { co_return; }
  using stage_actor::on;
  void on_stop() {}
};

void test() {
#ifdef GARRICK_WITHOUT_start
  static_cast<void>(seq(starting{}));
#elif defined(GARRICK_WITHOUT_stop)
  static_cast<void>(seq(stopping{}));
#elif defined(GARRICK_WITHOUT_restart)
  static_cast<void>(seq(restarting{}));
#elif defined(GARRICK_WITHOUT_time)
  static_cast<void>(seq(timed{}));
#elif defined(GARRICK_WITHOUT_ends)
  static_cast<void>(seq(ending{}));
#elif defined(GARRICK_WITHOUT_final)
  static_cast<void>(seq<last>());
#elif defined(GARRICK_WITHOUT_consuming)
  static_cast<void>(seq_actor<consuming_actor>());
#elif defined(GARRICK_WITHOUT_stopping)
  static_cast<void>(seq_actor<stopping_actor>());
#else
  static_cast<void>(seq_actor<fine>());
#endif
}
