// each: reference value blocking body timeout monitor error function start adapted
// expect: garrick:
// expect: returns task<> and takes its message by value|void run()|the function of monitor|the function of after|a continuation is no coroutine|an actor's function is no coroutine|adapt's function is no coroutine
// A hook or a function that would never be resumed, so that it would never run.
#include <garrick/garrick.hpp>

using namespace garrick;

using work = protocol<void(int)>;

struct hooked : actor<work> {
  void on(int) {
#ifdef GARRICK_WITHOUT_monitor
    monitor(core::address(), [](const down&) -> task<> { co_return; });
#endif
#ifdef GARRICK_WITHOUT_error
    delay({}).then([]{}, [](const error&) -> task<> { co_return; });
#endif
#ifdef GARRICK_WITHOUT_adapted
    adapt<int>(*this, [](const completion<int>&) -> task<> { co_return; }).then([](int){});
#endif
    monitor(core::address(), [](const down&) {});
  }
#ifdef GARRICK_WITHOUT_reference
  task<> on(const down&) { co_return; }
#else
  task<> on(down) { co_return; }
#endif
#ifdef GARRICK_WITHOUT_value
  task<int> on(receive_timeout) { co_return 1; }
#else
  task<> on(receive_timeout) { co_return; }
#endif
  task<> on(exit_signal) { co_return; }
  task<> on(child_failed) { co_return; }
};
struct blocked : blocking_actor {
#ifdef GARRICK_WITHOUT_body
  task<> run() { co_return; }
#else
  void run() {}
#endif
#ifdef GARRICK_WITHOUT_blocking
  task<> on(exit_signal) { co_return; }
#else
  void on(const exit_signal&) {}
#endif
};

behavior cases() {
#ifdef GARRICK_WITHOUT_timeout
  return {[](int) {}, after({}) >> []() -> task<> { co_return; }};
#else
  return {[](down) -> task<> { co_return; }, after({}) >> [] {}};
#endif
}

void test(actor_system& system) {
  system.spawn<hooked>();
  system.spawn<blocked>();
#ifdef GARRICK_WITHOUT_function
  system.spawn([](blocking_actor&) -> task<> { co_return; });
#endif
#ifdef GARRICK_WITHOUT_start
  system.spawn([](dynamic_actor&) -> task<> { co_return; });
#endif
}
