// expect: no_handler<
// expect: m0)
// expect: m9)
#include <garrick/garrick.hpp>

template <int>
struct number {};
struct m0 {};
struct m9 {};
using many =
    garrick::protocol<void(m0), int(number<1>), int(number<2>), int(number<3>), int(number<4>),
                      int(number<5>), int(number<6>), int(number<7>), int(number<8>), void(m9)>;

class incomplete : public garrick::actor<many> {
 public:
#ifdef GARRICK_CONTROL
  void on(m0) {}
  template <int N>
  int on(number<N>) {
    return N;
  }
  void on(m9) {}
#endif
};

void test(garrick::actor_system& system) { static_cast<void>(system.spawn<incomplete>()); }
