// A supervisor that waits before it restarts a child: longer each time, and at most a second. The
// time is virtual, so the example runs at once.
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdio>
#include <stdexcept>

using namespace std::chrono_literals;

// [worker]
struct fetch {};
using line = garrick::protocol<void(fetch)>;

/// The other side does not answer yet.
class line_actor : public garrick::actor<line> {
 public:
  explicit line_actor(garrick::instant begin) : begin_(begin) {}
  void on_start() {
    std::printf("connected after %s\n", (now() - begin_).to_string().c_str());
    send(self(), fetch{});
  }
  void on(fetch) { throw std::runtime_error("the line is dead"); }

 private:
  garrick::instant begin_;
};
// [/worker]

int main() {
  garrick::testkit::test_system kit(1);
  // [backoff]
  // 100, 200, 400, 800 ms, and then always one second. Jitter spreads the restarts of many children
  // that failed together; here it is off, so that the times can be read.
  const auto top = kit.spawn<garrick::supervisor>(
      garrick::supervision{.max_restarts = 20,
                           .window = 1min,
                           .delay = {.first = 100ms, .longest = 1s, .factor = 2, .jitter = 0}});
  const auto w = garrick::supervise<line_actor>(top, kit.now());
  // [/backoff]
  kit.run_for(4s);
}
