// The choices of a source when the stream cannot take more tuples: wait, drop them, or keep them
// for later.
#include <garrick/patterns/patterns.hpp>

#include <cstdio>
#include <deque>
#include <utility>

using namespace garrick;
using namespace garrick::patterns;

struct sample {
  int number;
};
constexpr int all_samples = 10'000;

/// Waits: the stream does not call it while there is no room.
class patient_source {
 public:
  bool operator()(emit<sample> out) {
    if (next_ == all_samples) return false;
    out(sample{next_++});
    return true;
  }

 private:
  int next_ = 0;
};

// [drop]
/// A sensor that cannot be stopped: it drops and counts samples for which there is no room.
class sensor {
 public:
  explicit sensor(int& dropped) : dropped_(dropped) {}
  bool consume(emit<sample> out) {
    if (next_ == all_samples) return false;
    // at most 64 samples wait for the next stage
    if (out.try_send_next(64, sample{next_++})) ++dropped_;
    return true;
  }

 private:
  int next_ = 0;
  int& dropped_;
};
// [/drop]

// [keep]
/// Keeps samples for which there is no room. After its last measurement it waits for room, like any
/// source.
class recorder {
 public:
  bool operator()(emit<sample> out) {
    if (next_ != all_samples) {
      kept_.push_back(sample{next_++});
      while (!kept_.empty() && !out.try_send_next(64, std::move(kept_.front()))) kept_.pop_front();
      return true;
    }
    if (kept_.empty()) return false;
    out(kept_.front());
    kept_.pop_front();
    return true;
  }

 private:
  int next_ = 0;
  std::deque<sample> kept_;
};
// [/keep]

int main() {
  actor_system system;
  const auto received = [&system](auto source) {
    const auto stream =
        spawn(system, pipeline(std::move(source), fold(0, [](int n, sample) { return n + 1; })));
    return system.request(stream, join{}).get().value();
  };
  int dropped = 0;
  std::printf("waiting: %d of %d\n", received(seq(patient_source())), all_samples);
  const int others = received(seq<sensor>(lent(dropped)));
  std::printf("dropping: each was received or counted: %s\n",
              others + dropped == all_samples ? "yes" : "no");
  std::printf("keeping: %d of %d\n", received(seq(recorder())), all_samples);
}
