// What a source can do when the stream cannot take more: it need not wait.
#include <garrick/patterns/patterns.hpp>

#include <cstdio>

using namespace garrick;
using namespace garrick::patterns;

// [source]
struct sample {
  int number;
};

/// A sensor that cannot be stopped: what finds no room is dropped and counted.
class sensor {
 public:
  explicit sensor(int* dropped) : dropped_(dropped) {}
  bool operator()(emit<sample> out) {
    if (next_ == 10'000) return false;
    // at most 64 samples wait for the next stage
    if (out.try_send_next(64, sample{next_++})) ++*dropped_;
    return true;
  }

 private:
  int next_ = 0;
  int* dropped_;
};
// [/source]

int main() {
  actor_system system;
  int dropped = 0;
  // [run]
  const auto stream = spawn(system, pipeline(seq(sensor(&dropped)).named("sensor"),
                                             fold(0, [](int n, sample) { return n + 1; })));
  const int received = system.request(stream, join{}).get().value();
  std::printf("every sample was received or counted: %s\n",
              received + dropped == 10'000 ? "yes" : "no");
  // [/run]
}
