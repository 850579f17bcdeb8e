// expect: this policy needs arguments
#include <garrick/garrick.hpp>

struct job {
  int key;
};
using worker = garrick::protocol<int(job)>;
class worker_actor : public garrick::actor<worker> {
 public:
  int on(job j) { return j.key; }
};
struct key_of {
  explicit key_of(int) {}
  int operator()(job j) const { return j.key; }
};

void test(garrick::actor_system& system) {
#ifdef GARRICK_CONTROL
  static_cast<void>(garrick::spawn_pool<worker_actor>(system, 4));
#else
  static_cast<void>(garrick::spawn_pool<worker_actor, garrick::by_key<key_of>>(system, 4));
#endif
}
