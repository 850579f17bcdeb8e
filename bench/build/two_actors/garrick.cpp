// Two actors, a request and its answer: the price of the library in a small static program.
#include <garrick/garrick.hpp>

#include <cstdio>

namespace {

struct question {
  int half;
};
using oracle = garrick::protocol<int(question)>;

class doubler : public garrick::actor<oracle> {
 public:
  int on(question q) { return 2 * q.half; }
};

struct begin {};

class asker : public garrick::actor<garrick::protocol<void(begin)>> {
 public:
  asker(garrick::ref<oracle> whom, int* answer) : whom_(std::move(whom)), answer_(answer) {}

  void on(begin) {
    request(whom_, question{21}).then([this](int found) { *answer_ = found; });
  }

 private:
  garrick::ref<oracle> whom_;
  int* answer_;
};

}  // namespace

int main() {
  int answer = 0;
  {
    garrick::actor_system system;
    send(system.spawn<asker>(system.spawn<doubler>(), garrick::lent(&answer)), begin{});
  }
  std::printf("answer %d\n", answer);
  return answer == 42 ? 0 : 1;
}
