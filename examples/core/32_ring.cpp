// A thread that must never wait, such as one that reads a device, passes its measurements to an
// actor: through a ring in batches, not with a message for each.
#include <garrick/base/concurrency/ring.hpp>
#include <garrick/garrick.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <thread>

// [actor]
using samples = garrick::base::ring<int>;  // one thread pushes, one actor pops

struct look {};  // the ring has values
struct sum {};
using meter = garrick::protocol<void(look), long(sum)>;

class meter_actor : public garrick::actor<meter> {
 public:
  explicit meter_actor(samples* from) : from_(from) {}
  void on(look) {
    from_->pop(from_->capacity(), [this](int value) { sum_ += value; });
  }
  long on(sum) const { return sum_; }

 private:
  samples* from_;
  long sum_ = 0;
};
// [/actor]

// [thread]
void measure(samples& into, const garrick::ref<meter>& to) {
  const garrick::no_wait_scope never_waits;
  for (int n = 0; n < 1000; ++n) {
    std::array<int, 4> values{n, n, n, n};
    std::span<int> rest(values);
    while (!rest.empty()) {  // a real device would drop values that do not fit
      const std::size_t pushed = into.push(rest);
      rest = rest.subspan(pushed);
      if (pushed != 0) send(to, look{});
    }
  }
}
// [/thread]

int main() {
  // [ring]
  samples ring(64);  // outlives the thread and the actor
  garrick::actor_system system;
  const auto m = system.spawn<meter_actor>(garrick::lent(&ring));
  std::thread device([&] { measure(ring, m); });
  device.join();
  // [/ring]
  std::printf("the sum is %ld\n", system.request(m, sum{}).get().value());
}
