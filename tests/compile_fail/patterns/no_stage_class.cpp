// each: nothing generated arguments copied stop time function restarting
// expect: garrick:
// expect: one public consume|no generator|cannot be made of these arguments|gets a copy of a stage|public and takes nothing|instant deadline() const|names its function consume
// The requirements on a class that is a stage.
#include <garrick/patterns/patterns.hpp>

#include <memory>
#include <string>
#include <utility>

using namespace garrick::patterns;

struct nothing {
  int work(int x) { return x; }
};
struct generated {
  generator<int> consume(int x) { co_yield x; }
};
struct arguments {
  explicit arguments(std::string) {}
  int consume(int x) { return x; }
};
struct copied {
  int consume(int x) { return x + *number; }
  std::unique_ptr<int> number = std::make_unique<int>(7);
};
struct stop {
  int consume(int x) { return x; }
  void on_stop(emit<long>) {}
};
struct time {
  int consume(int x) { return x; }
  void on_time(garrick::instant) {}
};
struct function {
  bool operator()(emit<int>) { return false; }
  void on_start() {}
};
struct restarting {
  int operator()(int x) { return x; }
  void on_restart() {}
};
struct fine {
  explicit fine(int n) : next(n) {}
  bool consume(emit<int> out) {
    out(next++);
    return next < 10;
  }
  void on_start() {}
  void on_stop(emit<int> out) { out(next); }
  int next;
};

void test() {
#ifdef GARRICK_WITHOUT_nothing
  static_cast<void>(seq<nothing>());
#elif defined(GARRICK_WITHOUT_generated)
  static_cast<void>(seq<generated>());
#elif defined(GARRICK_WITHOUT_arguments)
  static_cast<void>(seq<arguments>(1, 2));
#elif defined(GARRICK_WITHOUT_copied)
  static_cast<void>(pipeline(counting(1, 7), copied()));
#elif defined(GARRICK_WITHOUT_stop)
  static_cast<void>(seq<stop>());
#elif defined(GARRICK_WITHOUT_time)
  static_cast<void>(seq<class time>());
#elif defined(GARRICK_WITHOUT_function)
  static_cast<void>(seq(function()));
#elif defined(GARRICK_WITHOUT_restarting)
  static_cast<void>(seq(restarting()));
#else
  static_cast<void>(pipeline(seq<fine>(7), arguments("text"), seq<arguments>("text")));
  static_cast<void>(seq(fine(7)));
#endif
}
